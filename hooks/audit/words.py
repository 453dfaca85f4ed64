"""The long words of texts, where tokens are found: each is looked at once, for words recur and tokens are rare."""

from __future__ import annotations

from ..patterns import lazy
from . import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 16
"""No token is shorter; what is, is told from other words by what stands beside it alone (`assigned`)."""

_RUN = b"a" * LONG
_SPACE = b" "
_WORD_CLASS = bytes(32 if chr(code) in "\"'`<>(){}[],;\\ \t\n\r\v\f" else 97 for code in range(256))
_MARKED = lazy("[0-9A-Z]")
_PARTS = lazy("[A-Za-z0-9_-]+")
_STRETCHES = lazy(r"\d+|\D+")
_NAMELESS_KEY = lazy(r"[A-Za-z0-9_-]{44}|[A-Za-z]{24}")
"""What the library takes for a key where a maker's name stands beside it."""

_LONGEST_KEY = 4096
_KEY_FILE = "PuTTY-User-Key"
_REMEMBERED = 8192
_SHORT_ENOUGH = 128
"""Words up to this length, in bytes, are remembered: about 1 MB at most."""


class Words:
    """Finds the words of texts that may hold a token. Safe to share between threads.

    Args:
        secrets: also looked for; each must be a word (`is_word`).
    """

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._secrets = secrets
        self._known: dict[bytes, bool] = {}
        """Words without a secret -> whether they may be a key that only a name beside them gives away."""

    def telling(self, data: bytes) -> tuple[list[str], bool]:
        """Look through a text in UTF-8.

        Returns:
            the words that hold a token's shape, one of the secrets, the beginning of a key file, or look random; and
            whether there is one that the library may know by a name beside it.
        """
        classes = data.translate(_WORD_CLASS)
        start = classes.find(_RUN)
        if start < 0:
            return [], False
        known, found, nameless = self._known, dict[str, None](), False
        while start >= 0:
            end = classes.find(_SPACE, start + LONG)
            word = data[start:end] if end >= 0 else data[start:]
            seen = known.get(word)
            if seen is None:
                seen = self._look(word, found)
            nameless = nameless or seen
            start = classes.find(_RUN, end) if end >= 0 else -1
        return list(found), nameless

    def _look(self, data: bytes, found: dict[str, None]) -> bool:
        word = data.decode("utf-8", "surrogatepass")
        nameless = _NAMELESS_KEY.search(word) is not None
        if self._holds_secret(word):
            found[word] = None
        elif len(data) <= _SHORT_ENOUGH:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[data] = nameless
        return nameless

    def _holds_secret(self, word: str) -> bool:
        if _KEY_FILE in word or any(secret in word for secret in self._secrets):
            return True
        if _MARKED.search(word) is None:  # no token is all small letters; most long words of source text are
            return False
        return looks_random(word) or any(pattern.search(word) for _, pattern in shapes.candidates(word))


def is_word(text: str) -> bool:
    """Say whether a text is, in any other text, a part of one long word."""
    classes = text.encode("utf-8", "surrogatepass").translate(_WORD_CLASS)
    return len(classes) >= LONG and _SPACE not in classes


def replace_shapes(text: str, words: list[str], mark: Callable[[str], str]) -> str:
    """Replace the tokens that words of a text hold by the mark of their kind."""
    for word in words:
        cleaned = word
        for kind, pattern in shapes.candidates(word):
            cleaned = pattern.sub(mark(kind), cleaned)
        if cleaned is not word:
            text = text.replace(word, cleaned)
    return text


def looks_random(word: str) -> bool:
    """Say whether a word mixes capitals, small letters and digits as no name or path does, and is no digest or data."""
    if (
        not 20 <= len(word) <= _LONGEST_KEY
        or word == word.lower()
        or word.startswith(("sha256-", "sha384-", "sha512-", "[redacted:"))
        or "redacted:" in word
    ):
        return False
    longest = max(_PARTS.findall(word), key=len, default="")
    if len(longest) < 20 or longest.lower() == longest or longest.upper() == longest:
        return False
    return len(_STRETCHES.findall(longest)) > 5

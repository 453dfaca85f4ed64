"""Taking secrets out of what is about to be written, each replaced by a mark of its kind: `[redacted:aws-key]`.

Four nets, the cheap ones first: the environment's own secret values; private keys; shapes of well-known tokens
(`shapes`); values assigned to telling names (`assigned`). Where a text still holds an unexplained random-looking
word, the detectors of the detect-secrets library have a look too; it takes 0.3 s to load, so it is loaded only then.
A hook program and a long run therefore take out the same things.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from operator import is_ as _is

from ..patterns import lazy
from . import assigned, shapes
from .record import is_array, is_object, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_RUN = b"a" * 16
_LONG_RUN = b"a" * 40
_TOKEN_CLASS = bytes(
    97 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else 32 for code in range(256)
)
_BASE64_CLASS = bytes(
    97 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/") else 32 for code in range(256)
)
_WORD_CLASS = bytes(32 if chr(code) in "\"'`<>(){}[],;\\ \t\n\r\v\f" else 97 for code in range(256))
_PEM = (
    r"(?s)-----BEGIN[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|PuTTY-User-Key-File-\d.*?(?:Private-MAC: *[0-9a-f]+|\Z)"
)
_SECRET_NAMES = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "PWD",
    "CRED",
    "AUTH",
    "DSN",
    "CONNECTION_STRING",
    "COOKIE",
    "_PAT",
)
_PUBLIC_ENDS = (
    "_SOCK",
    "_FILE",
    "_PATH",
    "_DIR",
    "_ID",
    "_NAME",
    "_URL",
    "_HOST",
    "_TYPE",
    "_AGENT",
    "_COMMAND",
    "ASKPASS",
)
_MARKED = lazy("[0-9A-Z]")
_KEY_CHARS = 24
_PUBLIC_NAMES = ("PWD", "OLDPWD")
"""Folders that every shell exports; a log without the name of the workspace would tell nobody anything."""

_LIBRARY_NAMES = ("softlayer", "cloudant", "ibm", "bluemix")
"""Makers whose keys have no shape of their own but their length; the library knows them by what stands beside."""

_MIN_ENV_VALUE = 6
_LONG_TEXT = 1000
"""A text of so many characters holds a long word nearly always: looking for one before looking closely saves nothing."""


class Redactor:
    """Finds and replaces secrets in plain data. Safe to share between threads.

    Args:
        environ: whose secret values are taken out wherever they occur; this process's by default.
        guess: whether what is only likely to be a secret is taken out too: what is assigned to a telling name, and what
            the detect-secrets detectors see in random-looking words. Without, the environment's own values, private
            keys and shapes of well-known tokens remain.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, *, guess: bool = True) -> None:
        self._own = tuple(_own_secrets(os.environ if environ is None else environ))
        self._own_needles = tuple(form for value, _ in self._own for form in {value, quote(value)[1:-1]})
        self._guess = guess

    def clean(self, value: Any) -> Any:
        """Give plain data with every secret replaced, names of fields included; the same object where there was none."""
        if isinstance(value, str):
            return self.clean_text(value)
        if is_object(value):
            made = {
                self.clean_text(str(name)): self._clean_field(str(name), item) for name, item in value.items()
            }
            same = all(map(_is, made.values(), value.values())) and made.keys() == value.keys()
            return value if same else made
        if not is_array(value):
            return value
        items: list[Any] = [self.clean(item) for item in value]
        return value if all(map(_is, items, value)) else items

    def clean_text(self, text: str) -> str:
        """Give a text with every secret replaced; the same object where there was none."""
        if len(text) < _MIN_ENV_VALUE or not self.suspects(text):
            return text
        cleaned = text
        for value, name in self._own:
            cleaned = cleaned.replace(value, mark(f"env:{name}"))
        if "PRIVATE KEY" in text or "PuTTY-" in text:
            cleaned = re.sub(_PEM, mark("private-key"), cleaned)
        words = _long_words(cleaned)
        cleaned = _replace_shapes(cleaned, words)
        if self._guess:
            lowered = text.lower()
            cleaned = assigned.replace(cleaned, lowered, mark)
            cleaned = self._ask_library(cleaned, lowered, words if cleaned == text else _long_words(cleaned))
        return text if cleaned == text else cleaned

    def suspects(self, text: str) -> bool:
        """Say whether text, or the JSON of some data, may hold a secret; quick, and wrong only on the safe side."""
        if len(text) >= _LONG_TEXT:
            return True
        data = text.encode("utf-8", "surrogatepass")
        if data.translate(_TOKEN_CLASS).find(_RUN) >= 0 or data.translate(_BASE64_CLASS).find(_LONG_RUN) >= 0:
            return True
        for needle in self._own_needles:
            if needle in text:
                return True
        return assigned.may_hold(text.lower())

    def _clean_field(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return self.clean(value)
        if self._guess and assigned.is_secret_field(name, value):
            return mark(assigned.kind_of_name(name))
        return self.clean_text(value)

    def _ask_library(self, text: str, lowered: str, words: set[str]) -> str:
        named = any(len(word) >= _KEY_CHARS for word in words) and any(
            name in lowered for name in _LIBRARY_NAMES
        )
        if not named and not any(map(_looks_random, words)):
            return text
        from .library import replace

        return replace(text, mark)


def mark(kind: str) -> str:
    """Give what stands in place of a secret."""
    return f"[redacted:{kind}]"


def _replace_shapes(text: str, words: set[str]) -> str:
    """Look at each long word once, with only those shapes whose needles it holds."""
    for word in words:
        if _MARKED.search(word) is None:  # no token is all small letters; most long words of source text are
            continue
        cleaned = word
        for kind, pattern in shapes.candidates(word):
            cleaned = pattern.sub(mark(kind), cleaned)
        if cleaned is not word:
            text = text.replace(word, cleaned)
    return text


def _long_words(text: str) -> set[str]:
    """Give the words of sixteen characters and more; the short ones, which are nearly all, are never made."""
    data = text.encode("utf-8", "surrogatepass")
    classes = data.translate(_WORD_CLASS)
    found: set[str] = set()
    start = classes.find(_RUN)
    while start >= 0:
        end = classes.find(b" ", start)
        end = end if end >= 0 else len(data)
        found.add(data[start:end].decode("utf-8", "surrogatepass"))
        start = classes.find(_RUN, end)
    return found


def _looks_random(word: str) -> bool:
    """Say whether a word mixes capitals, small letters and digits as no name or path does, and is no digest."""
    if (
        len(word) < 20
        or word == word.lower()
        or word.startswith(("sha256-", "sha384-", "sha512-", "[redacted:"))
        or "redacted:" in word
    ):
        return False
    longest = max(re.split(r"[^A-Za-z0-9_-]", word), key=len)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(longest))
    return len(longest) >= 20 and changes >= 5 and longest.lower() != longest and longest.upper() != longest


def _own_secrets(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the secret values of an environment, longest first, with their names; also as they look in URLs and Base64."""
    found: dict[str, str] = {}
    for name, value in environ.items():
        upper = name.upper()
        if not any(word in upper for word in _SECRET_NAMES) or not _is_telling(value):
            continue
        if upper in _PUBLIC_NAMES or upper.endswith(_PUBLIC_ENDS) or "PUBLIC" in upper:
            continue
        for form in _forms(value):
            found.setdefault(form, name)
    yield from sorted(found.items(), key=lambda pair: -len(pair[0]))


def _is_telling(value: str) -> bool:
    stripped = value.strip()
    return (
        len(stripped) >= _MIN_ENV_VALUE and not stripped.startswith("/") and not stripped.isalpha()
    ) or len(stripped) >= 12


def _forms(value: str) -> Iterator[str]:
    import binascii

    stripped = value.strip()
    yield stripped
    if len(stripped) >= 12:
        encoded = binascii.b2a_base64(stripped.encode("utf-8", "surrogatepass"), newline=False).decode()
        yield encoded.rstrip("=")[:-1]
    escaped = "".join(char if char.isalnum() or char in "-_.~" else f"%{ord(char):02X}" for char in stripped)
    if escaped != stripped and stripped.isascii():
        yield escaped

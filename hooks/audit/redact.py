"""Taking secrets out of what is about to be written, each replaced by a mark of its kind: `[redacted:aws-key]`.

Four nets, the cheap ones first: the environment's own secret values; private keys; shapes of well-known tokens
(`shapes`); values assigned to telling names (`assigned`). Where a text still holds an unexplained random-looking
word, the detectors of the detect-secrets library have a look too; it takes 0.3 s to load, so it is loaded only then.
A hook program and a long run therefore take out the same things.
"""

from __future__ import annotations

import os
import re
from operator import is_ as _is

from ..patterns import lazy
from . import assigned
from .names import variable_names_secret
from .record import is_array, is_object, quote
from .words import LONG, Words, is_word, looks_random, replace_shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_RUN = b"a" * LONG
_LONG_RUN = b"a" * 40
_TOKEN_CLASS = bytes(
    97 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else 32 for code in range(256)
)
_BASE64_CLASS = bytes(
    97 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/") else 32 for code in range(256)
)
PEM = (
    r"(?s)-----BEGIN[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|PuTTY-User-Key-File-\d.*?(?:Private-MAC: *[0-9a-f]+|\Z)"
)
_PUBLIC_NAMES = ("PWD", "OLDPWD")
"""Folders that every shell exports; a log without the name of the workspace would tell nobody anything."""

_PUBLIC_VALUE = lazy(
    r"(?i)[a-z][a-z0-9+.-]*://[^@?\s]*$|[\w.+-]+@[\w-]+\.[\w.-]+$|(?:true|false|enabled|disabled)$"
)

_LIBRARY_NAMES = ("softlayer", "cloudant", "ibm", "bluemix")
"""Makers whose keys have no shape of their own but their length; the library knows them by what stands beside."""

_MIN_ENV_VALUE = 6
_LONG_TEXT = 1000
"""From this length on a text is looked at at once: asking first whether it is worth it saves nothing there."""

_NAMES_KNOWN = 1024
_SHORT_KNOWN = 1024
_LONG_KNOWN = 32
_LONGEST_KNOWN = 64 * 1024


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
        self._words = Words(tuple(value for value, _ in self._own if is_word(value)))
        self._short_own = tuple(value for value, _ in self._own if not is_word(value))
        self._guess = guess
        self._names: dict[str, tuple[str, bool]] = {}
        """Names of fields -> how they are written, and whether their value may be a secret."""
        self._harmless, self._harmless_long = set[str](), set[str]()
        """Texts in which nothing was found: many commands are given often, a prompt stands in several records."""

    def clean(self, value: Any) -> Any:
        """Give plain data with every secret replaced, names of fields included; the same object where there was none."""
        if isinstance(value, str):
            return self.clean_text(value)
        if is_object(value):
            made = dict(self._clean_field(str(name), item) for name, item in value.items())
            same = all(map(_is, made.values(), value.values())) and made.keys() == value.keys()
            return value if same else made
        if not is_array(value):
            return value
        items: list[Any] = [self.clean(item) for item in value]
        return value if all(map(_is, items, value)) else items

    def clean_text(self, text: str) -> str:
        """Give a text with every secret replaced; the same object where there was none."""
        if len(text) >= _LONG_TEXT:
            return self._clean_long(text)
        return self._search(text) if len(text) >= _MIN_ENV_VALUE and self.suspects(text) else text

    def suspects(self, text: str) -> bool:
        """Say whether text, or the JSON of some data, may hold a secret; quick, and wrong only on the safe side."""
        if len(text) >= _LONG_TEXT:
            return True
        if text in self._harmless:
            return False
        if self._may_hold(text):
            return True
        _remember(self._harmless, text, _SHORT_KNOWN)
        return False

    def _may_hold(self, text: str) -> bool:
        data = text.encode("utf-8", "surrogatepass")
        if data.translate(_TOKEN_CLASS).find(_RUN) >= 0 or data.translate(_BASE64_CLASS).find(_LONG_RUN) >= 0:
            return True
        for needle in self._own_needles:
            if needle in text:
                return True
        return assigned.may_hold(assigned.lower(text))

    def _clean_long(self, text: str) -> str:
        if text in self._harmless_long:
            return text
        cleaned = self._search(text)
        if cleaned is text and len(text) <= _LONGEST_KNOWN:
            _remember(self._harmless_long, text, _LONG_KNOWN)
        return cleaned

    def _search(self, text: str) -> str:
        words, nameless = self._words.telling(text.encode("utf-8", "surrogatepass"))
        cleaned = text
        if words or "PRIVATE KEY" in text or any(value in text for value in self._short_own):
            cleaned = self._without_known(text, words)
        if self._guess:
            words = words if cleaned is text else self._telling(cleaned)
            cleaned = self._without_likely(cleaned, words, nameless=nameless)
        return text if cleaned == text else cleaned

    def _clean_field(self, name: str, value: Any) -> tuple[str, Any]:
        known = self._names.get(name)
        if known is None:
            if len(self._names) >= _NAMES_KNOWN:
                self._names.clear()
            known = self._names[name] = self.clean_text(name), self._guess and assigned.may_name_secret(name)
        if not isinstance(value, str):
            return known[0], self.clean(value)
        if known[1] and assigned.is_secret_field(name, value):
            return known[0], mark(assigned.kind_of_name(name))
        return known[0], self.clean_text(value)

    def _without_known(self, text: str, words: list[str]) -> str:
        """Take out what is surely a secret: the environment's own, private keys, shapes of tokens."""
        cleaned = text
        for value, name in self._own:
            cleaned = cleaned.replace(value, mark(f"env:{name}"))
        if "PRIVATE KEY" in text or "PuTTY-" in text:
            cleaned = re.sub(PEM, mark("private-key"), cleaned)
        return replace_shapes(cleaned, words if cleaned is text else self._telling(cleaned), mark)

    def _without_likely(self, text: str, words: list[str], *, nameless: bool) -> str:
        """Take out what is assigned to a telling name, and what the library knows."""
        lowered = assigned.lower(text)
        hinted = assigned.hints(lowered)
        cleaned = assigned.replace(text, hinted, mark) if hinted else text
        named = nameless and any(name in lowered for name in _LIBRARY_NAMES)
        if named or any(looks_random(word) for word in words if word in cleaned):
            from .library import replace

            return replace(cleaned, mark)
        return cleaned

    def _telling(self, text: str) -> list[str]:
        return self._words.telling(text.encode("utf-8", "surrogatepass"))[0]


def _remember(known: set[str], text: str, most: int) -> None:
    if len(known) >= most:
        known.clear()
    known.add(text)


def mark(kind: str) -> str:
    """Give what stands in place of a secret."""
    return f"[redacted:{kind}]"


def _own_secrets(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the secret values of an environment, longest first, with their names; also as they look in URLs and Base64."""
    found: dict[str, str] = {}
    for name, value in environ.items():
        if name in _PUBLIC_NAMES or not variable_names_secret(name) or not _is_telling(name, value.strip()):
            continue
        for form in _forms(value):
            found.setdefault(form, name)
    yield from sorted(found.items(), key=lambda pair: -len(pair[0]))


def _is_telling(name: str, value: str) -> bool:
    """Say whether the value of a variable named like a secret is one, and not a word, a number, a path or an address."""
    if len(value) < _MIN_ENV_VALUE or value.startswith("/") or _PUBLIC_VALUE.match(value):
        return False
    if value.isalpha():
        return len(value) >= 12
    return "pass" in name.lower() or not value.replace(".", "").isdigit() or len(value) >= LONG


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

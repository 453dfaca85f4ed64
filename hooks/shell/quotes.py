"""Quote removal: what escapes inside each kind of quotes stand for (bash manual, "Quoting")."""

from __future__ import annotations

import re

from ..patterns import lazy

_SIMPLE = {
    "a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI = lazy(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|x\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})"
    r"|c([\s\S])|([\s\S]))"
)


def ansi(text: str) -> str:
    r"""Resolve the escapes of `$'…'`. Bytes above 127 are read as UTF-8 where they form it."""
    if "\\" not in text:
        return text
    plain = _ANSI.sub(_ansi_one, text)
    return _stop_at_nul(_join_bytes(plain))


def _ansi_one(found: re.Match[str]) -> str:
    octal, hexa, braced, short, long, control, other = found.groups()
    if octal:
        return _byte(int(octal, 8) & 0xFF)
    if hexa or braced:
        return _byte(int(hexa or braced, 16) & 0xFF)
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    if control:
        return chr(ord(control.upper()) & 0x1F)
    return _SIMPLE.get(other, "\\" + other)


def _byte(code: int) -> str:
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


def _join_bytes(text: str) -> str:
    if not any("\udc80" <= char <= "\udcff" for char in text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _stop_at_nul(text: str) -> str:
    return text.partition("\0")[0]


_DOUBLE = lazy(r'\\([$`"\\])|\\\n')
_HEREDOC = lazy(r"\\([$`\\])|\\\n")
_BARE = lazy(r"\\\n|\\([\s\S])")


def double(text: str) -> str:
    """Resolve the escapes of literal text inside double quotes."""
    return _DOUBLE.sub(lambda found: found[1] or "", text) if "\\" in text else text


def heredoc(text: str) -> str:
    """Resolve the escapes of literal text inside an unquoted here-document."""
    return _HEREDOC.sub(lambda found: found[1] or "", text) if "\\" in text else text


def bare(text: str) -> list[tuple[str, bool]]:
    """Split unquoted literal text into (text, quoted) pieces: an escaped character is a quoted one."""
    if "\\" not in text:
        return [(text, False)]
    pieces: list[tuple[str, bool]] = []
    start = 0
    for found in _BARE.finditer(text):
        if found.start() > start:
            pieces.append((text[start : found.start()], False))
        if found[1] is not None:
            pieces.append((found[1], True))
        start = found.end()
    if start < len(text):
        pieces.append((text[start:], False))
    return pieces


_ECHO = lazy(
    r"\\(?:0([0-7]{0,3})|([1-7][0-7]{0,2})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([\s\S]))"
)


def backslash(text: str) -> str:
    r"""Resolve the escapes of `echo -e`, `printf` formats and `%b`; `\c` ends the text."""
    text = re.split(r"(?<!\\)((?:\\\\)*)\\c", text)[0] if "\\c" in text else text
    return _join_bytes(_ECHO.sub(_echo_one, text)) if "\\" in text else text


def _echo_one(found: re.Match[str]) -> str:
    zero, octal, hexa, short, long, other = found.groups()
    if zero is not None or octal:
        return _byte(int(zero or octal or "0", 8) & 0xFF)
    if hexa:
        return _byte(int(hexa, 16))
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return _SIMPLE.get(other, "\\" + other)


def quote(text: str) -> str:
    """Quote a text so that a shell reads it back as one word."""
    return "'" + text.replace("'", "'\\''") + "'" if not re.fullmatch(r"[\w@%+=:,./-]+", text) else text

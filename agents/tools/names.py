r"""File names as text that any JSON can carry, and back.

A name that is not UTF-8 (Python lists it with lone surrogates) or holds control characters is shown with escapes:
`odd\xff.txt`. `read_file` and its kin accept that form (`candidates`), so that what a listing shows can be used.
"""

from __future__ import annotations

import re

ESCAPE = re.compile(r"\\(?:\\|x([0-9a-f]{2}))")
NEEDS_ESCAPE = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")


def shown(name: str) -> str:
    r"""Return a name as it is, or escaped where it cannot be shown; then its backslashes are doubled too."""
    if not NEEDS_ESCAPE.search(name):
        return name
    return NEEDS_ESCAPE.sub(_escaped, name.replace("\\", "\\\\"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00 if code >= 0xDC80 else code:02x}"


def candidates(name: str) -> tuple[str, ...]:
    """Return what a given name may stand for: itself first, then its unescaped form where that differs."""
    plain = ESCAPE.sub(_unescaped, name)
    return (name,) if plain == name or "\0" in plain else (name, plain)


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return "\\"
    code = int(match[1], 16)
    return chr(code + 0xDC00 if code >= 0x80 else code)

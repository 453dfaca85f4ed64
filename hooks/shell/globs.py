"""Find the glob pieces in unquoted text; match patterns against known text (case, `${x#…}`)."""

from __future__ import annotations

import re

from ..patterns import lazy
from .events import Glob, Hole, Value
from .languages import affordable, glob_regex

_PIECE = lazy(r"\*\*|\*|\?|\[[!^]?\]?(?:\[:\w+:\]|[^\]/])*\]")


def pieces(text: str) -> list[str | Glob]:
    """Split unquoted text into literals and glob pieces."""
    if not any(char in text for char in "*?["):
        return [text] if text else []
    found: list[str | Glob] = []
    start = 0
    for piece in _PIECE.finditer(text):
        if piece.start() > start:
            found.append(text[start : piece.start()])
        found.append(Glob(piece[0]))
        start = piece.end()
    if start < len(text):
        found.append(text[start:])
    return found


def pattern_regex(pattern: Value, text: str | None, *, greedy: bool = True) -> str | None:
    """A regular expression for a shell pattern that may match slashes.

    None if there is a hole in it, or if matching it against `text` could take too long.
    """
    loops = sum(isinstance(part, Glob) and part.pattern != "?" for part in pattern.parts)
    if text and not (len(text) <= 8000 and affordable(loops, text)):
        return None
    source = ""
    for part in pattern.parts:
        if isinstance(part, Hole):
            return None
        if isinstance(part, str):
            source += re.escape(part)
        elif part.pattern in {"*", "**"}:
            source += ".*" if greedy else ".*?"
        elif part.pattern == "?":
            source += "."
        else:
            source += glob_regex(part.pattern)
    return source

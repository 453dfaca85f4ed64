"""Making plain JSON data of whatever was given, so that no odd argument can stop the log or bloat it."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 64
"""Data nested deeper than this is cut; no tool has such arguments, and many JSON readers give up."""

MAX_TEXT = 1024 * 1024
"""Longer strings are cut here, with a note; so a line stays readable for every reader."""

_KEPT = MAX_TEXT - 64  # with the note still not longer than MAX_TEXT, so that cutting twice changes nothing

MAX_FIELD = 8 * 1024 * 1024
"""A field whose JSON is longer than this is left out, with a note."""

_MAX_BITS = 4096  # Python refuses to print integers of more than 4,300 digits


def plain(value: Any, depth: int = 0) -> Any:
    """Give JSON data: odd keys and types as text, NaN as text, deep nesting and long text cut."""
    if value is None or isinstance(value, (bool, int, float)):
        return _number(value)
    if hasattr(value, "items") or isinstance(value, (list, tuple, set, frozenset)):
        return "[cut: nested too deep]" if depth >= MAX_DEPTH else _nested(value, depth + 1)
    return _text(value)


def _nested(value: Any, depth: int) -> Any:
    if hasattr(value, "items"):
        return {_text(name): plain(item, depth) for name, item in value.items()}
    return [plain(item, depth) for item in value]


def _number(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool) or value.bit_length() <= _MAX_BITS:
        return value
    return f"[cut: an integer of {value.bit_length()} bits]"


def _text(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else str(value)
    return text if len(text) <= MAX_TEXT else f"{text[:_KEPT]}[cut: {len(text) - _KEPT} more characters]"

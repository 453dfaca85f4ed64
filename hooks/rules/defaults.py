"""Words as they stand when the defaults written in them are used."""

from __future__ import annotations

from ..shell.events import Glob, Hole, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_OFTEN_SET = ("HOME", "PWD", "USER", "LOGNAME", "TMP", "TEMP", "XDG_", "PATH", "ROOT", "SHELL", "PREFIX")
"""Pieces of names of variables that are set on many machines, so that a default written beside them is not used."""


def with_defaults(value: Value) -> Value:
    """Read `${OUT:-build}` as `build`, where nothing suggests that the variable is set."""
    if not any(hole.fallback for hole in value.holes):
        return value
    return Value(joined(_default(part) for part in value.parts))


def _default(part: str | Glob | Hole) -> str | Glob | Hole:
    if isinstance(part, Hole) and part.fallback and not any(name in part.variable for name in _OFTEN_SET):
        return part.fallback
    return part


def joined(parts: Iterable[str | Glob | Hole]) -> tuple[str | Glob | Hole, ...]:
    """Join neighbouring literals."""
    out: list[str | Glob | Hole] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        else:
            out.append(part)
    return tuple(out)

"""Small operations on `Value`s: joining, slicing, splitting into lines and fields."""

from __future__ import annotations

from ..frozen import replace
from .events import Glob, Hole, Value, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .events import ExecEvent

    Piece = str | Glob | Hole

EMPTY = Value()


def join(values: Iterable[Value], separator: str = "") -> Value:
    """One value from several, with literal text between."""
    pieces: list[Piece] = []
    for index, value in enumerate(values):
        if index and separator:
            pieces.append(separator)
        pieces.extend(value.parts)
    return of(pieces)


def of(pieces: Iterable[Piece]) -> Value:
    """A value from pieces; neighbouring literals are joined, empty ones dropped."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if isinstance(piece, str) and isinstance(last, str):
            out[-1] = last + piece
        elif piece != "":
            out.append(piece)
    return Value(tuple(out))


def unknown(
    why: str, source: tuple[ExecEvent, ...] = (), *, variable: str = "", digits: bool = False
) -> Value:
    """A wholly unknown value."""
    return Value((Hole(why, variable, source, splits=False, digits=digits),))


def blur(value: Value, why: str) -> Value:
    """What is left of a value after an operation that cannot be followed: unknown, but of the same origin."""
    if value.text == "":
        return EMPTY
    return Value((Hole(why, _variable(value), value.sources),))


def _variable(value: Value) -> str:
    return next((hole.variable for hole in value.holes if hole.variable), "")


def lines(value: Value) -> list[Value]:
    """Split at newlines. A hole stays within its line, though it may hold several."""
    out: list[list[Piece]] = [[]]
    for part in value.parts:
        if not isinstance(part, str):
            out[-1].append(part)
            continue
        first, *rest = part.split("\n")
        out[-1].append(first)
        out.extend([text] for text in rest)
    if out and not any(out[-1]):
        out.pop()
    return [of(pieces) for pieces in out]


def fields(value: Value, separators: str = " \t\n") -> list[Value]:
    """Split at any of the separators, runs of them taken as one; holes stay within their field."""
    out: list[list[Piece]] = []
    open_ = False
    for part in value.parts:
        if not isinstance(part, str):
            if not open_:
                out.append([])
            out[-1].append(part)
            open_ = True
            continue
        for char in part:
            if char in separators:
                open_ = False
            elif open_:
                out[-1].append(char)
            else:
                out.append([char])
                open_ = True
    return [of(pieces) for pieces in out]


def strip_newlines(value: Value) -> Value:
    """Drop newlines at the end, as a command substitution does."""
    if not value.parts or not isinstance(value.parts[-1], str):
        return value
    return of((*value.parts[:-1], value.parts[-1].rstrip("\n")))


def plain_globs(value: Value) -> Value:
    """Turn glob pieces back into their literal text, as inside an assignment."""
    return of(part.pattern if isinstance(part, Glob) else part for part in value.parts)


def split_holes(value: Value) -> Value:
    """Mark the holes as unquoted."""
    return Value(
        tuple(replace(part, splits=True) if isinstance(part, Hole) else part for part in value.parts)
    )


def text_of(value: Value | None) -> str | None:
    """The exact text of a value, or None."""
    return None if value is None else value.text


__all__ = (
    "EMPTY", "blur", "fields", "join", "lines", "literal", "of", "plain_globs", "split_holes", "strip_newlines",
    "text_of", "unknown",
)  # fmt: skip

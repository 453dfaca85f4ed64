"""Shell-style patterns of rules, held against texts and against names that may have unknown pieces."""

from __future__ import annotations

from ..shell.events import Glob, Hole, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Component = str | Value

STRANGE_NAME = "qzxw-7"
"""A file name nobody has: a pattern that fits it fits everything."""


def component_fits(piece: Component, pattern: str, *, deep: bool) -> bool:
    """Tell whether one component may match one component of a pattern.

    `deep`: a `**` came before, so that `*` is not suspected of meaning the one name that follows.
    """
    if isinstance(piece, str):
        return _text_fits_exactly(piece, pattern)
    if piece.is_opaque:
        return pattern == "*"  # an unknown name is not suspected of being each of the protected ones
    if pattern.startswith(".") and not isinstance(piece.parts[0], str) and not _matches_dot(piece.parts[0]):
        return False
    if deep or "*" in pattern:
        if _may_spell(piece, STRANGE_NAME) and piece.could_be(STRANGE_NAME):
            return pattern == "*"
        piece = _without_holes(piece)
    if piece.text is not None:
        return _text_fits_exactly(piece.text, pattern)
    may = any(char in pattern for char in "*?[") or _may_spell(piece, pattern)
    return may and piece.could_match(Value(pattern_parts(pattern)))


def _text_fits_exactly(text: str, pattern: str) -> bool:
    if "*" not in pattern and "?" not in pattern and "[" not in pattern:
        return text == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)


def _may_spell(piece: Value, name: str) -> bool:
    """Tell whether a name has room for the literal text of a piece, and its start and end: most have not."""
    literal = sum(len(part) for part in piece.parts if isinstance(part, str))
    return literal <= len(name) and name.startswith(piece.prefix) and name.endswith(piece.suffix)


def _without_holes(piece: Value) -> Value:
    """Take unknown pieces for plain text: they are not suspected of completing every pattern."""
    if not piece.holes:
        return piece
    parts = ["x" if isinstance(part, Hole) else part for part in piece.parts]
    if all(isinstance(part, str) for part in parts):
        return Value(("".join([part for part in parts if isinstance(part, str)]),))
    return Value(tuple(parts))


def _matches_dot(part: Glob | Hole) -> bool:
    return isinstance(part, Glob) and part.pattern.startswith(("[.", "@(."))


def pattern_parts(pattern: str) -> tuple[str | Glob, ...]:
    """Turn `id_*` into literal and glob parts."""
    parts: list[str | Glob] = []
    text = ""
    index = 0
    while index < len(pattern):
        end = pattern.find("]", index + 2) if pattern[index] == "[" else index
        if pattern[index] in "*?" or (pattern[index] == "[" and end > 0):
            if text:
                parts.append(text)
                text = ""
            parts.append(Glob(pattern[index : end + 1]))
            index = end + 1
        else:
            text += pattern[index]
            index += 1
    return (*parts, text) if text else tuple(parts)


def text_fits(text: str, pattern: str) -> bool:
    """Tell whether a text matches a shell-style pattern as a whole, letter case aside."""
    return fits_any(text, (pattern,))


def fits_any(text: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a text matches one of several patterns: one search, however many there are."""
    # Most patterns have a piece that is not there at all: compiling them, or searching a long text, takes much longer.
    lowered = text.lower()
    patterns = tuple([pattern for pattern in patterns if longest(pattern) in lowered])
    if not patterns:
        return False
    found = _compiled.get(patterns)
    if found is None:
        if len(_compiled) >= _KEPT:
            _compiled.clear()
        import re
        from fnmatch import translate

        found = re.compile("|".join(translate(pattern) for pattern in patterns), re.IGNORECASE).match
        _compiled[patterns] = found
    return found(text) is not None


def longest(pattern: str) -> str:
    """Give the longest piece of plain text that whatever fits a pattern must hold."""
    found = _pieces.get(pattern)
    if found is None:
        if len(_pieces) >= _KEPT:
            _pieces.clear()
        if "[" in pattern:
            plain = "".join([part if isinstance(part, str) else "*" for part in pattern_parts(pattern)])
        else:
            plain = pattern.replace("?", "*")
        found = _pieces[pattern] = max(plain.lower().split("*"), key=len)
    return found


_pieces: dict[str, str] = {}
_compiled: dict[tuple[str, ...], Callable[[str], object]] = {}
_KEPT = 2048

"""Dotted names in the code of a file, and which import, if any, gives each its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .imports import Import
from .scopes import uses_of
from .source import Piece, Source


@dataclass(frozen=True, slots=True)
class Chain:
    """Dotted names in the code of a file, and what they stand for by its imports."""

    pieces: tuple[Piece, ...]
    """The names alone, without the dots."""
    origin: Import | None

    @property
    def words(self) -> tuple[str, ...]:
        """The names as they are written."""
        return tuple(piece.text for piece in self.pieces)

    @property
    def meaning(self) -> str:
        """The dotted path that they stand for, by the import that explains the first."""
        head = self.origin.meaning if self.origin else self.words[0]
        return ".".join((head, *self.words[1:]))


def chains_of(source: Source, table: dict[str, Import]) -> Iterator[Chain]:
    """Give every dotted chain of names in the code outside import statements."""
    places = [
        (
            source.offset(one.statement.lineno, one.statement.col_offset),
            source.offset(one.statement.end_lineno or 1, one.statement.end_col_offset or 0),
        )
        for one in table.values()
    ]
    pieces = [piece for piece in source.pieces if piece.kind != "comment" and piece.text.strip()]
    index = 0
    while index < len(pieces):
        first = pieces[index]
        index += 1
        if first.kind != "name" or any(start <= first.start < end for start, end in places):
            continue
        if index > 1 and pieces[index - 2].text == ".":
            continue
        names = [first]
        while index + 1 < len(pieces) and pieces[index].text == "." and pieces[index + 1].kind == "name":
            names.append(pieces[index + 1])
            index += 2
        origin = table.get(first.text)
        if origin is not None and not _is_use_of_import(source, first):
            origin = None
        yield Chain(tuple(names), origin)


def _is_use_of_import(source: Source, piece: Piece) -> bool:
    """Whether a name means what the file's import says, not a variable of the same name or a keyword."""
    uses = uses_of(source, piece.text)
    binder = uses.scope_at(piece.start).binder()
    if binder.kind != "module":
        return not binder.own
    if piece.start in uses.placed:
        return True
    return source.pieces[source.index_at(piece.start) + 1].text != "="


def is_declared(source: Source, piece: Piece) -> bool:
    """Whether a name that the syntax tree does not place is a keyword, an alias, or declared by `global`."""
    index = source.index_at(piece.start)
    before = source.pieces[max(0, index - 1)].text
    if before == "as" or source.pieces[index + 1].text == "=":
        return True
    while index and source.pieces[index - 1].text in {",", "global", "nonlocal"} | {piece.text}:
        index -= 1
    return source.pieces[index].text in {"global", "nonlocal"}

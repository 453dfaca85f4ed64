"""Python text as pieces with offsets, by Python's own tokenizer; the code inside f-strings is seen as code.

Up to Python 3.11 a whole f-string is one token, so its replacement fields are taken apart here; what lies between
the pieces of a field is text and comes as `string` pieces on every version.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

FIELDS_ARE_TOKENS = hasattr(tokenize, "FSTRING_START")
_KINDS = {
    tokenize.NAME: "name",
    tokenize.OP: "op",
    tokenize.STRING: "string",
    tokenize.COMMENT: "comment",
    tokenize.NUMBER: "number",
}
_NESTED_STRING = frozenset({"FSTRING_START", "FSTRING_MIDDLE", "TSTRING_START", "TSTRING_MIDDLE"})
_NESTED_END = frozenset({"FSTRING_END", "TSTRING_END"})


class Unreadable(Exception):
    """Raised for text that this Python cannot read; the text says why, with the line."""


class Piece(NamedTuple):
    """One token: `kind` is name, op, number, string, comment or other; `start` and `end` are offsets in the text."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file's text, its pieces, and its syntax tree. `read_source` gives the same object for the same text."""

    text: str
    pieces: tuple[Piece, ...]
    tree: ast.Module
    starts: tuple[int, ...]
    """Where each line begins."""

    def line_of(self, offset: int) -> int:
        """The number of the line an offset lies in, counted from 1."""
        return bisect_right(self.starts, offset)

    def index_at(self, offset: int) -> int:
        """The index of the first piece that begins at an offset or behind it."""
        return bisect_left(self.pieces, offset, key=lambda piece: piece.start)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place as the syntax tree gives it: the column counts bytes of UTF-8."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        content = self.text[start:end]
        return start + (column if content.isascii() else len(content.encode()[:column].decode()))


@lru_cache(maxsize=256)
def read_source(text: str) -> Source:
    """Take Python text apart.

    Raises:
        Unreadable: a syntax error, or a lone carriage return, which tokenizer and parser count differently.
    """
    if "\r" in text.replace("\r\n", ""):
        raise Unreadable("it has carriage returns that end no line")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's text is not our news
            tree = ast.parse(text)
            compile(tree, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Unreadable(f"syntax error in line {error.lineno or '?'}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(str(error) or type(error).__name__) from None
    starts = (0, *(place + 1 for place, char in enumerate(text) if char == "\n"))
    try:
        pieces = tuple(_pieces(text, starts))
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unreadable(f"the tokenizer refuses it: {error}") from None
    return Source(text, pieces, tree, starts)


def _pieces(text: str, starts: tuple[int, ...]) -> Iterator[Piece]:
    depth, begin, nested = 0, 0, list[Piece]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1] if token.start[0] <= len(starts) else len(text)
        piece = Piece(_KINDS.get(token.type, "other"), token.string, start, start + len(token.string))
        name = tokenize.tok_name[token.type]
        if name in _NESTED_STRING:
            begin = begin if depth else start
            depth += name.endswith("START")
        elif name in _NESTED_END:
            depth -= 1
            if not depth:
                yield from _with_gaps(text, begin, piece.end, nested)
                nested = []
        elif depth and nested and nested[-1].text == "!":
            nested.pop()  # `!r` is a conversion, not a name
        elif depth:
            nested.append(piece)
        elif piece.kind == "string" and "f" in _prefix(piece.text):
            yield from _with_gaps(text, piece.start, piece.end, list(_field_pieces(piece)))
        else:
            yield piece


def _prefix(literal: str) -> str:
    return literal[: len(literal) - len(literal.lstrip("rRbBuUfFtT"))].lower()


def _with_gaps(text: str, start: int, end: int, inner: list[Piece]) -> Iterator[Piece]:
    """Give the code of a formatted string, and what lies between as strings."""
    edges = [Piece("", "", start, start), *inner, Piece("", "", end, end)]
    for before, after in pairwise(edges):
        if gap := text[before.end : after.start].strip():
            place = text.index(gap, before.end)
            yield Piece("string", gap, place, place + len(gap))
        if after.kind:
            yield after


def _field_pieces(literal: Piece) -> Iterator[Piece]:
    """Give the tokens of the replacement fields of an f-string that came as one token."""
    text, prefix = literal.text, _prefix(literal.text)
    quotes = 3 if text[len(prefix) :][:3] in {"'''", '"""'} else 1
    end, place = len(text) - quotes, len(prefix) + quotes
    while place < end:
        if text.startswith(("{{", "}}"), place):
            place += 2
        elif text.startswith("\\N{", place) and "r" not in prefix:
            place = text.index("}", place) + 1
        elif text[place] == "\\" and "r" not in prefix:
            place += 1 if text[place + 1 : place + 2] == "{" else 2
        elif text[place] == "{":
            inner, place = _field(text, place + 1, end)
            yield from (
                piece._replace(start=piece.start + literal.start, end=piece.end + literal.start)
                for piece in inner
            )
        else:
            place += 1


def _field(text: str, start: int, end: int) -> tuple[list[Piece], int]:
    """Read one field from after its brace: its pieces, and the place after its closing brace."""
    stop = _expression_end(text, start, end)
    pieces = _expression(text[start:stop], start)
    place = stop
    if text[place : place + 1] == "!":
        place += 2
    if text[place : place + 1] != ":":
        return pieces, text.index("}", place) + 1
    place += 1
    while place < end and text[place] != "}":  # the format, which may hold fields itself
        if text[place] == "{":
            inner, place = _field(text, place + 1, end)
            pieces += inner
        else:
            place += 1
    return pieces, place + 1


def _expression_end(text: str, place: int, end: int) -> int:
    """Find where the expression of a field ends: at a brace, a conversion or a format outside all brackets."""
    depth = 0
    while place < end:
        char = text[place]
        if char in "'\"":
            place = _string_end(text, place)
            continue
        if depth == 0 and (char in "}:" or (char == "!" and text[place + 1 : place + 2] != "=")):
            return place
        depth += (char in "([{") - (char in ")]}")
        place += 2 if char == "!" else 1
    return end


def _string_end(text: str, place: int) -> int:
    quote = text[place] * 3 if text.startswith(text[place] * 3, place) else text[place]
    return text.index(quote, place + len(quote)) + len(quote)


def _expression(code: str, start: int) -> list[Piece]:
    wrapped = f"({code})"  # in brackets a line break is no end
    starts = (0, *(place + 1 for place, char in enumerate(wrapped) if char == "\n"))
    inner = [piece for piece in _pieces(wrapped, starts) if piece.text.strip()]
    return [piece._replace(start=piece.start - 1 + start, end=piece.end - 1 + start) for piece in inner[1:-1]]

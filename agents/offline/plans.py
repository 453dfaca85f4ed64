"""What is to change in one file, and what was found and left alone, as plain values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .source import Piece, Source
from .wording import Order

GENERATED = "a program writes this file"
_SAYS_SO = re.compile(r"\bDO NOT (?:EDIT|MODIFY)\b|@generated\b", re.IGNORECASE)
_HEAD_LINES = 15


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Text from `start` to `end` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True, order=True)
class Left:
    """A use that was found and not changed."""

    why: str
    line: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one file, none overlapping, and what is left. `notes` are for the person."""

    spans: tuple[Span, ...] = ()
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()

    def apply(self, text: str) -> str:
        """Give the text as it is to be."""
        parts: list[str] = []
        done = 0
        for span in self.spans:
            parts += [text[done : span.start], span.new]
            done = span.end
        return "".join([*parts, text[done:]])


def is_generated(text: str) -> bool:
    """Whether a file says at its head that a program writes it: whoever edits it loses the edit with the next run."""
    return any(_SAYS_SO.search(line) for line in text.split("\n", _HEAD_LINES)[:_HEAD_LINES])


def word(name: str) -> re.Pattern[str]:
    """A pattern for a name as a whole word, dotted or not."""
    return re.compile(
        rf"(?<![\w.]){re.escape(name)}(?!\w)" if "." in name else rf"(?<!\w){re.escape(name)}(?!\w)"
    )


def in_text(source: Source, old: str, new: str, order: Order) -> tuple[list[Span], list[Left]]:
    """Find a name in strings and comments: spans where the order asks for them, else what is left."""
    spans: list[Span] = []
    left: list[Left] = []
    pattern, annotations = word(old), _quoted_annotations(source)
    for piece in source.pieces:
        if piece.kind not in {"string", "comment"}:
            continue
        for found in pattern.finditer(piece.text, _content_start(piece)):
            at = piece.start + found.start()
            if order.strings if piece.kind == "string" else order.comments:
                spans.append(Span(at, at + len(old), new))
            else:
                where = "quoted annotations" if piece.start in annotations else f"{piece.kind}s"
                left.append(Left(f"in {where}", source.line_of(at)))
    return spans, left


def _quoted_annotations(source: Source) -> frozenset[int]:
    """Where annotations (and the first argument of `cast`) are written as strings: text that type checkers read as code."""
    wanted: list[ast.expr | None] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            wanted.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            wanted.append(node.returns)
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func).endswith("cast"):
            wanted.append(node.args[0])
    return frozenset(
        source.offset(inner.lineno, inner.col_offset)
        for expression in wanted
        if expression is not None
        for inner in ast.walk(expression)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )


def _content_start(piece: Piece) -> int:
    """Where the words of a string begin: after its prefix and quotes, or a conversion such as `!r`."""
    head = re.match(r"[A-Za-z]{0,3}['\"]+|![a-z]", piece.text) if piece.kind == "string" else None
    return head.end() if head else 0


def plan_of(spans: Iterable[Span], left: Iterable[Left], notes: Iterable[str] = ()) -> Plan:
    """Put a plan in order; of spans that overlap the first stands."""
    kept: list[Span] = []
    for span in sorted(set(spans)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return Plan(tuple(kept), tuple(sorted(left)), tuple(dict.fromkeys(notes)))

"""Walking the sources of the checkout, each file once under its own name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def sources(root: Path, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give path (from `root`, with `/`) and text of each Python file below the folders."""
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            # the links in src/decurion lead to files that are seen under their own name
            if not any(parent.is_symlink() for parent in file.parents):
                yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """Give every node of a source text."""
    return tuple(ast.walk(ast.parse(text)))


def statements(text: str) -> Iterator[ast.stmt]:
    """Give every statement of a source text, without looking into expressions, which are most of its nodes."""
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            waiting += inner if isinstance(inner, list) else ()

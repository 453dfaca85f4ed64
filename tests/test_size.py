"""No file and no function grows past what a reader holds in the head.

A waiver names its reason; an outdated one fails too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import nodes, sources

pytestmark = pytest.mark.unmeasured  # reads files, runs nothing of ours

LIMIT = 350  # lines of a file
FUNCTION_LIMIT = 50  # lines of a function, its signature and docstring included
FOLDERS = ("hooks", "agents", "orchestrator", "src", "bench")
WAIVERS: dict[str, str] = {}  # path from the top of the checkout: why it may be longer
FUNCTION_WAIVERS: dict[str, str] = {}  # path:name: why it may be longer


def test_no_source_file_is_longer_than_the_limit(checkout: Path) -> None:
    too_long = {path: lines for path, lines in _files(checkout) if lines > LIMIT and path not in WAIVERS}
    assert too_long == {}, f"split these files, or add a waiver with its reason: {too_long}"


def test_no_function_is_longer_than_the_limit(checkout: Path) -> None:
    too_long = {
        name: lines
        for name, lines in _functions(checkout)
        if lines > FUNCTION_LIMIT and name not in FUNCTION_WAIVERS
    }
    assert too_long == {}, f"split these functions, or add a waiver with its reason: {too_long}"


def test_every_waiver_is_still_needed_and_has_a_reason(checkout: Path) -> None:
    files, functions = dict(_files(checkout)), dict(_functions(checkout))
    outdated = [path for path, why in WAIVERS.items() if files.get(path, 0) <= LIMIT or not why.strip()]
    outdated += [
        name
        for name, why in FUNCTION_WAIVERS.items()
        if functions.get(name, 0) <= FUNCTION_LIMIT or not why.strip()
    ]
    assert outdated == []


def _files(root: Path) -> Iterator[tuple[str, int]]:
    for path, text in sources(root, FOLDERS):
        yield path, len(text.splitlines())


def _functions(root: Path) -> Iterator[tuple[str, int]]:
    for path, text in sources(root, FOLDERS):
        for node in nodes(text):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1

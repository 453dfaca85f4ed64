"""The compiled requirements files say what pyproject.toml says, and name no place to fetch from."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.sources import sources, statements

pytestmark = pytest.mark.unmeasured  # reads files, runs nothing of ours

OURS = {"decurion", "tests", "bench"}
PROGRAMS = {"ripgrep", "shfmt-py"}  # run, not imported
FILES = ("run.txt", "test.txt", "dev.txt")


def pins(text: str) -> dict[str, str]:
    """Name to version of each pinned line."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", FILES)
def test_every_direct_dependency_is_pinned(name: str, checkout: Path) -> None:
    wanted = _names(_project(checkout)["project"]["dependencies"])
    pinned = pins((checkout / "requirements" / name).read_text(encoding="utf-8"))
    assert wanted - set(pinned) == set(), "run `make lock`"


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_a_hash_and_no_line_an_address(name: str, checkout: Path) -> None:
    text = (checkout / "requirements" / name).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert [line for line in text.splitlines() if "://" in line or line.lstrip().startswith("--index")] == []


def test_the_smaller_files_hold_the_same_pins(checkout: Path) -> None:
    run, test, dev = (pins((checkout / "requirements" / name).read_text(encoding="utf-8")) for name in FILES)
    assert run.items() <= test.items() <= dev.items()


def test_every_import_is_a_declared_dependency(checkout: Path) -> None:
    project = _project(checkout)
    shipped = _distributions(sources(checkout, ("hooks", "agents", "orchestrator", "src")))
    run = _names(project["project"]["dependencies"])
    assert shipped - run == set(), "declare what is imported, even where another dependency brings it"
    used = _distributions(sources(checkout, ("tests", "bench")))
    test = _names(line for line in project["dependency-groups"]["test"] if isinstance(line, str))
    assert used - run - test == set()


def test_every_dependency_is_used(checkout: Path) -> None:
    shipped = _distributions(sources(checkout, ("hooks", "agents", "orchestrator", "src")))
    assert _names(_project(checkout)["project"]["dependencies"]) - shipped - PROGRAMS == set()


def _project(checkout: Path) -> dict[str, Any]:
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))


def _names(lines: Iterable[str]) -> set[str]:
    return {re.split(r"[\[<>=! ]", line)[0] for line in lines}


def _distributions(files: Iterable[tuple[str, str]]) -> set[str]:
    """Name the distributions that the import statements of these files need."""
    tops = {name.partition(".")[0] for _, text in files for name in _imported(text)}
    known = packages_distributions()
    return {known.get(top, [top])[0].lower() for top in tops - sys.stdlib_module_names - OURS}


def _imported(text: str) -> Iterator[str]:
    for node in statements(text):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""

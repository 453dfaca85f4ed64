"""Hold what a report claims against what is known: files said to be changed, commands said to have passed.

Reads plain English by its marks (verbs, paths, commands in backticks), so it finds claims and not lies: what it names
is for the lead to look at. A sentence that negates or plans claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

MOST = 10
"""Claims that are listed; a report with more is to be read as a whole."""

_CHANGED = re.compile(
    r"\b(add|chang|convert|creat|delet|edit|fix|implement|modif|mov|refactor|remov|renam|replac|rewr|updat|wr)"
    r"(ed|ied|d|itten|ote|otten)\b",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b(pass(es|ed)?|succeed(s|ed)?|success(ful(ly)?)?|green|is clean|are clean)\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"\b(not|no|never|nothing|without|unchanged|cannot|could|would|should|will|already|fail(s|ed|ing)?|if|unless"
    r"|left|untouched|instead of)\b|n't\b",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w/.:-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}(?![\w/])|(?<![\w/.:-])(?:[\w.@-]+/)+[\w.@-]+"
)
_CODE = re.compile(r"`([^`\n]+)`")
_TESTS = re.compile(r"\b(tests?|test suite|suite)\b", re.IGNORECASE)
_CHECKS = re.compile(r"\b(checks?|lint(er)?|types?|build)\b", re.IGNORECASE)
_TEST_RUN = re.compile(
    r"\b(pytest|unittest|tox|nox|make|test|tests|jest|vitest|cargo|go|npm|pnpm|yarn|gradle|mvn|ctest|verify)\b"
)
_CHECK_RUN = re.compile(
    _TEST_RUN.pattern + r"|\b(ruff|mypy|pyright|ty|flake8|eslint|tsc|compileall|check|lint|build)\b"
)
_NOT_FILES = re.compile(r"^\d+(\.\d+)*$|^(e\.g|i\.e|etc)\.?$|^[A-Z][a-z]+\.[A-Z]|\(\)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Run:
    """A shell command that ran, and its exit status."""

    command: str
    status: int


def not_borne_out(report: str, changed: Collection[str], runs: Sequence[Run]) -> tuple[str, ...]:
    """The claims of a report for which there is no evidence, in its order, each once and in words.

    `changed` are the files that differ (or that the agent's tools wrote), `runs` its commands, oldest first.
    """
    claims: dict[str, None] = {}
    for sentence, is_about_changes in _sentences(report):
        if is_about_changes:
            claims.update(dict.fromkeys(_files_without(sentence, changed, runs)))
        if _PASSED.search(sentence):
            claims.update(dict.fromkeys(_passes_without(sentence, runs)))
    return tuple(claims)[:MOST]


def _sentences(report: str) -> Iterator[tuple[str, bool]]:
    """The sentences that claim something, and whether they are about changes; a heading speaks for its list."""
    heading = False
    for line in report.splitlines():
        is_item = re.match(r"\s*([-*+]|\d+[.)])\s", line) is not None
        heading = heading and (is_item or not line.strip())
        for sentence in re.split(r"(?<=[.!?;])\s+", line):
            if sentence.strip() and not _DENIED.search(_CODE.sub("", sentence)):
                yield sentence, heading or _CHANGED.search(sentence) is not None
        if line.rstrip().endswith(":") and not is_item:
            heading = _CHANGED.search(line) is not None and not _DENIED.search(line)


def _files_without(sentence: str, changed: Collection[str], runs: Sequence[Run]) -> Iterator[str]:
    for found in _PATH.findall(sentence):
        path = found.rstrip(".")
        known = any(_same(path, name) for name in changed)
        if not known and not _NOT_FILES.search(path) and not any(path in run.command for run in runs):
            yield f"`{path}` is said to be changed, but it is not"


def _same(said: str, name: str) -> bool:
    one, other = f"/{said.removeprefix('./').strip('/')}", f"/{name}"
    return one.endswith(other) or other.endswith(one) or other.startswith(f"{one}/")


def _passes_without(sentence: str, runs: Sequence[Run]) -> Iterator[str]:
    commands = [code for code in _CODE.findall(sentence) if " " in code or _CHECK_RUN.search(code)]
    named = [command for command in commands if not _PATH.fullmatch(command)]
    for command in named:
        mine = [run for run in runs if command in run.command]
        if not mine:
            yield f"`{command}` is said to have passed, but it was not run"
        elif mine[-1].status != 0:
            yield f"`{command}` is said to have passed, but its last run ended with status {mine[-1].status}"
    kind = _TEST_RUN if _TESTS.search(sentence) else _CHECK_RUN if _CHECKS.search(sentence) else None
    if named or kind is None:
        return
    tests = [run for run in runs if kind.search(run.command)]
    if not tests:
        yield "tests are said to pass, but no command that tests was run"
    elif tests[-1].status != 0:
        yield f"tests are said to pass, but `{tests[-1].command[:80]}` ended with status {tests[-1].status}"

"""Compilers and test runners: source that the same command wrote is scanned where it is built, run or tested."""

from __future__ import annotations

import re

from ...frozen import replace
from ..events import ExecEvent, Value
from ..machine import Frame, Machine, Outcome, State
from ..redirects import content_of
from .scripts import run_source

SOURCES = re.compile(
    r"\.(?:go|rs|c|cc|cpp|cxx|h|java|kt|kts|zig|nim|cr|cs|swift|d|m|hs|ml|v|scala|ts|mts|js|mjs)$"
)


def build(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`go run x.go`, `gcc x.c`, `javac X.java`: every source file that is known."""
    name = event.name or ""
    inner = replace(fr, via=(*fr.via, name), depth=fr.depth + 1)
    named = [(value.text or "", content_of(m, st, value)) for value in event.argv]
    texts = [text for path, text in named if text is not None and SOURCES.search(path)]
    if not texts:
        texts = [text for path, text in _made(st) if SOURCES.search(path)]
    for text in texts:
        run_source(m, st, inner, name, text, ())
    return None


def test(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`pytest`: test files and what pytest loads by itself, as far as the command wrote them."""
    from .python import run_python

    inner = replace(fr, via=(*fr.via, event.name or ""), depth=fr.depth + 1)
    for path, text in _made(st):
        if path.endswith(".py"):
            run_python(m, st, inner, text, event)
    return None


def _made(st: State) -> list[tuple[str, Value]]:
    return [(path, text) for path, file in list(st.files.items()) for text in file.contents]


__all__ = ("build", "test")

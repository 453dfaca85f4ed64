"""Compilers and test runners: source that the same command wrote is scanned where it is built, run or tested."""

from __future__ import annotations

import re

from ..code import run_shell
from ..events import ExecEvent, Value
from ..machine import Frame, Machine, Outcome, State
from ..options import values_of
from ..programs import run_argv
from ..redirects import content_of
from .scripts import run_source

SOURCES = re.compile(
    r"\.(?:go|rs|c|cc|cpp|cxx|h|java|kt|kts|zig|nim|cr|cs|swift|d|m|hs|ml|v|scala|dart|ts|mts|js|mjs)$"
)


EVALUATES = {
    "crystal": ("", "eval"),
    "nim": ("", "eval"),
    "kotlin": ("e", "expression"),
    "dart": ("", "eval"),
}
"""Compilers that also take code as an argument, and the options for it."""


def build(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`go run x.go`, `gcc x.c`, `javac X.java`: every source file that is known."""
    name = event.name or ""
    inner = fr.within(name)
    if name in EVALUATES:
        for code in values_of(event.argv, *EVALUATES[name]):
            run_source(m, st, inner, name, code, ())
        words = [value for value in event.argv[1:] if not value.prefix.startswith("-")]
        if event.argv and event.argv[0].text in {"eval", "e"} and words:
            run_source(m, st, inner, name, words[0], ())
    for value in values_of(event.argv, "", "wrapper"):
        run_argv(m, st.fork(), inner, [m.value(word) for word in m.hide(value).split(",")])
    for code in values_of(event.argv, "", "toolexec", "exec") if name == "go" else ():
        run_shell(m, st, inner, code, name)
    if "-" in event.words and st.unread is not None and not st.unread.is_opaque:
        run_source(m, st, inner, name, st.unread, ())
    named = [(value.text or "", content_of(m, st, value)) for value in event.argv]
    texts = [text for path, text in named if text is not None and SOURCES.search(path)]
    if not texts and name not in fr.via:
        texts = [text for path, text in _made(st) if SOURCES.search(path)]
    for text in texts:
        run_source(m, st, inner, name, text, ())
    return None


def test(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`pytest`: test files and what pytest loads by itself, as far as the command wrote them."""
    from .python import run_python

    inner = fr.within(event.name or "")
    for path, text in _made(st):
        if path.endswith(".py"):
            run_python(m, st, inner, text, event)
    return None


def _made(st: State) -> list[tuple[str, Value]]:
    return [(path, text) for path, file in list(st.files.items()) for text in file.contents]


__all__ = ("build", "test")

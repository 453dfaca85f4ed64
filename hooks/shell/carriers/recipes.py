"""just and task: recipes of files that the same command wrote or feeds."""

from __future__ import annotations

import re

from ..code import note_fetched_code, run_shell
from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import operands, values_of
from ..redirects import content_of

FILES = {
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"),
    "mask": ("maskfile.md",),
}
OPTIONS = {"just": ("f", "justfile"), "task": ("t", "taskfile"), "mask": ("", "maskfile")}
LINES = {
    "just": r"(?m)^(?:[ \t]+[@-]*|.*:=\s*`)([^\n`]*)",
    "task": r"(?m)^\s*-?\s*(?:-\s+|cmd:\s*|sh:\s*)[\"']?([^\n\"']*)",
    "mask": r"(?m)^([^\n#`]+)$",
}
"""Where in a file a command line stands."""


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Follow every recipe of a file that the command wrote, else those asked for; `just --command program`."""
    name = event.name or "just"
    inner = fr.within(name)
    short, long = OPTIONS[name]
    named = list(values_of(event.argv, short, long))
    for file in named or [literal(default) for default in FILES[name]]:
        text = _content(m, st, fr, file)
        if text is not None:
            note_fetched_code(m, fr, text, name)
        for found in re.finditer(LINES[name], _asked(m, text, name, event) if text is not None else ""):
            run_shell(m, st, inner, m.value(re.sub(r"\{\{.*?\}\}", "x", found[1])), name)
    texts = [value.text for value in event.argv]
    for option in ("--command", "-c"):
        if name == "just" and option in texts:
            from ..programs import run_argv

            return run_argv(m, st.fork(), inner, list(event.argv[texts.index(option) + 1 :]))
    return None


def _asked(m: Machine, text: Value, name: str, event: ExecEvent) -> str:
    """A file's text; of one that stood there before, the recipes asked for, as far as they can be told apart."""
    if not m.is_from_disk(text):
        return m.hide(text)
    from .targets import only

    targets = [value.text for value in operands(event.argv, "fd") if value.text and "=" not in value.text]
    return only(m.hide(text), targets) if name == "just" else ""


def _content(m: Machine, st: State, fr: Frame, file: Value) -> Value | None:
    if file.text in {"-", "/dev/stdin"}:
        return st.unread if st.unread is not None else fr.stdin.text
    return content_of(m, st, file)


__all__ = ("run",)

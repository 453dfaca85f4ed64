"""Shells: `-c` code, scripts, standard input; `source`; scripts that the command wrote itself; multicall binaries."""

from __future__ import annotations

import posixpath
import re

from ...frozen import replace
from ..code import note_unknown_code, run_code, run_traps
from ..events import ExecEvent, Value, literal
from ..loops import note_endless_input
from ..machine import DONE, Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv
from ..tables import HANDLERS
from ..unpacked import script_at
from ..values import unknown

VALUED = "oO"
LONG = frozenset({"rcfile", "init-file"})


def shell(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`sh`, `bash` and kin."""
    words = event.argv
    if has(words, "n") and not has(words, "c"):
        return None
    inner = fr.within(event.name or "sh")
    for file in values_of(words, "", "rcfile", "init-file"):
        source_file(m, st.fork(), inner, file, "--rcfile")
    at = _first_operand(words)
    rest = words[at:]
    if _wants_code(words[:at]):
        return _code(m, st, inner, event, rest) if rest else None
    if rest and not has(words[:at], "s"):
        return _script(m, st, inner, event, rest)
    return read_stdin(m, st, inner, event, rest)


def _first_operand(words: tuple[Value, ...]) -> int:
    index = 0
    while index < len(words):
        text = words[index].text
        if text is None:
            return index
        if text in {"--", "-"}:
            return index + 1
        if text[:1] not in {"-", "+"}:
            return index
        valued = not text.startswith("--") and text[-1:] in VALUED
        index += 2 if valued or text.lstrip("-") in LONG else 1
    return index


def _wants_code(options: tuple[Value, ...]) -> bool:
    return any(re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*|--command", value.text or "") for value in options)


def _fresh(st: State, script: Value, args: tuple[Value, ...]) -> State:
    inside = st.fork()
    inside.script, inside.positional = script, args
    inside.traps = ()
    inside.aliases = {}
    inside.functions = {name: bodies for name, bodies in st.functions.items() if f"{name}()" in st.exported}
    return inside


def _code(m: Machine, st: State, fr: Frame, event: ExecEvent, rest: tuple[Value, ...]) -> Outcome:
    code, *args = rest
    inside = _fresh(st, args[0] if args else event.program, tuple(args[1:]))
    # A tail that is a shell with `-c` is no mere mention any more.
    outcome = run_code(m, inside, replace(fr, speculative=False), code, event.name or "sh")
    return _leave(m, st, inside, fr, outcome)


def _leave(m: Machine, st: State, inside: State, fr: Frame, outcome: Outcome) -> Outcome:
    outcome = run_traps(m, inside, fr, outcome)
    st.take_files(inside)
    return Outcome(outcome.out, outcome.status)


def _script(m: Machine, st: State, fr: Frame, event: ExecEvent, rest: tuple[Value, ...]) -> Outcome | None:
    script = rest[0]
    if script.text in {"/dev/stdin", "-", "/proc/self/fd/0", "/dev/fd/0"}:
        return read_stdin(m, st, fr, event, rest[1:])
    content = script_at(m, st, script)
    if content is None:
        return as_program(m, st, fr, script, rest[1:], event.name or "sh")
    inside = _fresh(st, script, rest[1:])
    if _bombed(m, inside, fr, script):
        return DONE
    outcome = run_code(m, inside, fr, content, event.name or "sh")
    return _leave(m, st, inside, fr, outcome)


_INSTALLED = re.compile(
    r".*/(npm|npx|yarn|pnpm)(?:-cli)?\.c?js|(?:/.*|.*node_modules|.*venv|\.tox/.*)/\.?bin/([\w.-]+)"
)
"""The path of a program that is installed, under which an interpreter may run it."""


def as_program(
    m: Machine, st: State, fr: Frame, script: Value, args: tuple[Value, ...], program: str
) -> Outcome | None:
    """A script that nobody has read: an installed program by its path (`node "$(which npm)"`), or unknown code."""
    found = _INSTALLED.fullmatch(script.text or "")
    name = (found[1] or found[2]) if found else ""
    if name in m.guarded:
        return run_argv(m, st.fork(), fr, [literal(name), *args], functions=False)
    note_unknown_script(m, fr, script, program)
    return None


def note_unknown_script(m: Machine, fr: Frame, script: Value, program: str) -> None:
    """A script by a name that is known is some file of the project; by an unknown name it is unknown code."""
    if script.is_opaque and not all(hole.digits for hole in script.holes):
        note_unknown_code(m, fr, script, program)


def read_stdin(m: Machine, st: State, fr: Frame, event: ExecEvent, args: tuple[Value, ...]) -> Outcome | None:
    """Standard input is code."""
    text = st.unread if st.unread is not None else fr.stdin.text
    if fr.stdin.kind in {"inherit", "null"} and st.unread is None:
        return None
    if text is None:
        text = unknown("standard input", fr.stdin.upstream)
    if text.is_opaque and own_file(m, st, fr, text):
        return None
    inside = _fresh(st, event.program, args)
    note_endless_input(m, fr, (), [text])
    inner = replace(fr, stdin=replace(fr.stdin, kind="inherit", text=None, upstream=()))
    inside.unread = None
    outcome = run_code(m, inside, inner, with_upstream(text, fr), event.name or "sh")
    return _leave(m, st, inside, fr, outcome)


def with_upstream(text: Value, fr: Frame) -> Value:
    """Opaque input knows the commands that feed it."""
    if text.is_opaque and not text.sources and fr.stdin.upstream:
        return unknown(text.show().strip("<>"), fr.stdin.upstream)
    return text


def own_file(m: Machine, st: State, fr: Frame, text: Value) -> bool:
    """True if the input is just a named file (`sh < x.sh`, `cat x.sh | sh`): the same as running it by name."""
    del m, st
    feeders = text.sources or fr.stdin.upstream
    if fr.stdin.kind == "file" and not feeders:
        targets = [item.target for item in fr.redirects if item.op == "<"]
        return bool(targets) and targets[-1].text is not None and not targets[-1].text.startswith("/dev/")
    named = [event for event in feeders if event.name == "cat" and event.argv]
    return (
        bool(feeders)
        and len(named) == len(feeders)
        and all(word and not word.startswith(("/dev/", "/proc/")) for event in named for word in event.words)
    )


def source(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`source FILE args`: in this very shell."""
    words = event.argv[1:] if event.argv and event.argv[0].text == "--" else event.argv
    if not words:
        return None
    file, *args = words
    saved = st.positional
    st.positional = tuple(args) or saved
    inner = fr.within("source")
    outcome = source_file(m, st, inner, file, "source")
    st.positional = saved
    return outcome


def source_file(m: Machine, st: State, fr: Frame, value: Value, name: str) -> Outcome | None:
    """Run a file's text in the given state."""
    if value.text in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        text = st.unread if st.unread is not None else fr.stdin.text
        content = text if text is not None else unknown("standard input", fr.stdin.upstream)
    else:
        found = script_at(m, st, value)
        if found is None:
            note_unknown_script(m, fr, value, name)
            return None
        content = found
    return run_code(m, st, fr, content, name)


def run_script(m: Machine, st: State, fr: Frame, event: ExecEvent, content: Value) -> Outcome:
    """Run a script file by its `#!` line, else as shell code."""
    first = content.prefix.partition("\n")[0]
    inner = replace(fr, via=(*fr.via, event.program.show()), depth=fr.depth + 1)
    if first.startswith("#!"):
        words = first[2:].split(None, 1)
        name = posixpath.basename(words[0]) if words else "sh"
        if name not in {"sh", "bash", "dash", "zsh", "ksh", "ash"}:
            if name in m.guarded and HANDLERS.get(name, "files:").startswith("files:"):
                m.unchecked("code", fr.segment, f"the script's first line hands it to {name}", program=name)
            argv = [literal(word) for word in words]
            return run_argv(m, st, inner, [*argv, event.program, *event.argv])
    inside = _fresh(st, event.program, event.argv)
    if _bombed(m, inside, fr, event.program):
        return DONE
    outcome = run_code(m, inside, inner, content, event.program.show())
    return _leave(m, st, inside, inner, outcome)


def _bombed(m: Machine, st: State, fr: Frame, script: Value) -> bool:
    key = f"script {script.show()}"
    levels = [level for known, level in st.calls if known == key]
    if levels and fr.asynchronous > levels[0]:
        m.fork_bomb = m.fork_bomb or fr.segment
    if len(levels) > 1 or m.fork_bomb:
        return True
    st.calls = (*st.calls, (key, fr.asynchronous))
    return False


def multicall(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`busybox rm …`, `coreutils --coreutils-prog=rm …`."""
    words = list(event.argv)
    inner = fr.within(event.name or "")
    chosen = next(values_of(words, "", "coreutils-prog", "coreutils-prog-shebang"), None)
    if chosen is not None:
        return run_argv(m, st, inner, [chosen, *words[1:]], functions=False)
    at = skip(words)
    return run_argv(m, st, inner, words[at:], functions=False) if words[at:] else None

"""Python one-liners, here-documents and scripts written in the same command, followed by `ast`.

Statements run in order with constants propagated; calls that reach the system become events as if a shell had made
them (`shutil.rmtree(p)` is `rm -rf p`), so that one set of rules judges both.
"""

from __future__ import annotations

import re

from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import after, values_of
from ..programs import run_argv
from ..redirects import content_of
from ..unpacked import script_at, unpack
from ..values import unknown
from .shells import as_program, own_file, with_upstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_walk import Walker

MODULES_THAT_RUN = {
    "timeit": "code", "cProfile": "script", "profile": "script", "pdb": "script", "trace": "script", "runpy": "script",
    "coverage": "script", "debugpy": "script",
}  # fmt: skip


def python(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`python -c code`, `python script`, `python -` or code from standard input, `python -m module`."""
    words = event.argv
    inner = fr.within(event.name or "python")
    _own_start(m, st, inner, event)
    index = 0
    while index < len(words):
        text = words[index].prefix if words[index].text is None else words[index].text or ""
        if text in {"-", "--"} or not text.startswith("-"):
            break
        found = re.match(r"-[A-Za-z]*?([cm])", text) if not text.startswith("--") else None
        if found:
            return _option(m, st, inner, event, index, found)
        index += 2 if text in {"-W", "-X"} else 1
    if index < len(words) and words[index].text != "-":
        return _script(m, st, inner, event, words[index:])
    return _stdin(m, st, inner, event, words[index + 1 :])


def _own_start(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    """What the command wrote where Python loads it by itself."""
    for path, file in list(st.files.items()):
        if path.endswith(("/sitecustomize.py", "/usercustomize.py")) and file.contents:
            run_python(m, st, fr, file.contents[-1], event)


def _option(
    m: Machine, st: State, fr: Frame, event: ExecEvent, index: int, found: re.Match[str]
) -> Outcome | None:
    words = event.argv
    attached = after(words[index], found.end())
    rest = words[index + 1 :]
    target = attached if attached.parts else rest[0] if rest else Value()
    args = rest if attached.parts else rest[1:]
    if found[1] == "c":
        return run_python(m, st, fr, target, event, args)
    return _module(m, st, fr, event, target.text or "", args)


def _module(
    m: Machine, st: State, fr: Frame, event: ExecEvent, name: str, args: tuple[Value, ...]
) -> Outcome | None:
    kind = MODULES_THAT_RUN.get(name)
    if kind == "code":
        for value in args:
            run_python(m, st, fr, value, event)
        return None
    if name in {"zipfile", "tarfile"} and len(args) > 1 and args[0].text in {"-e", "--extract"}:
        unpack(m, st, content_of(m, st, args[1]), args[1].show(), args[2] if len(args) > 2 else None)
    if name == "pdb":
        for code in values_of(args, "c", "command"):
            run_python(m, st, fr, after(code, 1) if code.prefix.startswith("!") else code, event)
    if kind == "script":
        rest = [
            value
            for value in args
            if value.text not in {"run", "-m", "-s"} and not value.prefix.startswith("-")
        ]
        return _script(m, st, fr, event, tuple(rest)) if rest else None
    own = content_of(m, st, literal(f"{name.replace('.', '/')}.py")) if st.files and name else None
    if own is not None:
        return run_python(m, st, fr, own, event, args)
    # `python -m twine upload` is `twine upload`: the module is a program of that name.
    if name == "http.server":
        return run_argv(m, st, fr, [literal(name), *args, *(() if args else (literal("."),))])
    return run_argv(m, st, fr, [literal(name.partition(".")[0]), *args]) if name else None


def _script(m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]) -> Outcome | None:
    script = words[0]
    if script.text in {"/dev/stdin", "/dev/fd/0"}:
        return _stdin(m, st, fr, event, words[1:])
    if (script.text or "").rpartition("/")[2] == "manage.py":
        from .frameworks import django_words

        django_words(m, st, fr, words[1:])
    content = script_at(m, st, script, "python")
    if content is None:
        return as_program(m, st, fr, script, words[1:], event.name or "python")
    return run_python(m, st, fr, content, event, words[1:])


def _stdin(m: Machine, st: State, fr: Frame, event: ExecEvent, args: tuple[Value, ...]) -> Outcome | None:
    text = st.unread if st.unread is not None else fr.stdin.text
    if fr.stdin.kind in {"inherit", "null"} and st.unread is None:
        return None
    if text is None:
        text = unknown("standard input", fr.stdin.upstream)
    if text.is_opaque and own_file(m, st, fr, text):
        return None
    return run_python(m, st, fr, with_upstream(text, fr), event, args)


def run_python(
    m: Machine, st: State, fr: Frame, code: Value, event: ExecEvent, args: tuple[Value, ...] = ()
) -> Outcome | None:
    """Follow Python source. Source that is unknown is taken down as unchecked; what is no Python cannot run."""
    walker = walked(m, st, fr, code, event, args)
    return Outcome(walker.out) if walker is not None and walker.certain else None


def run_every_function(m: Machine, st: State, fr: Frame, code: Value, event: ExecEvent) -> None:
    """Follow Python source and call each function in it: tests and tasks, which some tool will call."""
    walker = walked(m, st, fr, code, event, ())
    if walker is not None:
        for function in list(walker.functions.values()):
            walker.enter(function, [], {})


def walked(
    m: Machine, st: State, fr: Frame, code: Value, event: ExecEvent, args: tuple[Value, ...]
) -> Walker | None:
    """Walk Python source; None where there is nothing to walk."""
    from ..code import check_source, note_fetched_code, note_unknown_code
    from .python_walk import Walker

    if code.is_opaque:
        note_unknown_code(m, fr, code, event.name or "python")
        return None
    note_fetched_code(m, fr, code, event.name or "python")
    check_source(code)
    import ast
    import warnings

    source = m.hide(code)
    if "!" in source and event.name in {"ipython", "jupyter"}:
        from ..code import run_shell

        for line in re.findall(r"(?m)^\s*!+(.*)$", source):
            run_shell(m, st, fr, m.value(line), event.name or "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError):
        _note_unreadable(m, fr, source, event)
        return None
    walker = Walker(m, st, fr, args)
    walker.body(tree.body)
    walker.finish()
    return walker


_TELLING = re.compile(
    r"system|popen|subprocess|spawn|rmtree|unlink|remove|exec|eval|import_module|__import__"
)


def _note_unreadable(m: Machine, fr: Frame, source: str, event: ExecEvent) -> None:
    """Text that this Python cannot parse: another version might, so it passes only if nothing in it is telling."""
    if _TELLING.search(source):
        m.unchecked("code", fr.segment, "the Python code cannot be read", program=event.name or "python")

"""From a command word to the program that would really run, and on to whatever knows that program."""

from __future__ import annotations

import posixpath
import re

from ..frozen import replace
from ..patterns import lazy
from .events import ExecEvent, Value, literal
from .links import note_followed
from .machine import DONE, MAX_DEPTH, Frame, Machine, NoShell, Outcome, Refused, State
from .redirects import file_at, is_path
from .resolve import candidates
from .sending import SENDERS, with_sent_files
from .state import File
from .tables import DATA, HANDLERS, LOADERS, NAMED_PROGRAMS, SHELLS, SILENT
from .values import EMPTY, join, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[Machine, State, Frame, ExecEvent], Outcome | None]


def make_event(
    m: Machine, st: State, fr: Frame, program: Value, name: str | None, argv: list[Value] | tuple[Value, ...]
) -> ExecEvent:
    """An event in the present state and frame."""
    del m
    return ExecEvent(
        program,
        name,
        tuple(argv),
        st.folders,
        st.env,
        fr.redirects,
        fr.stdin,
        _outputs(fr),
        fr.via,
        fr.segment,
        fr.speculative,
        fr.mounts,
        fr.remote,
    )


def _outputs(fr: Frame) -> tuple[str, ...]:
    if not fr.redirects:
        return fr.stdout_to
    files = tuple(
        f"file:{item.target.show()}"
        for item in fr.redirects
        if item.writes and (item.fd == 1 or item.op[0] == "&")
    )
    return files or fr.stdout_to


def run_argv(
    m: Machine, st: State, fr: Frame, argv: list[Value], *, functions: bool = True, builtins: bool = True
) -> Outcome:
    """Run one program with its arguments: take down the event, then follow what it carries."""
    m.step()
    if fr.depth > MAX_DEPTH or len(fr.via) > MAX_DEPTH:
        raise Refused("the command is nested too deeply to be judged")
    if not argv:
        return DONE
    program, rest = argv[0], argv[1:]
    text = program.text
    if text == "":
        # An empty word is no program; an unquoted empty expansion has already gone.
        return DONE
    if rest or text:
        st.vars["_"] = (argv[-1],)
    if functions and text in st.functions:
        outcome = call_function(m, st, fr, text, rest)
        if None not in st.functions.get(text, ()):
            return outcome
    del builtins
    names = candidates(m, st, fr, program, rest)
    outcomes = [_run_one(m, st, fr, make_event(m, st, fr, program, name, rest)) for name in names]
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(unknown(f"output of {program.show()}", tuple(m.trace[-1:])))


GIT_VERBS = frozenset(
    "push reset clean checkout restore switch branch stash rebase rm tag reflog gc prune update-ref"
    " checkout-index read-tree worktree submodule remote config credential fetch clone pull send-pack replace merge".split()
)


def _as_git(event: ExecEvent) -> ExecEvent:
    """`git-push` and `hub push` are `git push`."""
    name = event.name or ""
    if name.startswith("git-") and name[4:] in GIT_VERBS:
        return replace(event, name="git", argv=(literal(name[4:]), *event.argv))
    if name == "hub" and event.argv and event.argv[0].text in GIT_VERBS:
        return replace(event, name="git")
    return event


def _run_one(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    event = _as_git(event)
    note_followed(m, st, event)
    if event.name in SENDERS and (st.files or m.trace):
        event = with_sent_files(m, st, event)
    m.emit(event)
    script = _own_script(m, st, fr, event)
    if script is not None:
        return script
    if event.name in NAMED_PROGRAMS:
        from .carriers.named_programs import follow

        follow(m, st, fr, event)
    if st.files and event.name in LOADERS:
        from .carriers import loaded_files

        loaded_files.follow(m, st, fr, event)
    handler = find_handler(event.name)
    if handler is not None and m.places.read is not None:
        outcome = m.following(lambda: handler(m, st, fr, event))
    else:
        outcome = handler(m, st, fr, event) if handler else _unknown_program(m, st, fr, event)
    if outcome is not None:
        return outcome
    if event.name in SILENT or not m.hears(fr):
        return DONE
    return Outcome(unknown(f"output of {event.show()[:80]}", (*event.stdin.upstream, event)))


_loaded: dict[str, Handler | None] = {}


def find_handler(name: str | None) -> Handler | None:
    """The function that knows a program, imported when first needed."""
    if name is None:
        return None
    if name not in _loaded:
        place = HANDLERS.get(name)
        if place is None:
            # python3.11, perl5.36: only programs that carry code come with their version in the name.
            place = HANDLERS.get(re.sub(r"[-.]?\d[\d.]*$", "", name), "")
            place = place if place.startswith("carriers.") else None
        if place is None and re.match(r"ld(?:-[\w.-]+)?\.so", name):
            place = "wrappers:loader"
        _loaded[name] = _load(place) if place else None
    return _loaded[name]


def _load(place: str) -> Handler:
    from importlib import import_module

    module, _, function = place.partition(":")
    return getattr(import_module(f".{module}", __package__), function)


def _own_script(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Run a script that the command wrote itself, by its first line."""
    program = event.program
    if not is_path(program) and "PATH" not in st.vars:
        return None
    file = file_at(m, st, program) if is_path(program) else _on_path(m, st, program.text or "")
    if file is None and st.unpacked and is_path(program):
        from .unpacked import script_at

        text = script_at(m, st, program)
        file = File((text,)) if text is not None and text.sources else None
    if file is None and is_path(program):
        from .earlier import told_before

        told = told_before(m, program)
        file = File((told,)) if told is not None else None
    if file is None or not file.contents or file.target:
        return None
    from .carriers.shells import run_script

    outcome = DONE
    for content in file.contents:
        outcome = run_script(m, st, fr, event, content)
    return outcome


def _on_path(m: Machine, st: State, name: str) -> File | None:
    path = st.vars["PATH"][0]
    for folder in path.show().split(":") if isinstance(path, Value) else ():
        found = file_at(m, st, literal(posixpath.join(folder or ".", name)))
        if found is not None:
            return found
    return None


def call_function(m: Machine, st: State, fr: Frame, name: str, args: list[Value]) -> Outcome:
    """Run a function's body with its own positional parameters; a call of itself in the background is a bomb."""
    from .evaluator import run_stmt

    levels = [level for known, level in st.calls if known == name]
    if levels and fr.asynchronous > levels[0]:
        m.fork_bomb = m.fork_bomb or fr.segment
        return DONE
    if len(levels) > 1:
        return Outcome(unknown(f"output of {name}"))
    saved = st.positional, st.calls, st.locals, dict(st.attributes)
    st.positional, st.calls, st.locals = tuple(args), (*st.calls, (name, fr.asynchronous)), {}
    inner = replace(fr, via=(*fr.via, f"{name}()"), depth=fr.depth + 1)
    outs = [run_stmt(m, st, inner, body).out for body in st.functions[name] if body is not None]
    for key, options in (st.locals or {}).items():
        if options is None:
            st.vars.pop(key, None)
        else:
            st.vars[key] = options
    st.positional, st.calls, st.locals, st.attributes = saved
    st.dead = False
    return Outcome(join(outs))


def _unknown_program(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    if event.name in DATA or event.name in SILENT:
        return None
    scan_tail(m, st, fr, event)
    return None


CODE_OPTION = lazy(
    r"-[ce]|-x|exec|run|spawn|dispatch|--?(?:command|cmd|exec|execute|run|shell|eval|script|hook|on-\w+|pre|post)(?:-\w+)?"
)


def scan_tail(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    """Judge every argument tail of a program that may run its arguments, if it starts with a guarded name."""
    if fr.speculative or not event.argv:
        return
    inner = replace(
        fr, via=(*fr.via, event.name or event.program.show()), speculative=True, depth=fr.depth + 1
    )
    previous = ""
    for index, value in enumerate(event.argv):
        text = value.text or ""
        code = _code_in(m, event, previous, text)
        if code:
            from .code import run_shell

            run_shell(m, st, inner, literal(code))
        elif text and _is_guarded(m, text):
            _tail(m, st, inner, event.argv[index:])
        elif value.text is None and value.parts and not value.is_opaque and not value.has_glob:
            _half_known(m, st, inner, event, index)
        previous = text


def _tail(m: Machine, st: State, fr: Frame, argv: tuple[Value, ...]) -> None:
    try:
        run_argv(m, st.fork(), fr, list(argv))
    except NoShell:
        if argv[0].text != "eval":  # what other programs call so evaluates their own languages: `nix eval`
            raise


def _half_known(m: Machine, st: State, fr: Frame, event: ExecEvent, index: int) -> None:
    base = event.argv[index].base()
    if not base.prefix or base.prefix.startswith("-") or "=" in base.prefix or (index and "-" in base.prefix):
        return  # `release-$VERSION` is a name with a number, not `release-it`
    names = [name for name in sorted(m.guarded) if base.could_be(name)]
    if 0 < len(names) <= 3:
        for name in names:
            run_argv(m, st.fork(), fr, [literal(name), *event.argv[index + 1 :]])


def _is_guarded(m: Machine, text: str) -> bool:
    base = posixpath.basename(text)
    return base in m.guarded or (base in SHELLS and base not in {".", "source"})


def _code_in(m: Machine, event: ExecEvent, previous: str, text: str) -> str:
    option, equals, attached = text.partition("=")
    if equals and CODE_OPTION.fullmatch(option):
        text = attached
    elif not CODE_OPTION.fullmatch(previous) and len(event.argv) > 1:
        return ""
    first, blank, _rest = text.strip().partition(" ")
    return text if blank and _is_guarded(m, first.strip("'\"\\")) else ""


__all__ = ("EMPTY", "call_function", "candidates", "find_handler", "make_event", "run_argv", "scan_tail")

"""From a command word to the base name of the program that would really run."""

from __future__ import annotations

import posixpath
import re

from .events import ExecEvent, Hole, Value, literal
from .machine import Frame, Machine, Outcome, State
from .redirects import inside_workspace, paths_of
from .tables import DATA, HANDLERS, TOOL_VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[Machine, State, Frame, ExecEvent], Outcome | None]

MAX_CANDIDATES = 10
"""Programs that one half-known command word may stand for before it counts as unknown."""


def candidates(m: Machine, st: State, fr: Frame, program: Value, rest: list[Value]) -> list[str | None]:
    """The base names of what a command word may run; `[None]` if that cannot be known."""
    text = program.text
    if text is not None:
        return [_resolve(m, st, text)]
    base = program.base()
    if base.text:
        return [_resolve_name(m, st, program, base.text)]
    if base.has_glob and not base.holes and _is_own_program(m, st, program) and not _made(st, base):
        return [None]
    known = [name for name in sorted(m.guarded | HANDLERS.keys()) if base.could_be(name)]
    if len(known) > MAX_CANDIDATES or base.is_opaque:
        return _opaque(m, st, fr, program, rest)
    return list(known) or [None]


def _resolve_name(m: Machine, st: State, program: Value, name: str) -> str:
    del m, st, program
    return name


def _made(st: State, base: Value) -> bool:
    return any(base.could_be(posixpath.basename(path)) for path in st.files)


def _opaque(m: Machine, st: State, fr: Frame, program: Value, rest: list[Value]) -> list[str | None]:
    hole = next((part for part in program.parts if isinstance(part, Hole)), None)
    if rest and all(value.text in {"--version", "--help"} for value in rest):
        return [None]
    variable = hole.variable if hole else ""
    if hole and hole.fallback and posixpath.basename(hole.fallback) not in m.guarded:
        return [posixpath.basename(hole.fallback)]
    guess = TOOL_VARIABLES.get(variable) or (variable.lower() if variable.isupper() else "")
    if guess and (guess in HANDLERS or guess in m.guarded or guess in DATA or variable in TOOL_VARIABLES):
        return [guess]
    if _is_own_program(m, st, program):
        return [None]
    from .programs import make_event

    why = f"the program that {program.show()} stands for is not known"
    sources = program.sources
    m.unchecked(
        "program", fr.segment, why, program=program.show(), sources=sources,
        event=make_event(m, st, fr, program, None, rest),
    )  # fmt: skip
    return [None]


def _is_own_program(m: Machine, st: State, program: Value) -> bool:
    """True for `./tools/$x`: some program of the project itself, which could have been named."""
    folder = program.prefix.rpartition("/")[0]
    if not folder or folder.startswith("/dev"):
        return False
    return all(
        inside_workspace(m, path) and path != m.places.workspace for path in paths_of(m, st, literal(folder))
    )


def _resolve(m: Machine, st: State, text: str) -> str:
    if "/" not in text:
        return _search(m, st, text)
    found = _follow(m, st, m.places.join(st.cwds[0] if st.cwds else "/", text))
    if re.fullmatch(r"/proc/[\w-]+/exe", text):
        return "bash"
    return found or posixpath.basename(text.rstrip("/")) or text


def _search(m: Machine, st: State, name: str) -> str:
    if name.startswith("=") and len(name) > 1:
        return name[1:]  # zsh: the path of that program
    hashed = st.hashed.get(name)
    if hashed:
        return _follow(m, st, hashed) or posixpath.basename(hashed)
    path = st.vars.get("PATH")
    if not (path and isinstance(path[0], Value) and st.files):
        return name
    folders = [literal(folder or ".") for folder in path[0].show().split(":")]
    places = [posixpath.join(where, name) for folder in folders for where in paths_of(m, st, folder)]
    return next((found for place in places if (found := _follow(m, st, place))), name)


def _follow(m: Machine, st: State, path: str) -> str | None:
    """The base name of what a copied or linked file really is; None if the command made no such file."""
    for _hop in range(8):
        file = st.files.get(path)
        if file is None or not file.target:
            return _real_name(m, path)
        path = file.target
    return posixpath.basename(path)


def _real_name(m: Machine, path: str) -> str | None:
    if m.places.resolve is not None and (
        inside_workspace(m, path) or any(path.startswith(temp + "/") for temp in m.places.temp)
    ):
        real = m.places.resolve(path)
        return posixpath.basename(real) if real != path else None
    return (
        posixpath.basename(path)
        if not inside_workspace(m, path) and path.startswith("/") and "bin/" in path
        else None
    )

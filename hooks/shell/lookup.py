"""What variables hold before and after the command sets them."""

from __future__ import annotations

import posixpath

from .events import Glob, Hole, Value, literal
from .machine import Machine, State
from .values import unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Piece = str | Glob | Hole
    Atom = tuple[Piece, bool, bool] | None
    """Piece, whether quoted, whether it comes from an expansion and is therefore split."""

DEFAULT_IFS = " \t\n"


def home_of(m: Machine, st: State, name: str) -> Value | None:
    """What `~name` stands for; None if it is left as it is."""
    if not name:
        found = lookup(m, st, "HOME")
        return found if isinstance(found, Value) else literal(m.places.home)
    if name in {"+", "-"}:
        folders = st.cwds if name == "+" else st.oldpwd
        return literal(m.pick(("~", name, folders), folders)) if folders else unknown(f"~{name}")
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum() or name.isdigit():
        return None
    if name == m.places.user or (not m.places.user and name == posixpath.basename(m.places.home)):
        return literal(m.places.home)
    if name == "root":
        return literal("/root")
    return literal(posixpath.join(posixpath.dirname(m.places.home) or "/home", name))


def lookup(m: Machine, st: State, name: str) -> object:
    """The value, array or `UNSET` that a variable holds in the world being tried."""
    options = st.vars.get(name) or default_options(m, st, name)
    if len(options) > 1 and m.crowded((name, options), len(options)):
        sources = tuple(event for option in options if isinstance(option, Value) for event in option.sources)
        return unknown(f"one of several values of {name}", sources, variable=name)
    return m.pick((name, options), options)


_DEFAULTS: dict[str, Callable[[Machine, State], tuple[Value, ...]]] = {
    "HOME": lambda m, _st: (literal(m.places.home),),
    "PWD": lambda _m, st: tuple(literal(cwd) for cwd in dict.fromkeys(st.cwds + st.fallback)),
    "OLDPWD": lambda _m, st: (
        tuple(literal(cwd) for cwd in st.oldpwd) or (unknown("$OLDPWD", variable="OLDPWD"),)
    ),
    "USER": lambda m, _st: (literal(m.places.user or posixpath.basename(m.places.home)),),
    "LOGNAME": lambda m, _st: (literal(m.places.user or posixpath.basename(m.places.home)),),
    "IFS": lambda _m, _st: (literal(DEFAULT_IFS),),
    "SHELL": lambda _m, _st: (literal("/bin/bash"),),
    "BASH": lambda _m, _st: (literal("/usr/bin/bash"),),
    "PATH": lambda _m, _st: (Value(("/", Hole("$PATH", "PATH"))),),
    "OPTIND": lambda _m, _st: (literal("1"),),
    "PS4": lambda _m, _st: (literal("+ "),),
    "TMPDIR": lambda m, _st: (literal(m.places.temp[0] if m.places.temp else "/tmp"),),  # noqa: S108
}


_NUMBERS = frozenset(
    {"RANDOM", "SECONDS", "UID", "EUID", "PPID", "LINENO", "SHLVL", "BASHPID", "EPOCHSECONDS", "SRANDOM"}
)


def default_options(m: Machine, st: State, name: str) -> tuple[object, ...]:
    """What a variable may hold before the command assigns it."""
    for known, text in m.places.env:
        if known == name:
            return (literal(text),)
    make = _DEFAULTS.get(name)
    if make is not None:
        return make(m, st)
    if name in _NUMBERS:
        return (unknown(f"${name}", variable=name, digits=True),)
    return (st.initial(name),)


def field_separators(m: Machine, st: State) -> str:
    """The characters of IFS; the default where it is not known."""
    if "IFS" not in st.vars:
        return DEFAULT_IFS
    value = lookup(m, st, "IFS")
    text = value.text if isinstance(value, Value) else None
    return DEFAULT_IFS if text is None else text


def expand_name(name: str) -> Value:
    """The unknown value of a variable."""
    return unknown(f"${name}", variable=name)

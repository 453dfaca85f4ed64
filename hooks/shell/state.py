"""What a shell knows at one moment: variables, functions, folders, files it has written, descriptors.

A variable may have several possible values (after branches). Folders are a set as well; `fallback` holds the folders
in which the next command would run had the last `cd` failed.
"""

from __future__ import annotations

from ..frozen import frozen
from .events import INHERIT, Hole, Stdin, Value
from .values import EMPTY, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from .events import ExecEvent, Redirect
    from .tree import Stmt
    from .unpacked import Unpacked

    T = TypeVar("T")

MAX_OPTIONS = 12
"""Possible values of one variable that are told apart; past that it counts as unknown."""


@frozen
class Array:
    """An indexed or associative array: (key, value) in order."""

    items: tuple[tuple[str, Value], ...] = ()

    def get(self, key: str) -> Value:
        """The value of one element; unset is empty."""
        return dict(self.items).get(key, EMPTY)

    def with_item(self, key: str, value: Value) -> Array:
        """A copy with one element set."""
        known = dict(self.items)
        known[key] = value
        return Array(tuple(known.items()))


@frozen
class File:
    """A file that the command itself made. `target` is what it is a copy or link of; `keys` are options it may hold."""

    contents: tuple[Value, ...] = ()
    target: str = ""
    link: bool = False


@frozen
class Unset:
    """A variable that is certainly unset."""


UNSET = Unset()
_BASH = Value(("bash",))


@frozen
class Frame:
    """What surrounds a command: where its input comes from and output goes, and who started it."""

    stdin: Stdin = INHERIT
    stdout_to: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    via: tuple[str, ...] = ()
    remote: str = ""
    mounts: tuple[tuple[str, str], ...] = ()
    asynchronous: int = 0
    depth: int = 0
    speculative: bool = False
    segment: str = ""

    def within(self, wrapper: str) -> Frame:
        """What surrounds a command that this program starts."""
        return Frame(
            self.stdin,
            self.stdout_to,
            self.redirects,
            (*self.via, wrapper),
            self.remote,
            self.mounts,
            self.asynchronous,
            self.depth + 1,
            self.speculative,
            self.segment,
        )

    def at(self, segment: str) -> Frame:
        """The same around another piece of text."""
        return Frame(
            self.stdin,
            self.stdout_to,
            self.redirects,
            self.via,
            self.remote,
            self.mounts,
            self.asynchronous,
            self.depth,
            self.speculative,
            segment,
        )


class State:
    """A shell's changing state. `fork` copies it for a sub-shell or a branch, `merge` joins two branches."""

    __slots__ = (
        "aliases", "attributes", "calls", "cwds", "dead", "env", "exported", "fallback", "fds", "files", "functions",
        "hashed", "locals", "oldpwd", "options", "positional", "script", "stack", "traps", "unpacked", "unread", "vars",
    )  # fmt: skip

    def __init__(self, cwds: tuple[str, ...]) -> None:
        self.vars: dict[str, tuple[Value | Array | Unset, ...]] = {}
        self.attributes: dict[str, str] = {}
        self.exported: frozenset[str] = frozenset()
        self.positional: tuple[Value, ...] = ()
        self.script: Value = _BASH
        self.functions: dict[str, tuple[Stmt | None, ...]] = {}
        self.aliases: dict[str, Value] = {}
        self.cwds = cwds
        self.fallback: tuple[str, ...] = ()
        self.oldpwd: tuple[str, ...] = ()
        self.stack: tuple[tuple[str, ...], ...] = ()
        self.files: dict[str, File] = {}
        self.fds: dict[int, tuple[Redirect | None, Stdin | None]] = {}
        self.options: frozenset[str] = frozenset()
        self.hashed: dict[str, str] = {}
        self.env: tuple[tuple[str, Value], ...] = ()
        self.calls: tuple[tuple[str, int], ...] = ()
        self.locals: dict[str, tuple[Value | Array | Unset, ...] | None] | None = None
        self.unread: Value | None = None
        self.traps: tuple[str, ...] = ()
        self.unpacked: tuple[Unpacked, ...] = ()
        self.dead = False

    def fork(self) -> State:
        """An independent copy."""
        # Written out, for every pipe, branch and sub-shell makes several.
        twin = State.__new__(State)
        twin.vars = self.vars.copy()
        twin.attributes = self.attributes.copy()
        twin.exported = self.exported
        twin.positional = self.positional
        twin.script = self.script
        twin.functions = self.functions.copy()
        twin.aliases = self.aliases.copy()
        twin.cwds, twin.fallback, twin.oldpwd = self.cwds, self.fallback, self.oldpwd
        twin.stack = self.stack
        twin.files = self.files.copy()
        twin.fds = self.fds.copy()
        twin.options = self.options
        twin.hashed = self.hashed.copy()
        twin.env = self.env
        twin.calls = self.calls
        twin.locals = None if self.locals is None else self.locals.copy()
        twin.unread, twin.traps, twin.dead = self.unread, self.traps, self.dead
        twin.unpacked = self.unpacked
        return twin

    def take_files(self, inside: State) -> None:
        """Take over what a sub-shell left on the disk."""
        self.files, self.unpacked = inside.files, inside.unpacked

    def merge(self, other: State) -> None:
        """Take in another branch's possible outcomes."""
        if other.dead:
            return
        if self.dead:
            for name in State.__slots__:
                setattr(self, name, getattr(other, name))
            return
        self.cwds = union(self.cwds, other.cwds)
        self.fallback = union(self.fallback, other.fallback)
        self.oldpwd = union(self.oldpwd, other.oldpwd)
        self._merge_vars(other)
        for name in {**self.functions, **other.functions}:
            mine, theirs = self.functions.get(name, (None,)), other.functions.get(name, (None,))
            if mine is not theirs:
                # None: on one branch there is no such function, so the program of that name runs.
                self.functions[name] = mine + tuple(body for body in theirs if body not in mine)
        self.aliases.update(other.aliases)
        self.hashed.update(other.hashed)
        self.fds.update(other.fds)
        self._merge_files(other)
        self.traps += tuple(code for code in other.traps if code not in self.traps)
        self.unpacked = union(self.unpacked, other.unpacked)
        self.options |= other.options
        self.exported |= other.exported

    def _merge_vars(self, other: State) -> None:
        for name in {**self.vars, **other.vars}:
            mine, theirs = self.vars.get(name), other.vars.get(name)
            if mine is theirs:
                continue
            self.set_options(name, (mine or (self.initial(name),)) + (theirs or (other.initial(name),)))

    def _merge_files(self, other: State) -> None:
        for path, file in other.files.items():
            mine = self.files.get(path)
            if mine is None or mine is file:
                self.files[path] = file
            else:
                both = mine.contents + tuple(text for text in file.contents if text not in mine.contents)
                self.files[path] = File(both[-4:], file.target or mine.target, file.link)

    def set_options(self, name: str, options: tuple[Value | Array | Unset, ...]) -> None:
        """Give a variable several possible values."""
        distinct = tuple(dict.fromkeys(options))
        if len(distinct) > MAX_OPTIONS:
            sources = tuple(
                event for option in distinct if isinstance(option, Value) for event in option.sources
            )
            distinct = (unknown(f"one of many values of {name}", sources, variable=name),)
        self.vars[name] = distinct

    def initial(self, name: str) -> Value | Array | Unset:
        """What a variable is before anything is assigned: from the environment, so unknown (it may be empty)."""
        return Value((Hole(f"${name}", name),))

    def put(self, name: str, value: Value | Array) -> None:
        """Assign, following name references and upper or lower case attributes."""
        attribute = self.attributes.get(name, "")
        if attribute.startswith("&") and attribute[1:] != name:
            self.put(attribute[1:], value)
            return
        if attribute in {"u", "l"} and isinstance(value, Value):
            value = Value(
                tuple(
                    (part.upper() if attribute == "u" else part.lower()) if isinstance(part, str) else part
                    for part in value.parts
                )
            )
        self.vars[name] = (value,)

    @property
    def folders(self) -> frozenset[str]:
        """Every folder the next command may run in."""
        return frozenset(self.cwds + self.fallback if self.fallback else self.cwds)


def union(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...]:
    """Both, in order, each once."""
    return one if one == other else tuple(dict.fromkeys(one + other))


def event_sources(values: tuple[Value, ...]) -> tuple[ExecEvent, ...]:
    """All commands whose output flows into the values."""
    return tuple(event for value in values for event in value.sources)

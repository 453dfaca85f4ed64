"""What shell text would execute, as far as it can be known: the contract between reading and judging.

`read_command(text, places)` in this package turns text into a `Reading`; rules look only at that.
Every word is a `Value`: literal text, glob pieces and holes (unknown text), in order. A rule asks a value what it
*could* be, never what it looks like.
"""

from __future__ import annotations

import posixpath

from ..frozen import frozen
from .languages import matches, overlaps, starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANYWHERE = "?"
"""Stands in `ExecEvent.cwds` for a working folder that is not known."""


@frozen
class Glob:
    """A piece of a word that the shell matches against file names: `*`, `?`, `[a-z]`, `@(a|b)`.

    Like the shell's, it never matches a slash (`**` under globstar is two of them and may).
    """

    pattern: str


@frozen
class Hole:
    """Text that is not known: any text, also none.

    `why` is for people. `variable` names the variable it came from, if one did. `source` holds the commands whose
    output it is (`$(pgrep node)`, a line of `docker ps -q | xargs …`). `splits` says that it stood unquoted: it can
    become no word or several. `digits` says that it is one number, `filled` that it is certainly not empty
    (`${X:?}`). `fallback` is the text that would stand there if the variable were empty (`${CC:-gcc}`).
    """

    why: str
    variable: str = ""
    source: tuple[ExecEvent, ...] = ()
    splits: bool = False
    digits: bool = False
    filled: bool = False
    fallback: str = ""


class _Known:
    """What is worked out of a word when it is made: every rule and every handler asks for it again."""

    __slots__ = ("text",)

    text: str | None
    """The exact text, or None if there is a hole or a glob in it."""


@frozen
class Value(_Known):
    """One word. `parts` are literal texts, `Glob`s and `Hole`s; neighbouring literals are joined."""

    parts: tuple[str | Glob | Hole, ...] = ()

    def __init__(self, parts: tuple[str | Glob | Hole, ...] = ()) -> None:
        # Words are made by the thousand; the general constructor costs four times as much.
        _set(self, "parts", parts)
        first = parts[0] if parts else ""
        _set(self, "text", first if len(parts) < 2 and isinstance(first, str) else None)

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts if isinstance(other, Value) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.parts)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The unknown pieces, in order."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def has_glob(self) -> bool:
        """True if a piece is matched against file names."""
        return any(isinstance(part, Glob) for part in self.parts)

    @property
    def is_opaque(self) -> bool:
        """True if no literal text or glob piece is known at all (and something is there)."""
        return bool(self.parts) and all(isinstance(part, Hole) for part in self.parts)

    @property
    def sources(self) -> tuple[ExecEvent, ...]:
        """All commands whose output flows into this word."""
        return tuple(event for hole in self.holes for event in hole.source)

    @property
    def prefix(self) -> str:
        """The literal text before the first unknown piece."""
        first = self.parts[0] if self.parts else ""
        return first if isinstance(first, str) else ""

    @property
    def suffix(self) -> str:
        """The literal text after the last unknown piece."""
        last = self.parts[-1] if self.parts else ""
        return last if isinstance(last, str) else ""

    def show(self) -> str:
        """The word for people; a hole shows as `<why>`, a glob as its pattern."""
        return self.text if self.text is not None else "".join([_show(part) for part in self.parts])

    def could_be(self, text: str) -> bool:
        """True if the word may turn out to be exactly `text`."""
        return matches(self.parts, text)

    def could_start(self, prefix: str) -> bool:
        """True if the word may turn out to start with `prefix`."""
        return starts(self.parts, prefix)

    def could_match(self, pattern: Value) -> bool:
        """True if some text is in both words' languages (two globs may overlap)."""
        return overlaps(self.parts, pattern.parts)

    def base(self) -> Value:
        """The part after the last literal slash: the base name of a path."""
        for index in range(len(self.parts) - 1, -1, -1):
            part = self.parts[index]
            if isinstance(part, str) and "/" in part:
                tail = part.rpartition("/")[2]
                return Value(((tail,) if tail else ()) + self.parts[index + 1 :])
        return self


_set = object.__setattr__


def _show(part: str | Glob | Hole) -> str:
    if isinstance(part, str):
        return part
    return part.pattern if isinstance(part, Glob) else f"<{part.why}>"


@frozen
class Redirect:
    """One redirection in force: `op` as `>`, `>>`, `<`, `<>`, `>|`, `&>`, `&>>`; `target` is the file's word.

    A descriptor copied from an earlier `exec 3<>FILE` is given as a redirect to FILE.
    """

    op: str
    fd: int
    target: Value

    @property
    def writes(self) -> bool:
        """True if the target may be changed."""
        return ">" in self.op


@frozen
class Stdin:
    """Where a command reads from.

    `kind` is `inherit`, `null`, `text` (here-document or here-string), `file` or `pipe`. `text` is what would be
    read, as far as known. `upstream` holds every command that feeds it, farthest first, nearest last.
    """

    kind: str = "inherit"
    text: Value | None = None
    upstream: tuple[ExecEvent, ...] = ()


INHERIT = Stdin()


class _Hashed:
    """The hash of an event, worked out once: events hold those that feed them, which hold those that feed them."""

    __slots__ = ("hashed",)

    hashed: int


@frozen
class ExecEvent(_Hashed):
    """One program that would be started, or one builtin that would act.

    `program` is the command word as spelled (expanded); `name` the base name of what would really run, after
    paths, glob spellings, copies, links, aliases, `hash -p` and multicall binaries, or None if unknown. `argv` are
    the arguments without the program. `cwds` are the possible working folders (absolute; `ANYWHERE` if unknown).
    `env` are assignments in force that the command line itself made, newest last. `stdout_to` names what the
    output flows into: `pipe:NAME` for each later stage, `file:PATH`, `capture` for a substitution. `via` are the
    wrappers that led here, outermost first. `segment` is the source text. `speculative`: it is the argument tail of a
    program that is not known to run its arguments. `mounts` maps container paths to host paths. `remote` names
    the machine or container it would run in, if not here.
    """

    program: Value
    name: str | None
    argv: tuple[Value, ...] = ()
    cwds: frozenset[str] = frozenset()
    env: tuple[tuple[str, Value], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: Stdin = INHERIT
    stdout_to: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    segment: str = ""
    speculative: bool = False
    mounts: tuple[tuple[str, str], ...] = ()
    remote: str = ""

    def __hash__(self) -> int:
        try:
            return self.hashed
        except AttributeError:
            _set(self, "hashed", hash((self.program, self.argv, self.stdin, self.redirects, self.segment)))
            return self.hashed

    @property
    def feeders(self) -> list[ExecEvent]:
        """The commands whose output it reads or is given as arguments."""
        return [*self.stdin.upstream, *(source for value in self.argv for source in value.sources)]

    @property
    def words(self) -> tuple[str | None, ...]:
        """The arguments' exact texts, None where not fully known."""
        return tuple(value.text for value in self.argv)

    def show(self) -> str:
        """The command for people, on one line."""
        name = self.name or self.program.show()
        return " ".join([name, *[value.text or value.show() or "''" for value in self.argv]])


def all_upstream(events: list[ExecEvent]) -> Iterator[ExecEvent]:
    """Give these events and all whose output flows into them, each once.

    Every stage of a pipe holds all before it, which hold all before them.
    """
    seen, todo = set[int](), events[::-1]
    while todo:
        event = todo.pop()
        if id(event) not in seen:
            seen.add(id(event))
            yield event
            todo.extend(event.feeders[::-1])


@frozen
class Unchecked:
    """Something that would run but cannot be known. Not harmless: what is harmless is left out.

    `kind` is `program` (the command word is unknown), `code` (unknown text would be run as code by `program`) or
    `environment` (a loader or path variable makes another program run than the one named, e.g. LD_PRELOAD).
    `sources` are the commands that produce the text, so that `curl … | sh` can be told from a plain unknown.
    """

    kind: str
    segment: str
    why: str
    program: str = ""
    sources: tuple[ExecEvent, ...] = ()
    event: ExecEvent | None = None


@frozen
class Written:
    """A file that the command itself would write: absolute `path`, `content` if known, appended or replaced.

    `by` is the command that writes it.
    """

    path: Value
    content: Value | None = None
    append: bool = False
    by: ExecEvent | None = None


@frozen
class Reading:
    """What one command text would do. With a `refusal` the rest may be incomplete and must not be trusted.

    `refusal` says in one line why the text cannot be judged (syntax, limits, bytes). `fork_bomb` holds the source
    text of a process bomb, if there is one.
    """

    events: tuple[ExecEvent, ...] = ()
    unknowns: tuple[Unchecked, ...] = ()
    writes: tuple[Written, ...] = ()
    fork_bomb: str = ""
    refusal: str | None = None
    micros: int = 0


@frozen
class Places:
    """Where a command would run. Nothing here needs to exist on this machine.

    `temp` are scratch folders. `env` are known variables. `resolve` follows real symbolic links when a live command
    is judged; `read` returns the text of a script file, or None. Both are optional and never called for other
    machines' commands.
    """

    workspace: str
    cwd: str
    home: str
    user: str = ""
    temp: tuple[str, ...] = ("/tmp", "/var/tmp")  # noqa: S108  the shell's scratch folders, not ours
    env: tuple[tuple[str, str], ...] = ()
    resolve: Callable[[str], str] | None = None
    read: Callable[[str], str | None] | None = None

    def join(self, cwd: str, path: str) -> str:
        """The absolute form of a path as text: no disk is looked at, `..` is taken away."""
        if path.startswith("/proc/"):
            path = _through_proc(path, cwd)
        whole = posixpath.normpath(posixpath.join(cwd, path))
        return whole[1:] if whole.startswith("//") else whole


def _through_proc(path: str, cwd: str) -> str:
    """`/proc/self/root/etc` is `/etc`, `/proc/self/cwd/x` is `x` here."""
    pieces = path.split("/")
    if len(pieces) > 3 and pieces[3] in {"root", "cwd"}:
        rest = "/".join(pieces[4:])
        return "/" + rest if pieces[3] == "root" else posixpath.join(cwd, rest)
    return path


def literal(text: str) -> Value:
    """A fully known word."""
    return Value((text,)) if text else Value()

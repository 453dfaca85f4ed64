"""Finding and ending every process that a command left behind, also those that moved to a session of their own.

A command is started in a session of its own with a mark in its environment. On Linux `/proc` tells who belongs to it:
by session, by group, by descent, by the mark, and, in the end, by who still holds its output pipe. Elsewhere only the
process group is known.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

MARK = "DECURION_CALL"
"""The environment variable that tells the processes of one call: the marks of all calls around it, joined by '/'."""
PROC = Path("/proc")
GRACE_SECONDS = 0.5
"""Between the request to end and the kill: enough to remove a lock file, too short to be felt."""
SETTLE_SECONDS = 0.2
"""How long processes may outlive their shell before they count as left behind; `> >(tee log)` needs a moment."""
KILL_SECONDS = 1.0
"""How long killed processes are waited for; only one that is stuck in the kernel takes longer."""
POLL_SECONDS = 0.02
KERNEL = 0
"""The session of the kernel's own threads."""
NAME_CHARS = 120
MAX_PROC_BYTES = 4_000_000
"""More than Linux lets an environment be."""


@dataclass(frozen=True, slots=True)
class Member:
    """A living process. `parent`, `group` and `session` are process ids.

    Two are the same process if id and time of start (in clock ticks since boot) are: ids are given again, and an
    orphan gets another parent.
    """

    pid: int
    started: int
    parent: int = field(compare=False)
    group: int = field(compare=False)
    session: int = field(compare=False)

    @property
    def name(self) -> str:
        """The command line, for people."""
        with suppress(OSError):
            line = (PROC / str(self.pid) / "cmdline").read_bytes()
            return " ".join(line.decode("utf-8", "replace").split("\0")).strip()[:NAME_CHARS]
        return f"process {self.pid}"


@dataclass(frozen=True, slots=True)
class Family:
    """The processes of one command: `leader` is the shell's process id, `mark` what its `MARK` holds.

    `since` is when the leader started, in clock ticks since boot: none of them is older.
    """

    leader: int
    mark: str
    since: int = 0

    @classmethod
    def of(cls, leader: int, mark: str) -> Family:
        """Give the family of a program that was just started."""
        found = _member(leader)
        return cls(leader, mark, found.started if found else 0)

    def members(self) -> tuple[Member, ...]:
        """Return all that still live, the leader first if it does."""
        return self._look()[0]

    def _look(self) -> tuple[tuple[Member, ...], bool]:
        """Return all that still live, and whether of one more it cannot be told yet."""
        if not PROC.is_dir():
            return self._group_only(), False
        living = {member.pid: member for member in _living()}
        owned = {pid: self._owns(member) for pid, member in living.items()}
        mine = {pid for pid, is_mine in owned.items() if is_mine}
        while children := {pid for pid, member in living.items() if member.parent in mine} - mine:
            mine |= children
        in_order = sorted(mine, key=lambda pid: (pid != self.leader, pid))
        return tuple(living[pid] for pid in in_order), None in owned.values()

    def _owns(self, member: Member) -> bool | None:
        """Tell whether a process belongs here; None where it has no environment: it is just becoming another program."""
        if self.leader in {member.group, member.session}:
            return True
        if member.started < self.since or member.session == KERNEL:
            return False
        try:
            environ = _read(member.pid, "environ")
        except OSError:
            return False
        start = environ.find(f"{MARK}=".encode())
        found = start >= 0 and self.mark.encode() in environ[start:].split(b"\0", 1)[0]
        return found if environ else None

    def _group_only(self) -> tuple[Member, ...]:
        try:
            os.killpg(self.leader, 0)
        except OSError:
            return ()
        return (Member(self.leader, 0, os.getpid(), self.leader, self.leader),)

    async def end(self, others: Iterable[Member] = ()) -> tuple[Member, ...]:
        """Ask all members, and those named, to end; kill what has not done so after the grace.

        Returns who withstood that, processes of another user for one. Bounded in time; call it under a shield where
        the caller may be cancelled.
        """
        known = {*self.members(), *others}
        if not known:
            return ()
        self._signal(known, signal.SIGTERM)
        with anyio.move_on_after(GRACE_SECONDS):
            while known := self._left(known):  # noqa: ASYNC110 - no event tells of it
                await anyio.sleep(POLL_SECONDS)
        with anyio.move_on_after(KILL_SECONDS):
            # Again and again, since a process may fork between the look and the kill.
            while known := self._left(known):
                self._signal(known, signal.SIGKILL)
                await anyio.sleep(POLL_SECONDS)
        return tuple(known)

    async def gone(self, seconds: float) -> tuple[Member, ...]:
        """Wait until nobody lives any more, but no longer than this; return who still does."""
        deadline = anyio.current_time() + seconds
        left, unclear = self._look()
        while (left or unclear) and anyio.current_time() < deadline:
            await anyio.sleep(POLL_SECONDS)
            left, unclear = self._look()
        return left

    def _left(self, known: set[Member]) -> set[Member]:
        """Return the members there are now, and those known before that live: killing a parent hides its children."""
        return {*self.members(), *(member for member in known if _member(member.pid) == member)}

    def _signal(self, members: Iterable[Member], number: signal.Signals) -> None:
        """Send a signal to all at one moment: a shell must not go on because its child was ended a little earlier."""
        pids = [member.pid for member in members]
        for step in (signal.SIGSTOP, number, signal.SIGCONT):
            with suppress(OSError):
                os.killpg(self.leader, step)
            for pid in pids:
                with suppress(OSError):
                    os.kill(pid, step)


def holders(pipe: int) -> tuple[Member, ...]:
    """Return who else has this pipe open: processes that shed both their session and their mark."""
    wanted = f"pipe:[{os.fstat(pipe).st_ino}]"
    return tuple(
        member for member in _living() if member.pid != os.getpid() and wanted in _open_files(member.pid)
    )


def _open_files(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for entry in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                yield str(entry.readlink())


def _living() -> Iterator[Member]:
    try:
        entries = os.listdir(PROC)  # noqa: PTH208 - called for each command, and every millisecond counts
    except OSError:
        return
    for entry in entries:
        member = _member(int(entry)) if entry.isdigit() else None
        if member is not None:
            yield member


def _read(pid: int, name: str) -> bytes:
    """Read a small file of `/proc`; a look at all processes reads hundreds, so pathlib would be half its time."""
    descriptor = os.open(f"{PROC}/{pid}/{name}", os.O_RDONLY)
    try:
        return os.read(descriptor, MAX_PROC_BYTES)
    finally:
        os.close(descriptor)


def _member(pid: int) -> Member | None:
    """Read one process; None if it is gone or only waits to be collected (proc_pid_stat(5))."""
    try:
        stat = _read(pid, "stat")
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    if fields[0] in {b"Z", b"X"}:
        return None
    parent, group, session = map(int, fields[1:4])
    return Member(pid, int(fields[19]), parent, group, session)

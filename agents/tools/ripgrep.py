"""Running ripgrep: where it is, what it found, and, as important, what it did not look at.

What was left out is read from ripgrep's debug messages, the only place where it says so. Should another version word
them differently, searches still work and only those notes are missing.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.abc import ByteReceiveStream, Process

from decurion.hooks import ToolError

MAX_RECORD_BYTES = 16_000_000
"""Longest single answer that is read, a line of a file for one; beyond that the search is ended as partial."""
MAX_ERROR_CHARS = 2_000
MAX_NAMES = 5
IGNORING = re.compile(
    r"^rg: DEBUG\|.*?: ignoring (?P<path>.+?): (?P<why>Ignore\(|\d+ bytes|failed to pass haystack)"
)
REFUSED = re.compile(
    r"(?:regex parse error|error parsing|unrecognized|the literal|look-around|backreferences)"
)
"""How complaints begin that concern the pattern or the glob, not single files."""
KEPT_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "TMPDIR")


def find_ripgrep() -> str:
    """Return the path of ripgrep: from PATH, else from its wheel.

    Raises:
        ToolError: when there is none; names the places and the remedy.
    """
    wheel = Path(sysconfig.get_path("scripts"))
    found = shutil.which("rg") or shutil.which("rg", path=str(wheel))
    if found is None:
        raise ToolError(
            f"ripgrep (rg) is neither on PATH nor in {wheel}; tell the person to run: pip install ripgrep"
        )
    return found


@dataclass(slots=True)
class Kind:
    """One kind of what was left out: how many, and the names of the first."""

    count: int = 0
    names: list[str] = field(default_factory=list[str])

    def add(self, name: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.names) < MAX_NAMES:
            self.names.append(name)


@dataclass(slots=True)
class LeftOut:
    """What a search did not look at, by kind, and what ripgrep complained of."""

    ignored: Kind = field(default_factory=Kind)
    large: Kind = field(default_factory=Kind)
    links: Kind = field(default_factory=Kind)
    errors: str = ""

    def read(self, line: str) -> None:
        """Take one line of what ripgrep says on its error stream."""
        match = IGNORING.match(line)
        if match is not None:
            kind = self._kind(match["why"], line[match.end() :])
            if kind is not None:
                kind.add(match["path"].removeprefix("./"))
        elif not line.startswith("rg: DEBUG|") and len(self.errors) < MAX_ERROR_CHARS:
            self.errors += f"{line}\n"

    def _kind(self, why: str, rest: str) -> Kind | None:
        if why.endswith("bytes"):
            return self.large
        if why.startswith("Ignore"):
            return None if rest.startswith("IgnoreMatch(Override(") else self.ignored
        return self.links if "is_symlink: true" in rest else None


@dataclass(frozen=True, slots=True)
class Ran:
    """How a search ended: `timed_out` at the time limit, `stopped` because the caller had enough."""

    left_out: LeftOut
    timed_out: bool
    stopped: bool

    @property
    def partial(self) -> bool:
        """True where there may be more than was found."""
        return self.timed_out or self.stopped


async def ripgrep(
    args: Sequence[str], folder: Path, separator: bytes, take: Callable[[bytes], bool], seconds: float
) -> Ran:
    """Run ripgrep in a folder and give each answer to `take` until that returns False or the time is over.

    Raises:
        ToolError: when ripgrep is missing or refuses the pattern or the glob.
    """
    left_out = LeftOut()
    environ = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    command = [find_ripgrep(), "--no-config", "--debug", *args]
    enough = True
    async with await anyio.open_process(command, stdin=DEVNULL, cwd=folder, env=environ) as process:
        with anyio.move_on_after(seconds) as limit:
            enough = await _read(process, separator, take, left_out)
        if enough or limit.cancelled_caught:
            # Not `process.kill()`: it reaps a process that has ended, and then asyncio's own watcher complains aloud.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        status = await process.wait()
    if status > 1 and (refused := REFUSED.search(left_out.errors)):
        raise ToolError(f"ripgrep: {_without_advice(left_out.errors[refused.start() :])}")
    return Ran(left_out, timed_out=limit.cancelled_caught, stopped=enough and not limit.cancelled_caught)


def _without_advice(text: str) -> str:
    """Leave out what ripgrep says of its own options, which a model cannot set."""
    return text.partition("\nConsider ")[0].strip()


async def _read(process: Process, separator: bytes, take: Callable[[bytes], bool], left_out: LeftOut) -> bool:
    """Read both streams to their end; True if `take` had enough before."""
    assert process.stdout is not None
    assert process.stderr is not None

    def told(line: bytes) -> bool:
        left_out.read(os.fsdecode(line))
        return True

    enough = False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_each, process.stderr, b"\n", told)
        enough = not await _each(process.stdout, separator, take)
        if enough:
            tasks.cancel_scope.cancel()
    return enough


async def _each(stream: ByteReceiveStream, separator: bytes, take: Callable[[bytes], bool]) -> bool:
    """Cut a stream into records; False if `take` had enough, or a record is too long to hold."""
    pending = bytearray()
    while True:
        try:
            data = await stream.receive()
        except anyio.EndOfStream:
            return not pending or take(bytes(pending))
        start = max(0, len(pending) - len(separator) + 1)
        pending += data
        if separator not in memoryview(pending)[start:].tobytes():
            if len(pending) > MAX_RECORD_BYTES:
                return False
            continue
        *records, rest = bytes(pending).split(separator)
        pending = bytearray(rest)
        if not all(take(record) for record in records):
            return False

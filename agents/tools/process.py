"""Running one command to its end: no terminal, no input, a time limit, and nobody left behind."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, STDOUT

import anyio
import anyio.lowlevel
from anyio.abc import Process

from .family import MARK, SETTLE_SECONDS, Family, Member, holders

CHUNK_BYTES = 65_536
DRAIN_SECONDS = 0.3
"""How long the pipe is read after the last known process ended; what was written is in it already."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    `exit_status` is the shell's, 128 + n for a signal n, 124 at the time limit. `left_behind` names processes that
    outlived the shell and were ended, `survivors` those that could not be.
    """

    exit_status: int
    timed_out: bool
    left_behind: tuple[str, ...]
    survivors: tuple[str, ...]


async def run_to_end(
    argv: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    seconds: float,
    sink: Callable[[bytes], None],
) -> Ended:
    """Run a program in a session of its own and give its output, both streams in order, to `sink` in pieces.

    However this ends, at the time limit and on cancellation too, every process of the command is ended first.

    Raises:
        OSError: when the program cannot be started.
    """
    family, process, pipe = await _started(argv, folder, environ)
    ended: Ended | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_pump, pipe, sink)
            ended = await _watch(family, process, seconds)
            tasks.cancel_scope.deadline = anyio.current_time() + DRAIN_SECONDS
    finally:
        with anyio.CancelScope(shield=True):
            if ended is None or not _at_end(pipe):
                await family.end(holders(pipe))
            os.close(pipe)
            await process.aclose()
    assert ended is not None
    return ended


async def _watch(family: Family, process: Process, seconds: float) -> Ended:
    """Wait for the program, but no longer than the time limit, and end whom it leaves."""
    with anyio.move_on_after(seconds) as limit:
        await process.wait()
    timed_out = limit.cancelled_caught
    left = () if timed_out else _names(await family.gone(SETTLE_SECONDS))
    survivors: tuple[str, ...] = ()
    if timed_out or left:
        with anyio.CancelScope(shield=True):
            survivors = _names(await family.end())
    status = process.returncode or 0
    return Ended(124 if timed_out else status if status >= 0 else 128 - status, timed_out, left, survivors)


def _names(members: Sequence[Member]) -> tuple[str, ...]:
    return tuple(member.name for member in members)


async def _started(
    argv: Sequence[str], folder: Path, environ: Mapping[str, str]
) -> tuple[Family, Process, int]:
    """Start the program; its output goes to a pipe of ours, so that waiting for it never waits for a grandchild."""
    mark = secrets.token_hex(8)
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    try:
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                argv,
                stdin=DEVNULL,
                stdout=theirs,
                stderr=STDOUT,
                cwd=folder,
                env={**environ, MARK: f"{os.environ.get(MARK, '')}/{mark}"},
                start_new_session=True,
            )
            return Family.of(process.pid, mark), process, ours
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    raise RuntimeError("a shielded scope was cancelled")  # for type checkers; anyio does not do that


def _at_end(pipe: int) -> bool:
    """Tell whether the pipe is empty and nobody can write to it any more."""
    try:
        return not os.read(pipe, 1)
    except BlockingIOError:
        return False


async def _pump(pipe: int, sink: Callable[[bytes], None]) -> None:
    """Read until nobody holds the other end any more."""
    while True:
        await anyio.lowlevel.checkpoint()
        try:
            data = os.read(pipe, CHUNK_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(pipe)
            continue
        if not data:
            return
        sink(data)

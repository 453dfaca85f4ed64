"""Run one foreign program to its end: input by pipe, output bounded, nothing of it alive afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from subprocess import PIPE

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from .errors import HookFailure
from .frozen import frozen

MAX_OUTPUT = 1_000_000
"""Bytes of output that are kept of each stream; a verdict needs a few hundred."""

_CHUNK = 65_536
_LAST_WORDS = 1.0
"""Seconds for output that is still in a pipe when the program has ended and its group is killed."""

_REAP = 5.0
"""Seconds to wait for a killed program; one that the kernel holds longer than that is not ours to wait for."""


@frozen
class Ended:
    """How a program ended: its exit status (negative: the signal) and what it wrote, cut at `MAX_OUTPUT`."""

    status: int
    stdout: bytes
    stderr: bytes
    was_cut: bool = False


async def run_to_end(argv: Sequence[str], stdin: bytes, *, cwd: str, env: Mapping[str, str]) -> Ended:
    """Run a program in a process group of its own, and kill whatever is left of the group when it ends.

    Nobody has to read `stdin`: a program that ends, or closes it, without doing so is not in error.

    Raises:
        HookFailure: the program cannot be started.
    """
    try:
        process = await anyio.open_process(
            argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=cwd, env=env, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise HookFailure("cannot start", str(error)) from None
    try:
        return await _converse(process, stdin)
    finally:
        await _bury(process)


async def _converse(process: Process, stdin: bytes) -> Ended:
    out, err, status = bytearray(), bytearray(), -signal.SIGKILL
    assert process.stdin
    assert process.stdout
    assert process.stderr
    async with anyio.create_task_group() as feeding:
        feeding.start_soon(_feed, process.stdin, stdin)
        async with anyio.create_task_group() as reading:
            reading.start_soon(_collect, process.stdout, out)
            reading.start_soon(_collect, process.stderr, err)
            status = await process.wait()
            # A child that it left behind may hold the pipes open for ever.
            _kill_group(process)
            reading.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS
        feeding.cancel_scope.cancel()
    was_cut = len(out) > MAX_OUTPUT or len(err) > MAX_OUTPUT
    return Ended(status, bytes(out[:MAX_OUTPUT]), bytes(err[:MAX_OUTPUT]), was_cut)


async def _feed(stream: ByteSendStream, data: bytes) -> None:
    try:
        for start in range(0, len(data), _CHUNK):
            await stream.send(data[start : start + _CHUNK])
        await stream.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        # It does not want to read: its business, only its exit status counts.
        return


async def _collect(stream: ByteReceiveStream, kept: bytearray) -> None:
    """Read to the end, for a program must not block on a full pipe, but keep only a bounded part."""
    try:
        while True:
            chunk = await stream.receive(_CHUNK)
            if len(kept) <= MAX_OUTPUT:
                kept += chunk
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def _bury(process: Process) -> None:
    _kill_group(process)
    with anyio.CancelScope(shield=True), anyio.move_on_after(_REAP):
        await process.wait()
        await process.aclose()


def _kill_group(process: Process) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return

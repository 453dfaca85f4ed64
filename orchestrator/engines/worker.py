"""The worker program: `python -P -m decurion.orchestrator.engines.worker`. Runs one attempt and ends.

It reads a spec, and later replies and a cancellation, from standard input, and ends when that ends: whoever wanted
the work is gone then. Frames go to what was standard output; prints of the work go to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import uuid4

import anyio

from .frames import BadFrame, pack, read_frame
from .protocol import HEARTBEAT, Blob, Limits, Result, Spec
from .works import run_work

LAST_WORDS = 2.0
"""Seconds for the work to clean up when nobody listens any more."""


class Channel:
    """Frames over two file descriptors, without blocking the loop."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._lock = anyio.Lock()
        for handle in (reads, writes):
            os.set_blocking(handle, False)

    async def receive_exactly(self, nbytes: int) -> bytes:
        """Wait for bytes.

        Raises:
            EOFError: the other side is gone.
        """
        held = bytearray()
        while len(held) < nbytes:
            await anyio.wait_readable(self._reads)
            with suppress(BlockingIOError):
                chunk = os.read(self._reads, nbytes - len(held))
                if not chunk:
                    raise EOFError
                held += chunk
        return bytes(held)

    async def send(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        """Send a frame, whole, even if the sender is cancelled meanwhile."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                await self._write(memoryview(pack(header, blob)))

    async def _write(self, data: memoryview) -> None:
        while data:
            await anyio.wait_writable(self._writes)
            with suppress(BlockingIOError):
                data = data[os.write(self._writes, data) :]


class Place:
    """The workplace of the work that runs here; whoever submitted numbers the events."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self._channel, self._limits = channel, limits
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._waiting: dict[str, anyio.Event] = {}

    async def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Report an event."""
        await self._channel.send({"type": "event", "kind": kind, "data": data})

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask whoever submitted."""
        ask_id = uuid4().hex
        arrived = self._waiting[ask_id] = anyio.Event()
        await self.tell("ask", {"ask_id": ask_id, **question})
        with anyio.move_on_after(self._limits.idle_s):
            await arrived.wait()
        del self._waiting[ask_id]
        return self._answers.pop(ask_id, {"denied": True})

    async def put(self, data: bytes) -> Blob:
        """Hand over bytes."""
        from hashlib import sha256

        await self._channel.send({"type": "blob"}, data)
        return Blob(sha256(data).hexdigest(), len(data))

    def answered(self, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Take in an answer."""
        if ask_id in self._waiting:
            self._answers[ask_id] = answer
            self._waiting[ask_id].set()


async def serve(channel: Channel) -> None:
    """Run the one attempt that comes in."""
    header, _ = await read_frame(channel)
    told: dict[str, Any] = header["spec"]
    told["limits"] = Limits(**told["limits"])
    spec = Spec(**told)
    place = Place(channel, spec.limits)
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(_beat, channel)
        group.start_soon(_listen, channel, place, scope)
        result = Result("cancelled", error="it was cancelled")
        with scope:
            result = await run_work(spec, place)
        await channel.send({"type": "result", "result": asdict(result)})
        group.cancel_scope.cancel()


async def _beat(channel: Channel) -> None:
    """Show signs of life from the loop itself: one that is stuck is as good as dead."""
    while True:
        await channel.send({"type": "beat"})
        await anyio.sleep(HEARTBEAT)


async def _listen(channel: Channel, place: Place, scope: anyio.CancelScope) -> None:
    with suppress(EOFError, BadFrame):
        while True:
            header, _ = await read_frame(channel)
            if header["type"] == "cancel":
                scope.cancel()
            elif header["type"] == "reply":
                place.answered(header["ask_id"], header["answer"])
    scope.cancel()
    with anyio.CancelScope(shield=True):
        await anyio.sleep(LAST_WORDS)
    _die()


def _die() -> None:
    """End with all that this attempt started."""
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Run as a program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt is for the lead, which cancels
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        anyio.run(serve, Channel(reads, writes))
    except (EOFError, BadFrame, BrokenPipeError):
        sys.exit(1)


if __name__ == "__main__":
    main()

"""The engine that runs each attempt in a worker program of its own, over a pipe."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from .frames import BadFrame, pack, read_frame
from .local import LocalEngine
from .protocol import SILENCE, Handle, Result, Spec
from .record import Record

WORKER = ("-P", "-m", "decurion.orchestrator.engines.worker")
"""`-P` keeps a stranger's `anyio.py` in the working folder from being run."""

STARTING = 30.0
"""Seconds until the first sign of life: a program starts slowly on a machine that is busy."""

_GONE = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    OSError,
)


@dataclass(slots=True)
class _Running:
    """One worker that is alive."""

    process: Process
    cancelled: bool = False

    async def send(self, header: Mapping[str, Any]) -> None:
        """Send a frame; a worker that is gone is found out by its silence."""
        assert self.process.stdin is not None
        with suppress(*_GONE):
            await self.process.stdin.send(pack(header))

    def kill(self) -> None:
        """Kill the worker and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Pipe(LocalEngine):
    """Runs attempts as programs. What they do to their process stays theirs; they end when this ends."""

    def __init__(self, folder: Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        super().__init__(folder)
        self._cwd, self._env = cwd, env
        self._running: dict[Handle, _Running] = {}

    async def _run(self, spec: Spec, record: Record) -> None:
        result = Result("cancelled", error="the engine was closed")
        running: _Running | None = None
        try:
            running = await self._start(record)
            self._running[spec.handle] = running
            await running.send({"type": "spec", "spec": asdict(spec)})
            result = await self._hear(running, record)
        except OSError as error:
            result = Result("lost", error=f"the worker could not be started: {error}")
        finally:
            if running is not None:
                await self._bury(running)
            self._running.pop(spec.handle, None)
            record.end(result)

    async def _start(self, record: Record) -> _Running:
        command = [sys.executable, *WORKER]
        with record.file.with_suffix(".stderr").open("wb") as said:
            process = await anyio.open_process(
                command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=said,
                cwd=self._cwd,
                env=self._env,
                start_new_session=True,
            )
        return _Running(process)

    async def _hear(self, running: _Running, record: Record) -> Result:
        """Take in what a worker says, until it has ended one way or another."""
        assert running.process.stdout is not None
        source = BufferedByteReceiveStream(running.process.stdout)
        patience = STARTING
        while True:
            try:
                with anyio.fail_after(patience):
                    header, blob = await read_frame(source)
            except TimeoutError:
                return self._lost(running, record, f"the worker was silent for {patience:g} seconds")
            except (*_GONE, BadFrame) as error:
                return self._lost(running, record, f"the worker ended ({type(error).__name__})")
            patience = SILENCE
            match header["type"]:
                case "event":
                    record.add(header["kind"], header["data"])
                case "blob":
                    self.store.put(blob)
                case "result":
                    return Result(**{name: header["result"][name] for name in ("status", "value", "error")})
                case _:
                    pass  # a sign of life

    @staticmethod
    def _lost(running: _Running, record: Record, why: str) -> Result:
        if running.cancelled:
            return Result("cancelled", error="it was cancelled and killed")
        said = record.file.with_suffix(".stderr").read_bytes()[-400:].decode("utf-8", "replace").strip()
        return Result("lost", error=f"{why}{': ' if said else ''}{said}")

    @staticmethod
    async def _bury(running: _Running) -> None:
        running.kill()
        with anyio.CancelScope(shield=True), anyio.move_on_after(SILENCE):
            await running.process.aclose()

    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question."""
        running = self._running.get(handle)
        if running is not None:
            await running.send({"type": "reply", "ask_id": ask_id, "answer": answer})

    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """Interrupt a worker, and kill its process group after `grace_s` seconds."""
        record = self.store.get(handle)
        running = self._running.get(handle)
        if running is not None:
            running.cancelled = True
            await running.send({"type": "cancel"})
            with anyio.move_on_after(grace_s):
                await record.ended.wait()
            running.kill()
            await record.ended.wait()

    def running(self) -> list[Handle]:
        """The attempts that have not ended."""
        return list(self._running)

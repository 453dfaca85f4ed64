"""The engine that runs each attempt in a worker program of its own, over a pipe."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from decurion.agents.groups import task_group
from decurion.agents.tools.family import MARK, Family
from decurion.hooks.counts import counted

from .frames import BadFrame, pack, read_frame
from .local import LocalEngine
from .protocol import SILENCE, Handle, Result, Spec
from .record import DiskStore, Record

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
    """One worker that is alive. `errors` has its standard error; `orderly` once it has said how its work ended."""

    process: Process
    family: Family
    errors: Path
    heard: bool = False
    silent: str = ""
    cancelled: bool = False
    orderly: bool = False
    _outbox: deque[bytes] = field(default_factory=deque[bytes])
    _news: anyio.Event = field(default_factory=anyio.Event)

    def post(self, header: Mapping[str, Any]) -> None:
        """Send a frame, behind those that wait already."""
        self._outbox.append(pack(header))
        self._news.set()

    async def write(self) -> None:
        """Send what is posted, as long as the worker takes it; one that is gone is found out by its silence.

        Alone, so that no frame is torn by another, or by whoever posted it being cancelled.
        """
        assert self.process.stdin is not None
        with suppress(*_GONE):
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                while self._outbox:
                    await self.process.stdin.send(self._outbox.popleft())

    async def watch(self) -> None:
        """Kill the worker when it has been silent for too long. Seconds in which this program slept do not count."""
        silent, patience = 0, STARTING
        while silent < patience:
            await anyio.sleep(1)
            silent, patience = (0, SILENCE) if self.heard else (silent + 1, patience)
            self.heard = False
        self.silent = f"the worker was silent for {counted(patience, 'second')}"
        self.kill()

    async def how_it_ended(self) -> str:
        """Say how a worker ended that is not heard any more."""
        with anyio.move_on_after(1):
            await self.process.wait()
        code = self.process.returncode
        how = (
            "and says nothing"
            if code is None
            else f"by signal {-code}"
            if code < 0
            else f"with status {code}"
        )
        return f"the worker ended {how}"

    def kill(self) -> None:
        """Kill the worker and all of its process group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    async def bury(self) -> None:
        """See that nothing is left: of a worker that was killed, its commands may be, in sessions of their own."""
        self.kill()
        with anyio.CancelScope(shield=True), anyio.move_on_after(SILENCE):
            if not self.orderly:
                await self.family.end()
            await self.process.aclose()


class Pipe(LocalEngine):
    """Runs attempts as programs. What they do to their process stays theirs; they end when this ends."""

    def __init__(self, folder: Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self._disk = DiskStore(folder)
        super().__init__(self._disk)
        self._cwd, self._env = cwd, env
        self._running: dict[Handle, _Running] = {}
        self._unwanted: set[Handle] = set()
        """Attempts that were cancelled before their program had started."""

    async def _run(self, spec: Spec, record: Record) -> None:
        result = Result("cancelled", error="the engine was closed")
        running: _Running | None = None
        try:
            running = self._running[spec.handle] = await self._start(spec.handle)
            if spec.handle in self._unwanted:
                return
            running.post({"type": "spec", "spec": spec})
            async with task_group() as group:
                group.start_soon(running.write)
                group.start_soon(running.watch)
                result = await self._hear(running, record)
                group.cancel_scope.cancel()
        except OSError as error:
            result = Result("lost", error=f"the worker could not be started: {error}")
        finally:
            if running is not None:
                await running.bury()
            self._running.pop(spec.handle, None)
            record.end(result)

    async def _start(self, handle: Handle) -> _Running:
        command, mark = [sys.executable, *WORKER], secrets.token_hex(8)
        env = {**(os.environ if self._env is None else self._env), MARK: f"{os.environ.get(MARK, '')}/{mark}"}
        errors = self._disk.file(handle).with_suffix(".stderr")
        with errors.open("wb") as said:
            process = await anyio.open_process(
                command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=said,
                cwd=self._cwd,
                env=env,
                start_new_session=True,
            )
        return _Running(process, Family.of(process.pid, mark), errors)

    async def _hear(self, running: _Running, record: Record) -> Result:
        """Take in what a worker says, until it has ended one way or another."""
        assert running.process.stdout is not None
        source = BufferedByteReceiveStream(running.process.stdout)
        while True:
            try:
                header, blob = await read_frame(source)
            except BadFrame as error:
                return self._lost(running, f"the worker sent what is no frame ({error})")
            except _GONE:
                return self._lost(running, await running.how_it_ended())
            running.heard = True
            match header["type"]:
                case "event":
                    record.add(header["kind"], header["data"])
                case "blob":
                    self.store.put(blob)
                case "result":
                    running.orderly = True
                    return Result(**{name: header["result"][name] for name in ("status", "value", "error")})
                case _:
                    pass  # a sign of life

    @staticmethod
    def _lost(running: _Running, why: str) -> Result:
        if running.cancelled:
            return Result("cancelled", error="it was cancelled and killed")
        said = running.errors.read_bytes()[-400:].decode("utf-8", "replace").strip()
        return Result("lost", error=f"{running.silent or why}{': ' if said else ''}{said}")

    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question."""
        if running := self._running.get(handle):
            running.post({"type": "reply", "ask_id": ask_id, "answer": answer})

    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """Interrupt a worker, and kill its process group after `grace_s` seconds."""
        record = self.store.get(handle)
        if running := self._running.get(handle):
            running.cancelled = True
            running.post({"type": "cancel"})
            with anyio.move_on_after(grace_s):
                await record.ended.wait()
            running.kill()
        elif record.result is None:
            self._unwanted.add(handle)
        await record.ended.wait()

    def running(self) -> list[Handle]:
        """The attempts that have not ended."""
        return list(self._running)

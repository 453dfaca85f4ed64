"""The engine that needs nothing: attempts are tasks of this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from .local import LocalEngine
from .plain import dumps, loads
from .protocol import Blob, Handle, Result, Spec
from .record import DiskStore, Record, Store
from .works import run_work


@dataclass(frozen=True, slots=True)
class _Place:
    """The workplace of a task of this process. What it says goes through JSON: no work may depend on where it runs."""

    store: Store
    record: Record
    spec: Spec

    async def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Report an event."""
        self.record.add(kind, loads(dumps(data)))
        await anyio.lowlevel.checkpoint()

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask whoever submitted."""
        answer = await self.record.question(loads(dumps(question)), self.spec.limits.idle_s)
        return loads(dumps(answer))

    async def put(self, data: bytes) -> Blob:
        """Hand over bytes."""
        return self.store.put(data)


class InProcess(LocalEngine):
    """Runs attempts as tasks. Code that never awaits cannot be cancelled here; a `Pipe` can end that too.

    `folder` is where records and blobs are kept. Without one an attempt is known as long as it runs: for sessions, whose
    logs and transcripts outlive them, and which a file for each subagent would cost more than all else here.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(DiskStore(folder) if folder else Store())
        self._scopes: dict[Handle, anyio.CancelScope] = {}

    async def submit(self, spec: Spec) -> Handle:
        """Start an attempt, once; it can be cancelled before it has begun."""
        if self.store.find(spec.handle) is None:
            self._scopes[spec.handle] = anyio.CancelScope()
        return await super().submit(spec)

    async def _run(self, spec: Spec, record: Record) -> None:
        result = Result("cancelled", error="it was cancelled")
        try:
            with self._scopes[spec.handle]:
                result = await run_work(spec, _Place(self.store, record, spec))
        finally:
            del self._scopes[spec.handle]
            record.end(result)

    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question."""
        self.store.get(handle).answer(ask_id, answer)

    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """Interrupt a task and wait for it, at most `grace_s` seconds: it cannot be killed, but it is given up."""
        if scope := self._scopes.get(handle):
            record = self.store.get(handle)
            scope.cancel()
            with anyio.move_on_after(grace_s):
                await record.ended.wait()
            record.end(Result("cancelled", error="it was cancelled and did not end in time"))

    def running(self) -> list[Handle]:
        """The attempts that have not ended."""
        return list(self._scopes)

"""The engine that needs nothing: attempts are tasks of this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from .protocol import Blob, Event, Handle, Result, Spec
from .record import Record, Store
from .works import run_work


@dataclass(frozen=True, slots=True)
class _Place:
    """The workplace of a task of this process."""

    store: Store
    record: Record
    spec: Spec

    async def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Report an event."""
        self.record.add(kind, data)
        await anyio.lowlevel.checkpoint()

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask whoever submitted."""
        return await self.record.question(question, self.spec.limits.idle_s)

    async def put(self, data: bytes) -> Blob:
        """Hand over bytes."""
        return self.store.put(data)


class InProcess:
    """Runs attempts as tasks. Code that never awaits cannot be cancelled here; a `Pipe` can end that too."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self._scopes: dict[Handle, anyio.CancelScope] = {}
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._group is not None
        self._group.cancel_scope.cancel()
        return await self._group.__aexit__(kind, error, trace)

    async def submit(self, spec: Spec) -> Handle:
        """Start an attempt, once."""
        assert self._group is not None, "use it as `async with engine:`"
        record, is_new = self.store.open(spec.handle)
        if is_new:
            self._scopes[spec.handle] = anyio.CancelScope()
            record.add("state", {"status": "running", "work": spec.work})
            self._group.start_soon(self._run, spec, record)
        return spec.handle

    async def _run(self, spec: Spec, record: Record) -> None:
        result = Result("cancelled", error="it was cancelled")
        try:
            with self._scopes[spec.handle]:
                result = await run_work(spec, _Place(self.store, record, spec))
        finally:
            record.end(result)

    def events(self, handle: Handle, after: int = 0) -> AsyncIterator[Event]:
        """The events behind a number, until the end."""
        return self.store.get(handle).follow(after)

    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question."""
        self.store.get(handle).answer(ask_id, answer)

    async def result(self, handle: Handle) -> Result:
        """Wait for the end."""
        record = self.store.get(handle)
        await record.ended.wait()
        assert record.result is not None
        return record.result

    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """Interrupt a task and wait for it, at most `grace_s` seconds: it cannot be killed, but it is given up."""
        record = self.store.get(handle)
        if record.result is None and handle in self._scopes:
            self._scopes[handle].cancel()
            with anyio.move_on_after(grace_s):
                await record.ended.wait()
            record.end(Result("cancelled", error="it was cancelled and did not end in time"))

    async def attach(self, run: str) -> list[Handle]:
        """The attempts of a run that are known."""
        return self.store.of_run(run)

    async def put(self, data: bytes) -> Blob:
        """Store bytes."""
        return self.store.put(data)

    async def get(self, blob: Blob) -> bytes:
        """Fetch bytes."""
        return self.store.fetch(blob)

    async def close(self) -> None:
        """End all that runs."""
        for handle in list(self._scopes):
            await self.cancel(handle)

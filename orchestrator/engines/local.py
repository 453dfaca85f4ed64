"""What both engines of this machine have in common: attempts as tasks of one group, each with a record on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from anyio.abc import TaskGroup

from decurion.agents.groups import task_group

from .protocol import Blob, Event, Handle, Result, Spec
from .record import Record, Store


class LocalEngine(ABC):
    """Everything but running an attempt and ending one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._around = task_group()
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = await self._around.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._group is not None
        self._group.cancel_scope.cancel()
        return await self._around.__aexit__(kind, error, trace)

    async def submit(self, spec: Spec) -> Handle:
        """Start an attempt, once."""
        assert self._group is not None, "use it as `async with engine:`"
        record, is_new = self.store.open(spec.handle)
        if is_new:
            record.add("state", {"status": "running", "work": spec.work})
            self._group.start_soon(self._run, spec, record)
        return spec.handle

    @abstractmethod
    async def _run(self, spec: Spec, record: Record) -> None:
        """Run an attempt to its end and put that into its record, whatever happens."""

    @abstractmethod
    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question."""

    @abstractmethod
    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """End an attempt; returns when it has ended."""

    @abstractmethod
    def running(self) -> list[Handle]:
        """The attempts that have not ended."""

    def events(self, handle: Handle, after: int = 0) -> AsyncIterator[Event]:
        """The events behind a number, until the end."""
        return self.store.get(handle).follow(after)

    async def result(self, handle: Handle) -> Result:
        """Wait for the end."""
        record = self.store.get(handle)
        await record.ended.wait()
        assert record.result is not None
        return record.result

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
        for handle in self.running():
            await self.cancel(handle)

"""One attempt as its engine holds it: events and result, in memory and in a file that outlives the engine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import quote, unquote
from uuid import uuid4
from weakref import WeakValueDictionary

import anyio

from decurion.hooks import DecurionError

from .plain import dumps, loads
from .protocol import START, Blob, Event, Handle, Result, digest


class Record:
    """Events of one attempt, in order, and its end. Written down before anybody is told, if there is a file."""

    def __init__(self, handle: Handle, file: Path | None = None) -> None:
        self.handle, self.file = handle, file
        self.events: list[Event] = []
        self.result: Result | None = None
        self.ended = anyio.Event()
        self._news = anyio.Event()
        self._waiting: dict[str, anyio.Event] = {}
        self._answers: dict[str, Mapping[str, Any]] = {}

    @property
    def head(self) -> tuple[int, str]:
        """Number and hash of the newest event."""
        return (self.events[-1].seq, self.events[-1].hash) if self.events else (0, START)

    def add(self, kind: str, data: Mapping[str, Any]) -> Event:
        """Make the next event."""
        seq, prev = self.head
        t = time.time()
        h = self.handle
        event = Event(
            h.run, h.agent, h.attempt, seq + 1, t, kind, data, prev, digest(prev, seq + 1, t, kind, data)
        )
        return self.take(event)

    def take(self, event: Event) -> Event:
        """Take in an event that was made elsewhere; whether it is sound is for its reader to see."""
        self._append(event)
        self.events.append(event)
        self._wake()
        return event

    def end(self, result: Result) -> None:
        """The attempt is over; the first end counts, and it names the newest event."""
        if self.result is not None:
            return
        if result.status != "completed":
            self.add("state", {"status": result.status, "error": result.error})
        seq, head = self.head
        ended = result if result.head != START else replace(result, last_seq=seq, head=head)
        self._append({"result": ended})
        self.result = ended
        self.ended.set()
        self._wake()

    def follow(self, after: int) -> Following:
        """The events behind a number, as they come, until the end."""
        return Following(self, after)

    async def next_event(self, at: int) -> Event | None:
        """Wait for the event behind a number; None where the attempt ends without one."""
        while at >= len(self.events):
            if self.result is not None:
                return None
            await self._news.wait()
        return self.events[at]

    async def question(self, question: Mapping[str, Any], seconds: float | None) -> Mapping[str, Any]:
        """Put a question among the events and wait for its answer."""
        ask_id = uuid4().hex
        self._waiting[ask_id] = anyio.Event()
        self.add("ask", {"ask_id": ask_id, **question})
        with anyio.move_on_after(seconds):
            await self._waiting[ask_id].wait()
        del self._waiting[ask_id]
        return self._answers.pop(ask_id, {"denied": True})

    def answer(self, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Take in an answer; the first one counts."""
        if ask_id in self._waiting and ask_id not in self._answers:
            self._answers[ask_id] = answer
            self._waiting[ask_id].set()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _append(self, line: Event | Mapping[str, Any]) -> None:
        if self.file is None:
            return
        # Opened for each: a thousand attempts at once must not hold a thousand files.
        file = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, dumps(line) + b"\n")
        finally:
            os.close(file)


class Following:
    """Iterates over a record's events. No generator: whoever stops in the middle leaves nothing to clean up."""

    def __init__(self, record: Record, after: int) -> None:
        self._record, self._at = record, after

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event = await self._record.next_event(self._at)
        if event is None:
            raise StopAsyncIteration
        self._at += 1
        return event


class Store:
    """The records and blobs of an engine, in memory: of attempts that somebody runs or reads."""

    def __init__(self) -> None:
        self.records: WeakValueDictionary[Handle, Record] = WeakValueDictionary()
        self.blobs: dict[str, bytes] = {}

    def open(self, handle: Handle) -> tuple[Record, bool]:
        """The record of an attempt, and whether it is new."""
        found = self.find(handle)
        if found is not None:
            return found, False
        record = self.records[handle] = self._new(handle)
        return record, True

    def _new(self, handle: Handle) -> Record:
        return Record(handle)

    def find(self, handle: Handle) -> Record | None:
        """The record of an attempt, None if there is none."""
        return self.records.get(handle)

    def get(self, handle: Handle) -> Record:
        """The record of an attempt.

        Raises:
            DecurionError: there is none.
        """
        found = self.find(handle)
        if found is None:
            raise DecurionError(f"{handle} was never submitted here.")
        return found

    def of_run(self, run: str) -> list[Handle]:
        """All attempts of a run."""
        return sorted((h for h in self._handles() if h.run == run), key=lambda h: (h.agent, h.attempt))

    def _handles(self) -> Iterable[Handle]:
        return list(self.records)

    def put(self, data: bytes) -> Blob:
        """Store bytes under their digest."""
        blob = Blob(sha256(data).hexdigest(), len(data))
        self._keep(blob.sha256, data)
        return blob

    def fetch(self, blob: Blob) -> bytes:
        """Read bytes back.

        Raises:
            DecurionError: they are not there, or were altered.
        """
        data = self._kept(blob.sha256)
        if data is None:
            raise DecurionError(f"There is no blob {blob.sha256[:12]}.")
        if sha256(data).hexdigest() != blob.sha256:
            raise DecurionError(f"The blob {blob.sha256[:12]} was altered.")
        return data

    def _keep(self, name: str, data: bytes) -> None:
        self.blobs[name] = data

    def _kept(self, name: str) -> bytes | None:
        return self.blobs.get(name)


class DiskStore(Store):
    """The same in a folder: what is not in memory any more is read again, also what was there before a restart."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        for name in ("attempts", "blobs"):
            (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    def file(self, handle: Handle) -> Path:
        """Where an attempt is written down."""
        name = "~".join((quote(handle.run, safe=""), quote(handle.agent, safe=""), str(handle.attempt)))
        return self.folder / "attempts" / f"{name.replace('.', '%2E')}.jsonl"

    def _new(self, handle: Handle) -> Record:
        file = self.file(handle)
        file.touch(mode=0o600)
        return Record(handle, file)

    def find(self, handle: Handle) -> Record | None:
        """The record of an attempt; one that had not ended when its engine did is lost."""
        found, file = super().find(handle), self.file(handle)
        if found is None and file.exists():
            found = self.records[handle] = _read(handle, file)
        return found

    def _handles(self) -> Iterable[Handle]:
        return [_handle(file.stem) for file in (self.folder / "attempts").glob("*.jsonl")]

    def _keep(self, name: str, data: bytes) -> None:
        target = self.folder / "blobs" / name
        if not target.exists():
            scratch = target.with_name(f"{uuid4().hex}.tmp")
            scratch.write_bytes(data)
            scratch.replace(target)

    def _kept(self, name: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return (self.folder / "blobs" / Path(name).name).read_bytes()
        return None


def _handle(name: str) -> Handle:
    run, agent, attempt = name.split("~")
    return Handle(unquote(run), unquote(agent), int(attempt))


def _read(handle: Handle, file: Path) -> Record:
    record = Record(handle, file)
    for line in file.read_bytes().split(b"\n"):
        try:
            data = cast("dict[str, Any]", loads(line))
        except ValueError:
            continue  # the empty end, or torn by a crash
        if "result" in data:
            record.result = Result(**data["result"])
        else:
            record.events.append(Event(**data))
    if record.result is None:
        with file.open("ab") as torn:
            torn.write(b"\n")
        record.end(Result("lost", error="the program that ran it ended"))
    record.ended.set()
    return record

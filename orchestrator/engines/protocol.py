"""The seam between who wants work done and where it runs: JSON and blobs only, so that it can cross any border.

The contract, held by one test suite over every engine:

1. An engine runs an attempt once. Whether there is another is for the supervisor to say.
2. `seq` has no gaps, and each event carries the hash of the one before: nothing is lost or altered unseen.
3. A result names the last event and its hash; it counts only if both are what arrived.
4. A question blocks only who asked; without an answer in `limits.idle_s` seconds it is answered with a refusal.
5. Cancelling interrupts, waits `grace_s`, then kills the whole process group. The attempt ends in any case.
6. An attempt whose process dies or is silent for `SILENCE` seconds ends as `lost`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, Protocol

from .plain import dumps

HEARTBEAT = 1.0
"""Seconds between two signs of life of a worker."""

SILENCE = 5.0
"""Seconds without any after which a worker counts as dead."""

START = "0" * 64
"""What stands as the hash before the first event."""

Status = Literal["completed", "error", "timeout", "cancelled", "lost"]


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes by name."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds an attempt may take, and seconds a question waits for its answer; None: any."""

    wall_s: float | None = None
    idle_s: float | None = 300.0


@dataclass(frozen=True, slots=True)
class Handle:
    """One attempt, by name."""

    run: str
    agent: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything an attempt needs.

    `work` names an async function as `module:function`; it is called with this spec and a `Workplace`. `args` are for
    it. `resume` is the data of the newest checkpoint of the attempt before, or None.
    """

    run: str
    agent: str
    attempt: int
    work: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limits: Limits = Limits()
    resume: Mapping[str, Any] | None = None

    @property
    def handle(self) -> Handle:
        """The attempt's name."""
        return Handle(self.run, self.agent, self.attempt)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in an attempt. `t` is in seconds since the epoch."""

    run: str
    agent: str
    attempt: int
    seq: int
    t: float
    kind: str
    data: Mapping[str, Any]
    prev: str
    hash: str

    @property
    def sound(self) -> bool:
        """Whether the hash is that of the content."""
        return self.hash == digest(self.prev, self.seq, self.t, self.kind, self.data)


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended. `value` is what the work returned, `error` what went wrong, in words."""

    status: Status
    value: Any = None
    error: str = ""
    last_seq: int = 0
    head: str = START


class Workplace(Protocol):
    """What an engine offers to the work that runs in it."""

    async def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Report an event; it is on its way to the disk of whoever submitted when this returns."""
        ...

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask whoever submitted; `{"denied": true}` where nobody answers in time."""
        ...

    async def put(self, data: bytes) -> Blob:
        """Hand over bytes."""
        ...


Work = Callable[[Spec, Workplace], Awaitable[Any]]


class Engine(Protocol):
    """Runs attempts. Used as `async with engine:`; leaving the block ends all that still runs."""

    async def submit(self, spec: Spec) -> Handle:
        """Start an attempt. Submitting the same run, agent and attempt again starts nothing."""
        ...

    def events(self, handle: Handle, after: int = 0) -> AsyncIterator[Event]:
        """The events with a greater `seq`, until the attempt has ended; may be asked for again from anywhere."""
        ...

    async def reply(self, handle: Handle, ask_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a question; one that is answered already, or nobody waits for, is passed over."""
        ...

    async def result(self, handle: Handle) -> Result:
        """Wait for the end of an attempt."""
        ...

    async def cancel(self, handle: Handle, grace_s: float = 2.0) -> None:
        """End an attempt; returns when it has ended."""
        ...

    async def attach(self, run: str) -> list[Handle]:
        """The attempts of a run that are known, also from before a restart."""
        ...

    async def put(self, data: bytes) -> Blob:
        """Store bytes."""
        ...

    async def get(self, blob: Blob) -> bytes:
        """Fetch bytes.

        Raises:
            DecurionError: they are not there, or not what the name says.
        """
        ...

    async def close(self) -> None:
        """End all that runs."""
        ...


def digest(prev: str, seq: int, t: float, kind: str, data: Mapping[str, Any]) -> str:
    """The hash of an event: over its content in canonical JSON and the hash before it."""
    return sha256(dumps([prev, seq, t, kind, data], in_order=True)).hexdigest()

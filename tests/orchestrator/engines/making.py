"""Making engines for tests, and looking at what runs in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from decurion.orchestrator.engines.inprocess import InProcess
from decurion.orchestrator.engines.pipe import Pipe
from decurion.orchestrator.engines.protocol import Engine, Event, Handle, Spec

WORKS = "tests.orchestrator.engines.scripted"
ROOT = Path(__file__).resolve().parents[3]

MakeSpec = Callable[..., Spec]


def make(kind: str, folder: Path) -> InProcess | Pipe:
    return InProcess(folder) if kind == "inprocess" else Pipe(folder, env=worker_environment())


def worker_environment() -> dict[str, str]:
    """The worker starts with `-P`, so where the scripted works lie must be said."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


async def all_events(engine: Engine, handle: Handle, after: int = 0) -> list[Event]:
    return [event async for event in engine.events(handle, after)]


async def started(engine: Engine, handle: Handle) -> dict[str, int]:
    """Wait until the work has said which process it is; gives that."""
    async for event in engine.events(handle):
        if event.kind == "pid":
            return dict(event.data)
    raise AssertionError("it ended before it said who it is")


def is_alive(pid: int) -> bool:
    """Whether a process is there and no mere zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False

"""Work for engines to run: named by `module:function`, told what to do by its spec."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from decurion.orchestrator.engines.protocol import Spec, Workplace


def _leave_a_line(spec: Spec) -> None:
    with Path(spec.args["ran"]).open("a") as file:
        file.write("x")


async def count(spec: Spec, place: Workplace) -> dict[str, Any]:
    """Tell some events; leave a line for each time it is run."""
    _leave_a_line(spec)
    for number in range(spec.args["events"]):
        await place.tell("log", {"number": number, "text": "ü\n\0"})
    return {"told": spec.args["events"], "resume": spec.resume}


async def fail(spec: Spec, place: Workplace) -> None:
    _leave_a_line(spec)
    raise ValueError("no good")


async def question(spec: Spec, place: Workplace) -> Any:
    return dict(await place.ask({"text": "may I?"}))


async def blob(spec: Spec, place: Workplace) -> Any:
    made = await place.put(b"\0" * 300_000)
    return {"sha256": made.sha256, "size": made.size}


async def noisy(spec: Spec, place: Workplace) -> str:
    """Prints must not be taken for frames."""
    print("hello from the work", flush=True)  # noqa: T201 - the point of it
    subprocess.run(["echo", "hello from a child"], check=True)  # noqa: ASYNC221 - short
    return "done"


async def wait(spec: Spec, place: Workplace) -> None:
    """Say which process this is, start a child that would outlive it, and wait."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])  # noqa: ASYNC220 - left behind
    try:
        await place.tell("checkpoint", {"turn": 1})
        await place.tell("pid", {"pid": os.getpid(), "child": child.pid})
        await anyio.sleep(60)
    finally:
        child.kill()
        child.wait()


async def stuck(spec: Spec, place: Workplace) -> None:
    """Never give the loop a turn, and never end by itself."""
    await place.tell("pid", {"pid": os.getpid(), "child": 0})
    time.sleep(60)  # noqa: ASYNC251 - the point of it


async def stubborn(spec: Spec, place: Workplace) -> None:
    """Pay no attention to being cancelled."""
    await place.tell("pid", {"pid": os.getpid(), "child": 0})
    with anyio.CancelScope(shield=True):
        await anyio.sleep(3 if spec.args.get("short") else 60)


async def second_time_lucky(spec: Spec, place: Workplace) -> Any:
    """Die in the first attempt; tell in the second what it was given to go on with."""
    await place.tell("checkpoint", {"turn": 3})
    if spec.attempt == 1:
        os._exit(7)
    return {"attempt": spec.attempt, "resume": spec.resume}


async def last_words(spec: Spec, place: Workplace) -> None:
    """Say something when interrupted."""
    await place.tell("pid", {"pid": os.getpid(), "child": 0})
    try:
        await anyio.sleep(60)
    finally:
        with anyio.CancelScope(shield=True):
            await place.tell("log", {"text": "so far I came"})


async def two_questions(spec: Spec, place: Workplace) -> Any:
    """Ask two things side by side; each is blocked until the other was asked."""
    answers: dict[str, Any] = {}

    async def ask(name: str) -> None:
        answers[name] = (await place.ask({"name": name}))["name"]

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "one")
        group.start_soon(ask, "two")
    return answers

"""What only a program can do: die, fall silent, be killed, outlive nobody."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from decurion.orchestrator.engines.pipe import Pipe
from decurion.orchestrator.engines.protocol import Limits, Result, Spec
from decurion.orchestrator.engines.supervisor import Supervisor
from tests.orchestrator.engines.making import ROOT, WORKS, is_alive, started, worker_environment

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Pipe]:
    async with Pipe(tmp_path / "engine", env=worker_environment()) as made:
        yield made


def _spec(work: str, **args: object) -> Spec:
    return Spec("run", "agent", 1, f"{WORKS}:{work}", args, Limits(wall_s=50))


async def _gone(pid: int) -> bool:
    with anyio.move_on_after(60):
        while is_alive(pid):  # noqa: ASYNC110 - nothing tells of a stranger's end
            await anyio.sleep(0.05)
        return True
    return False


async def test_a_killed_worker_is_lost_at_once_and_its_children_are_gone(engine: Pipe) -> None:
    spec = _spec("wait")
    who = await started(engine, await engine.submit(spec))
    os.kill(who["pid"], signal.SIGKILL)
    with anyio.fail_after(60):
        result = await engine.result(spec.handle)
    assert result.status == "lost"
    assert result.error == "the worker ended by signal 9"
    assert await _gone(who["child"])


@pytest.mark.slow
async def test_a_silent_worker_is_ended_after_five_seconds(engine: Pipe) -> None:
    spec = _spec("stuck")
    began = anyio.current_time()
    who = await started(engine, await engine.submit(spec))
    with anyio.fail_after(60):
        result = await engine.result(spec.handle)
    assert (result.status, result.error) == ("lost", "the worker was silent for 5 seconds")
    assert anyio.current_time() - began > 4.5
    assert await _gone(who["pid"])


async def test_a_stuck_worker_is_killed_when_the_grace_is_over(engine: Pipe) -> None:
    spec = _spec("stuck")
    who = await started(engine, await engine.submit(spec))
    with anyio.fail_after(60):
        await engine.cancel(spec.handle, 0.3)
    assert (await engine.result(spec.handle)).status == "cancelled"
    assert await _gone(who["pid"])


@pytest.mark.slow
async def test_a_worker_ends_when_its_lead_is_killed(tmp_path: Path) -> None:
    lead = (
        "import sys, anyio\n"
        "from pathlib import Path\n"
        "from decurion.orchestrator.engines.pipe import Pipe\n"
        "from decurion.orchestrator.engines.protocol import Spec\n"
        "async def main():\n"
        "    async with Pipe(Path(sys.argv[1])) as engine:\n"
        f"        handle = await engine.submit(Spec('run', 'agent', 1, '{WORKS}:wait'))\n"
        "        async for event in engine.events(handle):\n"
        "            if event.kind == 'pid': print(event.data['pid'], event.data['child'], flush=True)\n"
        "anyio.run(main)\n"
    )
    command = [sys.executable, "-c", lead, str(tmp_path / "engine")]
    async with await anyio.open_process(command, env=worker_environment(), cwd=ROOT) as process:
        assert process.stdout is not None
        line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)
        worker, child = map(int, line.split())
        process.kill()
        await process.wait()
        assert await _gone(worker)
        assert await _gone(child)


async def test_the_supervisor_goes_on_from_the_newest_checkpoint_of_a_lost_attempt(engine: Pipe) -> None:
    heard: list[tuple[int, int, str]] = []
    supervisor = Supervisor(engine, listen=lambda event: heard.append((event.attempt, event.seq, event.kind)))
    result = await supervisor.run(_spec("second_time_lucky"))
    assert result.value == {"attempt": 2, "resume": {"turn": 3}}
    assert heard == [
        (1, 1, "state"), (1, 2, "checkpoint"), (1, 3, "state"), (2, 1, "state"), (2, 2, "checkpoint")
    ]  # fmt: skip
    assert supervisor.is_fenced(_spec("second_time_lucky").handle)


async def test_the_supervisor_does_not_repeat_what_failed_by_itself(engine: Pipe, tmp_path: Path) -> None:
    result = await Supervisor(engine, attempts=3).run(_spec("fail", ran=str(tmp_path / "ran")))
    assert result.status == "error"
    assert (tmp_path / "ran").read_text() == "x"


async def test_the_supervisor_passes_questions_on(engine: Pipe) -> None:
    async def yes(question: object) -> dict[str, bool]:
        return {"yes": True}

    assert (await Supervisor(engine, answer=yes).run(_spec("question"))).value == {"yes": True}
    assert (await Supervisor(engine).run(Spec("run", "b", 1, f"{WORKS}:question"))).value == {"denied": True}


async def test_a_result_that_does_not_fit_its_events_does_not_count(tmp_path: Path) -> None:
    class Lying(Pipe):
        async def result(self, handle: object) -> Result:
            return Result("completed", "trust me", last_seq=99, head="f" * 64)

    async with Lying(tmp_path / "engine", env=worker_environment()) as engine:
        result = await Supervisor(engine, attempts=1).run(_spec("noisy"))
    assert (result.status, result.error) == ("lost", "the result does not fit the events that arrived")

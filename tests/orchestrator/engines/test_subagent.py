"""The work that engines are for: a subagent in a worker program, with a law and a log of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from decurion.orchestrator.engines import Event, Limits, Pipe, Spec, Supervisor

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def test_a_subagent_whose_worker_is_killed_goes_on_in_another(tmp_path: Path) -> None:
    """The next attempt takes up the session at the newest checkpoint: what was done is not done again."""
    place = tmp_path / "tree"
    place.mkdir()
    (place / "a.py").write_text("def load():\n    return 1\n")
    args = {
        "workspace": str(place),
        "prompt": "Rename load to read_config in a.py",
        "agent_type": "refactorer",
        "model": "offline",
    }
    spec = Spec("run", "agent-1", 1, "decurion.orchestrator.engines.subagent:run", args, Limits(wall_s=50))
    sessions: dict[int, str] = {}
    workers: list[int] = []

    def kill_the_first(event: Event) -> None:
        if event.kind == "session":
            sessions[event.attempt] = event.data["session_id"]
            workers.append(event.data["pid"])
        elif event.kind == "checkpoint" and event.attempt == 1 and len(workers) == 1:
            os.kill(workers[0], signal.SIGKILL)

    async with Pipe(tmp_path / "engine", env=dict(os.environ)) as engine:
        result = await Supervisor(engine, listen=kill_the_first).run(spec)
    assert (result.status, result.value["status"]) == ("completed", "completed"), result.error
    assert [change["path"] for change in result.value["files_changed"]] == ["a.py"]
    assert (len(set(workers)), set(sessions)) == (2, {1, 2})
    assert sessions[1] == sessions[2]
    assert (place / "a.py").read_text() == "def read_config():\n    return 1\n"

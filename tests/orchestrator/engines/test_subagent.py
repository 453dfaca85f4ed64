"""The work that engines are for: a subagent in a worker program, with a law and a log of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from decurion.orchestrator.engines import Limits, Pipe, Spec

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def test_a_subagent_in_a_worker_program_changes_files_and_reports(tmp_path: Path) -> None:
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
    async with Pipe(tmp_path / "engine", env=dict(os.environ)) as engine:
        handle = await engine.submit(spec)
        kinds = [event.kind async for event in engine.events(handle)]
        result = await engine.result(handle)
    assert result.status == "completed", result.error
    assert result.value["status"] == "completed"
    assert [change["path"] for change in result.value["files_changed"]] == ["a.py"]
    assert (place / "a.py").read_text() == "def read_config():\n    return 1\n"
    assert kinds[:2] == ["state", "session"]
    assert "checkpoint" in kinds

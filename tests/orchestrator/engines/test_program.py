"""The program with workers: interrupted and killed, it leaves none, and goes on with what they had done."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from decurion.agents.messages_api import Answer, Request, call, say, serve_in_thread
from decurion.orchestrator.sessions import find_session
from tests.orchestrator.engines.making import is_alive
from tests.orchestrator.engines.playing import records_of, workers
from tests.program import decurion, running_with, started

pytestmark = pytest.mark.slow


def _until(true: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.03)
    return bool(found)


def _is_lead(request: Request) -> bool:
    return any(tool["name"] == "task" for tool in request.body.get("tools", ()))


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["interrupt", "kill"]
)
def test_workers_end_with_the_program_and_their_work_is_gone_on_with(
    tmp_path: Path, signum: int, code: int
) -> None:
    """A command that runs is ended as well; what was done before is not done again, and the log is whole."""

    mark = f"126.{signum}"  # its own, for the other case may run beside it

    async def answer(request: Request) -> Answer:
        if _is_lead(request):
            return (
                call("task", {"description": "child"}) if request.turn == 0 else say(f"told: {request.last}")
            )
        commands = ("echo x >> ledger", f"touch begun; sleep {mark}")
        if request.turn < len(commands):
            return call("bash", {"command": commands[request.turn]})
        return say("child done")

    with serve_in_thread(answer) as served:
        env = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "sk-of-the-test"}
        with started(tmp_path, "run", "--engine", "pipe", "go", env=env) as running:
            assert _until((tmp_path / "begun").exists, 60)
            [worker] = workers(running.pid)
            environ = Path(f"/proc/{worker}/environ").read_bytes()
            sent = time.monotonic()
            running.send(signum)
            done = running.ended()
            took = time.monotonic() - sent
        assert (done.returncode, took < 30) == (code, True), done.stderr
        assert b"sk-of-the-test" not in environ
        assert _until(lambda: not is_alive(worker), 60)
        assert not running_with(mark)
        resumed = decurion(tmp_path, "resume", env=env)
        assert (resumed.returncode, resumed.stdout) == (0, "told: child done\n"), resumed.stderr
        assert served.refused == []
    assert (tmp_path / "ledger").read_text() == "x\n"
    assert decurion(tmp_path, "audit", "verify", "last").returncode == 0
    folder = find_session(tmp_path)
    assert json.loads((folder / "options.json").read_bytes())["engine"] == "pipe"
    assert not (folder / "engine").exists()
    records = records_of(folder)
    planned, ended = (
        [r["tool_use_id"] for r in records if r["event"] == event] for event in ("planned", "done")
    )
    if signum == signal.SIGINT:
        assert sorted(planned) == sorted(ended)
    assert not [pid for pid in workers(os.getpid()) if is_alive(pid)]

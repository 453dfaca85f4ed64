"""Git as a process: what goes in and comes out, and that nothing of it stays."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

import anyio
import pytest

from decurion.orchestrator.git import GitError
from decurion.orchestrator.git.run import git_in
from tests.orchestrator.git.repository import Repository, failing_git

pytestmark = pytest.mark.anyio
LONG = b"a line of some length\n" * 100_000
"""More than any pipe holds."""


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_long_input_and_output_pass(repository: Repository) -> None:
    git = git_in(repository.path)
    name = (await git.run("hash-object", "-w", "--stdin", stdin=LONG)).line
    assert (await git.run("cat-file", "blob", name)).stdout == LONG


async def test_input_that_git_does_not_read_is_not_an_error_of_its_own(repository: Repository) -> None:
    with pytest.raises(GitError, match="not a git command"):
        await git_in(repository.path).run("no-such-command", stdin=LONG)


async def test_git_that_nobody_waits_for_is_ended(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = f"echo $$ > {quote(str(tmp_path))}/pid; exec sleep 60"
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", "status", "", slow))
    with anyio.move_on_after(30) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(git_in(repository.path).run, "status")
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():  # noqa: ASYNC110 - another process
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    assert not scope.cancelled_caught
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_system_without_handles_of_processes_waits_in_a_thread(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert (await git_in(repository.path).line("rev-parse", "--is-inside-work-tree")) == "true"

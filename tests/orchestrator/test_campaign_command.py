"""`decurion campaign` from the command line, with the scripted model: planned, run, cut short, gone on with, undone."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from decurion.orchestrator.campaign.session import LEDGER, campaign_folders
from decurion.orchestrator.sessions import session_folders
from tests.orchestrator.git.repository import Repository, is_our_branch, make_repository
from tests.program import decurion, started

FILES = {
    "src/app/__init__.py": "",
    "src/app/config.py": "def load(path):\n    return path\n",
    "src/app/main.py": "from app.config import load\n\n\ndef main():\n    return load('x')\n",
    "src/app/other.py": "from app.config import load\n\nload('y')\n",
    "tests/test_config.py": "from app.config import load\n\n\ndef test():\n    assert load(1) == 1\n",
}
RUN = (
    "campaign", "run", "--each", "src/app/*.py", "--model", "offline", "--task", "rename load to read_config in {path}"
)  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make_repository(tmp_path / "project", FILES)
    made.write("src/app/config.py", FILES["src/app/config.py"] + "# mine\n")
    return made


def entries(repository: Repository) -> list[dict[str, Any]]:
    return json.loads(decurion(repository.path, "campaign", "status", "--json").stdout)["entries"]


def test_each_subtask_changes_its_own_target_and_nothing_else(repository: Repository) -> None:
    """The same name stands in all of them, and in a test that is no target."""
    before, status = repository.image(), repository.status()
    run = decurion(repository.path, *RUN, "--canary", "1")
    assert run.returncode == 0, run.stdout + run.stderr
    found = {entry["targets"][0]: (entry["state"], entry["files"]) for entry in entries(repository)}
    assert found.pop("src/app/__init__.py") == ("skipped", [])
    assert found == {name: ("done", [name]) for name in FILES if name.startswith("src/") and FILES[name]}
    (branch,) = repository.git("branch", "--list", "decurion/*", "--format=%(refname:short)").splitlines()
    assert repository.git("diff", "--name-only", "main", branch).splitlines() == sorted(found)
    assert (
        repository.git("show", f"{branch}:src/app/config.py")
        == "def read_config(path):\n    return path\n# mine"
    )
    after = repository.image()
    assert {name for name in after if after[name] != before.get(name) and not is_our_branch(name)} == set()
    assert repository.status() == status


@pytest.mark.slow
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_campaign_that_is_cut_short_goes_on(repository: Repository, signum: int, code: int) -> None:
    with started(repository.path, *RUN, "--parallel", "1") as campaign:
        _wait_for_the_second(repository.path)
        campaign.send(signum)
        run = campaign.ended(30)
    assert run.returncode == code
    assert ("Go on with: decurion campaign resume " in run.stderr) is (signum == signal.SIGINT)
    if signum == signal.SIGINT:
        assert "Go on with: decurion campaign resume " in decurion(repository.path, "sessions", "show").stdout
    done = [entry for entry in entries(repository) if entry["state"] in {"done", "skipped"}]
    assert len(done) >= 2
    again = decurion(repository.path, "campaign", "resume")  # the model is the one it was started with
    assert again.returncode == 0, again.stdout + again.stderr
    assert "3 done, 1 skipped" in again.stdout
    assert not any(f"running {entry['targets'][0]}" in again.stderr for entry in done)
    for entry in entries(repository):
        assert entry["files"] == (entry["targets"] if entry["state"] == "done" else [])


def _wait_for_the_second(workspace: Path) -> None:
    """Until two groups are through and the third is under way."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for folder in campaign_folders(session_folders(workspace)):
            if b'"id": "t0003", "state": "running"' in (folder / LEDGER).read_bytes():
                return
        time.sleep(0.02)
    raise AssertionError("it did not get that far")


@pytest.mark.slow
def test_a_campaign_is_applied_and_undone_from_the_command_line(repository: Repository) -> None:
    before, status = repository.work_image(), repository.status()
    run = decurion(
        repository.path, "campaign", "run", "--grep", r"\bload\b", "--in", "src/**", "--model", "offline",
        "--agent", "refactorer", "--task", "Rename load to read_config in {path}", "--apply", "-q",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 done" in run.stdout
    assert "def read_config" in repository.read("src/app/config.py")
    shown = decurion(repository.path, "campaign", "status", "--json")
    assert '"state": "done"' in shown.stdout
    ended = decurion(repository.path, "sessions", "show").stdout
    assert "  completed  " in ended
    assert "Campaign: 3 of 3 targets done." in ended
    assert "Go on with" not in ended
    lead = decurion(repository.path, "resume")
    assert (lead.returncode, lead.stderr.count("\n")) == (2, 1)
    assert "decurion campaign resume" in lead.stderr
    assert "src/app/config.py" in decurion(repository.path, "undo", "--dry-run").stdout
    assert decurion(repository.path, "undo").returncode == 0
    assert repository.status() == status
    assert {name: d for name, d in repository.work_image().items() if not is_our_branch(name)} == before
    again = decurion(repository.path, "undo")
    assert (again.returncode, again.stderr.strip()) == (
        2, f"decurion: Nothing is applied in {repository.path}: there is nothing to take back."
    )  # fmt: skip


def test_a_dry_run_prints_the_plan_with_an_estimate_and_starts_nothing(repository: Repository) -> None:
    before = repository.image()
    run = decurion(
        repository.path,
        "campaign",
        "run",
        "--each",
        "src/**/*.py",
        "--task",
        "x {path}",
        "--canary",
        "1",
        "--dry-run",
    )
    lines = run.stdout.splitlines()
    assert lines[0] == "   1 src/app/__init__.py (canary)"
    assert len(lines) == 5
    assert lines[-1].startswith("4 subagents, about ")
    assert lines[-1].endswith("8 at once · nothing was started")
    assert repository.image() == before

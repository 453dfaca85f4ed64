"""Two isolated subagents edit the same lines: a third one resolves it in the same session, or a person is told how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.messages_api import Answer, Request, call, calls, say, serve
from decurion.agents.moments import Moment, Notice
from decurion.orchestrator import Orchestrator, WorkOptions
from decurion.orchestrator.session import Finished
from decurion.orchestrator.sessions import find_session
from tests.orchestrator.git.repository import Repository, make_repository

pytestmark = pytest.mark.anyio

FILE = "src/app/config.py"
FIRST = "LIMIT = 1\n\n\ndef limit():\n    return LIMIT\n"
BOTH = "LIMIT = 20  # was 10 in between\n\n\ndef limit():\n    return LIMIT\n"
CHECK = "! grep -q BROKEN src/app/config.py"
OTHER = "tests/test_config.py"
PARTS = {"part ten": "LIMIT = 10", "part twenty": "LIMIT = 20"}


class Script:
    """A lead with two parts that touch one line, and a resolver that writes `resolves` one after the other."""

    def __init__(self, *resolves: dict[str, str]) -> None:
        self.resolves = list(resolves)
        self.briefs: list[str] = []

    async def __call__(self, request: Request) -> Answer:
        if "Two pieces of work conflict." in request.task:
            return self._resolver(request)
        for part, line in PARTS.items():
            if part in request.task:
                return self._worker(request, part, line)
        tasks = [("task", {"description": f"Do {part}: set the limit.", "title": part}) for part in PARTS]
        return say("Both are done.") if request.turn else calls(*tasks)

    def _worker(self, request: Request, part: str, line: str) -> Answer:
        if request.turn == 0:
            return call("read_file", {"path": FILE})
        edit = {"path": FILE, "old_string": "LIMIT = 1\n", "new_string": f"{line}\n"}
        return call("edit_file", edit) if request.turn == 1 else say(f"I have done {part}.")

    def _resolver(self, request: Request) -> Answer:
        if request.turn == 0:
            self.briefs.append(request.task)
            return call("read_file", {"path": FILE})
        if request.turn > 1 or not (files := self.resolves.pop(0)):
            return say("Resolved, and all tests pass.")
        return calls(*(("write_file", {"path": name, "content": text}) for name, text in files.items()))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make_repository(tmp_path / "project", {FILE: FIRST, "src/app/__init__.py": ""})
    made.write("notes.txt", "untracked\n")
    return made


class Ran:
    """A session that is over, and what was told meanwhile."""

    def __init__(self, repository: Repository, script: Script) -> None:
        self.repository, self.script = repository, script
        self.told: list[str] = []

    async def run(self, monkeypatch: pytest.MonkeyPatch) -> Finished:
        def listen(moment: Moment) -> None:
            if isinstance(moment, Notice):
                self.told.append(moment.text)

        async with serve(self.script) as api:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
            work = WorkOptions(isolation="worktree", verify=CHECK)
            finished = await Orchestrator(self.repository.path, work=work, listen=listen).run(
                "Set the limit."
            )
        assert api.refused == []
        return finished

    def branches(self) -> list[str]:
        return self.repository.git("branch", "--list", "decurion/*", "--format=%(refname:short)").splitlines()

    def records(self) -> list[dict[str, Any]]:
        log = find_session(self.repository.path) / "audit.jsonl"
        return [json.loads(line) for line in log.read_bytes().splitlines()]


async def test_a_resolver_mends_what_two_subagents_did_to_one_line(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = repository.work_image()
    ran = Ran(repository, Script({FILE: BOTH}))
    finished = await ran.run(monkeypatch)
    assert (finished.lead.status, finished.verified) == ("completed", True)
    assert ran.branches() == [finished.branch]
    assert repository.git("show", f"{finished.branch}:{FILE}") == BOTH.rstrip("\n")
    assert finished.lead.files_changed == ()  # what the parts did is not in its folder
    assert {name: d for name, d in repository.work_image().items() if not name.startswith(".git/")} == before
    (brief,) = ran.script.briefs
    assert f"Files to mend: {FILE}" in brief
    assert "part ten" in brief
    assert "part twenty" in brief
    resolvers = {record["agent_id"] for record in ran.records() if "resolver-" in record["agent_id"]}
    assert len(resolvers) == 1
    assert "(2 of 2)" in ran.told[-3]
    assert ran.told[-2:] == [
        f"check `{CHECK}`: passed",
        f"put it into this checkout: decurion apply {finished.session_id} (taken back with decurion undo)",
    ]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (Script({}, {}), f"conflict markers are left in {FILE}"),
        (Script({FILE: BOTH, OTHER: ""}, {FILE: BOTH, OTHER: ""}), f"files outside the conflict were changed: {OTHER}"),
        (Script({FILE: "BROKEN\n"}, {FILE: "BROKEN\n"}), "the check fails"),
    ],
    ids=["markers", "elsewhere", "check"],
)  # fmt: skip
async def test_a_resolver_that_fails_twice_leaves_the_work_to_a_person(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, script: Script, why: str
) -> None:
    """What it says does not count, and the command line that is left does what it promises."""
    before = repository.work_image()
    ran = Ran(repository, Script(*script.resolves))
    finished = await ran.run(monkeypatch)
    assert (len(ran.script.briefs), finished.verified) == (2, True)
    assert why in ran.script.briefs[1]
    (left,) = [branch for branch in ran.branches() if branch != finished.branch]
    (text,) = [line for line in ran.told if "was not merged" in line]
    said, command = text.split("\nMerge it by hand: ")
    assert f" was not merged in {FILE}: it conflicts with what is merged" in said
    assert left.startswith(f"decurion/{finished.session_id}-")
    assert {name: d for name, d in repository.work_image().items() if not name.startswith(".git/")} == before
    assert command == f"git switch {finished.branch} && git merge {left}"
    (repository.path / "notes.txt").unlink()  # the branch has it
    repository.git("switch", "-q", finished.branch)
    repository.git("merge", left, check=False)
    assert "<<<<<<< " in repository.read(FILE)
    assert repository.git("diff", "--name-only", "--diff-filter=U") == FILE

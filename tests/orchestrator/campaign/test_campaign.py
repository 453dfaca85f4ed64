"""A whole campaign with real git and a runner that edits files, stopped and gone on with."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from decurion.hooks import DecurionError
from decurion.orchestrator.campaign import (
    Campaign,
    Entry,
    Ledger,
    Plan,
    Report,
    Subtask,
    SubtaskResult,
    find_targets,
    in_groups,
    load_plan,
)
from decurion.orchestrator.git import Isolation, Worktree
from tests.orchestrator.git.repository import Repository, make_repository

pytestmark = pytest.mark.anyio

FILES = {f"src/f{number}.py": f"x = {number}\nold()\n" for number in range(4)}


class Editor:
    """A runner that replaces `old` by `new` in its targets, unless `does` says otherwise for one."""

    def __init__(self, does: Callable[[Subtask, Worktree], str] = lambda _subtask, _tree: "") -> None:
        self.does, self.ran = does, list[Subtask]()

    def settled_turns(self, agent_id: str) -> int:
        """Forget every turn: what was interrupted is made again from the start."""
        return 0

    async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
        self.ran.append(subtask)
        status = self.does(subtask, tree) or "completed"
        if status != "completed":
            return SubtaskResult(status, "it did not work", 0.5)
        for target in subtask.targets:
            file = tree.path / target
            file.write_text(file.read_text().replace("old", "new"))
        await tree.checkpoint(1)
        return SubtaskResult("completed", "done", 0.5)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "user" / "project", FILES)


class Site:
    """One campaign in one repository, which may be begun several times, as after a crash."""

    def __init__(self, repository: Repository, state: Path) -> None:
        self.repository, self.state = repository, state
        self.seen: list[Entry] = []
        self._open: Isolation | None = None

    async def run(self, plan: Plan, runner: Editor) -> Report:
        isolation = self._open = await Isolation.prepare(self.repository.path, self.state, "s1")
        path = self.state / "campaign.jsonl"
        if path.exists():
            ledger = replace(Ledger.read(path), plan=plan)
        else:
            ledger = Ledger.create(
                path, plan, in_groups(await find_targets(plan, self.repository.path), plan.group)
            )
        try:
            return await Campaign(ledger, isolation, runner, changed=self.seen.append).run()
        finally:
            self._open.release()


@pytest.fixture
def site(repository: Repository, tmp_path: Path) -> Site:
    return Site(repository, tmp_path / "state" / "s1")


def plan_of(**changes: object) -> Plan:
    return load_plan(
        None, {"task": "In {path} say new for old", "targets": {"each": ["src/*.py"]}, **changes}
    )


def _states(report: Report) -> list[str]:
    return [entry.state for entry in report.entries]


async def test_every_target_is_changed_and_merged_into_one_branch(site: Site) -> None:
    runner = Editor()
    before = site.repository.image()
    report = await site.run(plan_of(verify="! grep -q old {path}"), runner)
    assert (_states(report), report.ok, report.branch) == (["done"] * 4, True, "decurion/s1")
    assert site.repository.git("grep", "-c", "new", report.branch).count(":1") == 4
    assert [subtask.prompt for subtask in runner.ran if subtask.targets == ("src/f0.py",)] == [
        "In src/f0.py say new for old"
    ]
    changed = {name for name in site.repository.image() if name not in before}
    assert all(
        name.startswith((".git/objects/", ".git/refs/heads/decurion", ".git/logs/")) for name in changed
    )


async def test_groups_go_to_one_subagent_each(site: Site) -> None:
    runner = Editor()
    report = await site.run(plan_of(group=3), runner)
    assert [len(entry.targets) for entry in report.entries] == [3, 1]
    prompts = {len(subtask.targets): subtask.prompt for subtask in runner.ran}  # which came first is not said
    assert "Do this for each of: src/f0.py, src/f1.py, src/f2.py" in prompts[3]


async def test_a_failed_check_is_shown_to_the_next_attempt_which_starts_afresh(site: Site) -> None:
    def clumsy(subtask: Subtask, tree: Worktree) -> str:
        if subtask.targets == ("src/f3.py",):
            assert not (tree.path / "junk.txt").exists()
            if subtask.attempt == 1:
                (tree.path / "junk.txt").write_text("left by the first attempt\n")
        return ""

    runner = Editor(clumsy)
    report = await site.run(plan_of(verify="test ! -e junk.txt || { echo there is junk; exit 1; }"), runner)
    assert report.ok
    (first, second) = [subtask for subtask in runner.ran if subtask.targets == ("src/f3.py",)]
    assert "there is junk" not in first.prompt
    assert "there is junk" in second.prompt
    assert [entry.attempt for entry in report.entries] == [1, 1, 1, 2]


async def test_what_fails_for_good_is_left_out_and_said(site: Site) -> None:
    runner = Editor(lambda subtask, _tree: "max_turns" if subtask.targets == ("src/f1.py",) else "")
    report = await site.run(plan_of(retries=2), runner)
    assert _states(report) == ["done", "failed", "done", "done"]
    failed = report.entries[1]
    assert (failed.attempt, failed.usd, failed.reason) == (3, 1.5, "max_turns: it did not work")
    assert not report.ok
    assert "old" in site.repository.git("show", f"{report.branch}:src/f1.py")


async def test_nothing_to_change_is_skipped_with_the_reason(site: Site) -> None:
    site.repository.write("src/f2.py", "nothing here\n")
    report = await site.run(plan_of(), Editor())
    assert (report.entries[2].state, report.entries[2].reason) == ("skipped", "nothing had to be changed")
    assert report.ok


async def test_a_failing_canary_stops_the_rest(site: Site) -> None:
    runner = Editor(lambda _subtask, _tree: "error")
    report = await site.run(plan_of(canary=2, retries=0), runner)
    assert _states(report) == ["failed", "failed", "planned", "planned"]
    assert report.stopped == "2 of the first 2 failed, so the rest was not started"
    again = Editor()
    report = await site.run(plan_of(), again)
    assert _states(report) == ["failed", "failed", "done", "done"]
    assert len(again.ran) == 2


async def test_the_budget_ends_the_starting_and_a_larger_one_goes_on(site: Site) -> None:
    report = await site.run(plan_of(parallel=1, budget_usd=1.0), Editor())
    assert _states(report) == ["done", "done", "planned", "planned"]
    assert report.stopped == "the budget of $1.00 is spent"
    again = Editor()
    report = await site.run(plan_of(parallel=1, budget_usd=10.0), again)
    assert (_states(report), len(again.ran), report.ok) == (["done"] * 4, 2, True)


class Stopped(Exception):
    """Stands for the end of the process."""


async def test_an_interrupted_campaign_repeats_nothing_that_is_done(site: Site) -> None:
    def stop_at_the_third(subtask: Subtask, tree: Worktree) -> str:
        if subtask.targets == ("src/f2.py",):
            (tree.path / "half.txt").write_text("half done\n")
            raise Stopped
        return ""

    with pytest.raises(Stopped):
        await site.run(plan_of(parallel=1), Editor(stop_at_the_third))
    again = Editor()
    report = await site.run(plan_of(parallel=1), again)
    assert _states(report) == ["done"] * 4
    assert [subtask.targets[0] for subtask in again.ran] == ["src/f2.py", "src/f3.py"]
    assert "half.txt" not in site.repository.git("ls-tree", "--name-only", report.branch)


async def test_cancelling_leaves_a_campaign_that_goes_on(site: Site) -> None:
    class Slow(Editor):
        async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
            if subtask.targets == ("src/f3.py",):
                await anyio.sleep_forever()
            return await super().run_subtask(subtask, tree)

    async with anyio.create_task_group() as group:
        group.start_soon(site.run, plan_of(), Slow())
        while sum(entry.state == "done" for entry in site.seen) < 3:  # noqa: ASYNC110 - as a person would watch
            await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    again = Editor()
    report = await site.run(plan_of(), again)
    assert report.ok
    assert [subtask.targets[0] for subtask in again.ran] == ["src/f3.py"]


async def test_a_work_that_conflicts_counts_as_failed_with_a_command_line(site: Site) -> None:
    def all_touch_one_line(subtask: Subtask, tree: Worktree) -> str:
        (tree.path / "shared.txt").write_text(f"{subtask.targets[0]}\n")
        return ""

    report = await site.run(plan_of(targets={"each": ["src/f0.py", "src/f1.py"]}), Editor(all_touch_one_line))
    assert sorted(_states(report)) == ["done", "failed"]
    failed = next(entry for entry in report.entries if entry.state == "failed")
    assert "it conflicts with what is merged" in failed.reason
    assert f"git switch {report.branch} && git merge {report.branch}-{failed.agent_id}" in failed.reason


async def test_the_merged_whole_is_checked(site: Site) -> None:
    report = await site.run(plan_of(verify_all="test $(cat src/*.py | grep -c new) -lt 3"), Editor())
    assert report.verified is True
    assert _states(report).count("failed") == 2


async def test_a_target_whose_name_is_no_text_is_skipped_and_said_so(site: Site) -> None:
    site.repository.write(os.fsdecode(b"src/caf\xe9.py"), "old()\n")
    report = await site.run(plan_of(), Editor())
    assert _states(report).count("done") == 4
    (skipped,) = [entry for entry in report.entries if entry.state == "skipped"]
    assert skipped.reason == "no subagent can be told a name that is no text: src/caf\\xe9.py"


async def test_a_check_that_was_made_is_not_made_again_and_its_changes_count(site: Site) -> None:
    """It was cut off after the check and before the work was committed."""
    plan = plan_of(verify="echo checked >> {path}", targets={"each": ["src/f0.py"]})
    isolation = await Isolation.prepare(site.repository.path, site.state, "s1")
    ledger = Ledger.create(site.state / "campaign.jsonl", plan, [("src/f0.py",)])

    def cut_off(entry: Entry) -> None:
        if entry.state == "checked":
            raise Stopped

    with pytest.raises(Stopped):
        await Campaign(ledger, isolation, Editor(), changed=cut_off).run()
    isolation.release()
    again = Editor()
    report = await site.run(plan, again)
    assert (_states(report), again.ran, report.entries[0].usd) == (["done"], [], 0.5)
    assert site.repository.git("show", f"{report.branch}:src/f0.py").splitlines()[1:] == ["new()", "checked"]


async def test_refused_calls_are_not_taken_for_nothing_to_do(site: Site) -> None:
    class Refused(Editor):
        async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
            return SubtaskResult("completed", "I could not", 0.0, ("rule x forbids it",))

    report = await site.run(plan_of(retries=0), Refused())
    assert set(_states(report)) == {"failed"}
    assert report.entries[0].reason == "nothing was changed, and 1 call was refused: rule x forbids it"


async def test_a_torn_ledger_is_read_up_to_the_tear(site: Site) -> None:
    await site.run(plan_of(), Editor())
    path = site.state / "campaign.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    ledger = Ledger.read(path)
    assert ledger.count("done") == 3
    ledger.mark(replace(ledger.entries["t0001"], reason="after the tear"))
    assert Ledger.read(path).entries["t0001"].reason == "after the tear"
    assert os.stat(path).st_size > len(content) - 20  # noqa: PTH116


def test_a_full_disk_is_told_and_what_was_written_before_counts(site: Site) -> None:
    plan = load_plan(None, {"task": "t {path}", "targets": {"each": ["src/*"]}})
    path = site.state / "campaign.jsonl"
    ledger = Ledger.create(path, plan, [("src/f0.py",)])
    running = ledger.mark(replace(ledger.entries["t0001"], state="running"))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, limit[1]))  # half a line finds room
    try:
        with pytest.raises(DecurionError, match="cannot be written: No space left"):
            ledger.mark(replace(running, state="done"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert Ledger.read(path).entries["t0001"].state == "running"

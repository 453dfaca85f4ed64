"""A worktree goes only when nothing can be lost, and work goes on after a crash."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from decurion.orchestrator.git import (
    GitError,
    Isolation,
    Options,
    Work,
    clean_session,
    survey_session,
)
from decurion.orchestrator.git.trees import ADMIN, GONE, remove
from decurion.orchestrator.git.worktree import load
from tests.orchestrator.git.repository import Repository, failing_git

pytestmark = pytest.mark.anyio


async def _kept(isolation: Isolation, work: Work, path: str) -> str:
    return await isolation.hub.git.line("cat-file", "-p", f"{work.commit}:{path}")


@pytest.mark.parametrize("command", ["add", "write-tree", "status"])
async def test_git_failing_at_clean_up_means_keep(
    isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await tree.seal("work")
    again = load(isolation.hub, "a")  # as after a crash: nothing is known of its index
    assert again is not None
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", command, "fatal: broken"))
    removal = await remove(again, work)
    assert not removal.removed
    assert removal.kept == str(tree.root)
    assert "fatal: broken" in removal.reason
    assert (tree.root / "new.txt").exists()


async def test_a_hub_that_cannot_let_go_of_a_worktree_means_keep(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await tree.seal("work")
    (tree.root / ADMIN).mkdir()
    (tree.root / ADMIN / "in the way").touch()
    removal = await remove(tree, work)
    assert (removal.removed, (tree.root / "new.txt").exists()) == (False, True)


async def test_what_is_put_away_is_out_of_reach_at_once_and_deleted_later(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    assert (await isolation.settle(tree, "work")).files == ("new.txt",)
    assert (tree.root.exists(), len(list(tree.root.parent.glob(f"*{GONE}")))) == (False, 1)
    assert str(tree.root) not in await isolation.hub.git.line("worktree", "list", "--porcelain")
    again = await isolation.reopen("a")  # at once: it goes to the same place
    await isolation.sweep()
    assert (list(tree.root.parent.glob(f"*{GONE}")), (again.root / "new.txt").exists()) == ([], True)


async def test_files_written_after_the_commit_mean_keep(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await tree.seal("work")
    (tree.root / "later.txt").write_text("y\n")
    removal = await remove(tree, work)
    assert not removal.removed
    assert (tree.root / "later.txt").exists()


async def test_what_a_crash_left_of_a_removal_is_swept(repository: Repository, state: Path) -> None:
    first = await Isolation.prepare(repository.path, state, "s1")
    tree = await first.open("a")
    (tree.root / "new.txt").write_text("x\n")
    await tree.seal("work")
    half_deleted = tree.root.with_name(f"{tree.root.name}{GONE}")
    tree.root.rename(half_deleted)
    first.release()
    second = await Isolation.prepare(repository.path, state, "s1")
    assert not half_deleted.exists()
    assert (await second.reopen("a")).root.is_dir()
    await second.aclose()


async def test_a_damaged_index_means_keep_or_saved(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    await tree.checkpoint(1)
    tree.index.write_bytes(b"garbage")
    (tree.root / "later.txt").write_text("y\n")
    work = await isolation.finish(tree, "work")
    assert (tree.root / "later.txt").exists() or await _kept(isolation, work, "later.txt") == "y"


async def test_an_old_worktree_with_uncommitted_files_is_never_swept(
    repository: Repository, state: Path
) -> None:
    first = await Isolation.prepare(repository.path, state, "s1")
    tree = await first.open("old")
    (tree.root / "unsaved.txt").write_text("unsaved\n")
    await first.aclose()
    os.utime(tree.root, (0, 0))
    repository.write("README.md", "moved on\n")
    repository.commit("moved on")
    second = await Isolation.prepare(repository.path, state, "s1")
    await second.aclose()
    found = {Path(item.place).name: item for item in await survey_session(state, "s1")}
    assert (found["old"].safe, found["old"].why) == (False, "holds uncommitted files")
    assert await clean_session(state, "s1", dry_run=True)
    assert (tree.root / "unsaved.txt").exists()
    gone, left = await clean_session(state, "s1", dry_run=False)
    assert (gone.safe, gone.why) == (True, "its files are in a commit now")
    assert (left.safe, left.why) == (False, "is in no branch of your repository")
    third = await Isolation.prepare(repository.path, state, "s1")
    assert (
        await third.hub.git.line("cat-file", "-p", "refs/agents/s1/agent/old/head:unsaved.txt") == "unsaved"
    )
    await third.aclose()


async def test_a_session_whose_work_is_in_a_branch_is_cleaned_away(
    repository: Repository, state: Path
) -> None:
    isolation = await Isolation.prepare(repository.path, state, "s1")
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await isolation.finish(tree, "work")
    await isolation.integrate([work])
    assert not all(item.safe for item in await survey_session(state, "s1"))
    await isolation.hand_back()
    await isolation.aclose()
    repository.git("branch", "-q", "-m", "decurion/s1", "kept-under-another-name")
    (state / "git.removed/hub.git").mkdir(parents=True)  # an earlier removal was cut off
    found = await clean_session(state, "s1", dry_run=False)
    assert all(item.safe for item in found)
    assert [item.why for item in found] == ["is in the branch kept-under-another-name of your repository"]
    assert not (state / "git").exists()
    assert not (state / "git.removed").exists()
    assert repository.git("show", "kept-under-another-name:new.txt") == "x"


async def test_an_interrupted_worktree_goes_on_from_its_newest_checkpoint(
    repository: Repository, state: Path
) -> None:
    first = await Isolation.prepare(repository.path, state, "s1")
    tree = await first.open("a")
    (tree.root / "turn1.txt").write_text("1\n")
    await tree.checkpoint(1)
    (tree.root / "turn2.txt").write_text("2\n")
    await tree.checkpoint(2)
    (tree.root / "half.txt").write_text("half a turn\n")
    first.release()
    second = await Isolation.prepare(repository.path, state, "s1")
    again = await second.reopen("a")
    assert again.turn == 2
    assert sorted(p.name for p in again.root.glob("*.txt")) == ["turn1.txt", "turn2.txt"]
    old = await second.hub.refs("agent", "a", "old")
    assert await second.hub.git.line("cat-file", "-p", f"{old['0001']}:half.txt") == "half a turn"
    work = await second.finish(again, "work")
    assert (work.files, work.notices) == (("turn1.txt", "turn2.txt"), ())
    assert await second.hub.refs("agent", "a", "stray") == {}
    assert await second.hub.git.line("rev-parse", f"{work.commit}^") == tree.base
    await second.aclose()


async def test_nothing_after_the_newest_checkpoint_is_nothing_to_keep(
    repository: Repository, state: Path
) -> None:
    first = await Isolation.prepare(repository.path, state, "s1")
    tree = await first.open("a")
    (tree.root / "turn1.txt").write_text("1\n")
    await tree.checkpoint(1)
    first.release()
    second = await Isolation.prepare(repository.path, state, "s1")
    again = await second.reopen("a")
    assert ((again.root / "turn1.txt").exists(), again.notices) == (True, ())
    assert await second.hub.refs("agent", "a", "old") == {}
    await second.aclose()


async def test_a_checkpoint_is_not_lost_while_its_worktree_is_made_again(
    repository: Repository, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends the program between taking the old worktree away and the new one's being complete."""
    first = await Isolation.prepare(repository.path, state, "s1", Options(setup="touch ready.log"))
    tree = await first.open("a")
    (tree.root / "turn1.txt").write_text("1\n")
    await tree.checkpoint(1)
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", "worktree add", "fatal: cut off"))
    with pytest.raises(GitError, match="cut off"):
        await first.reopen("a")
    monkeypatch.undo()
    assert not tree.root.exists()
    first.release()
    second = await Isolation.prepare(repository.path, state, "s1", Options(setup="touch ready.log"))
    again = await second.reopen("a")
    assert (again.base, again.turn, (again.root / "turn1.txt").exists()) == (tree.base, 1, True)
    assert (again.root / "ready.log").exists()  # the set-up is of each worktree
    assert (await second.finish(again, "work")).files == ("turn1.txt",)
    await second.aclose()


async def test_a_checkpoint_that_the_agent_does_not_know_of_does_not_count(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    for turn, text in enumerate(("1\n", "1\n2\n"), 1):
        (tree.root / "log.txt").write_text(text)
        await tree.checkpoint(turn)
    again = await isolation.reopen("a", turn=1)
    assert ((again.root / "log.txt").read_text(), again.turn) == ("1\n", 1)
    old = await isolation.hub.refs("agent", "a", "old")
    assert await isolation.hub.git.line("cat-file", "-p", f"{old['0001']}:log.txt") == "1\n2"
    assert list(await isolation.hub.refs("agent", "a", "turn")) == ["0001"]


async def test_a_worktree_cut_off_while_it_was_made_is_cleaned_away(
    repository: Repository, state: Path
) -> None:
    first = await Isolation.prepare(repository.path, state, "s1")
    tree = await first.open("a")
    (state / "git/trees/a.json").unlink()
    (state / "git/trees/a.making").touch()
    again = await first.open("a")
    await first.finish(again, "nothing")
    await first.aclose()
    (found,) = await survey_session(state, "s1")
    assert (Path(found.place).name, found.safe) == ("a-half-made", True)
    assert "nobody worked there" in found.why
    assert not tree.root.exists()


async def test_a_finished_agent_that_goes_on_finds_its_files(isolation: Isolation) -> None:
    """A crash may come after the work was committed and before its result was written down."""
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    first = await isolation.finish(tree, "work")
    again = await isolation.reopen("a")
    assert (again.root / "new.txt").read_text() == "x\n"
    (again.root / "more.txt").write_text("y\n")
    second = await isolation.finish(again, "more work")
    assert (second.base, second.files, second.notices) == (first.base, ("more.txt", "new.txt"), ())
    assert await isolation.hub.refs("agent", "a", "stray") == {}


async def test_work_survives_being_written_down(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await isolation.finish(tree, "work", paths=("*.txt",), depends_on=("b",))
    assert Work.from_json(json.loads(json.dumps(work.to_json()))) == work

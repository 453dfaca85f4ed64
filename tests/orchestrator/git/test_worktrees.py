"""Worktrees: made side by side, sealed whatever the subagent did in them, removed only when nothing can be lost."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.git import GitError, Isolation, Options, Work, clean_session, survey_session
from decurion.orchestrator.git.trees import remove
from tests.orchestrator.git.repository import Repository, failing_git

pytestmark = pytest.mark.anyio


@pytest.fixture
async def isolation(repository: Repository, state: Path) -> AsyncIterator[Isolation]:
    made = await Isolation.prepare(repository.path, state, "s1")
    yield made
    await made.aclose()


async def _kept(isolation: Isolation, work: Work, path: str) -> str:
    return await isolation.hub.git.line("cat-file", "-p", f"{work.commit}:{path}")


async def test_thirty_two_at_once_get_distinct_folders(isolation: Isolation) -> None:
    roots: list[Path] = []

    async def open_one(number: int) -> None:
        roots.append((await isolation.open(f"agent-{number}")).root)

    async with anyio.create_task_group() as group:
        for number in range(32):
            group.start_soon(open_one, number)
    assert len(set(roots)) == 32
    assert all((root / "README.md").is_file() for root in roots)


async def test_a_lock_held_by_another_process_is_waited_for(isolation: Isolation) -> None:
    code = "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True); time.sleep(0.5)"
    async with await anyio.open_process([sys.executable, "-c", code, str(isolation.hub.lock.path)]) as holder:
        assert holder.stdout is not None
        await holder.stdout.receive()
        began = time.monotonic()
        await isolation.open("a")
    assert time.monotonic() - began > 0.3


async def test_a_lock_file_of_git_is_waited_for(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("new\n")
    lock = isolation.hub.path / "refs/agents/s1/agent/a/head.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    threading.Timer(0.6, lock.unlink).start()
    assert (await isolation.finish(tree, "work")).files == ("new.txt",)


async def test_names_left_by_a_crash_are_taken_over_and_what_lay_there_is_kept(isolation: Isolation) -> None:
    gone = await isolation.open("gone")
    shutil.rmtree(gone.root)
    stranger = isolation.hub.home / "trees" / "stranger"
    stranger.mkdir()
    (stranger / "work.txt").write_text("somebody's\n")
    assert (await isolation.open("gone")).root.is_dir()
    assert (await isolation.open("stranger")).root.is_dir()
    assert (isolation.hub.home / "kept/stranger-found/work.txt").read_text() == "somebody's\n"


async def test_a_worktree_that_cannot_be_made_leaves_nothing_and_says_why(
    isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", "worktree add", "fatal: no way"))
    with pytest.raises(GitError, match=r"git worktree add .* failed: fatal: no way"):
        await isolation.open("a")
    assert not (isolation.hub.home / "trees/a").exists()
    monkeypatch.undo()
    assert not list(isolation.hub.path.glob("worktrees/*"))


@pytest.mark.parametrize(
    "agent_id", ["a/b", "..", "with space", "x.lock", "ü", "-f", "a" * 300, "two\nlines"]
)
async def test_any_agent_id_becomes_a_folder_and_a_ref(isolation: Isolation, agent_id: str) -> None:
    tree = await isolation.open(agent_id)
    (tree.root / "new.txt").write_text("x\n")
    work = await isolation.finish(tree, "work")
    assert tree.root.parent == isolation.hub.home / "trees"
    assert await isolation.hub.git.line("rev-parse", work.ref) == work.commit


# -- what a subagent may have done with git, and what becomes of it


async def test_commits_of_the_subagent_survive(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    own = Repository(tree.root)
    own.write("README.md", "edited\n")
    made = own.commit("my own commit")
    work = await isolation.finish(tree, "work")
    assert work.commit == made
    assert work.files == ("README.md",)
    assert not tree.root.exists()


async def test_only_an_untracked_file_survives(isolation: Isolation) -> None:
    tree = await isolation.open("b")
    (tree.root / "only-new.txt").write_text("new\n")
    work = await isolation.finish(tree, "work")
    assert await _kept(isolation, work, "only-new.txt") == "new"
    assert work.where.startswith("refs/agents/s1/agent/b/head in ")


async def test_nothing_changed_leaves_no_trace(isolation: Isolation) -> None:
    tree = await isolation.open("c")
    await tree.checkpoint(1)
    work = await isolation.finish(tree, "nothing")
    assert work.empty
    assert not tree.root.exists()
    assert await isolation.hub.refs("agent", "c") == {}
    assert not list((isolation.hub.home / "trees").iterdir())


async def test_an_ignored_file_is_kept_and_listed(isolation: Isolation) -> None:
    tree = await isolation.open("d")
    (tree.root / "result.log").write_text("ignored but mine\n")
    (tree.root / "build").mkdir()
    (tree.root / "build" / "out.bin").write_bytes(b"\0\1")
    (tree.root / "__pycache__").mkdir()
    (tree.root / "__pycache__" / "x.pyc").write_bytes(b"\0")
    work = await isolation.finish(tree, "made a log")
    assert not tree.root.exists()
    home = isolation.hub.home / "kept" / "d"
    assert (home / "result.log").read_text() == "ignored but mine\n"
    assert (home / "build" / "out.bin").read_bytes() == b"\0\1"
    assert [str(home / "build") in note or str(home / "result.log") in note for note in work.notices] == [
        True,
        True,
    ]


async def test_a_commit_on_a_branch_of_its_own_survives(isolation: Isolation) -> None:
    tree = await isolation.open("e")
    own = Repository(tree.root)
    own.git("checkout", "-q", "-b", "mine")
    own.write("new.txt", "x\n")
    made = own.commit("on a branch")
    assert (await isolation.finish(tree, "work")).commit == made


async def test_a_commit_that_was_left_behind_survives_beside_the_result(isolation: Isolation) -> None:
    tree = await isolation.open("f")
    own = Repository(tree.root)
    own.write("first-try.txt", "x\n")
    stray = own.commit("first try")
    own.git("reset", "-q", "--hard", "HEAD~1")
    own.write("second-try.txt", "y\n")
    work = await isolation.finish(tree, "work")
    assert work.files == ("second-try.txt",)
    assert set((await isolation.hub.refs("agent", "f", "stray")).values()) == {stray}
    assert any("1 commits made on the way are not in the result" in note for note in work.notices)


async def test_history_that_was_rewritten_from_nothing_is_still_merged_on_its_base(
    isolation: Isolation,
) -> None:
    tree = await isolation.open("g")
    own = Repository(tree.root)
    own.git("checkout", "-q", "--orphan", "new-world")
    own.write("new.txt", "x\n")
    own.commit("a world without parents")
    work = await isolation.finish(tree, "work")
    assert work.files == ("new.txt",)
    assert await isolation.hub.git.line("rev-parse", f"{work.commit}^") == work.base


async def test_failing_hooks_cannot_lose_work(repository: Repository, isolation: Isolation) -> None:
    for folder in (repository.path / ".git/hooks", isolation.hub.path / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("pre-commit", "commit-msg", "post-checkout", "reference-transaction"):
            (folder / name).write_text("#!/bin/sh\nexit 1\n")
            (folder / name).chmod(0o755)
    tree = await isolation.open("h")
    (tree.root / "new.txt").write_text("x\n")
    await tree.checkpoint(1)
    work = await isolation.finish(tree, "work")
    await isolation.integrate([work])
    assert work.files == ("new.txt",)
    assert (await isolation.hand_back()).branch == "decurion/s1"


@pytest.mark.parametrize("commits", [True, False])
async def test_a_repository_made_inside_is_kept_aside(isolation: Isolation, commits: bool) -> None:
    tree = await isolation.open("i")
    (tree.root / "new.txt").write_text("x\n")
    inner = Repository(tree.root / "inner")
    inner.path.mkdir()
    inner.git("init", "-q")
    inner.write("precious.txt", "x\n")
    if commits:
        inner.commit("inner")
    await tree.checkpoint(1)
    work = await isolation.finish(tree, "work")
    assert work.files == ("new.txt",)
    assert (isolation.hub.home / "kept/i/inner/precious.txt").is_file()


async def test_a_destroyed_git_file_does_not_stop_the_work_from_being_kept(isolation: Isolation) -> None:
    tree = await isolation.open("j")
    (tree.root / ".git").unlink()
    (tree.root / "new.txt").write_text("x\n")
    work = await isolation.finish(tree, "work")
    assert await _kept(isolation, work, "new.txt") == "x"


async def test_a_vanished_folder_falls_back_to_the_newest_checkpoint(isolation: Isolation) -> None:
    tree = await isolation.open("k")
    (tree.root / "new.txt").write_text("x\n")
    await tree.checkpoint(1)
    shutil.rmtree(tree.root)
    work = await isolation.finish(tree, "work")
    assert work.files == ("new.txt",)
    assert any("state of the last checkpoint" in note for note in work.notices)


async def test_settings_that_a_subagent_plants_in_the_hub_are_not_obeyed(
    isolation: Isolation, tmp_path: Path
) -> None:
    tree = await isolation.open("l")
    own = Repository(tree.root)
    own.git("config", "filter.evil.clean", f"touch {tmp_path}/ran; cat")
    own.write(".gitattributes", "* filter=evil\n")
    await isolation.finish(tree, "work")
    assert not (tmp_path / "ran").exists()


async def test_two_subagents_that_ran_the_tests_do_not_conflict_in_byte_code(isolation: Isolation) -> None:
    works: list[Work] = []
    for name in ("m", "n"):
        tree = await isolation.open(name)
        (tree.root / "src/pkg/__pycache__").mkdir()
        (tree.root / "src/pkg/__pycache__/core.cpython-311.pyc").write_text(name)
        (tree.root / f"{name}.txt").write_text(name)
        works.append(await isolation.finish(tree, name))
    assert [work.files for work in works] == [("m.txt",), ("n.txt",)]


# -- any doubt means keep


@pytest.mark.parametrize(
    "command", ["add", "write-tree", "ls-files", "update-ref", "worktree unlock", "worktree remove"]
)
async def test_git_failing_at_clean_up_means_keep(
    isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await tree.seal("work")
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", command, "fatal: broken"))
    removal = await remove(tree, work)
    assert not removal.removed
    assert removal.kept == str(tree.root)
    assert "fatal: broken" in removal.reason
    assert (tree.root / "new.txt").exists()


async def test_files_written_after_the_commit_mean_keep(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await tree.seal("work")
    (tree.root / "later.txt").write_text("y\n")
    removal = await remove(tree, work)
    assert not removal.removed
    assert (tree.root / "later.txt").exists()


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
    await clean_session(state, "s1", dry_run=False)
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
    found = await clean_session(state, "s1", dry_run=False)
    assert all(item.safe for item in found)
    assert [item.why for item in found] == ["is in the branch kept-under-another-name of your repository"]
    assert not (state / "git").exists()
    assert repository.git("show", "kept-under-another-name:new.txt") == "x"


# -- going on after a crash


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


async def test_a_finished_agent_that_goes_on_finds_its_files(isolation: Isolation) -> None:
    """A crash may come after the work was committed and before its result was written down."""
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    first = await isolation.finish(tree, "work")
    again = await isolation.reopen("a")
    assert (again.root / "new.txt").read_text() == "x\n"
    (again.root / "more.txt").write_text("y\n")
    second = await isolation.finish(again, "more work")
    assert (second.base, second.files) == (first.base, ("more.txt", "new.txt"))


async def test_work_survives_being_written_down(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    work = await isolation.finish(tree, "work", paths=("*.txt",), depends_on=("b",))
    assert Work.from_json(json.loads(json.dumps(work.to_json()))) == work


# -- what a fresh worktree needs


async def test_listed_ignored_files_are_copied_and_no_others(repository: Repository, state: Path) -> None:
    repository.write(".env", "TOKEN=1\n")
    repository.write("config.log", "copy me\n")
    repository.write("other.log", "not me\n")
    repository.write(".worktreeinclude", "config.log\nREADME.md\n")
    isolation = await Isolation.prepare(repository.path, state, "s1")
    tree = await isolation.open("a")
    assert (tree.root / "config.log").read_text() == "copy me\n"
    assert not (tree.root / ".env").exists()
    assert not (tree.root / "other.log").exists()
    assert tree.notices == ("copied config.log, which .worktreeinclude lists.",)
    assert (await isolation.finish(tree, "nothing")).notices == ()
    await isolation.aclose()


async def test_the_set_up_command_runs_in_each_worktree(repository: Repository, state: Path) -> None:
    isolation = await Isolation.prepare(repository.path, state, "s1", Options(setup="echo ready > setup.log"))
    for name in ("a", "b"):
        assert ((await isolation.open(name)).root / "setup.log").read_text() == "ready\n"
    await isolation.aclose()


async def test_a_failing_set_up_says_what_it_said_and_leaves_nothing(
    repository: Repository, state: Path
) -> None:
    isolation = await Isolation.prepare(
        repository.path, state, "s1", Options(setup="echo no such thing >&2; exit 3")
    )
    with pytest.raises(GitError, match="no such thing"):
        await isolation.open("a")
    assert not list((isolation.hub.home / "trees").iterdir())
    await isolation.aclose()


async def test_an_editable_install_does_not_make_tests_import_the_users_files(
    repository: Repository, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.pth` file is what an editable install comes to."""
    await anyio.run_process([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")])
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (site / "pkg.pth").write_text(f"{repository.path}/src\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/venv/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    repository.write("src/pkg/__init__.py", "")
    isolation = await Isolation.prepare(repository.path, state, "s1")
    tree = await isolation.open("a")
    code = "import pkg; print(pkg.__file__)"
    run = await anyio.run_process(["python", "-c", code], cwd=tree.root, env=tree.command_environment())
    assert run.stdout.decode().strip() == str(tree.root / "src/pkg/__init__.py")
    assert tree.notices == ()
    await isolation.aclose()


async def test_the_workspaces_own_folder_is_where_tools_are_rooted(
    repository: Repository, state: Path
) -> None:
    isolation = await Isolation.prepare(repository.path / "src", state, "s1")
    tree = await isolation.open("a")
    assert tree.path == tree.root / "src"
    assert repository.path in isolation.protected
    await isolation.aclose()

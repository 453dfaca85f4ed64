"""Worktrees: made side by side, each with what it needs, under any name."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.git import GitError, Isolation, Options
from tests.orchestrator.git.repository import Repository, failing_git

pytestmark = pytest.mark.anyio


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
    lock = isolation.hub.lock.path
    released = lock.with_name("released")
    code = (
        "import fcntl, pathlib, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True);"
        "time.sleep(0.5); pathlib.Path(sys.argv[2]).touch()"
    )
    async with await anyio.open_process([sys.executable, "-c", code, str(lock), str(released)]) as holder:
        assert holder.stdout is not None
        await holder.stdout.receive()
        await isolation.open("a")
        assert released.exists()


async def test_a_lock_file_of_git_is_waited_for(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("new\n")
    lock = isolation.hub.path / "refs/agents/s1/agent/a/head.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    threading.Timer(0.6, lock.unlink).start()
    assert (await isolation.finish(tree, "work")).files == ("new.txt",)


async def test_a_registration_that_a_kill_left_torn_is_in_nobodys_way(isolation: Isolation) -> None:
    torn = isolation.hub.path / "worktrees" / "torn"
    torn.mkdir(parents=True)
    (torn / "commondir").touch()
    (torn / "gitdir").write_text("elsewhere/.git\n")
    assert (await isolation.open("a")).root.is_dir()


async def test_a_worktree_whose_registration_is_torn_is_restored(isolation: Isolation) -> None:
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("new\n")
    await tree.checkpoint(1)
    (Path(tree.record.admin) / "commondir").write_bytes(b"")
    again = await isolation.reopen("a")
    assert (again.root / "new.txt").read_text() == "new\n"


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

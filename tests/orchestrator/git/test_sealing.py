"""Whatever a subagent did with git and files, what it made is kept, and no one else is harmed by it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from decurion.orchestrator.git import Isolation, Work
from tests.orchestrator.git.repository import Repository

pytestmark = pytest.mark.anyio


async def _kept(isolation: Isolation, work: Work, path: str) -> str:
    return await isolation.hub.git.line("cat-file", "-p", f"{work.commit}:{path}")


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
    assert any("1 commit made on the way is not in the result" in note for note in work.notices)


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

"""A person goes on working in the checkout while subagents run: nothing of theirs fails, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.git import Isolation, Work, snapshot
from tests.orchestrator.git.repository import Repository, make_dirty

pytestmark = pytest.mark.anyio


async def _git(repository: Repository, *args: str) -> None:
    """A command of the user's own, which must never fail because of us."""
    await anyio.run_process(["git", *args], cwd=repository.path)


async def _user(repository: Repository, ended: anyio.Event) -> int:
    """Edit, stage, commit, stash, clean and collect garbage, over and over."""
    rounds = 0
    while not ended.is_set() or rounds < 3:
        repository.write("mine.txt", f"round {rounds}\n")
        await _git(repository, "add", "mine.txt")
        await _git(repository, "commit", "-q", "-m", f"round {rounds}")
        repository.write("scratch.txt", "to be stashed\n")
        await _git(repository, "stash", "push", "-q", "-u")
        repository.write("junk/file.txt", "to be cleaned\n")
        await _git(repository, "clean", "-ffdxq")
        await _git(repository, "gc", "-q", "--prune=now")
        rounds += 1
    return rounds


async def _watch(repository: Repository, ended: anyio.Event) -> None:
    while not ended.is_set():
        await _git(repository, "--no-optional-locks", "status", "--short")  # as prompts and editors do


async def _subagent(isolation: Isolation, number: int, works: list[Work]) -> None:
    tree = await isolation.open(f"agent-{number}")
    for turn in range(1, 4):
        (tree.root / f"agent-{number}-{turn}.txt").write_text(f"{turn}\n")
        await tree.checkpoint(turn)
    await snapshot.take(isolation.place, isolation.hub, isolation.base, message="while the user works")
    works.append(await isolation.finish(tree, f"work {number}"))


async def test_commits_stashes_cleaning_and_gc_during_a_run(repository: Repository, state: Path) -> None:
    make_dirty(repository)
    await _git(repository, "add", "-A")
    isolation = await Isolation.prepare(repository.path, state, "s1")
    works: list[Work] = []
    ended = anyio.Event()

    async def subagents() -> None:
        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(_subagent, isolation, number, works)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(_user, repository, ended)
        group.start_soon(_watch, repository, ended)
        group.start_soon(subagents)

    done = await isolation.integrate(works)
    handed = await isolation.hand_back()
    await isolation.aclose()
    assert (len(done.merged), done.left) == (4, ())
    assert repository.git("show", f"{handed.branch}:agent-3-3.txt") == "3"
    assert int(repository.git("rev-list", "--count", "main")) >= 4
    assert len(repository.git("stash", "list").splitlines()) >= 3
    repository.git("fsck", "--no-dangling")
    await isolation.hub.git.run("fsck", "--no-dangling")


async def test_a_base_that_the_user_rewrites_and_collects_is_still_there(
    repository: Repository, state: Path
) -> None:
    isolation = await Isolation.prepare(repository.path, state, "s1")
    repository.git("checkout", "-q", "--orphan", "new")
    repository.write("README.md", "a new world\n")
    repository.commit("new")
    repository.git("branch", "-q", "-D", "main")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")
    tree = await isolation.open("a")
    (tree.root / "new.txt").write_text("x\n")
    await isolation.integrate([await isolation.finish(tree, "work")])
    handed = await isolation.hand_back()
    assert repository.git("show", f"{handed.branch}:new.txt") == "x"
    assert repository.git("show", f"{handed.branch}:src/pkg/util.py")
    repository.git("fsck", "--full")
    await isolation.aclose()

"""The whole way, on both event loops: prepare, work side by side, merge, hand back, apply, undo."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.git import Isolation, Work, undo, undoable
from tests.orchestrator.git.repository import Repository, make_dirty

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_from_a_dirty_tree_to_a_branch_and_back(repository: Repository, state: Path) -> None:
    make_dirty(repository)
    before, status = repository.image(), repository.status()
    isolation = await Isolation.prepare(repository.path, state, "s1")
    works: list[Work] = []

    async def subagent(number: int) -> None:
        tree = await isolation.open(f"agent-{number}")
        (tree.path / f"new-{number}.txt").write_text(f"{number}\n")
        lines = (tree.path / "src/pkg/core.py").read_text().splitlines()
        lines[number * 6] = f"changed by {number}"
        (tree.path / "src/pkg/core.py").write_text("\n".join(lines) + "\n")
        await tree.checkpoint(1)
        works.append(await isolation.finish(tree, f"change line {number * 6}"))

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(subagent, number)
    done = await isolation.integrate(works, verify="test -f README.md")
    assert (len(done.merged), done.left, done.verified) == (4, (), True)
    assert repository.image() == before

    handed = await isolation.hand_back()
    assert handed.branch == "decurion/s1"
    assert repository.git("show", "decurion/s1:new-3.txt") == "3"
    assert repository.status() == status

    applied = await isolation.apply()
    await isolation.aclose()
    assert applied.files == (
        "new-0.txt",
        "new-1.txt",
        "new-2.txt",
        "new-3.txt",
        "src/pkg/core.py",
    )
    assert repository.read("src/pkg/core.py").count("changed by") == 4
    assert undoable(state) == applied.files
    assert (await undo(state)).files == applied.files
    assert repository.status() == status
    assert repository.work_image() == {name: d for name, d in before.items() if not name.startswith(".git/")}
    assert undoable(state) == ()
    assert (await undo(state)).files == ()


async def test_what_an_agent_wrote_in_the_checkout_itself_can_be_taken_in(
    repository: Repository, state: Path
) -> None:
    repository.write("mine.txt", "the user's\n")
    isolation = await Isolation.prepare(repository.path / "src", state, "s1")
    repository.write("src/pkg/util.py", "the lead's\n")
    repository.write("src/new.log", "the lead's, ignored\n")
    repository.write("later.txt", "the user's, meanwhile\n")
    (repository.path / "src/pkg/core.py").unlink()
    before = repository.image()
    work = await isolation.adopt("lead", ["pkg/util.py", "new.log", "pkg/core.py"], "by the lead")
    assert [(change.path, change.status) for change in work.changed] == [
        ("src/new.log", "added"), ("src/pkg/core.py", "deleted"), ("src/pkg/util.py", "modified")
    ]  # fmt: skip
    assert len((await isolation.integrate([work])).merged) == 1
    assert repository.image() == before
    await isolation.aclose()

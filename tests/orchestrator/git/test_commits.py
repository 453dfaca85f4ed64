"""Commits and refs that the hub writes without a process for each."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.git import Isolation
from decurion.orchestrator.git.commits import Signer, write_commit
from decurion.orchestrator.git.run import Git, git_in
from tests.orchestrator.git.repository import Repository

pytestmark = pytest.mark.anyio

DATED = {"GIT_AUTHOR_DATE": "1700000000 +0130", "GIT_COMMITTER_DATE": "1700000001 -0800"}
NAMED = {
    "GIT_AUTHOR_NAME": "Ä <ö>",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "C",
    "GIT_COMMITTER_EMAIL": "c@x",
}


@pytest.fixture(params=["sha1", "sha256"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Git:
    path = tmp_path / "hub.git"
    path.mkdir()
    Repository(path).git("init", "-q", "--bare", f"--object-format={request.param}", "--template=")
    return git_in(path, GIT_DIR=str(path), **NAMED, **DATED)


async def test_a_commit_is_byte_for_byte_what_git_makes(bare: Git) -> None:
    tree = await bare.line("mktree")
    first = await write_commit(bare, Signer(), tree, [], "first")
    text = "a line\n\nmore, and ü \udc80"
    ours = await write_commit(bare, Signer(), tree, [first, first], text)
    raw = await bare.run("cat-file", "commit", ours)
    assert (await bare.run("hash-object", "-t", "commit", "--stdin", stdin=raw.stdout)).line == ours
    parents = ("-p", first, "-p", first)
    theirs = (
        await bare.run("commit-tree", tree, *parents, stdin=text.encode("utf-8", "backslashreplace"))
    ).line
    told = [line for line in raw.stdout.splitlines() if not line.startswith(b"parent")]
    git_told = (await bare.run("cat-file", "commit", theirs)).stdout.splitlines()
    assert told == [line for line in git_told if not line.startswith(b"parent")]
    await bare.run("fsck", "--strict")


async def test_a_commit_has_the_time_at_which_it_was_made(bare: Git) -> None:
    git = Git(bare.cwd, {name: value for name, value in bare.env.items() if name not in DATED})
    made = await write_commit(git, Signer(), await git.line("mktree"), [], "now\0")
    when = (await git.line("show", "-s", "--format=%at %ct %B", made)).split()[:2]
    assert when[0] == when[1] > "1700000002"


async def test_a_ref_written_as_a_file_is_one_to_git(isolation: Isolation) -> None:
    hub, made = isolation.hub, isolation.base
    await hub.write_turn(made, "a", 1)
    assert await hub.refs("agent") == {"a/turn/0001": made}
    await hub.git.run("pack-refs", "--all", "--prune")
    other = await hub.commit(await hub.tree(made), [made], "other")
    await hub.write_turn(other, "a", 1)
    await hub.write_turn(made, "a", 2)
    assert await hub.refs("agent") == {"a/turn/0001": other, "a/turn/0002": made}
    await hub.git.run("fsck", "--strict")
    await hub.drop("agent/a/turn/0001", "agent/a/turn/0002")
    assert await hub.refs("agent") == {}


async def test_a_ref_that_is_locked_is_waited_for(isolation: Isolation) -> None:
    hub = isolation.hub
    lock = hub.path / f"{hub.ref('agent', 'a', 'turn', '0001')}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    async with anyio.create_task_group() as group:
        group.start_soon(hub.write_turn, isolation.base, "a", 1)
        await anyio.sleep(0.1)
        assert await hub.refs("agent") == {}
        lock.unlink()
    assert await hub.refs("agent") == {"a/turn/0001": isolation.base}

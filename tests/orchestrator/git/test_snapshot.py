"""The snapshot holds all that a person has, and changes not one byte of it, wherever it starts from."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from decurion.orchestrator.git import GitError, Isolation
from decurion.orchestrator.git import snapshot as module
from tests.orchestrator.git.repository import Repository, failing_git, make_dirty, make_repository

pytestmark = pytest.mark.anyio

Prepare = Callable[[Repository], Awaitable[Isolation]]


@pytest.fixture
async def prepare(state: Path) -> AsyncIterator[Prepare]:
    made: list[Isolation] = []

    async def run(repository: Repository) -> Isolation:
        made.append(await Isolation.prepare(repository.path, state, "s1"))
        return made[-1]

    yield run
    for isolation in made:
        await isolation.aclose()


async def _files(isolation: Isolation, agent_id: str = "a") -> Repository:
    """The files as a subagent finds them."""
    return Repository((await isolation.open(agent_id)).root)


def _as_git_sees(repository: Repository) -> dict[str, str]:
    listed = repository.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    image = repository.work_image()
    return {name: image[name] for name in listed if name in image}


async def test_a_subagent_finds_the_tree_as_it_is_and_the_original_keeps_every_byte(
    repository: Repository, prepare: Prepare
) -> None:
    make_dirty(repository)
    before = repository.image()
    found = await _files(await prepare(repository))
    image = found.work_image()
    image.pop(".git")
    assert image == _as_git_sees(repository)
    assert ".env" not in image
    assert "debug.log" not in image
    assert repository.image() == before


async def test_a_clean_tree_starts_from_head_itself(repository: Repository, prepare: Prepare) -> None:
    assert (await prepare(repository)).base == repository.git("rev-parse", "HEAD")


async def test_what_was_staged_after_the_hub_was_made_is_in_it(
    repository: Repository, prepare: Prepare
) -> None:
    isolation = await prepare(repository)
    repository.write("late.bin", bytes(range(200)) * 50)
    repository.git("add", "late.bin")
    shot = await module.take(isolation.place, isolation.hub, isolation.base, message="again")
    await isolation.hub.write(shot.commit, "again")
    repository.git("rm", "-q", "--cached", "late.bin")
    repository.git("gc", "-q", "--prune=now")
    await isolation.hub.git.run("fsck", "--connectivity-only", shot.commit)
    assert await isolation.hub.git.line("cat-file", "-s", f"{shot.commit}:late.bin") == "10000"


async def test_a_commit_after_the_hub_was_made_comes_along(repository: Repository, prepare: Prepare) -> None:
    isolation = await prepare(repository)
    repository.write("later.txt", "later\n")
    head = repository.commit("later")
    shot = await module.take(isolation.place, isolation.hub, head, message="again")
    assert shot.commit == head
    assert await isolation.hub.git.line("cat-file", "-p", f"{head}:later.txt") == "later"


async def test_a_lock_that_the_user_holds_is_no_obstacle(repository: Repository, prepare: Prepare) -> None:
    make_dirty(repository)
    repository.write(".git/index.lock", "")
    assert (await _files(await prepare(repository))).read("new.txt") == "untracked\n"


async def test_an_edit_of_the_same_size_at_the_same_moment_is_seen(
    repository: Repository, prepare: Prepare
) -> None:
    file = repository.write("race.txt", "aaaa\n")
    repository.git("add", "race.txt")
    then = file.stat()
    index = (repository.path / ".git/index").stat()
    file.write_text("bbbb\n")
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))
    os.utime(repository.path / ".git/index", ns=(index.st_atime_ns, then.st_mtime_ns))
    assert (await _files(await prepare(repository))).read("race.txt") == "bbbb\n"


@pytest.mark.parametrize("commits", [True, False])
async def test_a_repository_inside_is_left_out_and_named(
    repository: Repository, prepare: Prepare, commits: bool
) -> None:
    make_repository(repository.path / "vendor" / "lib", None if commits else {})
    isolation = await prepare(repository)
    assert any("vendor/lib/ is a repository of its own" in notice for notice in isolation.notices)
    assert not (await _files(isolation)).path.joinpath("vendor").exists()


async def test_a_huge_untracked_file_is_left_out_and_named(
    repository: Repository, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 1000)
    repository.write("huge [1].bin", b"x" * 1001)
    repository.write("fits.bin", b"x" * 1000)
    isolation = await prepare(repository)
    assert any("huge [1].bin is untracked and over" in notice for notice in isolation.notices)
    found = await _files(isolation)
    assert (found.path / "fits.bin").exists()
    assert not (found.path / "huge [1].bin").exists()


async def test_no_commit_yet_starts_from_the_files(tmp_path: Path, prepare: Prepare) -> None:
    repository = make_repository(tmp_path / "fresh", {})
    repository.write("a.txt", "a\n")
    repository.write("b.txt", "b\n")
    repository.git("add", "a.txt")
    before = repository.image()
    isolation = await prepare(repository)
    assert "no commit yet: subagents start from the files as they are." in isolation.notices
    tree = await isolation.open("a")
    (tree.root / "c.txt").write_text("c\n")
    work = await isolation.finish(tree, "add c")
    assert work.files == ("c.txt",)
    await isolation.integrate([work])
    assert repository.image() == before
    assert (await isolation.apply()).files == ("c.txt",)
    assert (await isolation.hand_back()).branch == "decurion/s1"
    assert repository.git("ls-tree", "--name-only", "decurion/s1") == "a.txt\nb.txt\nc.txt"


async def test_a_completely_empty_repository_works(tmp_path: Path, prepare: Prepare) -> None:
    isolation = await prepare(make_repository(tmp_path / "empty", {}))
    tree = await isolation.open("a")
    (tree.root / "first.txt").write_text("1\n")
    assert (await isolation.finish(tree, "first")).files == ("first.txt",)


async def test_a_detached_head_works(repository: Repository, prepare: Prepare) -> None:
    repository.git("checkout", "-q", "--detach")
    make_dirty(repository)
    assert (await _files(await prepare(repository))).read("new.txt") == "untracked\n"


async def test_a_linked_worktree_works(repository: Repository, prepare: Prepare, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repository(tmp_path / "side")
    make_dirty(side)
    before, main = side.image(), repository.image()
    isolation = await prepare(side)
    assert any("linked worktree" in notice for notice in isolation.notices)
    tree = await isolation.open("a")
    assert (tree.root / "new.txt").read_text() == "untracked\n"
    (tree.root / "new.txt").write_text("changed\n")
    await isolation.integrate([await isolation.finish(tree, "change")])
    assert (side.image(), repository.image()) == (before, main)
    assert (await isolation.hand_back()).branch == "decurion/s1"
    assert (await isolation.apply()).files == ("new.txt",)


async def test_a_shallow_clone_works_there_and_back(
    repository: Repository, prepare: Prepare, tmp_path: Path
) -> None:
    for number in range(3):
        repository.write("n.txt", f"{number}\n")
        repository.commit(f"{number}")
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.path}", str(tmp_path / "shallow"))
    shallow = Repository(tmp_path / "shallow")
    make_dirty(shallow)
    before = shallow.image()
    isolation = await prepare(shallow)
    assert any("shallow clone" in notice for notice in isolation.notices)
    tree = await isolation.open("a")
    (tree.root / "n.txt").write_text("agent\n")
    await isolation.integrate([await isolation.finish(tree, "change")])
    assert shallow.image() == before
    handed = await isolation.hand_back()
    assert shallow.git("show", f"{handed.branch}:n.txt") == "agent"
    shallow.git("fsck")


async def test_a_partial_clone_works(repository: Repository, prepare: Prepare, tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.write("README.md", "newer\n")
    repository.commit("newer")
    repository.git(
        "clone", "-q", "--filter=blob:none", f"file://{repository.path}", str(tmp_path / "partial")
    )
    partial = Repository(tmp_path / "partial")
    isolation = await prepare(partial)
    assert any("partial clone" in notice for notice in isolation.notices)
    tree = await isolation.open("a")
    (tree.root / "README.md").write_text("agent\n")
    done = await isolation.integrate([await isolation.finish(tree, "change")])
    assert len(done.merged) == 1
    assert partial.git("show", f"{(await isolation.hand_back()).branch}:README.md") == "agent"


async def test_borrowed_objects_are_copied(repository: Repository, prepare: Prepare, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--shared", str(repository.path), str(tmp_path / "borrower"))
    isolation = await prepare(Repository(tmp_path / "borrower"))
    assert not (isolation.hub.path / "objects/info/alternates").exists()
    await isolation.hub.git.run("fsck")


async def test_a_sparse_checkout_gives_subagents_everything(repository: Repository, prepare: Prepare) -> None:
    repository.git("update-index", "--refresh")  # the index of a copy does not know its files
    repository.git("sparse-checkout", "set", "src")
    assert not (repository.path / "tests").exists()
    before = repository.image()
    isolation = await prepare(repository)
    assert any("sparse checkout" in notice for notice in isolation.notices)
    assert (await _files(isolation)).read("tests/test_core.py")
    assert repository.image() == before


async def test_submodules_are_filled_from_the_local_copy(
    repository: Repository, prepare: Prepare, tmp_path: Path
) -> None:
    library = make_repository(tmp_path / "library", {"lib.py": "x = 1\n"})
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "lib"
    )
    repository.commit("with a submodule")
    before = repository.image()
    isolation = await prepare(repository)
    assert any("1 submodule (lib)" in notice for notice in isolation.notices)
    tree = await isolation.open("a")
    assert (tree.root / "lib" / "lib.py").read_text() == "x = 1\n"
    work = await isolation.finish(tree, "nothing")
    assert work.empty
    assert not tree.root.exists()
    changed = await isolation.open("b")
    (changed.root / "lib" / "lib.py").write_text("x = 2\n")
    kept = await isolation.finish(changed, "an edit in the submodule")
    assert changed.root.exists()
    assert any("submodules were changed: lib" in notice for notice in kept.notices)
    assert repository.image() == before


async def test_line_ends_and_filters_follow_the_users_settings(
    repository: Repository, prepare: Prepare
) -> None:
    repository.git("config", "core.autocrlf", "true")
    repository.write("dos.txt", b"a\r\nb\r\n")
    repository.commit("dos")
    repository.write(".git/info/attributes", "private.txt text eol=lf\n")
    repository.write("private.txt", b"a\nb\n")
    tree = await (await prepare(repository)).open("a")
    assert (tree.root / "dos.txt").read_bytes() == b"a\r\nb\r\n"
    assert (tree.root / "private.txt").read_bytes() == b"a\nb\n"


async def test_a_repository_of_longer_digests_works_there_and_back(prepare: Prepare, tmp_path: Path) -> None:
    tmp_path.joinpath("long").mkdir()
    repository = Repository(tmp_path / "long")
    repository.git("init", "-q", "-b", "main", "--object-format=sha256", "--template=")
    repository.write("a.txt", "a\n")
    repository.commit("first")
    repository.write("b.txt", "uncommitted\n")
    isolation = await prepare(repository)
    tree = await isolation.open("a")
    (tree.root / "a.txt").write_text("b\n")
    await tree.checkpoint(1)
    await isolation.integrate([await isolation.finish(tree, "change")])
    assert repository.git("show", f"{(await isolation.hand_back()).branch}:a.txt") == "b"
    assert (await isolation.apply()).files == ("a.txt",)


async def test_a_place_for_state_that_cannot_be_written_is_named(
    repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    with pytest.raises((GitError, OSError)):
        await Isolation.prepare(repository.path, tmp_path / "state" / "s1", "s1")


async def test_a_disk_that_fills_up_is_named_and_nothing_is_changed(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the full disk: git itself says what it would say then."""
    make_dirty(repository)
    before = repository.image()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", failing_git(tmp_path / "bin", "write-tree", "error: No space left on device"))
        with pytest.raises(GitError, match="The disk is full: free some space"):
            await Isolation.prepare(repository.path, tmp_path / "state" / "s1", "s1")
    assert repository.image() == before
    isolation = await Isolation.prepare(repository.path, tmp_path / "state" / "s1", "s1")
    await isolation.aclose()

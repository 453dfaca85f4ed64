"""Applying a result to the checkout: all or nothing, staged parts untouched, and an exact way back."""

from __future__ import annotations

import os
import random
import resource
import shlex
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from decurion.orchestrator.git import GitError, Isolation, Overlap, run, undo
from decurion.orchestrator.git.filesystem import scratch_of
from decurion.orchestrator.git.journal import Journal, all_journals
from tests.orchestrator.git.repository import Repository, make_dirty

pytestmark = pytest.mark.anyio

Result = Callable[[Mapping[str, bytes | None]], Awaitable[Isolation]]


@pytest.fixture
def result(repository: Repository, state: Path) -> Result:
    """Prepare an isolation whose merged state has some files changed."""

    async def make(edit: Mapping[str, bytes | None]) -> Isolation:
        isolation = await Isolation.prepare(repository.path, state, "s1")
        tree = await isolation.open("a")
        own = Repository(tree.root)
        for name, content in edit.items():
            if content is None:
                (own.path / name).unlink()
        for name, content in edit.items():
            if content is not None:
                own.write(name, content)
        await isolation.integrate([await isolation.finish(tree, "edit")])
        return isolation

    return make


async def _undone(repository: Repository, state: Path, before: dict[str, str], status: str) -> None:
    await undo(state)
    assert repository.status() == status
    assert repository.work_image() == {name: d for name, d in before.items() if not name.startswith(".git/")}


async def test_staged_unstaged_and_later_edits_are_kept_and_undo_is_exact(
    repository: Repository, state: Path, result: Result
) -> None:
    make_dirty(repository)
    core = repository.read("src/pkg/core.py")
    isolation = await result({"src/pkg/core.py": core.replace("line 2\n", "LINE 2\n").encode()})
    repository.write("src/pkg/core.py", core.replace("line 28\n", "my later edit\n"))
    repository.write("later.txt", "made meanwhile\n")
    repository.git("add", "later.txt")
    before, status, index = (
        repository.image(),
        repository.status(),
        (repository.path / ".git/index").read_bytes(),
    )
    times = (repository.path / "src/pkg/core.py").stat().st_mtime_ns
    await isolation.apply()
    now = repository.read("src/pkg/core.py")
    assert "LINE 2\n" in now
    assert "my later edit\n" in now
    assert (repository.path / ".git/index").read_bytes() == index
    await _undone(repository, state, before, status)
    assert (repository.path / "src/pkg/core.py").stat().st_mtime_ns == times


async def test_an_overlapping_edit_is_named_and_nothing_is_written(
    repository: Repository, result: Result
) -> None:
    isolation = await result({"README.md": b"agent\n", "new.txt": b"new\n"})
    repository.write("README.md", "mine\n")
    before = repository.image()
    with pytest.raises(Overlap) as refused:
        await isolation.apply()
    assert refused.value.files == ("README.md",)
    assert "README.md" in str(refused.value)
    assert repository.image() == before


async def test_a_new_file_never_lands_on_an_ignored_one(repository: Repository, result: Result) -> None:
    isolation = await result({"src/pkg/.gitignore": b"", "note.txt": b"agent\n", "README.md": b"agent\n"})
    repository.write(".git/info/exclude", "note.txt\n")
    repository.write("note.txt", "mine, ignored\n")
    before = repository.image()
    with pytest.raises(Overlap) as refused:
        await isolation.apply()
    assert refused.value.files == ("note.txt",)
    assert repository.image() == before


async def test_modes_links_and_folders_that_become_files_and_back(
    repository: Repository, state: Path, result: Result
) -> None:
    repository.write("tool.sh", "#!/bin/sh\n")
    repository.write("folder/inside.txt", "x\n")
    repository.write("file", "x\n")
    (repository.path / "link").symlink_to("README.md")
    (repository.path / "dirlink").symlink_to("src")
    repository.commit("shapes")
    (repository.path / "README.md").chmod(0o600)
    before, status = repository.image(), repository.status()
    isolation = await result({"new.txt": b"x\n"})
    tree = await isolation.open("b")
    shutil.rmtree(tree.root / "folder")
    (tree.root / "folder").write_text("now a file\n")
    (tree.root / "tool.sh").chmod(0o755)
    (tree.root / "file").unlink()
    (tree.root / "file").mkdir()
    (tree.root / "file/inside.txt").write_text("now a folder\n")
    (tree.root / "link").unlink()
    (tree.root / "link").symlink_to("tool.sh")
    (tree.root / "dirlink").unlink()
    (tree.root / "dirlink").mkdir()
    (tree.root / "dirlink/core.py").write_text("a folder where a link was\n")
    (tree.root / "README.md").write_text("changed\n")
    await isolation.integrate([await isolation.finish(tree, "shapes")])
    await isolation.apply()
    assert repository.read("folder") == "now a file\n"
    assert repository.read("file/inside.txt") == "now a folder\n"
    assert (repository.path / "tool.sh").stat().st_mode & 0o111
    assert (repository.path / "README.md").stat().st_mode & 0o777 == 0o600
    assert str((repository.path / "link").readlink()) == "tool.sh"
    assert repository.read("src/pkg/core.py").startswith("line 1\n")
    assert repository.read("dirlink/core.py").startswith("a folder")
    await _undone(repository, state, before, status)


async def test_odd_names_line_ends_and_binaries(repository: Repository, state: Path, result: Result) -> None:
    repository.git("config", "core.autocrlf", "true")
    odd = os.fsdecode(b"odd\xff\nname")
    repository.write("dos.txt", b"a\r\nb\r\n")
    repository.write("mixed.txt", b"a\r\nb\nc\r\n")
    before, status = repository.image(), repository.status()
    isolation = await result(
        {
            odd: b"x\n",
            "blob.bin": bytes(range(256)),
            "dos.txt": b"a\r\nB\r\n",
            "mixed.txt": b"a\r\nb\r\nC\r\n",
        }
    )
    await isolation.apply()
    assert (repository.path / "dos.txt").read_bytes() == b"a\r\nB\r\n"
    assert (repository.path / "blob.bin").read_bytes() == bytes(range(256))
    assert (repository.path / odd).read_bytes() in {b"x\n", b"x\r\n"}
    await _undone(repository, state, before, status)


async def test_undo_refuses_when_its_files_were_edited_and_changes_nothing(
    repository: Repository, state: Path, result: Result
) -> None:
    isolation = await result({"README.md": b"agent\n", "new.txt": b"new\n"})
    await isolation.apply()
    repository.write("new.txt", "edited since\n")
    before = repository.image()
    with pytest.raises(Overlap, match=r"edited since, so nothing was taken back"):
        await undo(state)
    assert repository.image() == before


async def test_undo_leaves_other_edits_made_since(
    repository: Repository, state: Path, result: Result
) -> None:
    isolation = await result({"README.md": b"agent\n"})
    await isolation.apply()
    repository.write("src/pkg/util.py", "edited since\n")
    assert (await undo(state)).files == ("README.md",)
    assert repository.read("src/pkg/util.py") == "edited since\n"


async def test_two_results_are_undone_one_after_the_other(
    repository: Repository, state: Path, result: Result
) -> None:
    before, status = repository.image(), repository.status()
    isolation = await result({"README.md": b"first\n"})
    await isolation.apply()
    tree = await isolation.open("b")
    (tree.root / "README.md").write_text("second\n")
    await isolation.integrate([await isolation.finish(tree, "second")])
    await isolation.apply()
    assert repository.read("README.md") == "second\n"
    await undo(state)
    assert repository.read("README.md") == "first\n"
    await _undone(repository, state, before, status)


async def test_applying_twice_writes_nothing_the_second_time(repository: Repository, result: Result) -> None:
    isolation = await result({"README.md": b"agent\n"})
    assert (await isolation.apply()).files == ("README.md",)
    assert (await isolation.apply()).files == ()


async def test_a_write_that_fails_half_way_is_taken_back(repository: Repository, result: Result) -> None:
    isolation = await result({"README.md": b"agent\n", "src/pkg/util.py": b"agent\n"})
    scratch_of(repository.path / "src/pkg/util.py").mkdir()
    before = repository.image()
    with pytest.raises(GitError, match="all was taken back"):
        await isolation.apply()
    assert repository.image() == before


async def test_a_file_that_changes_between_two_steps_is_not_overwritten(
    repository: Repository, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolation = await result({"README.md": b"agent\n", "src/pkg/util.py": b"agent\n"})
    set_one = Journal._set  # pyright: ignore[reportPrivateUsage] - the moment between two files

    def slow(journal: Journal, *args: Any, **named: bool) -> None:
        set_one(journal, *args, **named)
        repository.write("src/pkg/util.py", "saved in this very moment\n")

    monkeypatch.setattr(Journal, "_set", slow)
    with pytest.raises(Overlap, match="all was taken back"):
        await isolation.apply()
    assert repository.read("src/pkg/util.py") == "saved in this very moment\n"
    assert repository.read("README.md") == "# sample\n"


async def test_files_outside_of_a_sparse_checkout_are_refused_by_name(
    repository: Repository, result: Result
) -> None:
    repository.git("update-index", "--refresh")  # the index of a copy does not know its files
    repository.git("sparse-checkout", "set", "src")
    isolation = await result({"tests/test_core.py": b"agent\n"})
    before = repository.work_image()
    with pytest.raises(Overlap) as refused:
        await isolation.apply()
    assert refused.value.files == ("tests/test_core.py",)
    assert repository.work_image() == before


async def test_names_that_differ_only_by_case_are_refused_where_case_does_not_count(
    repository: Repository, result: Result
) -> None:
    repository.git("config", "core.ignorecase", "true")
    isolation = await result({"readme.MD": b"agent\n"})
    with pytest.raises(Overlap, match="differ only by letter case") as refused:
        await isolation.apply()
    assert refused.value.files == ("README.md", "readme.MD")


async def test_a_rename_that_only_changes_case_is_applied(repository: Repository, result: Result) -> None:
    repository.git("config", "core.ignorecase", "true")
    isolation = await result({"README.md": None, "readme.md": b"# sample\n"})
    await isolation.apply()
    assert "readme.md" in {file.name for file in repository.path.iterdir()}
    assert "README.md" not in {file.name for file in repository.path.iterdir()}


async def test_a_pack_that_git_could_not_finish_is_not_left_behind(
    repository: Repository, result: Result
) -> None:
    """One that somebody else is writing meanwhile is left alone."""
    isolation = await result({"README.md": random.Random(1).randbytes(300_000)})
    packs = repository.path / ".git" / "objects" / "pack"
    packs.mkdir(exist_ok=True)
    (packs / "tmp_pack_theirs").write_bytes(b"PACK")
    before = {file.name for file in packs.iterdir()}
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        handed = await isolation.hand_back()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert not handed.branch
    assert "The result is safe: git fetch" in handed.notices[0]
    assert {file.name for file in packs.iterdir()} == before


async def test_a_branch_name_that_is_taken_is_not_overwritten(repository: Repository, result: Result) -> None:
    repository.git("branch", "decurion/s1")
    theirs = repository.git("rev-parse", "decurion/s1")
    isolation = await result({"README.md": b"agent\n"})
    handed = await isolation.hand_back()
    assert handed.branch == "decurion/s1-2"
    assert handed.notices == ("the branch decurion/s1 is taken, so the result is decurion/s1-2.",)
    assert repository.git("rev-parse", "decurion/s1") == theirs
    assert (await isolation.hand_back()).branch == "decurion/s1-2"


async def test_a_branch_of_ours_that_a_person_works_on_is_not_moved_under_them(
    repository: Repository, result: Result
) -> None:
    isolation = await result({"README.md": b"agent\n"})
    assert (await isolation.hand_back()).branch == "decurion/s1"
    repository.git("switch", "-q", "decurion/s1")
    assert (await isolation.hand_back()).branch == "decurion/s1"  # nothing new: it stays where it is
    before = (repository.git("rev-parse", "HEAD"), repository.status())
    tree = await isolation.open("more")
    (tree.root / "README.md").write_bytes(b"more\n")
    await isolation.integrate([await isolation.finish(tree, "more")])
    assert (await isolation.hand_back()).branch == "decurion/s1-2"
    assert (repository.git("rev-parse", "HEAD"), repository.status()) == before
    repository.git("switch", "-q", "main")
    assert (await isolation.hand_back()).branch == "decurion/s1"


async def test_a_branch_below_our_name_is_gone_round(repository: Repository, result: Result) -> None:
    repository.git("branch", "decurion/s1/mine")
    isolation = await result({"README.md": b"agent\n"})
    assert (await isolation.hand_back()).branch == "decurion/s1-2"


async def test_a_branch_named_as_our_folder_is_gone_round(repository: Repository, result: Result) -> None:
    repository.git("branch", "decurion")
    isolation = await result({"README.md": b"agent\n"})
    assert (await isolation.hand_back()).branch == "decurion-s1"


async def test_a_repository_that_takes_no_branch_gets_a_command_line(
    repository: Repository, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LOCK_PATIENCE", 0.1)
    isolation = await result({"README.md": b"agent\n"})
    repository.write(".git/refs/heads/decurion/s1.lock", "held")
    handed = await isolation.hand_back()
    assert handed.branch == ""
    (notice,) = handed.notices
    command = notice.rpartition("The result is safe: git ")[2]
    repository.git(*shlex.split(command))
    assert repository.git("show", "FETCH_HEAD:README.md") == "agent"


async def test_the_former_bytes_are_kept_before_the_first_is_written(
    repository: Repository, state: Path, result: Result
) -> None:
    isolation = await result({"README.md": b"agent\n"})
    await isolation.apply()
    (journal,) = all_journals(state / "git")
    assert journal.before_file(0).read_text() == "# sample\n"
    assert await isolation.hub.git.line("cat-file", "-p", f"{journal.base}:README.md") == "# sample"

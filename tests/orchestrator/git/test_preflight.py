"""Odd starts: each gets one clear line, and nothing is changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from decurion.orchestrator.git import GitError, Isolation, NotIsolatable, Options
from decurion.orchestrator.git.preflight import survey
from tests.orchestrator.git.repository import Repository, failing_git, make_dirty, make_repository

pytestmark = pytest.mark.anyio


def _conflict(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "other")
    repository.write("README.md", "theirs\n")
    repository.commit("theirs")
    repository.git("checkout", "-q", "main")
    repository.write("README.md", "ours\n")
    repository.commit("ours")


def _merging(repository: Repository) -> None:
    _conflict(repository)
    repository.git("merge", "other", check=False)


def _merging_without_conflict(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "other")
    repository.write("other.txt", "theirs\n")
    repository.commit("theirs")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "--no-ff", "--no-commit", "other", check=False)


def _rebasing(repository: Repository) -> None:
    _conflict(repository)
    repository.git("rebase", "other", check=False)


def _picking(repository: Repository) -> None:
    _conflict(repository)
    repository.git("cherry-pick", "other", check=False)


def _reverting(repository: Repository) -> None:
    _conflict(repository)
    repository.write("README.md", "more\n")
    repository.commit("more")
    repository.git("revert", "HEAD~1", check=False)


def _bisecting(repository: Repository) -> None:
    repository.git("bisect", "start")


def _stash_conflict(repository: Repository) -> None:
    repository.write("README.md", "stashed\n")
    repository.git("stash")
    repository.write("README.md", "committed\n")
    repository.commit("committed")
    repository.git("stash", "pop", check=False)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_merging, "a merge is in progress here: finish it first (`git merge --continue`"),
        (_merging_without_conflict, "a merge is in progress"),
        (_rebasing, "a rebase is in progress"),
        (_picking, "a cherry-pick is in progress"),
        (_reverting, "a revert is in progress"),
        (_bisecting, "a bisection is in progress"),
        (_stash_conflict, "1 file has unresolved conflicts (README.md)"),
    ],
)
async def test_an_unfinished_operation_is_refused_and_left_alone(
    repository: Repository, state: Path, make: Callable[[Repository], None], says: str
) -> None:
    make(repository)
    before = repository.image()
    with pytest.raises(NotIsolatable) as refused:
        await Isolation.prepare(repository.path, state, "s1")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert repository.image() == before
    assert not (state / "git").exists()


async def test_a_folder_without_repository_is_told_to_go_on_without_isolation(
    tmp_path: Path, state: Path
) -> None:
    with pytest.raises(NotIsolatable, match=r"not in a git repository.*git init.*without isolation"):
        await Isolation.prepare(tmp_path, state, "s1")


async def test_a_bare_repository_has_no_files_to_work_on(
    repository: Repository, state: Path, tmp_path: Path
) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    for place in (tmp_path / "bare.git", repository.path / ".git"):
        with pytest.raises(NotIsolatable, match=r"bare repository or a \.git folder"):
            await Isolation.prepare(place, state, "s1")


async def test_a_missing_git_is_named(
    repository: Repository, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitError, match="git is not on PATH: install git"):
        await Isolation.prepare(repository.path, state, "s1")


async def test_a_git_that_is_too_old_is_named(
    repository: Repository, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "PATH", failing_git(tmp_path / "bin", "--version", "", "echo git version 2.30.1; exit 0")
    )
    with pytest.raises(NotIsolatable, match=r"git 2\.30 is too old"):
        await Isolation.prepare(repository.path, state, "s1")


async def test_a_state_folder_inside_the_repository_is_refused(repository: Repository) -> None:
    with pytest.raises(NotIsolatable, match="lies inside the repository"):
        await Isolation.prepare(repository.path, repository.path / ".state", "s1")


async def test_a_full_disk_is_refused_before_anything_is_made(repository: Repository, state: Path) -> None:
    with pytest.raises(NotIsolatable, match="MB are free at"):
        await Isolation.prepare(repository.path, state, "s1", Options(least_free=1 << 62))
    assert not (state / "git").is_dir()


async def test_a_session_that_runs_elsewhere_is_refused(repository: Repository, state: Path) -> None:
    running = await Isolation.prepare(repository.path, state, "s1")
    with pytest.raises(NotIsolatable, match="in use by another process"):
        await Isolation.prepare(repository.path, state, "s1")
    await running.aclose()
    await (await Isolation.prepare(repository.path, state, "s1")).aclose()


async def _notices(repository: Repository, state: Path) -> str:
    return "\n".join((await survey(repository.path, state)).notices)


async def test_a_plain_repository_has_nothing_to_tell(repository: Repository, state: Path) -> None:
    make_dirty(repository)
    assert not await _notices(repository, state)


async def test_what_a_person_should_know_is_told(repository: Repository, state: Path) -> None:
    repository.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repository.write(os.fsdecode(b"caf\xe9.txt"), "latin\n")
    repository.write("two\nlines", "x\n")
    repository.write("readme.md", "other case\n")
    repository.commit("odd names")
    repository.git("update-index", "--skip-worktree", "src/pkg/util.py")
    repository.git("update-index", "--assume-unchanged", "src/pkg/core.py")
    told = await _notices(repository, state)
    assert "1 file marked assume-unchanged (src/pkg/core.py): edits there are not seen." in told
    assert "1 file marked skip-worktree (src/pkg/util.py): edits there are not seen." in told
    assert "Git LFS: git-lfs is not set up" in told
    assert "2 file names hold line breaks or bytes that are no text (caf\\xe9.txt, two\\nlines)" in told
    assert "names that differ only by letter case (README.md, readme.md)" in told


async def test_the_workspace_may_be_a_folder_inside_the_repository(
    repository: Repository, state: Path
) -> None:
    place = await survey(repository.path / "src", state)
    assert (place.top, place.prefix) == (repository.path, "src")


async def test_settings_of_the_surroundings_do_not_lead_git_elsewhere(
    repository: Repository, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert (await survey(repository.path, state)).top == repository.path


async def test_a_repository_that_belongs_to_somebody_else_is_explained_and_works_once_it_is_trusted(
    repository: Repository, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    shutil.chown(repository.path, 12345)
    shutil.chown(repository.path / ".git", 12345)
    before = repository.image()
    with pytest.raises(
        NotIsolatable, match=r"belongs to another user.*git config --global --add safe\.directory"
    ):
        await Isolation.prepare(repository.path, state, "s1")
    assert repository.image() == before
    (tmp_path / "config").write_text(f"[safe]\n\tdirectory = {repository.path}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    isolation = await Isolation.prepare(repository.path, state, "s1")
    assert (await isolation.open("a")).root.is_dir()
    await isolation.aclose()


async def test_filters_that_are_not_run_for_subagents_are_told(repository: Repository, state: Path) -> None:
    repository.write(".gitattributes", "*.md filter=shout\n*.py filter=unknown\n")
    repository.commit("attributes")
    repository.git("config", "filter.shout.clean", "tr a-z A-Z")
    told = [
        notice for notice in (await survey(repository.path, state)).notices if "content filters" in notice
    ]
    assert [("(shout)" in notice) for notice in told] == [True]

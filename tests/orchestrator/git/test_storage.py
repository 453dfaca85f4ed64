"""A disk that takes no more: one clear line, and nothing of the user's is changed."""

from __future__ import annotations

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from decurion.agents.moments import Moment, Notice
from decurion.orchestrator.applog import app_log, logging_listener
from decurion.orchestrator.git import GitError, Isolation
from decurion.orchestrator.git.errors import NotWritten
from decurion.orchestrator.git.filesystem import NOTHING, look
from decurion.orchestrator.git.journal import Item, Journal
from decurion.orchestrator.git.run import git_in
from tests.orchestrator.git.repository import Repository

pytestmark = pytest.mark.anyio


@contextmanager
def files_up_to(size: int) -> Generator[None]:
    """Let no file of this process grow above a size: what a full disk does, without filling one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_is_met_before_the_first_file_is_replaced(tmp_path: Path) -> None:
    top, after = tmp_path / "checkout", tmp_path / "journal" / "after"
    contents = {"a.txt": b"small\n", "b/new.txt": b"small\n", "c.txt": b"x" * 50_000}
    for name, content in contents.items():
        (after / name).parent.mkdir(parents=True, exist_ok=True)
        (after / name).write_bytes(content)
    top.mkdir()
    (top / "a.txt").write_bytes(b"mine\n")
    items = (
        Item("a.txt", look(top / "a.txt", top), look(after / "a.txt", after)),
        *(Item(name, NOTHING, look(after / name, after)) for name in ("b/new.txt", "c.txt")),
    )
    journal = Journal(tmp_path / "journal", top, "applying", items, "", "", "")
    with files_up_to(10_000), pytest.raises(OSError, match=r"c\.txt"):
        journal.roll_forward()
    assert (top / "a.txt").read_bytes() == b"mine\n"
    assert journal.roll_back() == []
    assert [path.name for path in top.rglob("*")] == ["a.txt"]


def test_what_did_not_come_back_is_named_with_what_to_do() -> None:
    error = OSError(28, "No space left on device", "/checkout/c.txt")
    assert str(NotWritten(error, ())) == (
        "/checkout/c.txt: No space left on device; all was taken back.\n"
        "The disk is full: free some space and resume."
    )
    assert "not all came back yet: a.txt" in str(NotWritten(error, ("a.txt",)))


@pytest.mark.parametrize("place", ["works", "trees/a.json"])
async def test_a_record_that_cannot_be_written_is_told_in_a_line(
    repository: Repository, isolation: Isolation, place: str
) -> None:
    before = repository.image()
    obstacle = isolation.hub.home / place
    obstacle.parent.mkdir(exist_ok=True)
    (obstacle.touch if place == "works" else obstacle.mkdir)()
    with pytest.raises(GitError) as told:
        await isolation.finish(await isolation.open("a"), "work")
    assert str(told.value).startswith(str(isolation.hub.home / place))
    assert repository.image() == before


async def test_a_git_that_ends_before_it_has_read_everything_is_heard(repository: Repository) -> None:
    git = git_in(repository.path)
    with pytest.raises(GitError, match="not a git command"):
        await git.run("no-such-command", stdin=b"x" * 5_000_000)


def test_the_application_log_of_a_full_disk_stops_nobody(tmp_path: Path) -> None:
    seen: list[Moment] = []
    (tmp_path / "decurion.log").symlink_to("/dev/full")
    with app_log(tmp_path, "s1") as log:
        logging_listener(log, seen.append)(Notice("still told"))
    assert seen == [Notice("still told")]

"""The user's working tree as a commit in the hub: staged, unstaged and untracked, without ignored files.

Nothing of the user's repository is written: the index is a copy, the objects go to the hub.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from .errors import GitError
from .hub import Hub
from .preflight import Place
from .run import Git, shown

ADD_TRIES = 5
"""How often files may vanish under an `add` before it is somebody's fault."""

LARGE = 100 * 1024 * 1024
"""Bytes from which an untracked file is left out and named; it would be written once per snapshot."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A working tree at one moment. `commit` is HEAD itself where nothing differs from it."""

    commit: str
    tree: str
    notices: tuple[str, ...]


async def take(place: Place, hub: Hub, *parents: str, message: str) -> Snapshot:
    """Take a snapshot; `commit` is the only parent itself where nothing differs from it. The caller points a ref at it before anything else runs in the hub.

    Raises:
        GitError: git failed; the user's repository is as it was, the hub may hold objects that nothing names.
    """
    index = hub.home / f"snapshot.{uuid4().hex}.index"
    git = place.git.with_env(**_borrowing(place, hub), GIT_INDEX_FILE=str(index))
    try:
        _copy_index(place.index, index)
        notices = await _stage(git, place)
        tree = await git.line("write-tree")
        commit = await _commit(git, hub, tree, parents, message)
        await _complete(git, hub, commit)
    finally:
        for leftover in (index, index.with_name(index.name + ".lock")):
            leftover.unlink(missing_ok=True)
    return Snapshot(commit, tree, tuple(notices))


async def adopt(place: Place, hub: Hub, base: str, paths: Sequence[str], message: str) -> str:
    """Commit, on top of `base`, some paths (from the top) as they lie in the user's checkout, and nothing else."""
    index = hub.home / f"adopt.{uuid4().hex}.index"
    git = place.git.with_env(**_borrowing(place, hub), GIT_INDEX_FILE=str(index))
    try:
        await git.run("read-tree", base)
        listed = b"\0".join(os.fsencode(path) for path in paths)
        await git.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=listed)
        return await _commit(git, hub, await git.line("write-tree"), (base,), message)
    finally:
        for leftover in (index, index.with_name(index.name + ".lock")):
            leftover.unlink(missing_ok=True)


def _borrowing(place: Place, hub: Hub) -> dict[str, str]:
    """Variables that make git write objects to the hub and read them from both."""
    path = str(place.objects)
    if path.startswith('"') or ":" in path or "\n" in path:
        path = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return {"GIT_OBJECT_DIRECTORY": str(hub.path / "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": path}


def _copy_index(source: Path, target: Path) -> None:
    # With its time: entries younger than their index are compared by content, and a younger copy would skip that.
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


async def _stage(git: Git, place: Place) -> list[str]:
    untracked = await git.names("ls-files", "--others", "--exclude-standard", "-z")
    nested = [path for path in untracked if path.endswith("/")]
    large = [path for path in untracked if not path.endswith("/") and _size(place.top / path) > LARGE]
    await add_all(git, (*nested, *large))
    notices = [f"{shown(path)} is a repository of its own and is left out." for path in nested]
    notices += [f"{shown(path)} is untracked and over {LARGE >> 20} MB: left out." for path in large]
    return notices


async def add_all(git: Git, without: Sequence[str] = ()) -> str:
    """Bring the index of `git` up to its working tree, except for some paths; gives what git said on the side."""
    if not without:
        return await _add(git)
    chosen = [":/", *(f":(exclude,top,literal){path.rstrip('/')}" for path in without)]
    listed = b"\0".join(os.fsencode(path) for path in chosen)
    how = ("--pathspec-from-file=-", "--pathspec-file-nul")
    return await _add(git, *how, stdin=listed)


async def _add(git: Git, *how: str, stdin: bytes | None = None) -> str:
    """Add all; once more where a file went away between git's seeing it and git's reading it: people do go on working."""
    for left in reversed(range(ADD_TRIES)):
        try:
            return (await git.run("add", "--all", "--sparse", *how, stdin=stdin)).stderr
        except GitError as error:
            if not left or not error.vanished:
                raise
    raise AssertionError  # the last try returns or raises


async def _commit(git: Git, hub: Hub, tree: str, parents: Sequence[str], message: str) -> str:
    if len(parents) == 1 and await hub.tree(parents[0], git) == tree:
        return parents[0]
    return await hub.commit(tree, parents, message)


async def _complete(git: Git, hub: Hub, commit: str) -> None:
    """Bring every object of a commit into the hub, also those only the user's repository holds.

    What a person staged after the hub was made exists only there: `add` does not write it again.
    """
    # With HEAD: a clone of a detached one has no branch. No ref at all is an answer, too.
    known = set((await hub.git.run("show-ref", "--head", "--hash", ok=(0, 1))).line.split())
    if commit in known:
        return
    wanted = "\n".join([commit, *(f"^{oid}" for oid in known)]) + "\n"
    await git.run(
        "pack-objects", "--revs", "-q", str(hub.path / "objects" / "pack" / "pack"), stdin=wanted.encode()
    )
    await hub.git.run("rev-list", "--objects", "--quiet", commit, "--not", "--all")


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


async def nested_repositories(git: Git) -> list[str]:
    """Folders of a working tree that are repositories of their own and not submodules."""
    others = await git.names("ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in others if path.endswith("/")]

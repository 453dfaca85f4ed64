"""What the folders of past sessions hold, and removing what is saved elsewhere. Any doubt means keep."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import GitError
from .hub import Hub, hub_at
from .isolation import MERGE_TREE
from .journal import all_journals
from .lock import try_lock
from .run import git_in, shown
from .trees import FOUND, HALF_MADE, remove
from .worktree import Worktree
from .worktree import load as load_tree


@dataclass(frozen=True, slots=True)
class Holding:
    """One thing that a session holds.

    `safe` says that removing it loses nothing; `why` says what it is, or what would be lost; `alone` that it can go
    without the rest.
    """

    place: str
    safe: bool
    why: str
    alone: bool = False


async def survey_session(state_dir: Path, session_id: str) -> tuple[Holding, ...]:
    """Look at what a session's state folder holds for git; changes nothing."""
    home = state_dir / "git"
    if not home.is_dir():
        return ()
    handle = try_lock(home / "run.lock")
    if handle is None:
        return (Holding(str(home), safe=False, why="the session is running"),)
    try:
        found = tuple([holding async for holding in _look(hub_at(home, session_id, {}))])
        return found or (Holding(str(home), safe=True, why="holds no work"),)
    except (GitError, OSError, ValueError) as error:
        return (Holding(str(home), safe=False, why=f"it cannot be examined: {error}"),)
    finally:
        os.close(handle)


async def clean_session(state_dir: Path, session_id: str, *, dry_run: bool) -> tuple[Holding, ...]:
    """Remove what is safe to remove: single worktrees, or, where all is safe, everything. Gives what it looked at.

    Worktrees with anything uncommitted get a commit under a ref first, so the next call finds them safe; the hub goes
    only when each of its works is merged into a branch that the user's repository has.
    """
    home, doomed = state_dir / "git", state_dir / "git.removed"
    found = await survey_session(state_dir, session_id)
    whole = all(holding.safe for holding in found)
    if dry_run:
        return found if whole else tuple(one if one.alone else _with_the_rest(one) for one in found)
    if doomed.is_dir():
        shutil.rmtree(doomed)  # cut off while it was removed
    handle = try_lock(home / "run.lock") if found else None
    if handle is None:
        return found
    if whole:
        home.rename(doomed)  # in one step: what is half removed could not be examined any more
        os.close(handle)
        shutil.rmtree(doomed)
        return found
    try:
        hub = hub_at(home, session_id, {})
        for tree in _trees(hub):
            work = await tree.seal(f"Left in the worktree of {tree.agent_id}")
            await remove(tree, work)
        for kept in (home / "kept").glob(f"*{HALF_MADE}*"):
            shutil.rmtree(kept)
    except (GitError, OSError, ValueError):
        pass  # kept, as the next look says
    finally:
        os.close(handle)
    left = await survey_session(state_dir, session_id)
    still = {holding.place for holding in left}
    gone = (holding for holding in found if holding.place not in still)
    saved = (
        replace(one, safe=True, why=one.why if one.safe else "its files are in a commit now") for one in gone
    )
    return (*saved, *map(_with_the_rest, left))


def _with_the_rest(holding: Holding) -> Holding:
    """What stays although nothing would be lost: the hub goes as a whole or not at all."""
    if not holding.safe:
        return holding
    return replace(holding, safe=False, why=f"{holding.why}; it goes when all of the session can")


async def _look(hub: Hub) -> AsyncIterator[Holding]:
    for tree in _trees(hub):
        yield await _tree_holding(hub, tree)
    for kept in sorted((hub.home / "kept").glob("*")):
        yield _kept_holding(kept)
    for journal in all_journals(hub.home):
        if journal.state != "undone":
            yield Holding(str(journal.folder), safe=False, why="`decurion undo` needs it")
    refs = await hub.refs()
    for name, commit in refs.items():
        if _is_result(name, refs):
            yield await _ref_holding(hub, name, commit)


def _kept_holding(kept: Path) -> Holding:
    if HALF_MADE in kept.name:
        why = "a worktree cut off while it was made: nobody worked there"
        return Holding(str(kept), safe=True, why=why, alone=True)
    if FOUND in kept.name:
        why = "a worktree that was in the way when the agent's was made again: no commit may hold its files"
        return Holding(str(kept), safe=False, why=why)
    return Holding(
        str(kept), safe=False, why="files that no commit holds: ignored ones, or nested repositories"
    )


def _is_result(name: str, refs: Mapping[str, str]) -> bool:
    """Whether a ref holds work by itself; a turn does where the agent never came to an end."""
    parts = name.split("/")
    if parts[0] != "agent" or parts[1] == MERGE_TREE:
        return False
    if parts[2] == "turn":
        newest = max(ref for ref in refs if ref.startswith(f"agent/{parts[1]}/turn/"))
        return name == newest and f"agent/{parts[1]}/head" not in refs
    return parts[2] in {"head", "stray", "old"}


async def _tree_holding(hub: Hub, tree: Worktree) -> Holding:
    if not tree.root.is_dir():
        return Holding(str(tree.root), safe=True, why="the folder is gone")
    now, nested = await tree.tree()
    if nested or await tree.ignored():
        return Holding(str(tree.root), safe=False, why="holds ignored files or nested repositories")
    known = {await hub.tree(commit) for commit in (tree.base, *(await hub.refs("agent", tree.name)).values())}
    if now in known:
        return Holding(str(tree.root), safe=True, why="all files are in a commit", alone=True)
    return Holding(str(tree.root), safe=False, why="holds uncommitted files")


async def _ref_holding(hub: Hub, name: str, commit: str) -> Holding:
    place = hub.ref(name)
    for handed in (await hub.refs("handed")).values():
        inside = await hub.git.succeeds("merge-base", "--is-ancestor", commit, handed)
        if inside and (branch := await _branch_with(hub, handed)):
            return Holding(place, safe=True, why=f"is in the branch {branch} of your repository")
    return Holding(place, safe=False, why="is in no branch of your repository")


async def _branch_with(hub: Hub, commit: str) -> str:
    """A branch of the user's repository that contains a commit still, by whatever name; `""` if there is none."""
    told = hub.home / "repository"
    if not told.is_file():
        return ""
    git = git_in(Path(os.fsdecode(told.read_bytes())))
    how = ("--count=1", "--format=%(refname:lstrip=2)", "--contains", commit, "refs/heads/")
    found = await git.run("for-each-ref", *how, ok=(0, 129))
    return shown(found.line) if found.code == 0 else ""


def _trees(hub: Hub) -> Iterator[Worktree]:
    for record in sorted((hub.home / "trees").glob("*.json")):
        tree = load_tree(hub, record.stem)
        if tree is not None and tree.agent_id != MERGE_TREE:
            yield tree

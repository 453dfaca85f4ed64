"""Make and remove worktrees. What git registers is serial, under the hub's lock; removing needs proof that nothing is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread

from decurion.hooks import DecurionError

from .errors import GitError
from .hub import Hub, ref_part
from .run import shown
from .work import Work
from .worktree import Record, Worktree, admin_folder, load, record_file, tree_folder

ADMIN = ".git.worktree"
"""The hub's part of a worktree, in the folder of one that is put away."""

FOUND, HALF_MADE = "-found", "-half-made"
"""Ends of the names of worktrees moved aside: complete ones, and those cut off while they were made."""

GONE = ".gone"
"""End of the name of a worktree that is being deleted: all in it is kept elsewhere."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of a worktree: removed, or kept at `kept` because of `reason`; `saved` was moved aside.

    `gone` is where the files of one that is put away lie until they are deleted.
    """

    removed: bool
    kept: str = ""
    reason: str = ""
    saved: tuple[str, ...] = ()
    gone: Path | None = None


async def add(hub: Hub, record: Record, files: str, head: str = "") -> Worktree:
    """Make a worktree with the files of one commit, HEAD at another where one is named.

    What was written down of an earlier worktree of the agent stays until this one is complete, so that a crash in
    between loses nothing.

    Raises:
        GitError: nothing half-made is left, and the work must not be done anywhere else instead.
    """
    root = tree_folder(hub, record.agent_id)
    making = _making(hub, record.agent_id)
    try:
        async with hub.lock.held():
            hub.restore_config()
            _drop_torn(hub)
            set_aside(hub, record.agent_id)
            root.parent.mkdir(mode=0o700, exist_ok=True)
            making.touch()
            # Twice `--force`: a registered worktree whose folder is gone, locked or not, is taken over.
            how = ("--no-checkout", "--detach", "--lock", "--force", "--force", "--quiet")
            await hub.git.run("worktree", "add", *how, str(root), head or files)
        # Writing the files takes nearly all of the time, and needs no lock: several are written side by side.
        admin = admin_folder(root)
        inside = hub.git.at(root).with_env(GIT_DIR=admin, GIT_WORK_TREE=str(root))
        async with hub.writers:
            await inside.run("read-tree", "--reset", "-u", files)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _unmake(hub, record.agent_id)
        raise
    tree = Worktree(hub, replace(record, admin=admin))
    tree.save()
    making.unlink(missing_ok=True)
    return tree


def _drop_torn(hub: Hub) -> None:
    """Drop what a git that was killed in `worktree add` registered by half, while nobody else adds one.

    Where one `commondir` is empty, git (2.39) reads no worktree of the repository any more, and can add none.
    """
    for common in (hub.path / "worktrees").glob("*/commondir"):
        if not common.stat().st_size:
            shutil.rmtree(common.parent)


def _making(hub: Hub, agent_id: str) -> Path:
    """A file that is there while a worktree is made: what lies there then is nobody's work."""
    root = tree_folder(hub, agent_id)
    return root.with_name(f"{root.name}.making")


async def _unmake(hub: Hub, agent_id: str) -> None:
    """Take away what a failed start of a worktree left, if it came so far; nobody has worked there."""
    root = tree_folder(hub, agent_id)
    async with hub.lock.held():
        if not _making(hub, agent_id).exists():
            return
        shutil.rmtree(root, ignore_errors=True)
        with suppress(GitError):
            await hub.git.run("worktree", "unlock", str(root), ok=(0, 128))
            await hub.git.run("worktree", "prune")


def set_aside(hub: Hub, agent_id: str) -> Path | None:
    """Move a folder that lies where a worktree is to be made out of the way. It may hold work: nothing is deleted."""
    root = tree_folder(hub, agent_id)
    root.with_name(f"{root.name}.index").unlink(missing_ok=True)
    if not os.path.lexists(root):
        return None
    what = HALF_MADE if _making(hub, agent_id).exists() else FOUND
    target = free_name(hub.home / "kept" / f"{root.name}{what}")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    root.rename(target)
    return target


def free_name(path: Path) -> Path:
    """A name that is not taken: the given one, or with a number behind."""
    number = 1
    candidate = path
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


async def restore(hub: Hub, agent_id: str, turn: int | None = None) -> Worktree | None:
    """Bring an interrupted worktree back to its newest checkpoint, or None where there never was one.

    `turn` is the newest turn that counts: a checkpoint behind it is of a turn that will be made again. What lay there
    meanwhile is kept under a ref, with the ignored files beside.
    """
    found = load(hub, agent_id)
    if found is None:
        return None
    kept = await hub.refs("agent", found.name, "turn")
    turns = {name: commit for name, commit in kept.items() if turn is None or int(name) <= turn}
    newest = turns[max(turns)] if turns else found.base
    notices = await _keep_interrupted(hub, found, newest)
    await hub.drop(*(f"agent/{found.name}/turn/{name}" for name in kept.keys() - turns.keys()))
    stood = (await hub.git.line("rev-list", "--parents", "-1", newest)).split()[2:] or [found.base]
    record = replace(found.record, turn=int(max(turns)) if turns else 0)
    again = await add(hub, record, newest, stood[0])
    return Worktree(hub, again.record, (*found.notices, *notices))


async def _keep_interrupted(hub: Hub, found: Worktree, newest: str) -> list[str]:
    """Put what came after the newest checkpoint under a ref, if anything did, and take the worktree away."""
    if not found.root.is_dir():
        return []
    committed = await found.head() not in {None, found.base}
    work = await found.seal(f"Interrupted work of {found.agent_id}")
    kept: list[str] = []
    if committed or await hub.tree(work.commit) != await hub.tree(newest):
        number = f"{len(await hub.refs('agent', found.name, 'old')) + 1:04}"
        await hub.write(work.commit, "agent", found.name, "old", number)
        kept = [f"the interrupted state is kept as {hub.ref('agent', found.name, 'old', number)}."]
    return [*work.notices, *_told(await remove(found, work, forget_it=False)), *kept]


async def remove(tree: Worktree, work: Work, *, forget_it: bool = True) -> Removal:
    """Put a worktree away, and delete its files."""
    removal = await put_away(tree, work, forget_it=forget_it)
    if removal.gone:
        await delete(removal.gone)
    return removal


async def put_away(tree: Worktree, work: Work, *, forget_it: bool = True) -> Removal:
    """Take a worktree out of reach if all that is in it is in `work`, or was moved aside. Any doubt means keep.

    What is left to do is `delete`; after a crash `sweep` does it. Without `forget_it` what was written down of the
    worktree stays, for one that is made in its place.
    """
    try:
        saved = await _prove(tree, work)
        gone = await _take_away(tree)
    except (DecurionError, OSError) as error:
        return Removal(removed=False, kept=str(tree.root), reason=str(error))
    tree.index.unlink(missing_ok=True)
    if forget_it:
        record_file(tree.hub, tree.agent_id).unlink(missing_ok=True)
    if forget_it and work.empty:
        await forget(tree.hub, tree.agent_id)
    return Removal(removed=True, saved=tuple(saved), gone=gone)


async def delete(gone: Path) -> None:
    """Delete the files of a worktree that is put away."""
    await to_thread.run_sync(shutil.rmtree, gone, True)  # noqa: FBT003 - positional there: what stays is swept


async def _prove(tree: Worktree, work: Work) -> list[str]:
    """Hold the files against the commit, and move aside what no commit can hold."""
    # Where our index was written for this commit, the look compares the files with it before they are taken away.
    now, nested = tree.written or await tree.tree()
    if now != await tree.hub.tree(work.commit):
        raise GitError("git worktree remove", 1, "the files differ from what was committed")
    await _refuse_changed_submodules(tree)
    late, ignored = await tree.beside()
    saved = move_aside(tree, [*nested, *ignored])
    if saved:  # what was moved may be among them, and moving takes time
        late, _ = await tree.beside()
    if late:
        raise GitError(
            "git worktree remove", 1, f"written after the commit: {', '.join(map(shown, late[:5]))}"
        )
    return saved


async def _refuse_changed_submodules(tree: Worktree) -> None:
    from .submodules import changed_submodules

    if changed := await changed_submodules(tree):
        raise GitError("git worktree remove", 1, f"submodules were changed: {', '.join(map(shown, changed))}")


def move_aside(tree: Worktree, paths: Sequence[str]) -> list[str]:
    """Move paths of a worktree to the session's folder of kept files; gives their new places."""
    home = tree.hub.home / "kept" / tree.name
    moved: list[str] = []
    for path in paths:
        target = free_name(home / path.rstrip("/"))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (tree.root / path).rename(target)
        moved.append(str(target))
    return moved


async def _take_away(tree: Worktree) -> Path:
    """Take the files and the hub's part of them away in one step each: what is deleted file by file is not in reach."""
    gone = free_name(tree.root.with_name(f"{tree.root.name}{GONE}"))
    tree.root.rename(gone)
    try:
        async with tree.hub.lock.held():
            os.rename(tree.record.admin, gone / ADMIN)  # noqa: PTH104 - what `git worktree remove` deletes
    except BaseException:
        gone.rename(tree.root)
        raise
    return gone


def sweep(hub: Hub) -> None:
    """Delete what a crash left of worktrees that were proven and taken away; while no other process runs the session."""
    _drop_torn(hub)
    for gone in (hub.home / "trees").glob(f"*{GONE}*"):
        shutil.rmtree(gone, ignore_errors=True)


async def forget(hub: Hub, agent_id: str) -> None:
    """Drop the refs of an agent that changed nothing in the end, except what it committed on the way."""
    found = await hub.refs("agent", ref_part(agent_id))
    strays = any(name.startswith(("stray/", "old/")) for name in found)
    gone = [name for name in found if name.startswith(("turn/", "head")) and not strays]
    await hub.drop(*(f"agent/{ref_part(agent_id)}/{name}" for name in gone))


def _told(removal: Removal) -> list[str]:
    if not removal.removed:
        return [f"the worktree is kept at {removal.kept}: {removal.reason}"]
    return [
        f"kept aside, being ignored or a repository of its own: {shown(place)}" for place in removal.saved
    ]


def with_removal(work: Work, removal: Removal) -> Work:
    """Say in a work what became of its worktree."""
    where = work.where if removal.removed else f"{removal.kept} (kept), {work.where}"
    return replace(work, where=where, notices=(*work.notices, *_told(removal)))

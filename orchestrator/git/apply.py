"""Put a merged result into the user's checkout on request, all of it or nothing, with an exact way back.

The index is never written, so what was staged stays staged. Each file is replaced in one step after it was compared
once more; an overlapping edit is found before the first byte is written. Steps: snapshot W1, merge with the result,
keep the former bytes, prove by a second snapshot that nothing moved meanwhile, replace, verify.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from decurion.hooks.counts import counted

from .errors import GitError, NotWritten, Overlap
from .filesystem import NOTHING, fresh_folder, keep, look
from .hub import Hub
from .journal import Item, Journal, all_journals, recover
from .lock import FileLock
from .matrix import merge_trees
from .preflight import Place, case_clashes
from .run import git_in, shown
from .snapshot import Snapshot, take
from .work import Difference, differences

TRIES = 3
"""How often to begin again when a person saves a file between two steps."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was written: the files, and the number under which `undo` finds it (0: there was nothing to write)."""

    files: tuple[str, ...]
    number: int

    @property
    def in_words(self) -> str:
        """What a person is told."""
        if not self.files:
            return "this checkout has the result already: nothing was written."
        return (
            f"applied {counted(len(self.files), 'file')} to this checkout; take it back with `decurion undo`."
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. `files` is empty where there was nothing to take back."""

    files: tuple[str, ...]
    top: str = ""


async def apply(place: Place, hub: Hub, base: str, result: str) -> Applied:
    """Write the difference between `base` (the first snapshot) and `result` into the checkout.

    Raises:
        Overlap: the same places were edited since; names the files; nothing was written.
        GitError: git failed; nothing was written, or what was written was taken back.
    """
    async with FileLock(hub.home / "apply.lock").held():
        for _ in range(TRIES):
            journal = await _prepare(place, hub, base, result)
            if journal is None:
                return Applied((), 0)
            if await _unmoved(place, hub, journal):
                await _write(place, hub, journal)
                files = tuple(item.path for item in journal.items)
                return Applied(files, int(journal.folder.name))
            journal.to("undone")
    raise Overlap("Files keep changing while the result is applied: pause what writes them and try again.")


async def _prepare(place: Place, hub: Hub, base: str, result: str) -> Journal | None:
    """Work out what is to be written, and write down the way back."""
    number = 1 + max((int(journal.folder.name) for journal in all_journals(hub.home)), default=0)
    earlier = [journal.result for journal in all_journals(hub.home) if journal.state == "applied"]
    now = await take(place, hub, base, *earlier, message="The working tree before a result was applied")
    await hub.write(now.commit, "backup", f"{number:04}")
    merged = await merge_trees(hub.git, now.commit, result)
    if not merged.clean:
        raise Overlap("You changed the same places since, so nothing was applied. In conflict:", merged.files)
    found = await differences(hub.git, now.tree, merged.tree)
    if not found:
        return None
    _refuse_special(place, found, await hub.git.names("ls-tree", "-r", "-z", "--name-only", merged.tree))
    folder = hub.home / "applied" / str(number)
    await _lay_out(hub, folder / "after", merged.tree, found)
    items = tuple(_item(place.top, folder / "after", difference) for difference in found)
    journal = Journal(folder, place.top, "prepared", items, now.commit, merged.tree, result)
    absent = [
        item.path for item, d in zip(items, found, strict=True) if d.before.exists and item.before == NOTHING
    ]
    _keep_former(journal)
    journal.save()
    _refuse_obstacles(journal, absent)
    return journal


def _refuse_special(place: Place, found: list[Difference], names: list[str]) -> None:
    links = tuple(d.path for d in found if "160000" in {d.before.mode, d.after.mode})
    if links:
        raise Overlap("Submodule pointers differ; take the branch instead of --apply for:", links)
    if place.ignores_case and (clashes := case_clashes(names)):
        touched = {d.path.casefold() for d in found}
        if mine := tuple(name for name in clashes if name.casefold() in touched):
            raise Overlap("Names that differ only by letter case cannot both exist here:", mine)


async def _lay_out(hub: Hub, folder: Path, tree: str, found: list[Difference]) -> None:
    """Write the new files, line ends and filters applied, to a folder of ours."""
    fresh_folder(folder.parent)
    fresh_folder(folder)
    index = folder.with_name("index")
    git = git_in(folder, GIT_DIR=str(hub.path), GIT_WORK_TREE=str(folder), GIT_INDEX_FILE=str(index))
    await git.run("read-tree", tree)
    wanted = b"\0".join(os.fsencode(d.path) for d in found if d.after.exists)
    await git.run("checkout-index", "--force", "-z", "--stdin", stdin=wanted)
    index.unlink()


def _item(top: Path, after: Path, difference: Difference) -> Item:
    before = look(top / difference.path, top) if difference.before.exists else NOTHING
    new = look(after / difference.path, after) if difference.after.exists else NOTHING
    if difference.before.mode == difference.after.mode and before.kind == new.kind == "file":
        new = replace(new, mode=before.mode)
    return Item(difference.path, before, new)


def _keep_former(journal: Journal) -> None:
    for number, item in enumerate(journal.items):
        if item.before.kind in {"file", "link"}:
            keep(journal.top / item.path, journal.before_file(number))


def _refuse_obstacles(journal: Journal, absent: list[str]) -> None:
    odd = [item.path for item in journal.items if item.before.kind not in {"file", "link", "none"}]
    blocked = list(dict.fromkeys([*odd, *absent, *journal.foreign("before")]))
    if blocked:
        journal.to("undone")
        raise Overlap(
            "Something else is in the way (ignored, or outside of a sparse checkout):", tuple(blocked)
        )


async def _unmoved(place: Place, hub: Hub, journal: Journal) -> bool:
    """Whether the checkout is still what the first snapshot and the kept bytes say."""
    again = await _snapshot(place, hub, journal)
    return again.tree == await hub.tree(journal.base) and not journal.foreign("before")


async def _snapshot(place: Place, hub: Hub, journal: Journal) -> Snapshot:
    return await take(place, hub, journal.base, message="The working tree while a result was applied")


async def _write(place: Place, hub: Hub, journal: Journal) -> None:
    """Replace the files and verify; on any trouble take back what was written."""
    journal = journal.to("applying")
    try:
        await _replace_and_verify(place, hub, journal)
    except (OSError, GitError, Overlap) as error:
        left = journal.roll_back()
        with suppress(OSError):  # on a full disk; then the next start looks again
            journal.close()
        if isinstance(error, OSError):
            raise NotWritten(error, tuple(map(shown, left))) from error
        if left and isinstance(error, Overlap):
            raise Overlap(error.message, tuple(dict.fromkeys([*error.files, *left]))) from error
        raise
    journal.to("applied")


async def _replace_and_verify(place: Place, hub: Hub, journal: Journal) -> None:
    met = journal.roll_forward()
    if met:
        raise Overlap("This file changed while the result was applied; all was taken back:", (met,))
    after = await _snapshot(place, hub, journal)
    ours = {item.path for item in journal.items}
    if place.ignores_case:
        # The index keeps the old spelling of a name whose letter case changed, so the snapshot cannot tell.
        ours -= set(case_clashes(ours))
    found = await differences(hub.git, journal.merged, after.tree)
    wrong = [d.path for d in found if d.path in ours]
    if wrong:
        raise Overlap("Files did not come out as merged; all was taken back:", tuple(wrong))


async def undo(home: Path) -> Undone:
    """Take back the newest change of a session, exactly, permissions and times included.

    Raises:
        Overlap: files were edited since; nothing was changed.
    """
    async with FileLock(home / "apply.lock").held():
        recover(home)
        applied = [journal for journal in all_journals(home) if journal.state == "applied"]
        if not applied:
            return Undone(())
        journal = applied[-1]
        if edited := journal.foreign("before", "after"):
            raise Overlap(
                "These files were edited since, so nothing was taken back:", tuple(map(shown, edited))
            )
        journal = journal.to("undoing")
        journal.roll_back()
        journal.close()
        return Undone(tuple(item.path for item in journal.items), str(journal.top))


def newest(home: Path) -> Journal | None:
    """The change that `undo` would take back, or None."""
    found = [journal for journal in all_journals(home) if journal.state == "applied"]
    return found[-1] if found else None

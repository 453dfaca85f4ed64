"""The record of one change to the user's checkout, on disk before the first byte is written.

Lies in a folder of its own: `journal.json`, `before/<n>` and `after/<path>`. Its `state` goes `prepared`, `applying`,
`applied`, `undoing`, `undone`; whatever it was when a crash came, the way back is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from decurion.hooks.counts import counted

from .filesystem import NOTHING, State, clear, clear_folders, lay, link_above, look, put, scratch_of
from .hub import write_bytes
from .run import shown


@dataclass(frozen=True, slots=True)
class Item:
    """One path (below `top`), what stood there, and what is to stand there."""

    path: str
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Journal:
    """One change.

    `folder` holds it; `top` is the checkout; `base` is the snapshot before,
    `merged` the tree after, `result` the commit that was applied.
    """

    folder: Path
    top: Path
    state: str
    items: tuple[Item, ...]
    base: str
    merged: str
    result: str

    def before_file(self, number: int) -> Path:
        """Where the former content of an item lies."""
        return self.folder / "before" / str(number)

    def after_file(self, item: Item) -> Path:
        """Where the new content of an item lies."""
        return self.folder / "after" / item.path

    def to(self, state: str) -> Journal:
        """Write down a new state; it counts from when this returns."""
        changed = replace(self, state=state)
        changed.save()
        return changed

    def save(self) -> None:
        """Write the journal; names that are no text survive as lone surrogates in escaped JSON."""
        data = {**asdict(self), "folder": "", "top": str(self.top)}
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(self.folder / "journal.json", json.dumps(data).encode("ascii"))
        _sync(self.folder)

    def foreign(self, *wanted: Literal["before", "after"]) -> list[str]:
        """Paths that hold none of the wanted states, each a person's own doing since."""
        return [i.path for i in self.items if not any(self._stands(i, getattr(i, which)) for which in wanted)]

    def _stands(self, item: Item, state: State) -> bool:
        """Whether a path holds a state. What stands where nothing should is no matter if this change removes it."""
        target = self.top / item.path
        found = look(target, self.top)
        if found.same(state):
            return True
        if state != NOTHING:
            return False
        twins = (other for other in self.items if other.path.casefold() == item.path.casefold())
        if any(found.same(twin.before) for twin in twins if twin.after == NOTHING):
            return True  # a rename of letter case only, where case does not count
        ours = {self.top / other.path for other in self.items}
        if found.kind == "beyond":
            return link_above(target, self.top) in ours
        return found.kind == "folder" and all(
            inside in ours for inside in target.rglob("*") if not inside.is_dir()
        )

    def roll_back(self) -> list[str]:
        """Bring back the former state of every item that holds the new one; gives those where it did not come back.

        These hold something else by now, or cannot be written. May be interrupted and called again at any time.
        """
        foreign: list[str] = []
        for item in self._removals_first(back=True):
            target = self.top / item.path
            if not link_above(target, self.top):
                with suppress(OSError):
                    scratch_of(target).unlink(missing_ok=True)
            found = look(target, self.top)
            if found.same(item.before):
                self._clear_folders(item)
                continue
            if found.same(item.after):
                self._restore(item, found, foreign)
            elif not self._stands(item, item.before):
                foreign.append(item.path)
        return foreign

    def _clear_folders(self, item: Item) -> None:
        """Remove the folders that were made for a file which did not come."""
        if item.before == NOTHING and not link_above(self.top / item.path, self.top):
            clear_folders(self.top / item.path, self.top)

    def close(self) -> None:
        """Count as undone, unless a file still holds the new content: then the next `recover` tries again."""
        if not set(self.foreign("before")) - set(self.foreign("before", "after")):
            self.to("undone")

    def _restore(self, item: Item, found: State, failed: list[str]) -> None:
        try:
            self._set(item, item.before, found, restore=True)
        except OSError:
            failed.append(item.path)  # the others must come back all the same

    def roll_forward(self) -> str:
        """Set the new state of every item; stops at, and gives, the first that a person has changed meanwhile."""
        ready = self._lay_ready()
        for item in self._removals_first(back=False):
            found = look(self.top / item.path, self.top)
            if not found.same(item.before):
                return item.path
            self._set(item, item.after, found, restore=False, laid=item.path in ready)
        return ""

    def _lay_ready(self) -> set[str]:
        """Write the new files beside their places: a full disk is met before the first of the former ones is gone."""
        ready: set[str] = set()
        for item in self.items:
            target = self.top / item.path
            if item.after == NOTHING or link_above(target, self.top):
                continue
            with suppress(FileExistsError, NotADirectoryError):  # a file gives way to a folder first
                target.parent.mkdir(parents=True, exist_ok=True)
                lay(self.after_file(item), target, item.after, look(target, self.top), restore=False)
                ready.add(item.path)
        return ready

    def _removals_first(self, *, back: bool) -> list[Item]:
        """A file may give way to a folder of its name, or the other way round."""
        return sorted(self.items, key=lambda item: (item.before if back else item.after) != NOTHING)

    def _set(self, item: Item, wanted: State, found: State, *, restore: bool, laid: bool = False) -> None:
        target = self.top / item.path
        if laid:
            scratch_of(target).replace(target)
            return
        if wanted.kind == "none":
            clear(target, self.top)
            return
        source = self.before_file(self.items.index(item)) if restore else self.after_file(item)
        target.parent.mkdir(parents=True, exist_ok=True)
        put(source, target, wanted, found, restore=restore)


def load(folder: Path) -> Journal | None:
    """Read a journal, or None where a crash came before there was one (then nothing was changed)."""
    try:
        data: Mapping[str, Any] = json.loads((folder / "journal.json").read_bytes())
    except FileNotFoundError:
        return None
    items = tuple(Item(i["path"], State(**i["before"]), State(**i["after"])) for i in data["items"])
    return Journal(
        folder, Path(data["top"]), data["state"], items, data["base"], data["merged"], data["result"]
    )


def all_journals(home: Path) -> list[Journal]:
    """The journals of a session, oldest first."""
    folders = sorted((home / "applied").glob("[0-9]*"), key=lambda folder: int(folder.name))
    return [journal for folder in folders if (journal := load(folder)) is not None]


def recover(home: Path) -> list[str]:
    """After a crash: take back what was half applied, finish what was half undone. Gives lines for a person."""
    told: list[str] = []
    for journal in all_journals(home):
        if journal.state not in {"applying", "undoing"}:
            continue
        foreign = journal.roll_back()
        journal.close()
        told.append(
            f"an interrupted change of {counted(len(journal.items), 'file')} in {journal.top} was taken back."
        )
        told += [
            f"{shown(path)} was changed by someone else meanwhile, or cannot be written: it is left as it is."
            for path in foreign
        ]
    return told


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

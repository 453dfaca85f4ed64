"""What one subagent's isolated work came to: plain values that can be written down and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from .run import Git

Status = Literal["added", "modified", "deleted"]
_STATUS: Mapping[str, Status] = {"A": "added", "D": "deleted"}


@dataclass(frozen=True, slots=True)
class Change:
    """One file that differs.

    `path` is relative to the top of the repository; `sha256` is of the bytes on disk, None for a deleted file, a link
    or a submodule.
    """

    path: str
    status: Status
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """One subagent's finished work, safe under `ref` in the hub.

    `commit` descends from `base`; both are equal where nothing was done. `paths` are the patterns of files it was
    given to write, `depends_on` the agents whose work must be merged first, `where` says to a person where it lies,
    `notices` what else they should know.
    """

    agent_id: str
    base: str
    commit: str
    ref: str
    message: str
    changed: tuple[Change, ...]
    where: str
    notices: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to merge."""
        return self.commit == self.base

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the changed files."""
        return tuple(change.path for change in self.changed)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Work:
        """Back from plain data."""
        values: dict[str, Any] = {name: tuple(data[name]) for name in ("notices", "paths", "depends_on")}
        values["changed"] = tuple(Change(**change) for change in data["changed"])
        return cls(**{**data, **values})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a difference: a file's mode and object, `mode` `000000` where there is none."""

    mode: str
    oid: str

    @property
    def exists(self) -> bool:
        """Whether there is a file on this side."""
        return self.mode != "000000"


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees."""

    path: str
    before: Side
    after: Side
    letter: str


async def differences(git: Git, old: str, new: str) -> list[Difference]:
    """What differs between two trees, renames taken apart."""
    told = await git.names("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new)
    return [_difference(head, path) for head, path in zip(told[::2], told[1::2], strict=True)]


def _difference(head: str, path: str) -> Difference:
    before, after, old, new, letter = head.removeprefix(":").split(" ")
    return Difference(path, Side(before, old), Side(after, new), letter[0])


async def changes(git: Git, old: str, new: str, root: Path | None) -> tuple[Change, ...]:
    """The same as `Change`s; with the bytes' digests where the new tree lies in `root`."""
    found = await differences(git, old, new) if old != new else []
    return tuple(Change(d.path, _STATUS.get(d.letter, "modified"), _digest(root, d)) for d in found)


def _digest(root: Path | None, difference: Difference) -> str | None:
    if root is None or not difference.after.mode.startswith("100"):
        return None
    try:
        return sha256((root / difference.path).read_bytes()).hexdigest()
    except OSError:
        return None

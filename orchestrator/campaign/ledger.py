"""What became of each group of targets, on disk: one line a change, appended whole, synced, never rewritten.

The first line is the plan with its groups. A torn last line, from a crash, is left out; its group is where it was.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from decurion.hooks import ConfigError, DecurionError

from .plan import Plan, from_json

State = Literal["planned", "running", "checked", "done", "failed", "skipped"]
FINAL: tuple[State, ...] = ("done", "failed", "skipped")
VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One group and how it stands.

    `checked` means that the subagent is through and its check gave `reason` (empty: green), but the work is not yet
    committed. `usd` is None where a price is unknown; costs and seconds are of all attempts together.
    """

    id: str
    targets: tuple[str, ...]
    state: State = "planned"
    attempt: int = 0
    reason: str = ""
    usd: float | None = 0.0
    seconds: float = 0.0
    files: tuple[str, ...] = ()

    @property
    def final(self) -> bool:
        """Whether there is nothing more to do."""
        return self.state in FINAL

    @property
    def agent_id(self) -> str:
        """The id of the subagent of the current attempt."""
        return f"{self.id}-a{self.attempt}"


@dataclass(slots=True)
class Ledger:
    """The record of one campaign. `entries` is what the lines add up to."""

    path: Path
    plan: Plan
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])

    @classmethod
    def create(cls, path: Path, plan: Plan, groups: Iterable[tuple[str, ...]]) -> Ledger:
        """Begin a campaign's record."""
        entries = {f"t{number:04}": Entry(f"t{number:04}", group) for number, group in enumerate(groups, 1)}
        ledger = cls(path, plan, entries)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        head = {
            "v": VERSION,
            "plan": asdict(plan),
            "groups": {entry.id: entry.targets for entry in entries.values()},
        }
        scratch = path.with_name(f"{path.name}.tmp")
        scratch.write_text(json.dumps(head) + "\n", encoding="ascii")
        scratch.replace(path)
        return ledger

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Take up a record.

        Raises:
            ConfigError: it is not there, or its first line cannot be read.
        """
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise ConfigError("this session is no campaign", str(path)) from None
        try:
            head: Mapping[str, Any] = json.loads(lines[0])
            plan = from_json(head["plan"])
            entries = {name: Entry(name, tuple(targets)) for name, targets in head["groups"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"the ledger cannot be read: {error!r}", str(path), 1) from None
        ledger = cls(path, plan, entries)
        for line in lines[1:]:
            ledger._take(line)
        return ledger

    def _take(self, line: bytes) -> None:
        try:
            data: dict[str, Any] = json.loads(line)
            entry = self.entries[data.pop("id")]
            self.entries[entry.id] = replace(entry, **{**data, "files": tuple(data["files"])})
        except (ValueError, KeyError, TypeError):
            return  # torn by a crash: the state before it counts

    def mark(self, entry: Entry) -> Entry:
        """Write down how a group stands now; it counts from when this returns.

        Raises:
            DecurionError: it cannot be written; what the ledger held before still counts.
        """
        self.entries[entry.id] = entry
        data = {name: value for name, value in asdict(entry).items() if name != "targets"}
        # A line torn by a crash ends here; an empty one is no line.
        line = b"\n" + json.dumps(data).encode("ascii") + b"\n"
        try:
            self._append(line)
        except OSError as error:
            raise DecurionError(
                f"{self.path} cannot be written: {error.strerror}.\nFree some space and resume the campaign."
            ) from None
        return entry

    def _append(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            if os.write(handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(handle)
        finally:
            os.close(handle)

    def open_entries(self) -> list[Entry]:
        """The groups that are not through, in order; interrupted ones first, for their work lies there."""
        waiting = [entry for entry in self.entries.values() if not entry.final]
        return sorted(waiting, key=lambda entry: (entry.state == "planned", entry.id))

    def count(self, *states: State) -> int:
        """How many groups are in some states."""
        return sum(entry.state in states for entry in self.entries.values())

    @property
    def usd(self) -> float | None:
        """What all attempts have cost; None where a price is unknown."""
        costs = [entry.usd for entry in self.entries.values()]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

"""Naming what was done to a log from what stands around the first link that does not hold. Pure functions."""

from __future__ import annotations

import json

from ..frozen import frozen
from .reading import CutLine
from .record import is_object, unseal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOOK_AHEAD = 2


@frozen
class Entry:
    """One line: where it stands, and, where its hash is right, its record."""

    file: str
    line: int
    data: bytes
    record: Any = None
    last: bool = False
    """True for the last line of a log that has no newline."""

    @property
    def valid(self) -> bool:
        """True where the line is a record and its hash is that of its bytes."""
        return self.record is not None

    @property
    def seq(self) -> int:
        """The record's number, 0 where it is none."""
        return self.record["seq"] if self.record is not None else 0

    @property
    def prev(self) -> str:
        """The hash of the record before, as this one names it."""
        return self.record["prev"] if self.record is not None else ""

    @property
    def hash(self) -> str:
        """The record's own hash."""
        return self.record["hash"] if self.record is not None else ""


@frozen
class Good:
    """The last record before the trouble."""

    seq: int
    hash: str
    prev: str
    line: int
    file: str


@frozen
class Problem:
    """One thing that is wrong. `kind` is edited, removed, inserted, reordered, truncated, unpaired or signature."""

    kind: str
    message: str
    seq: int = 0
    line: int = 0
    file: str = ""


@frozen
class Finding:
    """A problem, how many of the lines looked at it covers, and whether the next record may follow anything."""

    problem: Problem
    skip: int
    adopt: bool


def read_entry(file: str, line: int, data: bytes) -> Entry:
    """Check and parse one line."""
    hashes = unseal(data)
    if hashes is None or hashes[0] != hashes[1]:
        return Entry(file, line, data)
    record: Any
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return Entry(file, line, data)
    whole = is_object(record) and isinstance(record.get("seq"), int) and isinstance(record.get("prev"), str)
    return Entry(file, line, data, record if whole else None)


def classify(good: Good, bad: Entry, ahead: list[Entry]) -> Finding:
    """Name the damage at `bad`, the first entry that does not follow from `good`."""
    next_one = ahead[0] if ahead else None
    if not bad.valid:
        return _unreadable(good, bad, next_one)
    if bad.seq == good.seq + 1:
        return _rewritten(good, bad, next_one)
    return _too_late(good, bad, ahead) if bad.seq > good.seq else _too_early(good, bad, next_one)


def _unreadable(good: Good, bad: Entry, next_one: Entry | None) -> Finding:
    seq = good.seq + 1
    if next_one is not None and next_one.valid and next_one.prev == good.hash:
        return Finding(
            _at(bad, "inserted", f"a line that is no record of this log{_trait(bad)}", seq), 1, adopt=False
        )
    if next_one is None and bad.last:
        return Finding(
            _at(bad, "truncated", f"the log ends in half a record{_trait(bad)}", seq), 1, adopt=True
        )
    return Finding(
        _at(bad, "edited", f"the bytes of this record are not those its hash was made of{_trait(bad)}", seq),
        1,
        adopt=True,
    )


def _rewritten(good: Good, bad: Entry, next_one: Entry | None) -> Finding:
    if good.seq and (next_one is None or next_one.prev == bad.hash):
        text = "this record was rewritten with a new hash, which the next record does not name"
        return Finding(Problem("edited", text, good.seq, good.line, good.file), 0, adopt=True)
    text = "this record was rewritten: it names another record before it than stands there"
    return Finding(_at(bad, "edited", text, bad.seq), 1, adopt=True)


def _too_late(good: Good, bad: Entry, ahead: list[Entry]) -> Finding:
    """The number jumps: records are missing here, or this one belongs further down."""
    expected = good.seq + 1
    next_one = ahead[0] if ahead else None
    belongs = f"record {bad.seq} stands where record {expected} belongs"
    if next_one is not None and next_one.valid and next_one.prev == good.hash:
        swapped = ahead[1].prev == bad.hash if len(ahead) > 1 else bad.prev == next_one.hash
        kind = "reordered" if swapped else "inserted"
        return Finding(_at(bad, kind, belongs, bad.seq), 1, adopt=swapped)
    if next_one is not None and next_one.valid and next_one.prev != bad.hash and next_one.seq < bad.seq:
        return Finding(_at(bad, "reordered", belongs, bad.seq), 1, adopt=True)
    text = f"{missing(expected, bad.seq - 1)} missing before this one"
    return Finding(_at(bad, "removed", text, expected), 0, adopt=True)


def _too_early(good: Good, bad: Entry, next_one: Entry | None) -> Finding:
    """The number falls back: an earlier record stands here once more, or the one before was slipped in."""
    if bad.seq == good.seq and bad.prev == good.prev and next_one is not None and next_one.prev == bad.hash:
        text = f"a record that claims to be number {good.seq}, as the one after it rightly does"
        return Finding(Problem("inserted", text, good.seq, good.line, good.file), 0, adopt=True)
    text = f"record {bad.seq} stands here once more or too late; record {good.seq + 1} belongs here"
    return Finding(_at(bad, "inserted", text, bad.seq), 1, adopt=False)


def missing(first: int, last: int) -> str:
    """Name the records from one number to another: `record 7 is`, `records 7 to 9 are`."""
    return f"record {first} is" if first == last else f"records {first} to {last} are"


def _at(entry: Entry, kind: str, message: str, seq: int) -> Problem:
    return Problem(kind, message, seq, entry.line, entry.file)


def _trait(entry: Entry) -> str:
    if isinstance(entry.data, CutLine):
        return " (an endless line)"
    if b"\0" in entry.data:
        return f" ({entry.data.count(0)} NUL bytes)"
    return " (an empty line)" if not entry.data.strip() else ""

"""Reading the end of a log that its head does not describe: after a crash, a full disk, or somebody's hand."""

from __future__ import annotations

import json
import os

from ..counts import counted
from ..frozen import frozen
from .record import RECORD_START, is_object, unseal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 64 * 1024
_FRAGMENT_CHARS = 2000
_FAR_ENOUGH = 64 * 1024 * 1024
"""A log without one whole record in its last 64 MiB is none."""


@frozen
class Tail:
    """The end of a log.

    `last` is the newest whole record; `unfinished` says that its newline is missing. `torn_from` is the offset where
    bytes start that are no record and run to the end of the file. `garbage` says that whole lines which are no
    records stand after `last`; they stay, as evidence. `foreign` says that this is no log at all.
    """

    last: dict[str, Any] | None = None
    unfinished: bool = False
    torn_from: int | None = None
    garbage: bool = False
    foreign: bool = False


def read_tail(fd: int, size: int) -> Tail:
    """Look backwards from the end for the newest whole record."""
    if not size:
        return Tail()
    data, start = _last_lines(fd, size, 1)
    cut = data.rfind(b"\n") + 1
    rest = data[cut:]
    if start and not cut:
        return Tail(foreign=True)
    whole = rest.rstrip(b"\0")
    unfinished = parse(whole)
    if unfinished is not None:
        nuls_from = start + cut + len(whole) if len(whole) < len(rest) else None
        return Tail(last=unfinished, unfinished=True, torn_from=nuls_from)
    if len(rest) == size:
        return Tail(torn_from=0, foreign=not RECORD_START.startswith(whole[: len(RECORD_START)]))
    return _search(fd, size - len(rest), start + cut if rest else None)


def _search(fd: int, size: int, torn_from: int | None) -> Tail:
    wanted, garbage = 2, False
    while True:
        data, start = _last_lines(fd, size, wanted)
        for line in reversed(data.split(b"\n")[1 if start else 0 :]):
            record = parse(line)
            if record is not None:
                return Tail(last=record, torn_from=torn_from, garbage=garbage)
            garbage = garbage or bool(line)
        if not start or len(data) >= _FAR_ENOUGH:
            return Tail(foreign=True)
        wanted *= 4


def parse(line: bytes) -> dict[str, Any] | None:
    """Read one line as a record; NUL bytes around it, which a crash may leave, do not hurt it."""
    line = line.strip(b"\0\r\n ")
    hashes = unseal(line)
    if hashes is None or hashes[0] != hashes[1]:
        return None
    record: Any
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if is_object(record) and isinstance(record.get("seq"), int) else None


def _last_lines(fd: int, size: int, count: int) -> tuple[bytes, int]:
    """Read backwards until the bytes hold `count` newlines; give them and the offset where they start."""
    data, start = b"", size
    while start and data.count(b"\n") < count and len(data) < _FAR_ENOUGH:
        step = min(max(_CHUNK, len(data)), start)
        start -= step
        data = os.pread(fd, step, start) + data
    return data, start


def cut_torn(fd: int, start: int, size: int) -> dict[str, Any]:
    """Take the half record from `start` to the end out of the file; give the fields of the record that says so."""
    import hashlib

    torn = os.pread(fd, size - start, start)
    os.ftruncate(fd, start)
    return {
        "reason": f"half a record at byte {start}, {counted(len(torn), 'byte')}, was taken out",
        "damage": "torn",
        "at_byte": start,
        "removed_bytes": len(torn),
        "removed_sha256": hashlib.sha256(torn).hexdigest(),
        "fragment": torn.decode("utf-8", "replace")[:_FRAGMENT_CHARS],
    }

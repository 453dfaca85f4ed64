"""The end of a log, and what is being written to it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from decurion.hooks.audit import rotated_parts

from .select import Filter, Record, parse_line, select

POLL_SECONDS = 0.1


def last_records(path: Path, wanted: Filter, count: int) -> list[Record]:
    """Give the last records that fit.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    return list(deque((record for _, record in select(path, wanted)), maxlen=max(0, count)))


def follow_log(path: Path, wanted: Filter, polls: int | None = None) -> Iterator[Record]:
    """Give each record that is written from now on; rotation is followed, half a line waits for its rest.

    Args:
        path: the newest part.
        wanted: which records.
        polls: stop after so many looks without anything new; None goes on until it is interrupted.
    """
    rest = b""
    for chunk in _chunks(path, polls):
        *lines, rest = (rest + chunk).split(b"\n")
        for record in map(parse_line, lines):
            if record is not None and wanted.fits(record):
                yield record


def _chunks(path: Path, polls: int | None) -> Iterator[bytes]:
    """Give what is appended, as it comes."""
    file, idle = path.open("rb"), 0
    try:
        file.seek(0, os.SEEK_END)
        while polls is None or idle < polls:
            # Looked for before reading: a part that has a successor grows no more, so nothing of its end is missed.
            following = _next_part(path, file.fileno())
            chunk = file.read()
            if following is not None:
                file.close()
                file = following
            if chunk:
                idle = 0
                yield chunk
            elif following is None:
                idle += 1
                time.sleep(POLL_SECONDS)
    finally:
        file.close()


def _next_part(path: Path, descriptor: int) -> BinaryIO | None:
    """Open the part that follows the one being read, where there is one by now."""
    parts = [*map(Path, rotated_parts(str(path))), path]
    inode = os.fstat(descriptor).st_ino
    inodes = [_inode(part) for part in parts]
    place = inodes.index(inode) if inode in inodes else len(parts) - 2
    following = place + 1
    if following == len(parts) or inodes[following] in {0, inode}:
        return None
    try:
        return parts[following].open("rb")
    except FileNotFoundError:  # rotated again meanwhile: the next look finds it
        return None


def _inode(part: Path) -> int:
    """Give 0 for what is not there: a writer that rotates is between taking one file away and making the next."""
    try:
        return part.stat().st_ino
    except FileNotFoundError:
        return 0

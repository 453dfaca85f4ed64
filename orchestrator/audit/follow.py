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
            following = next_part(path, file.fileno())
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


def next_part(path: Path, descriptor: int) -> BinaryIO | None:
    """Open the part that follows the one being read, where there is one by now."""
    inode = os.fstat(descriptor).st_ino
    try:
        newest = path.open("rb")
    except FileNotFoundError:  # a writer that rotates has taken one file away and not yet made the next
        return None
    if os.fstat(newest.fileno()).st_ino == inode:
        newest.close()
        return None
    # Listed after opening: what was the newest then is in the list if it was rotated meanwhile, so none is passed over.
    parts = [*map(Path, rotated_parts(str(path)))]
    inodes = [part.stat().st_ino for part in parts]
    later = parts[inodes.index(inode) + 1 :] if inode in inodes else []
    if not later:
        return newest
    newest.close()
    return later[0].open("rb")

"""Reading logs: the parts of a rotated log in order, and lines of any length in flat memory."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from itertools import chain, islice

from ..errors import AuditError
from ..frozen import frozen
from .record import VERSION, is_object
from .store import HEAD_BYTES, head_path, read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

CHUNK = 1024 * 1024

MAX_LINE = 32 * 1024 * 1024
"""No writer makes a longer line; the rest of one is skipped, so that a damaged log cannot fill the memory."""

_VERSION = re.compile(rb'\{"v":(\d+),')
_PART = re.compile(r"\.(\d{4,})$")


class CutLine(bytes):
    """The first bytes of a line that is too long to be a record."""


class Lines:
    """The lines of one file, without their newlines.

    After iteration `unfinished` says whether the last line had no newline.
    """

    def __init__(self, file: BinaryIO, limit: int | None = None) -> None:
        self.unfinished = False
        self._file, self._left = file, limit

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while chunk := self._read():
            if b"\n" not in chunk and len(rest) + len(chunk) > MAX_LINE:
                yield CutLine(rest[:CHUNK])
                rest, chunk = b"", self._skip()
            pieces = (rest + chunk).split(b"\n")
            rest = pieces.pop()
            yield from pieces
        if rest:
            self.unfinished = True
            yield rest

    def _read(self) -> bytes:
        if self._left is None:
            return self._file.read(CHUNK)
        chunk = self._file.read(min(CHUNK, self._left))
        self._left -= len(chunk)
        return chunk

    def _skip(self) -> bytes:
        """Read on to the end of an endless line; give what follows it in the chunk where it ends."""
        while chunk := self._read():
            end = chunk.find(b"\n")
            if end >= 0:
                return chunk[end + 1 :]
        self.unfinished = True
        return b""


@frozen
class Snapshot:
    """A log as it stood at one moment, while others may be writing: its files, the newest open and its size known."""

    path: str
    parts: tuple[str, ...]
    """Rotated parts, oldest first, without the newest."""
    newest: BinaryIO | None
    size: int
    head: Any
    """What the head file said (`seq`, `hash`, `size`, `part`), None where there is none."""

    def files(self) -> Iterator[tuple[str, Lines]]:
        """Give the name and the lines of each part, oldest first."""
        for part in self.parts:
            with _open(part) as file:
                yield part, Lines(file)
        if self.newest is not None:
            yield self.path, Lines(self.newest, self.size)

    def close(self) -> None:
        """Close the newest part."""
        if self.newest is not None:
            self.newest.close()


def snapshot(path: str) -> Snapshot:
    """Look at a log and its head under the lock of its writers.

    Raises:
        AuditError: there is no log there.
    """
    path = os.path.abspath(path)
    try:
        fd = os.open(head_path(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _look(path, None)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH)
        return _look(path, read_head(os.pread(fd, HEAD_BYTES, 0)))
    finally:
        os.close(fd)


def _look(path: str, head: Any) -> Snapshot:
    parts = tuple(rotated_parts(path))
    if not os.path.lexists(path):
        if head is None and not parts:
            raise AuditError(f"there is no audit log at {path}")
        return Snapshot(path, parts, None, 0, head)
    newest = _open(path)
    return Snapshot(path, parts, newest, os.fstat(newest.fileno()).st_size, head)


def _open(path: str) -> BinaryIO:
    """Open one part; closed with the snapshot.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        return open(path, "rb")
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from error


def rotated_parts(path: str) -> list[str]:
    """Give the rotated parts of a log, oldest first."""
    folder, name = os.path.split(os.path.abspath(path))
    stem, suffix = os.path.splitext(name)
    found: list[tuple[int, str]] = []
    for other in os.listdir(folder) if os.path.isdir(folder) else ():
        if not other.endswith(suffix) or not other.startswith(stem + "."):
            continue
        match = _PART.search(other.removesuffix(suffix))
        if match and other.removesuffix(suffix) == f"{stem}{match[0]}":
            found.append((int(match[1]), os.path.join(folder, other)))
    return [part for _, part in sorted(found)]


def raw_lines(path: str) -> Iterator[bytes]:
    """Give the lines of a log, rotated parts included, as they stand.

    Raises:
        AuditError: there is no log, it was written by another version, or it is something else.
    """
    shot = snapshot(path)
    try:
        lines = chain.from_iterable(lines for _, lines in shot.files())
        first = list(islice(lines, 2))
        check_kind(first, path)
        yield from first
        yield from lines
    finally:
        shot.close()


def records(path: str) -> Iterator[dict[str, Any]]:
    """Give the records of a log; lines that are none are passed over (`verify` names them).

    Raises:
        AuditError: as `raw_lines`.
    """
    for line in raw_lines(path):
        record = parse(line)
        if record is not None:
            yield record


def parse(line: bytes) -> dict[str, Any] | None:
    """Parse one line without checking its hash; None where it is no JSON object."""
    record: Any
    try:
        record = json.loads(line.strip(b"\0\r ").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if is_object(record) else None


def check_kind(first: list[bytes], path: str) -> None:
    """Look at the first two lines of a file: where the second is a record, somebody has damaged the first.

    Raises:
        AuditError: another version's log, or no log at all.
    """
    if not first or any(map(_begins_as_ours, first)):
        return
    line = first[0]
    version = _VERSION.match(line)
    if version and int(version[1]) > VERSION:
        raise AuditError(
            f"{path} was written by a newer decurion (records of version {int(version[1])}, this one reads {VERSION}); "
            "update decurion to read it"
        )
    if not version and (isinstance(line, CutLine) or not _may_be_damaged(line)):
        raise AuditError(f"{path} is not an audit log")


def _begins_as_ours(line: bytes) -> bool:
    version = _VERSION.match(line)
    return version is not None and int(version[1]) == VERSION and b',"seq":' in line[:40]


def _may_be_damaged(line: bytes) -> bool:
    """Say whether a first line without a record's beginning still has a record's traits."""
    return sum(trait in line for trait in (b'"seq":', b'"prev":"', b'"hash":"', b'"event":"')) >= 2

"""Reading and replacing whole files, bytes exact: mode, owner, links and the old content in case of failure."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

from .containment import Place

BOM = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""How UTF-16 and UTF-32 files with a byte order mark begin."""
TEMPORARY = ".decurion-"

changing = threading.Lock()
"""Held while a file is read, changed and written back, so that two agents cannot lose each other's edit."""


def read_bytes(place: Place, limit: int) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes.

    Raises:
        ToolError: when it is missing, a folder, no regular file, too large, or may not be read.
    """
    with _opened(place) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ToolError(
                f"{place.shown} has {counted(size, 'byte')}, more than the {limit:,} that are read at once; use grep to "
                "find the place, or bash with head, tail or sed -n for a part"
            )
        return file.read()


def read_head(place: Place) -> bytes | None:
    """Return the first bytes of a regular file, where a byte order mark would stand; None if there is no file.

    Raises:
        ToolError: when it is no regular file or may not be read.
    """
    if not os.path.lexists(place.path):
        return None
    with _opened(place) as file:
        return file.read(4)


@contextmanager
def _opened(place: Place) -> Generator[BinaryIO]:
    """Open a regular file for reading; what goes wrong becomes a `ToolError`."""
    try:
        # Without O_NONBLOCK, opening a named pipe waits for somebody to write to it.
        descriptor = os.open(place.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            _refuse_irregular(os.fstat(descriptor), place)
            yield file
    except OSError as error:
        raise _explained(error, place) from error


def change(place: Place, limit: int, make: Callable[[bytes], bytes]) -> None:
    """Replace a file's bytes by what `make` gives for them.

    Raises:
        ToolError: as `read_bytes` and `write_bytes`; whatever `make` raises leaves the file untouched.
    """
    with changing:
        write_bytes(place, make(read_bytes(place, limit)))


def write_bytes(place: Place, data: bytes) -> None:
    """Put bytes in the place of a file's content, or make the file; the old bytes stay if that fails.

    A new file gets the mode of the umask. An old one keeps mode, owner and extended attributes, and stays joined to
    its other names: a file with hard links is written in place, any other is replaced in one step.

    Raises:
        ToolError: when the file is read-only or no regular file, or the disk refuses.
    """
    try:
        status = os.lstat(place.path)
    except FileNotFoundError:
        status = None
    except OSError as error:
        raise _explained(error, place) from error
    try:
        if status is None:
            place.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(place.path, data, like=None)
            return
        _refuse_irregular(status, place)
        if not status.st_mode & 0o222 or not os.access(place.path, os.W_OK):
            raise ToolError(
                f"{place.shown} is read-only and was left as it is; chmod u+w first if it may change"
            )
        if status.st_nlink > 1 or not _can_replace(place.path, status):
            _overwrite(place.path, data)
        else:
            _replace(place.path, data, like=status)
    except OSError as error:
        raise _explained(error, place) from error


def _can_replace(path: Path, status: os.stat_result) -> bool:
    """Tell whether a new file could take the old one's place unnoticed: same owner, and room for it in the folder."""
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return False
    own = status.st_uid == os.geteuid() and status.st_gid in {os.getegid(), *os.getgroups()}
    return own or os.geteuid() == 0


def _replace(path: Path, data: bytes, like: os.stat_result | None) -> None:
    temporary = path.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
    mode = 0o666 if like is None else 0o600
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if like is not None:
            if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(temporary, like.st_uid, like.st_gid)
            shutil.copystat(path, temporary)
            os.utime(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _overwrite(path: Path, data: bytes) -> None:
    """Write in place, and put the old bytes back if that fails half way."""
    with path.open("r+b", buffering=0) as file:
        old = file.read()
        try:
            _put(file.fileno(), data)
        except BaseException:
            _put(file.fileno(), old)
            raise


def _put(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    done = 0
    while done < len(view):
        done += os.pwrite(descriptor, view[done:], done)
    os.ftruncate(descriptor, len(view))
    os.fsync(descriptor)


def _refuse_irregular(status: os.stat_result, place: Place) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{place.shown} is no regular file (a pipe, socket or device) and is left alone")


def _explained(error: OSError, place: Place) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"{place.shown} does not exist; use glob to find the right name")
    if isinstance(error, IsADirectoryError):
        return ToolError(f"{place.shown} is a folder, not a file; use glob with {place.shown}/* to list it")
    if isinstance(error, NotADirectoryError):
        return ToolError(f"{place.shown}: a part of the path is a file, not a folder")
    return ToolError(f"{place.shown}: {error.strerror or error}")

"""The file below the log: whole lines under an advisory lock, a chain carried over rotation and crashes.

Beside `audit.jsonl` stands `audit.head`: the number and hash of the newest record and the size of the file. It is
what all writers lock, it saves them reading the tail, and it shows when the end of the log was cut off.
Rotated parts are `audit.0001.jsonl`, `audit.0002.jsonl`, …; the part being written is always `audit.jsonl`.
"""

from __future__ import annotations

import _thread
import contextlib
import fcntl
import json
import os
import time

from ..digests import makers
from ..errors import AuditError
from ..folders import make_private
from .record import GENESIS, VERSION, is_object, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Body = str | Callable[[int, str], str]
    """A record's members between `ts` and `prev`, or what makes them of `seq` and `prev`."""

HEAD_BYTES = 192
"""The head is padded to this, so that it is overwritten in place and needs no new block on a full disk."""

LOCK_SECONDS = 15.0
"""How long to wait for another writer. Appending takes microseconds; who holds the lock longer is stopped or hangs."""

_LOOK_SECONDS = 0.05
"""How often a writer looks whether somebody moved its log away."""

_LOCK = fcntl.LOCK_EX | fcntl.LOCK_NB
_LOG_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_HEAD_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


def head_path(path: str) -> str:
    """Give the head file of a log: `audit.jsonl` -> `audit.head`."""
    return os.path.splitext(path)[0] + ".head"


def part_path(path: str, number: int) -> str:
    """Give the name of a rotated part: `audit.jsonl`, 7 -> `audit.0007.jsonl`."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}.{number:04d}{suffix}"


def read_head(data: bytes) -> dict[str, Any] | None:
    """Parse the bytes of a head file; None where they are not one."""
    head: Any
    try:
        head = json.loads(data)
    except ValueError:
        return None
    wanted = {"seq": int, "hash": str, "size": int, "part": int}
    if not is_object(head) or not all(isinstance(head.get(k), kind) for k, kind in wanted.items()):
        return None
    return head


class Store:
    """One log, appended to by any number of threads and processes.

    Raises:
        AuditError: anywhere, when the log cannot be opened, locked, read or written.
    """

    def __init__(
        self, path: str, own: Callable[..., str], max_bytes: int, watch: Callable[[bytes], None] | None = None
    ) -> None:
        self.path = os.path.abspath(path)
        self.seq, self.hash, self.size, self.part = 0, GENESIS, 0, 0
        self._own, self._max_bytes, self._watch = own, max_bytes, watch
        self._clock, self._sha256 = Clock(), makers()[0]
        self._mutex = _thread.allocate_lock()
        self._log_fd, self._head_fd = -1, -1
        self._inode, self._seen = 0, 0.0
        self._head = b"unknown"
        try:
            make_private(os.path.dirname(self.path))
            self._head_fd = os.open(head_path(self.path), _HEAD_FLAGS, 0o600)
            self._open_log()
        except OSError as error:
            self.close()
            from .remedies import cannot

            raise cannot("open", self.path, error) from error
        self._locked(())

    def append(self, *bodies: Body) -> None:
        """Number, seal and write records, one after the other with nothing between; return when they are written."""
        self._locked(bodies)

    def sync(self) -> None:
        """Ask the kernel to put everything on the disk itself; what a file system cannot do is not an error."""
        with contextlib.suppress(OSError):
            os.fsync(self._log_fd)

    def close(self) -> None:
        """Let go of the files. Appending afterwards raises."""
        for fd in (self._log_fd, self._head_fd):
            if fd >= 0:
                os.close(fd)
        self._log_fd = self._head_fd = -1

    # ---- the lock ----

    def _locked(self, bodies: tuple[Body, ...]) -> None:
        if not self._mutex.acquire(blocking=False) and not self._mutex.acquire(timeout=LOCK_SECONDS):
            raise AuditError(f"{self.path}: another thread holds the log")
        try:
            if self._head_fd < 0:
                raise AuditError(f"{self.path}: the log is closed")
            try:
                fcntl.flock(self._head_fd, _LOCK)
            except BlockingIOError:
                self._wait()
            try:
                head = os.pread(self._head_fd, HEAD_BYTES, 0)
                unchanged = head == self._head and os.lseek(self._log_fd, 0, os.SEEK_END) == self.size
                if not unchanged or not self._is_there():
                    self._refresh(head)
                for body in bodies:
                    self._write(body)
            finally:
                fcntl.flock(self._head_fd, fcntl.LOCK_UN)
        except OSError as error:
            from .remedies import cannot

            raise cannot("write", self.path, error) from error
        finally:
            self._mutex.release()

    def _wait(self) -> None:
        deadline = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.0005)
            with contextlib.suppress(BlockingIOError):
                return fcntl.flock(self._head_fd, _LOCK)
        raise AuditError(
            f"{self.path}: another process has held the log for {LOCK_SECONDS:.0f} s; end it first"
        )

    # ---- what others did since ----

    def _refresh(self, head: bytes) -> None:
        try:
            inode = os.stat(self.path, follow_symlinks=False).st_ino
        except FileNotFoundError:
            inode = 0
        if inode != self._inode:
            self._open_log()
        self._catch_up(head)

    def _is_there(self) -> bool:
        """Say whether the log still stands under its name; looked up now and then, for it takes its time."""
        now = time.monotonic()
        if now - self._seen < _LOOK_SECONDS:
            return True
        try:
            there = os.stat(self.path, follow_symlinks=False).st_ino == self._inode
        except FileNotFoundError:
            there = False
        self._seen = now if there else 0.0
        return there

    def _open_log(self) -> None:
        if self._log_fd >= 0:
            os.close(self._log_fd)
        self._log_fd = os.open(self.path, _LOG_FLAGS, 0o600)
        self._inode = os.fstat(self._log_fd).st_ino

    def _catch_up(self, data: bytes) -> None:
        """Learn the newest record, from the head where it fits the file, else from the tail; report what was mended."""
        self.size = os.fstat(self._log_fd).st_size
        head = read_head(data)
        if head:
            self.seq, self.hash, self.part = head["seq"], head["hash"], head["part"]
            if head["size"] == self.size:
                self._head = data
                return
        findings = self._mend_tail(head)
        self._write_head()
        for finding in findings:
            self._write(self._own("repair", **finding))

    def _mend_tail(self, head: dict[str, Any] | None) -> list[dict[str, Any]]:
        from .tail import cut_torn, read_tail

        tail = read_tail(self._log_fd, self.size)
        findings: list[dict[str, Any]] = []
        if tail.foreign:
            raise AuditError(f"{self.path} is not an audit log; move it away or name another place")
        if tail.torn_from is not None:
            findings.append(cut_torn(self._log_fd, tail.torn_from, self.size))
            self.size = tail.torn_from
        if tail.unfinished:
            self.size += os.write(self._log_fd, b"\n")
        if tail.garbage:
            findings.append(
                {"reason": f"unreadable bytes stand before byte {self.size}", "damage": "garbage"}
            )
        known = head["seq"] if head else 0
        found = tail.last["seq"] if tail.last else 0
        if known > found:
            why = f"the log ended at record {found}, its head names record {known}: the records between are missing"
            findings.append(
                {"reason": why, "damage": "missing", "missing_from": found + 1, "missing_to": known}
            )
        elif tail.last:
            self.seq, self.hash = found, tail.last["hash"]
        return findings

    # ---- writing ----

    def _write(self, body: Body) -> None:
        line, digest = self._seal(body)
        if self.size + len(line) > self._max_bytes and self.size:
            self._rotate()
            line, digest = self._seal(body)
        self._put(line, digest)

    def _seal(self, body: Body) -> tuple[bytes, str]:
        seq = self.seq + 1
        text = body if isinstance(body, str) else body(seq, self.hash)
        text = f'{{"v":{VERSION},"seq":{seq},"ts":"{self._clock.now()}",{text},"prev":"{self.hash}"'
        return seal(text, self._sha256)

    def _put(self, line: bytes, digest: str) -> None:
        written = os.write(self._log_fd, line)
        if written != len(line):
            self._put_rest(line[written:])
        self.seq, self.hash, self.size = self.seq + 1, digest, self.size + len(line)
        self._write_head()
        if self._watch is not None:
            self._watch(line)

    def _put_rest(self, rest: bytes) -> None:
        """After a short write, usually on a full disk: write the rest or leave nothing half-written."""
        try:
            while rest:
                rest = rest[os.write(self._log_fd, rest) :]
        except OSError:
            os.ftruncate(self._log_fd, self.size)
            raise

    def _write_head(self) -> None:
        text = f'{{"v":1,"seq":{self.seq},"hash":"{self.hash}","size":{self.size},"part":{self.part}}}'
        self._head = head = (text.ljust(HEAD_BYTES - 1) + "\n").encode()
        os.pwrite(self._head_fd, head, 0)

    def _rotate(self) -> None:
        """Move the full part aside and begin the next one with a record that names it."""
        number = self.part + 1
        while os.path.lexists(part_path(self.path, number)):
            number += 1
        moved = part_path(self.path, number)
        os.rename(self.path, moved)
        self.part, self.size = number, 0
        self._open_log()
        self._write_head()
        name = os.path.basename(moved)
        own = self._own("rotate", reason=f"continues {name}", previous_file=name, previous_hash=self.hash)
        self._put(*self._seal(own))


class Clock:
    """UTC in microseconds as text, never going back within one writer."""

    def __init__(self) -> None:
        self._second, self._prefix, self._last = 0, "", 0

    def now(self) -> str:
        """Give the time as `2026-11-30T17:48:37.521383Z`."""
        micros = time.time_ns() // 1000
        micros = max(micros, self._last)
        self._last = micros
        rest = micros - self._second
        if rest >= 1_000_000:
            rest = self._begin_second(micros)
        return "%s%06dZ" % (self._prefix, rest)  # noqa: UP031 - half the time of an f-string, once a record

    def _begin_second(self, micros: int) -> int:
        second, rest = divmod(micros, 1_000_000)
        self._second = second * 1_000_000
        self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        return rest

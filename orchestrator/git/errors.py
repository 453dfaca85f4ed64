"""What can go wrong between us and git.

DecurionError
├── GitError          git said no, could not start, or was silent too long; names the command and git's words
│   └── StorageError  a file of ours could not be written or read
│       └── NotWritten  a file of the user's could not be written; what was written before it was taken back
└── UsageError
    ├── NotIsolatable  this place cannot be isolated as it is; one line, with the remedy; nothing was changed
    └── Overlap        a person's later edit and the result touch the same files; nothing was written
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from decurion.hooks import DecurionError, UsageError

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LOCKED = re.compile(r"\.lock': File exists|could not lock|cannot lock ref|Unable to create '.*\.lock'")
_VANISHED = re.compile(
    r"unable to (?:stat|index file|open)|adding files failed|failed to insert into database|No such file or directory"
)
_REMEDIES = (
    (
        re.compile("No space left on device|Disk quota exceeded|Out of diskspace|File too large"),
        "The disk is full: free some space and resume.",
    ),
    (re.compile("Read-only file system|Permission denied"), "The place is not writable for you."),
    (
        re.compile("dubious ownership"),
        "The repository belongs to another user: see `git help config`, safe.directory.",
    ),
    (_LOCKED, "Another git process holds a lock; if none is running, remove that .lock file."),
)


class GitError(DecurionError):
    """Raised when a git command fails. `command` is what ran, `code` its exit status, `stderr` git's own words."""

    def __init__(self, command: str, code: int, stderr: str) -> None:
        super().__init__(command, code, stderr)
        self.command, self.code, self.stderr = command, code, stderr

    def __str__(self) -> str:
        words = [
            line for line in self.stderr.strip().splitlines() if not line.startswith(("hint:", "warning:"))
        ]
        if self.command.startswith("git "):  # what stands around these is advice
            words = [line for line in words if line.startswith(("fatal:", "error:"))] or words
        ended = f"ended by signal {-self.code}" if self.code < 0 else f"exit status {self.code}"
        said = " ".join(words[-3:]) or ended
        return f"`{self.command}` failed: {said}" + (f"\n{self.remedy}" if self.remedy else "")

    @property
    def remedy(self) -> str:
        """What a person can do about it, or `""`."""
        return next((text for pattern, text in _REMEDIES if pattern.search(self.stderr)), "")

    @property
    def locked(self) -> bool:
        """Whether another process held one of git's lock files, so that waiting may help."""
        return _LOCKED.search(self.stderr) is not None

    @property
    def vanished(self) -> bool:
        """Whether a file went away while git was reading the working tree, so that looking again may help."""
        return _VANISHED.search(self.stderr) is not None


class StorageError(GitError):
    """Raised when a file beside git's own, a record or an index, cannot be written or read."""

    def __init__(self, error: OSError) -> None:
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        super().__init__("", error.errno or 1, f"{where}{error.strerror or error}")

    def __str__(self) -> str:
        return f"{self.stderr}." + (f"\n{self.remedy}" if self.remedy else "")


class NotWritten(StorageError):
    """Raised when a result cannot be written into the checkout; `left` are files that did not come back either."""

    def __init__(self, error: OSError, left: tuple[str, ...]) -> None:
        super().__init__(error)
        self.left = left

    def __str__(self) -> str:
        if not self.left:
            return f"{self.stderr}; all was taken back." + (f"\n{self.remedy}" if self.remedy else "")
        names = ", ".join(self.left[:5])
        return f"{self.stderr}, and so not all came back yet: {names}.\nMake room and run `decurion apply`: it brings them back first."


def told(work: Callable[_P, Coroutine[Any, Any, _R]]) -> Callable[_P, Coroutine[Any, Any, _R]]:
    """Let what the system refuses a coroutine function be told like what git refuses: a `StorageError`."""

    @wraps(work)
    async def telling(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return await work(*args, **kwargs)
        except OSError as error:
            raise StorageError(error) from error

    return telling


class NotIsolatable(UsageError):
    """Raised when subtasks cannot get their own checkouts here. The text says why and what to do."""


class Overlap(UsageError):
    """Raised before anything is written when `files` were changed by a person as well."""

    def __init__(self, message: str, files: tuple[str, ...] = ()) -> None:
        super().__init__(message, files)
        self.message, self.files = message, files

    def __str__(self) -> str:
        shown = "".join(f"\n  {name}" for name in self.files[:20])
        more = f"\n  … and {len(self.files) - 20} more" if len(self.files) > 20 else ""
        return f"{self.message}{shown}{more}"

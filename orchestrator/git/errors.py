"""What can go wrong between us and git.

DecurionError
├── GitError          git said no, could not start, or was silent too long; names the command and git's words
└── UsageError
    ├── NotIsolatable  this place cannot be isolated as it is; one line, with the remedy; nothing was changed
    └── Overlap        a person's later edit and the result touch the same files; nothing was written
"""

from __future__ import annotations

import re

from decurion.hooks import DecurionError, UsageError

_LOCKED = re.compile(r"\.lock': File exists|could not lock|cannot lock ref|Unable to create '.*\.lock'")
_VANISHED = re.compile(
    r"unable to (?:stat|index file|open)|adding files failed|failed to insert into database|No such file or directory"
)
_REMEDIES = (
    (
        re.compile("No space left on device|Disk quota exceeded"),
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
        said = " ".join(words[-3:]) or f"exit status {self.code}"
        remedy = next((text for pattern, text in _REMEDIES if pattern.search(self.stderr)), "")
        return f"`{self.command}` failed: {said}" + (f"\n{remedy}" if remedy else "")

    @property
    def locked(self) -> bool:
        """Whether another process held one of git's lock files, so that waiting may help."""
        return _LOCKED.search(self.stderr) is not None

    @property
    def vanished(self) -> bool:
        """Whether a file went away while git was reading the working tree, so that looking again may help."""
        return _VANISHED.search(self.stderr) is not None


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

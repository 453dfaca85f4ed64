"""Checkpoints of the hub without a process for each part: commits and refs, once per turn of each subagent.

Both are written as git itself writes them (gitrepository-layout): a commit as a loose object, whole under a name of its
own and then renamed; a ref as a file that was its own lock before.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from .errors import told
from .run import Git

_DATED = re.compile(r"(?P<who>.*) (?P<when>\d+ [+-]\d{4})", re.DOTALL)


@dataclass(slots=True)
class Signer:
    """Who commits are by, as git says it: asked once, the time put in for each."""

    _who: dict[str, str] = field(default_factory=dict[str, str])

    async def line(self, git: Git, role: str) -> bytes:
        """The `author` or `committer` line of a commit made now; a date that the surroundings set stays."""
        if role not in self._who:
            self._who[role] = await git.line("var", f"GIT_{role.upper()}_IDENT")
        dated = _DATED.fullmatch(self._who[role])
        if dated is None or f"GIT_{role.upper()}_DATE" in git.env:
            return os.fsencode(f"{role} {self._who[role]}\n")
        return os.fsencode(f"{role} {dated['who']} {int(time.time())} {time.strftime('%z')}\n")


@told
async def write_commit(git: Git, signer: Signer, tree: str, parents: Sequence[str], message: str) -> str:
    """Write a commit into the bare repository of `git`, and give its id. Nothing points at it yet.

    Raises:
        GitError: git does not say who commits, or the repository cannot be written.
    """
    lines = [f"tree {tree}\n".encode(), *(f"parent {parent}\n".encode() for parent in parents)]
    lines += [await signer.line(git, "author"), await signer.line(git, "committer")]
    text = message.replace("\0", "").encode("utf-8", "backslashreplace")
    content = b"".join([*lines, b"\n", text if text.endswith(b"\n") else text + b"\n"])
    whole = b"commit %d\0%b" % (len(content), content)
    # The id of the tree tells which of git's two digests this repository goes by.
    name = hashlib.new("sha1" if len(tree) == 40 else "sha256", whole, usedforsecurity=False).hexdigest()
    _write_loose(git.cwd / "objects", name, zlib.compress(whole, 1))
    return name


def _write_loose(objects: Path, name: str, packed: bytes) -> None:
    file = objects / name[:2] / name[2:]
    if file.exists():
        return
    file.parent.mkdir(exist_ok=True)
    scratch = file.with_name(f"tmp_obj_{uuid4().hex}")  # git's own name for what is not complete
    try:
        scratch.write_bytes(packed)
        scratch.chmod(0o444)
        scratch.replace(file)
    except OSError:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


def write_ref(repository: Path, name: str, commit: str) -> bool:
    """Point a ref of a bare repository at a commit, behind the lock that git takes for it; whether that could be done.

    Where it could not, because the lock is held or the folder vanished under it (`git pack-refs`), git has to be asked.
    """
    file = repository / name
    lock = file.with_name(f"{file.name}.lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "w") as opened:
            opened.write(f"{commit}\n")
        lock.replace(file)
    except OSError:
        with suppress(OSError):
            lock.unlink()
        return False
    return True

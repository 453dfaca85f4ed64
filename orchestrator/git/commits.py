"""Commits and refs of the hub, without a process for each: they are made once per turn of each subagent.

A commit is written as git itself writes a loose object (gitrepository-layout, gitformat-commit): whole under a name of
its own, then renamed. Refs are git's to write; those that are asked for while it writes others go together.
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

import anyio

from .errors import GitError, told
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
        told = _DATED.fullmatch(self._who[role])
        if told is None or f"GIT_{role.upper()}_DATE" in git.env:
            return os.fsencode(f"{role} {self._who[role]}\n")
        return os.fsencode(f"{role} {told['who']} {int(time.time())} {time.strftime('%z')}\n")


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


@dataclass(eq=False, slots=True)
class _Wanted:
    """One change of a ref, as `git update-ref --stdin` takes it. `alone` is one that failed in company."""

    line: str
    alone: bool = False
    done: bool = False


@dataclass(slots=True)
class RefWriter:
    """Writes refs, each of them for good when `write` returns."""

    _open: list[_Wanted] = field(default_factory=list[_Wanted])
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def write(self, git: Git, line: str) -> None:
        """Carry out one instruction of `git update-ref --stdin`, together with those that wait by then.

        Raises:
            GitError: git refused this one.
        """
        mine = _Wanted(line)
        self._open.append(mine)
        try:
            async with self._turn:
                if not mine.done:
                    await self._together(git, mine)
        finally:
            self._open.remove(mine)

    async def _together(self, git: Git, mine: _Wanted) -> None:
        batch = [mine] if mine.alone else [one for one in self._open if not (one.done or one.alone)]
        try:
            await self._run(git, batch)
        except GitError:
            if len(batch) == 1:
                raise
            for one in batch:  # one of them is to blame, and git has written none
                one.alone = True
            await self._run(git, [mine])

    async def _run(self, git: Git, batch: Sequence[_Wanted]) -> None:
        lines = "".join(f"{one.line}\n" for one in batch)
        await git.run("update-ref", "--create-reflog", "--stdin", stdin=lines.encode())
        for one in batch:
            one.done = True

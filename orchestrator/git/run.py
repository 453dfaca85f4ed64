"""The one way to run git: no prompts, no hooks, no optional locks, no stray settings of the surroundings.

Names of files are bytes to git. They are held as `str` by `os.fsdecode` (lossless) and shown by `shown`.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import IO

import anyio
from anyio import to_thread

from decurion.agents.groups import task_group

from .errors import GitError

KEPT = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSL",
)
"""Of the surroundings' `GIT_*` only these say who and how, not where; the rest would redirect our commands."""

SETTINGS = (
    "core.hooksPath=/dev/null",  # a project's hooks are code that nobody asked us to run
    "core.fsmonitor=false",  # may start a daemon, or run a program
    "core.untrackedCache=false",
    "core.splitIndex=false",  # would write a shared index beside the user's
    "core.safecrlf=false",  # a doubt about line ends must not stop a snapshot
    "core.quotePath=false",
    "gc.auto=0",  # objects without a ref are in use between two of our steps
    "maintenance.auto=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
)

_CHUNK = 65_536

LOCK_PATIENCE = 10.0
"""Seconds to wait for a lock file that another git process holds; git itself holds them for milliseconds."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a git command gave back."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def line(self) -> str:
        """The answer where it is one line."""
        return os.fsdecode(self.stdout.rstrip(b"\n"))

    @property
    def names(self) -> list[str]:
        """The answer of a `-z` command: its records, split at NUL."""
        return [os.fsdecode(part) for part in self.stdout.split(b"\0") if part]


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in one folder with one environment.

    Each command is started in a session of its own: it has no terminal to ask at, and an interrupt typed by a person
    reaches the program, not git in the middle of a step.
    """

    cwd: Path
    env: Mapping[str, str]
    settings: tuple[str, ...] = ()

    async def run(self, *args: str, stdin: bytes | None = None, ok: Container[int] = (0,)) -> Output:
        """Run one command; where a lock is held, wait for it up to `LOCK_PATIENCE` seconds.

        Raises:
            GitError: the exit status is not among `ok`, or git cannot be started.
        """
        deadline = anyio.current_time() + LOCK_PATIENCE
        pause = 0.02
        while True:
            try:
                return await self._once(args, stdin, ok)
            except GitError as error:
                if not error.locked or anyio.current_time() > deadline:
                    raise
            await anyio.sleep(pause)
            pause = min(pause * 2, 0.5)

    async def _once(self, args: Sequence[str], stdin: bytes | None, ok: Container[int]) -> Output:
        command = [
            "git",
            *(part for setting in (*SETTINGS, *self.settings) for part in ("-c", setting)),
            *args,
        ]
        try:
            output = await _converse(command, stdin, self.cwd, self.env)
        except OSError as error:
            missing = (
                "git is not on PATH: install git 2.38 or newer." if _no_git(error, self.cwd) else str(error)
            )
            raise GitError(_told(args), 127, missing) from error
        if output.code not in ok:
            raise GitError(_told(args), output.code, output.stderr)
        return output

    async def line(self, *args: str) -> str:
        """Run a command whose answer is one line."""
        return (await self.run(*args)).line

    async def names(self, *args: str) -> list[str]:
        """Run a `-z` command and split its answer."""
        return (await self.run(*args)).names

    async def succeeds(self, *args: str) -> bool:
        """Ask a yes-or-no question: exit status 0 or 1.

        Raises:
            GitError: any other status. A failure is never taken for an answer.
        """
        return (await self.run(*args, ok=(0, 1))).code == 0

    def with_env(self, **more: str) -> Git:
        """The same, with more variables."""
        return Git(self.cwd, {**self.env, **more}, self.settings)

    def at(self, cwd: Path) -> Git:
        """The same, in another folder."""
        return Git(cwd, self.env, self.settings)


async def _converse(command: Sequence[str], stdin: bytes | None, cwd: Path, env: Mapping[str, str]) -> Output:
    """Run one program to its end; killed if nobody waits for it any more.

    One that ends before it read all of `stdin` is judged by its exit status: it has said why. The pipes are watched
    here and not by a transport of the event loop, which costs three times as much; there are hundreds of these.
    """
    source = DEVNULL if stdin is None else PIPE
    out, err = bytearray(), bytearray()
    process = Popen(  # noqa: ASYNC220 - it blocks no longer than the loop's own way of starting one
        command, stdin=source, stdout=PIPE, stderr=PIPE, cwd=cwd, env=env, start_new_session=True, bufsize=0
    )
    try:
        async with task_group() as group:
            group.start_soon(_collect, process.stderr, err)
            if process.stdin is not None:
                group.start_soon(_feed, process.stdin, stdin or b"")
            await _collect(process.stdout, out)
        code = await _ended(process)
    finally:
        if process.poll() is None:
            process.kill()
            with anyio.CancelScope(shield=True):
                await _ended(process)
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()
    return Output(code, bytes(out), err.decode("utf-8", "backslashreplace"))


async def _collect(stream: IO[bytes] | None, kept: bytearray) -> None:
    assert stream is not None
    while True:
        await anyio.wait_readable(stream)
        chunk = os.read(stream.fileno(), _CHUNK)
        if not chunk:
            return
        kept += chunk


async def _feed(stream: IO[bytes], data: bytes) -> None:
    os.set_blocking(stream.fileno(), False)
    left = memoryview(data)
    with suppress(BrokenPipeError):
        while left:
            await anyio.wait_writable(stream)
            with suppress(BlockingIOError):
                left = left[os.write(stream.fileno(), left) :]
    stream.close()


async def _ended(process: Popen[bytes]) -> int:
    """Wait for the end of a program that is about to end: it has closed its outputs, or was killed."""
    code = process.poll()
    if code is not None:
        return code
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not on this system
        return await to_thread.run_sync(process.wait)
    try:
        await anyio.wait_readable(handle)
    finally:
        os.close(handle)
    return process.wait()


def git_in(cwd: Path, **more: str) -> Git:
    """Make a runner for a folder, with a cleaned environment and `more` variables."""
    return Git(cwd, {**clean_environment(), **more})


def clean_environment() -> dict[str, str]:
    """The surroundings without what would send git elsewhere, make it ask, or make it speak another language."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(KEPT)
    }
    quiet = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",  # a status of ours must not make the user's own `git add` fail
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "GIT_MERGE_AUTOEDIT": "no",
        "LC_ALL": "C",
    }
    return {**kept, **quiet}


def shown(name: str) -> str:
    """A file name as a person and a wire can take it: line breaks and bytes that are no text stand escaped."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def _told(args: Sequence[str]) -> str:
    return shown("git " + " ".join(args[:6]) + (" …" if len(args) > 6 else ""))


def _no_git(error: OSError, cwd: Path) -> bool:
    return isinstance(error, FileNotFoundError) and cwd.is_dir()

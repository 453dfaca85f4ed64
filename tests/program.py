"""Running `decurion` as a person does, without paying for its imports each time.

A process of its own, with its own folder, environment, standard streams and exit code; but a fork of this one, so the
SDK, which takes a second and a half to import, is there already. It is signalled and killed like any other. What a cold
start does, and what is missing on a machine, is tested with programs that are really started.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from types import TracebackType
from typing import IO, Any, Self

from decurion.__main__ import main

WARM = ("decurion.orchestrator.commands.run", "decurion.agents.claude.model", "decurion.agents.offline")
_TEXT = (("r", -1), ("w", -1), ("w", 1))
"""Mode and buffering of the standard streams."""


def decurion(
    folder: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str = "", seconds: float = 50
) -> CompletedProcess[str]:
    """Run `decurion ARGS` in a folder to its end; `env` is added to the environment.

    Raises:
        TimeoutExpired: it took longer than `seconds`, and was killed.
    """
    with Running(folder, lambda: main(list(args)), env=env, stdin=stdin, name=("decurion", *args)) as running:
        return running.ended(seconds)


def started(folder: Path, *args: str, env: Mapping[str, str] | None = None) -> Running:
    """Start `decurion ARGS` in a folder; use it as `with started(…) as running:`, which kills what still runs."""
    return Running(folder, lambda: main(list(args)), env=env, name=("decurion", *args))


class Running:
    """A forked process that calls a function and exits with what it returns."""

    def __init__(
        self,
        folder: Path,
        call: Callable[[], int],
        *,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        name: tuple[str, ...] = (),
    ) -> None:
        for module in WARM:
            import_module(module)
        self._name = name
        self._streams: tuple[IO[bytes], ...] = tuple(
            tempfile.TemporaryFile()  # noqa: SIM115 - closed in `__exit__`
            for _ in range(3)
        )
        self._streams[0].write(stdin.encode())
        self._streams[0].seek(0)
        self._code: int | None = None
        with warnings.catch_warnings():
            # of threads: the fork only goes on with its own
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _be_the_program(folder, call, dict(env or {}), self._streams)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._has_ended():
            self.send(signal.SIGKILL)
            self.ended(seconds=10)
        for stream in self._streams:
            stream.close()

    def send(self, signum: int) -> None:
        """Send it a signal."""
        if not self._has_ended():
            os.kill(self.pid, signum)

    def ended(self, seconds: float = 50) -> CompletedProcess[str]:
        """Wait for its end.

        Raises:
            TimeoutExpired: it took longer, and was killed.
        """
        deadline = time.monotonic() + seconds
        while not self._has_ended():
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise TimeoutExpired(self._name, seconds)
            time.sleep(0.01)
        assert self._code is not None
        return CompletedProcess(self._name, self._code, self._said(1), self.errors)

    @property
    def errors(self) -> str:
        """What it wrote to standard error so far."""
        return self._said(2)

    def _has_ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is not None

    def _said(self, number: int) -> str:
        # The position is shared with the process, which writes there: read without moving it.
        handle = self._streams[number].fileno()
        return os.pread(handle, os.fstat(handle).st_size, 0).decode("utf-8", "replace")


def _be_the_program(
    folder: Path, call: Callable[[], int], env: dict[str, str], streams: tuple[IO[Any], ...]
) -> None:
    """Never returns."""
    code = 1
    try:
        sys.settrace(None)  # measuring coverage here would only take time
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(n, mode, buffering, closefd=False) for n, (mode, buffering) in enumerate(_TEXT)
        )
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ.update(env)
        code = call()
    except BaseException:  # noqa: BLE001 - as an interpreter would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def running_with(word: str) -> list[str]:
    """Give the command lines of all processes that have a word in them."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text())
    return [line for line in found if word in line]

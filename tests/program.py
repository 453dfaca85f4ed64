"""Running `decurion` as a person does, without paying for its imports each time.

A process of its own, with its own folder, environment, standard streams and exit code; but a fork of this one, so the
SDK, which takes a second and a half to import, is there already. What a cold start does, what signals do, and what is
missing on a machine is tested with programs that are really started.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import BinaryIO

from decurion.__main__ import main

WARM = ("decurion.orchestrator.commands.run", "decurion.agents.claude.model", "decurion.agents.offline")


def decurion(
    folder: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str = "", seconds: float = 50
) -> CompletedProcess[str]:
    """Run `decurion ARGS` in a folder to its end; `env` is added to the environment.

    Raises:
        TimeoutExpired: it took longer than `seconds`, and was killed.
    """
    for name in WARM:
        import_module(name)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of threads: the fork only goes on with its own
            child = os.fork()
        if child == 0:
            _be_the_program(folder, args, {**(env or {})}, (given, out, err))
        code = _wait(child, seconds, args)
        return CompletedProcess(("decurion", *args), code, _text(out), _text(err))


def _be_the_program(
    folder: Path, args: tuple[str, ...], env: Mapping[str, str], streams: tuple[BinaryIO, ...]
) -> None:
    """Never returns."""
    code = 1
    try:
        sys.settrace(None)  # measuring coverage here would only take time
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(n, mode, closefd=False) for n, mode in enumerate("rww")
        )
        warnings.simplefilter("ignore")
        os.chdir(folder)
        os.environ.update(env)
        code = main(list(args))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, seconds: float, args: tuple[str, ...]) -> int:
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            raise TimeoutExpired(("decurion", *args), seconds)
        time.sleep(0.01)


def _text(stream: BinaryIO) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")

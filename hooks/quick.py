"""Start a small helper program without `subprocess`, whose imports cost a cold hook program 8 ms."""

from __future__ import annotations

import os

__all__ = ("run_quick",)

_KILL = 9


def run_quick(argv: list[str], stdin: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    """Run a program to its end; gives its exit status (negative: a signal), output and error output.

    `argv[0]` is a path. All three streams are files in memory, so that no side can block on a pipe.

    Raises:
        OSError: it cannot be started.
        TimeoutError: it took longer than `seconds`, and was killed.
    """
    if not hasattr(os, "memfd_create") or not hasattr(os, "pidfd_open"):
        return _run_with_subprocess(argv, stdin, seconds)
    streams = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    try:
        _write_all(streams[0], stdin)
        os.lseek(streams[0], 0, os.SEEK_SET)
        actions = [(os.POSIX_SPAWN_DUP2, stream, target) for target, stream in enumerate(streams)]
        pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
        status = _wait(pid, seconds)
        return status, _read_all(streams[1]), _read_all(streams[2])
    finally:
        for stream in streams:
            os.close(stream)


def _wait(pid: int, seconds: float) -> int:
    from select import POLLIN, poll

    ended = False
    watch = os.pidfd_open(pid)
    try:
        poller = poll()
        poller.register(watch, POLLIN)
        ended = bool(poller.poll(seconds * 1000))
    finally:
        os.close(watch)
        if not ended:
            os.kill(pid, _KILL)
        _pid, status = os.waitpid(pid, 0)
    if not ended:
        raise TimeoutError(f"longer than {seconds:g} s")
    return os.waitstatus_to_exitcode(status)


def _write_all(stream: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(stream, view) :]


def _read_all(stream: int) -> bytes:
    size = os.fstat(stream).st_size
    return os.pread(stream, size, 0) if size else b""


def _run_with_subprocess(argv: list[str], stdin: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    import subprocess

    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"longer than {seconds:g} s") from None
    return done.returncode, done.stdout, done.stderr

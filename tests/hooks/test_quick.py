"""Starting a helper without `subprocess`: whole streams, true status, bounded time."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

import pytest

from decurion.hooks.digests import sha256
from decurion.hooks.quick import run_quick

SH = shutil.which("sh") or "sh"


@pytest.fixture(params=["in memory", "with subprocess"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Try the way of Linux and the one for all other systems."""
    if request.param == "with subprocess":
        monkeypatch.delattr(os, "memfd_create", raising=False)


def test_streams_arrive_whole_whatever_their_size() -> None:
    data = os.urandom(3_000_000)
    assert run_quick([SH, "-c", "tee /dev/fd/2"], data, 10) == (0, data, data)


def test_a_program_that_reads_nothing_is_no_error() -> None:
    assert run_quick([SH, "-c", "echo hi; exit 3"], b"x" * 1_000_000, 10) == (3, b"hi\n", b"")


def test_a_signal_is_a_negative_status() -> None:
    assert run_quick([SH, "-c", "kill -TERM $$"], b"", 10)[0] == -15


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        run_quick(["/no/such/program"], b"", 10)


def test_too_long_is_ended() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        run_quick([SH, "-c", "exec sleep 30"], b"", 0.2)
    assert time.monotonic() - began < 25


def test_no_file_stays_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    run_quick([SH, "-c", "true"], b"", 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("data", [b"", b"abc", b"x" * 100_000])
def test_the_digest_is_the_same_as_hashlibs(data: bytes) -> None:
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()

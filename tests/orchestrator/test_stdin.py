"""What is piped in is the task, or goes along with it; a silent pipe holds nobody up."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from decurion.hooks import UsageError
from decurion.orchestrator import stdin
from decurion.orchestrator.stdin import task_text


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "FIRST_BYTE_SECONDS", 0.05)


@contextmanager
def piped(data: bytes, *, ends: bool = True) -> Generator[None]:
    """Put a pipe with this in it in the place of standard input."""
    reading, writing = os.pipe()
    os.write(writing, data)
    if ends:
        os.close(writing)
    kept = sys.stdin
    with os.fdopen(reading, encoding="utf-8") as stream:
        sys.stdin = stream
        try:
            yield
        finally:
            sys.stdin = kept
            if not ends:
                os.close(writing)


def test_what_is_piped_in_is_the_task_where_none_is_said() -> None:
    with piped("  mend the ünit tests\n".encode()):
        assert task_text("", print_mode=False) == "mend the ünit tests"


def test_in_print_mode_it_goes_along_with_the_task() -> None:
    with piped(b"diff --git a b\n"):
        assert task_text("Review this", print_mode=True) == "Review this\n\ndiff --git a b"


def test_a_file_goes_along_too(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("from a file")
    with (tmp_path / "f").open() as stream:
        kept, sys.stdin = sys.stdin, stream
        try:
            assert task_text("Review this", print_mode=True) == "Review this\n\nfrom a file"
        finally:
            sys.stdin = kept


def test_without_print_mode_a_task_leaves_standard_input_to_whoever_shares_it() -> None:
    with piped(b"the next line of a shell loop"):
        assert task_text("rename a to b", print_mode=False) == "rename a to b"
        assert sys.stdin.read() == "the next line of a shell loop"


def test_a_pipe_that_stays_silent_holds_nobody_up(capsys: pytest.CaptureFixture[str]) -> None:
    with piped(b"", ends=False):
        assert task_text("Review this", print_mode=True) == "Review this"
    assert "nothing came on standard input" in capsys.readouterr().err


def test_an_empty_pipe_and_a_closed_input_add_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with piped(b""):
        assert task_text("Review this", print_mode=True) == "Review this"
    monkeypatch.setattr(sys, "stdin", None)
    assert task_text("Review this", print_mode=True) == "Review this"
    assert task_text("", print_mode=True) == ""


def test_bytes_that_are_no_text_are_named() -> None:
    with piped(b"\xff\xfe"), pytest.raises(UsageError, match="not UTF-8"):
        task_text("", print_mode=False)


def test_bytes_that_the_c_locale_lets_pass_are_no_task() -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        task_text("rename \udcff to b", print_mode=False)

"""Text on a terminal: shown, never obeyed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from decurion.orchestrator.screen import can_draw, cut, on_a_line, on_screen, room, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\tindented ünï 👨‍👩‍👧\n", "plain\n\tindented ünï 👨‍👩‍👧\n"),
        ("crlf\r\nlines\r\n", "crlf\nlines\n"),
        ("over\rwritten", r"over\x0dwritten"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),
        ("\udcff", r"\udcff"),
    ],
)
def test_controls_are_spelt_out_and_everything_else_stays(text: str, shown: str) -> None:
    assert on_screen(text) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("term", "encoding", "drawn"),
    [("xterm", "utf-8", True), ("dumb", "utf-8", False), ("xterm", "ascii", False)],
)
def test_a_picture_is_drawn_only_where_it_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, term: str, encoding: str, *, drawn: bool
) -> None:
    master, terminal = os.openpty()
    monkeypatch.setenv("TERM", term)
    with os.fdopen(terminal, "w", encoding=encoding) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert can_draw() == drawn
    os.close(master)
    with Path(os.devnull).open("w", encoding=encoding) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert not can_draw()


def test_a_text_fills_the_rest_of_its_line_on_a_terminal_and_all_its_room_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert room(70, 60) == 60
    master, terminal = os.openpty()
    monkeypatch.setenv("COLUMNS", "80")
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert [room(taken, 60) for taken in (10, 50, 79)] == [60, 30, 15]
    os.close(master)


def test_what_takes_no_room_is_seen_in_a_log() -> None:
    assert visible("a\u200bb\nc\td") == r"a\u200bb\nc\td"
    assert cut("abcdef", 4) == "abc…"


def test_one_line_has_no_breaks_and_single_blanks() -> None:
    assert on_a_line("  a\n\tb \x1b c ") == r"a b \x1b c"

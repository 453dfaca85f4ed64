"""Cleaning output as it comes, in pieces of any size."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.tools.capture import Capture, Cleaner

DIRTY = (
    "plain\n\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"
    "10%\r20%\r100%\r\n\x1b[2K\rdone\nb\x08bo\x08old\n\x1b(Bset\x1b=\nnul\0 bell\x07 \U0001f600 e\u0301\n\x9b31mc1\x9b0m\n"
    "last\rline"
)
CLEAN = "plain\nred link\n100%\ndone\nbold\nset\nnul\u2400 bell \U0001f600 e\u0301\nc1\nline"


def clean(pieces: list[bytes]) -> str:
    cleaner = Cleaner()
    return "".join(cleaner.feed(piece) for piece in pieces) + cleaner.feed(b"", final=True)


def test_codes_and_overwritten_text_are_removed() -> None:
    assert clean([DIRTY.encode()]) == CLEAN


@given(st.lists(st.integers(0, len(DIRTY.encode())), max_size=8))
def test_it_does_not_matter_where_the_pieces_are_cut(cuts: list[int]) -> None:
    data = DIRTY.encode()
    edges = [0, *sorted(cuts), len(data)]
    assert clean([data[a:b] for a, b in pairwise(edges)]) == CLEAN


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_become_text_that_a_request_can_carry(pieces: list[bytes]) -> None:
    text = clean(pieces)
    text.encode("utf-8")
    assert not set(text) & set(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))


@pytest.mark.parametrize("start", [b"\x1b]0;never ends ", b"\r", b"x\r", b"\x1b["])
def test_what_never_ends_is_not_held_for_ever(start: bytes) -> None:
    cleaner = Cleaner()
    shown = cleaner.feed(start) + "".join(cleaner.feed(b"y" * 10_000) for _ in range(20))
    assert len(shown) > 50_000


@given(
    st.lists(st.binary(max_size=300).map(lambda data: data.replace(b"\x1b", b"e")), max_size=6),
    st.integers(3, 60),
)
def test_head_and_tail_stay_within_bounds(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], chars: int
) -> None:
    capture = Capture(chars, tmp_path_factory.mktemp("out") / "out.txt", 100)
    for piece in pieces:
        capture(piece)
    captured = capture.finish()
    whole = clean(pieces)
    assert len(captured.head) + len(captured.tail) <= chars
    if captured.left_out:
        assert whole.startswith(captured.head)
        assert whole.endswith(captured.tail)
        assert len(whole) > chars
        assert captured.full_output is not None
        assert captured.full_output.read_text(encoding="utf-8") == whole[:100]
        assert captured.complete == (len(whole) <= 100)
    else:
        assert captured.text == whole
        assert captured.full_output is None


def test_the_count_is_exact_for_plain_output(tmp_path: Path) -> None:
    capture = Capture(30, tmp_path / "out.txt", 1000)
    for _ in range(10):
        capture("0123456789é".encode())
    captured = capture.finish()
    assert captured.left_out == 120 - len((captured.head + captured.tail).encode())

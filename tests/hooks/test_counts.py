"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from decurion.hooks.counts import counted


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 turns"),
        (1, "1 turn"),
        (2, "2 turns"),
        (1_000_000, "1,000,000 turns"),
        (0.5, "0.5 turns"),
        (1.0, "1 turn"),
        (2_500_000.0, "2,500,000 turns"),
    ],
)
def test_one_is_singular_and_large_numbers_are_readable(number: float, said: str) -> None:
    assert counted(number, "turn") == said


def test_what_is_not_regular_is_given_in_both_forms() -> None:
    assert [counted(number, "file is", "files are") for number in (1, 2)] == ["1 file is", "2 files are"]

"""Patterns compiled on first use behave like compiled ones."""

from __future__ import annotations

import re

import pytest

from decurion.hooks.patterns import lazy


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    late, early = lazy(r"(a+)b", re.IGNORECASE), re.compile(r"(a+)b", re.IGNORECASE)
    for text in ("AAb", "b", "xaab"):
        assert bool(late.search(text)) == bool(early.search(text))
    assert late.sub(r"<\1>", "xaab") == "x<aa>"
    assert (late.pattern, late.flags) == (early.pattern, early.flags)


def test_a_mistake_shows_when_it_is_used() -> None:
    wrong = lazy("(")
    with pytest.raises(re.error):
        wrong.match("x")

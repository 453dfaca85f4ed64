"""Every refused row of the corpus, rewritten in many ways that keep its meaning, stays refused."""

from __future__ import annotations

from itertools import islice

import pytest

from decurion.hooks import Verdict
from decurion.hooks.rules import Law
from tests.effort import effort

from .conftest import corpus
from .helpers import judge
from .rewrites import rewrites

EACH = effort(2, 22)
"""How many rewrites of a row are tried here; `make bench-guard` tries all."""

PARTS = 2
LEAST = 10_000
"""How many rewrites there are at least."""
SHARE = 0.999


def _selected() -> list[tuple[str, str, str]]:
    """For each row the next `EACH` rewrites in turn, so that all kinds of rewrite are met by many rows."""
    selected: list[tuple[str, str, str]] = []
    for place, row in enumerate(row for row in corpus() if row.should == "deny"):
        made = list(rewrites(row.cmd))
        turned = made[place % len(made) :] + made[: place % len(made)]
        selected.extend((row.cmd, name, text) for name, text in islice(turned, EACH))
    return selected


def test_enough_rewrites_are_generated() -> None:
    assert sum(len(list(rewrites(row.cmd))) for row in corpus() if row.should == "deny") >= LEAST


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("part", range(PARTS))
def test_rewrites_stay_refused(law: Law, part: int) -> None:
    tried = _selected()[part::PARTS]
    missed = [entry for entry in tried if judge(law, entry[2]).verdict < Verdict.DENY]
    assert len(missed) <= len(tried) * (1 - SHARE), missed[:5]

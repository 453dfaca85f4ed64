"""Commands invented after the rules were written: siblings of every kind, and everyday look-alikes. Never executed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decurion.hooks import Verdict
from decurion.hooks.rules import Law

from .helpers import judge

DATA = Path(__file__).parents[2] / "data" / "guard_variants.jsonl"


@pytest.mark.parametrize("should", ["deny", "allow"])
def test_variants(law: Law, should: str) -> None:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    texts = [row["cmd"] for row in rows if row["should"] == should]
    wrong = [text for text in texts if (judge(law, text).verdict >= Verdict.ASK) is not (should == "deny")]
    assert len(texts) > 1000
    assert not wrong

"""The shipped law, compiled once, and the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from decurion.hooks.rules import Law

DATA = Path(__file__).parents[2] / "data" / "guard_cases.jsonl"


class Row(NamedTuple):
    cmd: str
    should: str
    rule: str
    technique: str


def corpus() -> list[Row]:
    rows = (json.loads(line) for line in DATA.read_text("utf-8").splitlines())
    return [Row(row["cmd"], row["should"], row["rule"], row["technique"]) for row in rows]


@pytest.fixture(scope="session")
def law() -> Law:
    return Law.load(cache=False)

"""Comparing two sessions: what each of them ran that the other did not, and how their sums differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import orjson

from .select import Record
from .summary import Summary, summarize
from .text import brief

Key = tuple[str, str, str]
"""Event, tool and the arguments in short."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sessions side by side; the counters hold what only one of them has, or has more often."""

    first: Summary
    second: Summary
    only_first: Counter[Key]
    only_second: Counter[Key]
    in_both: int


def compare(first: Path, second: Path) -> Comparison:
    """Compare the calls of two logs, whoever made them and in whatever order.

    Raises:
        AuditError: one of them is no log.
    """
    one, other = _Calls(), _Calls()
    sums = summarize(first, [one.add]), summarize(second, [other.add])
    both = one.found & other.found
    return Comparison(*sums, one.found - both, other.found - both, both.total())


class _Calls:
    def __init__(self) -> None:
        self.found: Counter[Key] = Counter()

    def add(self, record: Record) -> None:
        if record["event"] not in {"planned", "refused"}:
            return
        given = record.get("input")
        exact = orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode() if given is not None else ""
        short = brief(given, 200) if len(exact) > 200 else brief(given, 200) or exact
        self.found[record["event"], str(record.get("tool_name") or ""), short] += 1

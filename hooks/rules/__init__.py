"""The law: TOML rules, matched against what would be executed."""

from __future__ import annotations

from .examples import EXAMPLE_PLACES
from .judge import JUDGE_FAILED, UNREADABLE, Judgement
from .law import Law, entries, law_hook, shipped_sources
from .live import live_places
from .load import Source
from .model import Condition, Rule, RuleSet

__all__ = (
    "EXAMPLE_PLACES",
    "JUDGE_FAILED",
    "UNREADABLE",
    "Condition",
    "Judgement",
    "Law",
    "Rule",
    "RuleSet",
    "Source",
    "entries",
    "law_hook",
    "live_places",
    "shipped_sources",
)

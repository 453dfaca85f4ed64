"""The law: TOML rules, matched against what would be executed."""

from __future__ import annotations

from ..shell.events import Places
from .judge import JUDGE_FAILED, UNREADABLE, Judgement
from .law import Law, entries, law_hook, shipped_sources
from .live import live_places, rule_files
from .model import Condition, Rule, RuleSet, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .examples import EXAMPLE_PLACES

__all__ = (
    "EXAMPLE_PLACES",
    "JUDGE_FAILED",
    "UNREADABLE",
    "Condition",
    "Judgement",
    "Law",
    "Places",
    "Rule",
    "RuleSet",
    "Source",
    "entries",
    "law_hook",
    "live_places",
    "rule_files",
    "shipped_sources",
)


def __getattr__(name: str) -> object:
    """Load what compiles and tries rules only when asked for: a cold hook program finds them compiled."""
    if name != "EXAMPLE_PLACES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .examples import EXAMPLE_PLACES

    return EXAMPLE_PLACES

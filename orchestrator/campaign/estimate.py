"""What a campaign may cost, guessed before a token is spent: said as a guess, with the figures it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from decurion.agents.model import Usage
from decurion.agents.money import Prices
from decurion.hooks.counts import counted

TURNS = 6
"""Replies a subagent needs for one file: look, read, change, check, report, and one for luck."""

FIXED = 3_000  # tokens of the system prompt and the tools
PER_REPLY = 350  # tokens that a reply writes besides the changed text
BYTES_PER_TOKEN = 3.5


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of all first attempts, and USD where the model's price is known."""

    groups: int
    usage: Usage
    usd: float | None

    def in_words(self) -> str:
        """One line for a person."""
        tokens = self.usage.context_tokens
        money = "price unknown" if self.usd is None else f"about ${self.usd:.2f}"
        return f"{counted(self.groups, 'subagent')}, about {tokens / 1000:,.0f} thousand tokens, {money} (a guess; retries cost more)"


def estimate(groups: Sequence[Sequence[str]], workspace: Path, model: str, prices: Prices) -> Estimate:
    """Guess from the sizes of the files: each is read once, written once, and carried along in a cache."""
    usage = Usage()
    usd: float | None = 0.0
    for group in groups:
        one = _usage(sum(_size(workspace / target) for target in group) / BYTES_PER_TOKEN)
        cost = prices.cost(model, one)
        usage += one
        usd = None if usd is None or cost is None else usd + cost
    return Estimate(len(groups), usage, usd)


def _usage(text: float) -> Usage:
    written = int(text + FIXED + TURNS * PER_REPLY)
    return Usage(
        input_tokens=TURNS * 100,
        output_tokens=int(text * 0.6 + TURNS * PER_REPLY),
        cache_creation_input_tokens=written,
        cache_read_input_tokens=(TURNS - 1) * written,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

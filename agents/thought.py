"""How much a model thinks before it answers: what a person or a definition writes, and what the API is sent for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decurion.hooks import ConfigError

EFFORTS = ("low", "medium", "high", "xhigh", "max")
SMALLEST_BUDGET, LARGEST_BUDGET = 1_024, 32_000
"""Tokens. They come on top of the room for the answer, which the API wants to be larger than the budget."""


def read_effort(said: object, source: str) -> str:
    """Check a level of effort; nothing, the model's own level, is `""`.

    Raises:
        ConfigError: there is no such level.
    """
    if said in (None, "", *EFFORTS):
        return str(said or "")
    raise ConfigError(f"the effort is one of {', '.join(EFFORTS)}, not {said!r}", source)


def read_thinking(said: object, source: str) -> Mapping[str, Any] | None:
    """Give the request's `thinking` for `adaptive`, `between-tools`, `off` or a budget in tokens; None for nothing.

    None leaves it to the model. Between tools alone is the least that the newer models take; they refuse `off`.

    Raises:
        ConfigError: it is none of these, or the budget is out of bounds.
    """
    text = str(said).strip().replace("_", "") if isinstance(said, (str, int)) else ""
    if said is None or said == "":
        return None
    if text == "adaptive":
        return {"type": "adaptive"}
    if text in ("between-tools", "betweentools"):  # the underscores are gone by now
        return {"type": "between_tools"}
    if text == "off" or said is False:  # YAML reads `off` as false
        return {"type": "disabled"}
    if text.isascii() and text.isdigit() and SMALLEST_BUDGET <= int(text) <= LARGEST_BUDGET:
        return {"type": "enabled", "budget_tokens": int(text)}
    bounds = f"{SMALLEST_BUDGET:,} to {LARGEST_BUDGET:,}"
    raise ConfigError(
        f"thinking is `adaptive`, `between-tools`, `off` or a number of tokens from {bounds}, not {said!r}",
        source,
    )

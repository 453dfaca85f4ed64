"""Short ways to a law made of one text, and to its verdicts."""

from __future__ import annotations

from decurion.hooks import Verdict
from decurion.hooks.rules import EXAMPLE_PLACES, Judgement, Law, Source


def law_of(text: str, level: str = "user") -> Law:
    """A law of this text alone, without the shipped rules."""
    return Law.of_sources((Source("rules.toml", text, level),))


def blocklist(*entries: str) -> Law:
    """A law of one-line entries alone."""
    return law_of(f"deny = {list(entries)!r}")


def judge(law: Law, command: str, agent: str = "lead") -> Judgement:
    return law.judge_command(command, EXAMPLE_PLACES, agent)


def refuses(law: Law, command: str) -> bool:
    return judge(law, command).verdict >= Verdict.ASK

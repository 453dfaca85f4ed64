"""Replays and comparisons in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click
import orjson

from decurion.hooks.counts import counted

from ..screen import visible
from .compare import Comparison, Key
from .replay import Change, Outcome
from .summary import Summary
from .text import brief, money, table

MOST = 40


def change_json(change: Change) -> bytes:
    """Give one changed verdict as a JSON object."""
    names = ("seq", "ts", "session_id", "agent_id", "agent_type", "tool_name", "tool_use_id", "input")
    record = {name: change.record.get(name) for name in names}
    return orjson.dumps(
        {
            **record,
            "before": change.before,
            "after": change.after,
            "rule": change.rule,
            "reason": change.reason,
        }
    )


def replay_text(outcome: Outcome) -> Iterator[str]:
    """Say what would change: call by call, then in sum."""
    for change in outcome.changes:
        after = click.style(
            change.after,
            fg="red" if change.after == "deny" else "yellow" if change.after == "ask" else "green",
        )
        who = visible(str(change.record.get("agent_id")))
        yield f"{change.before} → {after}  {who}  {visible(change.rule)}  {brief(change.record.get('input'))}"
    now = Counter(change.after for change in outcome.changes)
    yield (
        f"{counted(outcome.calls, 'call')} judged: {now['deny']} would now be refused, {now['ask']} asked about, "
        f"{now['allow']} allowed; {outcome.calls - len(outcome.changes)} as before"
    )
    for title, field in (("by agent", "agent_id"), ("by rule", "rule")):
        counts = outcome.by(field).most_common(MOST)
        if counts:
            yield f"{title}: " + ", ".join(f"{visible(name)} {count}" for name, count in counts)
    if outcome.unsure:
        yield f"{outcome.unsure} of them had secrets removed from their arguments, so their verdict may differ"


def comparison_text(comparison: Comparison) -> Iterator[str]:
    """Say how two sessions differ."""
    sums = (comparison.first, comparison.second)
    heads = ("", sums[0].session_id, sums[1].session_id)
    facts: list[tuple[str, list[str]]] = [
        ("status", [summary.status or "open" for summary in sums]),
        ("model", [visible(summary.model) or "-" for summary in sums]),
        ("agents", [str(len(summary.agents)) for summary in sums]),
        ("calls", [str(summary.calls) for summary in sums]),
        ("refused", [str(summary.refused) for summary in sums]),
        ("tokens", [f"{summary.tokens:,}" for summary in sums]),
        ("cost", [money(summary.cost) for summary in sums]),
        ("rules", [_policy(summary) for summary in sums]),
    ]
    yield table(heads, [(name, *values) for name, values in facts])
    yield ""
    yield from _only(comparison.only_first, "-", "red")
    yield from _only(comparison.only_second, "+", "green")
    first, second = comparison.only_first.total(), comparison.only_second.total()
    yield f"{counted(comparison.in_both, 'call')} in both, {first} only in the first, {second} only in the second"


def _only(calls: Counter[Key], sign: str, colour: str) -> Iterator[str]:
    for (event, tool, text), count in calls.most_common(MOST):
        times = f" ({count} times)" if count > 1 else ""
        refused = " (refused)" if event == "refused" else ""
        yield click.style(f"{sign} {visible(tool)}{refused}  {visible(text)}{times}", fg=colour)
    if len(calls) > MOST:
        yield f"{sign} … {len(calls) - MOST} more"


def _policy(summary: Summary) -> str:
    return ", ".join(policy[:12] for policy in summary.policies) or "-"

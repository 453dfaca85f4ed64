"""The agents of a session as a tree: who led whom, how each ended, what it took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import orjson

from decurion.hooks.counts import counted

from ..screen import room, visible
from .summary import AgentSummary, Summary
from .text import brief, money

_MARKS = {"completed": ("✓", "green"), "": ("…", "yellow")}


def tree(summary: Summary) -> Iterator[str]:
    """Give the lines of the tree; agents whose parent is unknown stand at the top."""
    known = summary.agents
    roots = [agent for agent in known.values() if agent.parent not in known]
    for root in roots:
        yield from _branch(root, summary, "", "")


def _branch(agent: AgentSummary, summary: Summary, first: str, rest: str) -> Iterator[str]:
    children = [child for child in summary.agents.values() if child.parent == agent.id and child is not agent]
    mark, colour = _MARKS.get(agent.status, ("✗", "red"))
    name = visible(agent.id)
    kind = f" ({visible(agent.type)})" if agent.type and not agent.id.startswith(agent.type) else ""
    taken = len(first) + len(mark) + len(name) + len(kind) + len("   ")
    title = f"  {brief(agent.title, room(taken, 60))}" if agent.title else ""
    yield f"{first}{click.style(mark, fg=colour)} {click.style(name, bold=True)}{kind}{title}"
    body = f"{rest}{'│ ' if children else '  '}  "
    most = room(len(body) + len("files: "), 100)
    yield f"{body}{_facts(agent, whole=summary.started)}"
    if agent.files:
        yield f"{body}files: {brief(', '.join(agent.files), most)}"
    if said := _report_of(summary.path, agent.id):
        yield f"{body}“{brief(said, most)}”"
    for number, child in enumerate(children, 1):
        last = number == len(children)
        yield from _branch(
            child, summary, f"{rest}{'└─' if last else '├─'}", f"{rest}{'  ' if last else '│ '}"
        )


def _facts(agent: AgentSummary, *, whole: bool) -> str:
    """Say what is known of an agent; of one that `decurion hook` watched, its calls alone are."""
    facts = [
        (agent.status or "has not ended") if whole else "",
        counted(agent.turns, "turn") if whole else "",
        counted(agent.planned, "call"),
        f"{agent.refused} refused" if agent.refused else "",
        f"{agent.failed} failed" if agent.failed else "",
        counted(agent.total_tokens, "token") if whole else "",
        money(agent.cost) if whole else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _report_of(log: Path, agent: str) -> str:
    """Read the first line of what the agent reported, from the result beside the log, which itself has its digest only."""
    if not agent or "/" in agent or agent.startswith("."):
        return ""
    try:
        result = orjson.loads((log.parent / "subagents" / f"{agent}.result.json").read_bytes())
        return str(result.get("summary", "")).strip().partition("\n")[0]
    except (OSError, ValueError, AttributeError):
        return ""

"""What a log says in sum: its agents, their calls, tokens, cost and how they ended. One pass over the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decurion.agents.model import Usage
from decurion.agents.money import Prices
from decurion.hooks.files import config_dir

from .select import Record, Skipped, all_records
from .text import TOKEN_CLASSES


@dataclass(slots=True)
class AgentSummary:
    """One agent: who it is, what it did, what it took.

    `cost` is None as soon as one reply had an unknown price. `status` is empty while it has not ended.
    """

    id: str
    type: str = ""
    parent: str | None = None
    depth: int = 0
    title: str = ""
    began: str = ""
    ended: str = ""
    status: str = ""
    turns: int = 0
    planned: int = 0
    refused: int = 0
    malformed: int = 0
    failed: int = 0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKEN_CLASSES, 0))
    cost: float | None = 0.0
    files: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def total_tokens(self) -> int:
        """Tokens of all four classes."""
        return sum(self.tokens.values())


@dataclass(slots=True)
class Summary:
    """One log in sum. `status` is empty while the session has not ended."""

    path: Path
    session_id: str = ""
    began: str = ""
    ended: str = ""
    model: str = ""
    cwd: str = ""
    status: str = ""
    records: int = 0
    enforcement: str = ""
    policies: dict[str, None] = field(default_factory=dict[str, None])
    agents: dict[str, AgentSummary] = field(default_factory=dict[str, AgentSummary])
    skipped: Skipped = field(default_factory=Skipped)
    started: bool = False
    """Whether there is a `session_start`; `decurion hook` writes none, nor agents' ends and replies."""

    @property
    def calls(self) -> int:
        """Calls that ran."""
        return sum(agent.planned for agent in self.agents.values())

    @property
    def refused(self) -> int:
        """Calls that were refused."""
        return sum(agent.refused for agent in self.agents.values())

    @property
    def cost(self) -> float | None:
        """What all agents cost together; None as soon as one price is unknown."""
        costs = [agent.cost for agent in self.agents.values()]
        return None if None in costs else sum(cost for cost in costs if cost)

    @property
    def tokens(self) -> int:
        """Tokens of all agents."""
        return sum(agent.total_tokens for agent in self.agents.values())


class Summarizer:
    """Adds records up. Each accepted reply counts once, by its id, however often it was recorded."""

    def __init__(self, path: Path, prices: Prices | None = None) -> None:
        self.summary = Summary(path)
        self._prices = prices or load_prices()
        self._replies: set[str] = set()
        self._book: dict[str, Callable[[AgentSummary, Record], None]] = {
            "agent_start": self._start,
            "agent_end": self._end,
            "planned": self._planned,
            "done": self._done,
            "refused": self._refused,
            "malformed": self._malformed,
            "model_request": self._request,
        }

    def add(self, record: Record) -> None:
        """Add one record."""
        summary, event = self.summary, record["event"]
        summary.records += 1
        summary.began = summary.began or record["ts"]
        summary.ended = record["ts"]
        if event in {"session_start", "session_end"}:
            self._session(record)
        summary.cwd = summary.cwd or record.get("workspace") or ""
        summary.enforcement = summary.enforcement or record.get("enforcement") or ""
        if record.get("policy_sha256"):
            summary.policies.setdefault(record["policy_sha256"])
        book = self._book.get(event)
        if book is not None:
            book(self._agent(record), record)

    def _session(self, record: Record) -> None:
        summary = self.summary
        summary.session_id = record["session_id"]
        summary.enforcement = record.get("enforcement") or summary.enforcement
        if record["event"] == "session_start":
            summary.started = True
            summary.model = record.get("model") or summary.model
            summary.cwd = record.get("cwd") or summary.cwd
            summary.status = ""
        else:
            summary.status = record.get("reason") or record.get("status") or "ended"

    def _agent(self, record: Record) -> AgentSummary:
        name = str(record.get("agent_id") or "-")
        self.summary.session_id = self.summary.session_id or record["session_id"]
        agent = self.summary.agents.get(name)
        if agent is None:
            kind, parent = str(record.get("agent_type") or ""), record.get("parent_id")
            agent = AgentSummary(name, kind, parent, int(record.get("depth") or 0), began=record["ts"])
            self.summary.agents[name] = agent
        agent.ended = record["ts"]
        agent.turns = max(agent.turns, int(record.get("turn") or 0))
        return agent

    @staticmethod
    def _start(agent: AgentSummary, record: Record) -> None:
        agent.title = agent.title or str(record.get("reason") or record.get("description") or "")
        agent.status = ""

    @staticmethod
    def _end(agent: AgentSummary, record: Record) -> None:
        agent.status = str(record.get("status") or "ended")
        agent.turns = max(agent.turns, int(record.get("turns") or 0))
        agent.files.update(dict.fromkeys(record.get("files_changed") or ()))

    @staticmethod
    def _planned(agent: AgentSummary, _record: Record) -> None:
        agent.planned += 1

    @staticmethod
    def _done(agent: AgentSummary, record: Record) -> None:
        agent.failed += bool(record.get("is_error"))
        agent.files.update(dict.fromkeys(record.get("files_changed") or ()))

    @staticmethod
    def _refused(agent: AgentSummary, _record: Record) -> None:
        agent.refused += 1

    @staticmethod
    def _malformed(agent: AgentSummary, _record: Record) -> None:
        agent.malformed += 1

    def _request(self, agent: AgentSummary, record: Record) -> None:
        name = str(record.get("id") or "")
        if name and name in self._replies:
            return
        self._replies.add(name)
        counts = {kind: int(record.get(kind) or 0) for kind in TOKEN_CLASSES}
        for kind, count in counts.items():
            agent.tokens[kind] += count
        cost = self._prices.cost(str(record.get("model") or ""), Usage(**counts))
        agent.cost = None if cost is None or agent.cost is None else agent.cost + cost


def load_prices() -> Prices:
    """Read the prices in force."""
    return Prices.load(config_dir())


def summarize(path: Path, also: Iterable[Callable[[Record], Any]] = ()) -> Summary:
    """Sum up a log in one pass, and show each record to others on the way.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    summarizer, others = Summarizer(path), tuple(also)
    for record in all_records(path, summarizer.summary.skipped):
        summarizer.add(record)
        for other in others:
            other(record)
    return summarizer.summary

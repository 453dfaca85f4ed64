"""One self-contained page for a session: timeline, filters, refused calls, cost, and whether the log is proven.

No network: a content security policy forbids it, and there is nothing to load. Data stands in columns with a table of
strings, so that 100,000 records stay a page that opens at once; the list and the timeline draw only what is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from decurion.hooks.audit import Report, verify
from decurion.hooks.counts import counted

from .select import Record
from .spans import nanoseconds
from .summary import Summary, summarize
from .text import TOKEN_CLASSES, brief, paragraph

COLUMNS = ("at", "took", "agent", "tool", "kind", "text", "reason", "rule", "seq", "id", "turn")
KINDS = ("ok", "refused", "malformed", "failed", "open")
MOST_TEXT = 2000
MOST_PROMPTS = 20
NEVER = -1


def render(path: Path) -> str:
    """Give the page of one log.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    report, columns = verify(str(path)), _Columns()
    summary = summarize(path, [columns.add])
    page = files("decurion.orchestrator.audit").joinpath("report.html").read_text(encoding="utf-8")
    script = files("decurion.orchestrator.audit").joinpath("report.js").read_text(encoding="utf-8")
    data = orjson.dumps(_data(summary, report, columns)).decode()
    # Within a script element only `<` can end it or open a comment; JSON allows it to be escaped.
    return page.replace("/*SCRIPT*/", script, 1).replace("/*DATA*/", data.replace("<", "\\u003c"), 1)


def _data(summary: Summary, report: Report, columns: _Columns) -> dict[str, Any]:
    began = _ms(summary.began) if summary.began else 0
    order = _in_tree_order(summary)
    place = {name: index for index, name in enumerate(order)}
    columns.settle(began, place)
    return {
        "session": summary.session_id,
        "began": began,
        "length": (_ms(summary.ended) - began) if summary.ended else 0,
        "model": summary.model,
        "cwd": summary.cwd,
        "status": summary.status,
        "started": summary.started,
        "prompts": columns.prompts,
        "records": summary.records,
        "ran": summary.calls,
        "refused": summary.refused,
        "tokens": summary.tokens,
        "cost": summary.cost,
        "policies": list(summary.policies),
        "enforcement": summary.enforcement,
        "proof": _proof(report),
        "agents": [_agent(summary, name, began) for name in order],
        "tools": columns.tools.names,
        "kinds": KINDS,
        "strings": columns.strings.names,
        "columns": COLUMNS,
        "calls": columns.values,
    }


def _proof(report: Report) -> dict[str, Any]:
    problems = [
        f"{problem.kind} at record {problem.seq} (line {problem.line}): {problem.message}"
        for problem in report.problems
    ]
    state = {
        "sealed": "from its first to its last record",
        "open": "so far; the session has not ended",
        "empty": "it is empty",
    }
    signed = f" Signed up to record {report.signed_to}." if report.signed_to else ""
    text = f"{counted(report.records, 'record')}, chain unbroken {state[report.state]}.{signed}"
    if problems:
        text = problems[0]
    title = (
        "Verified: nothing altered, nothing missing" if report.ok else "Not verified: this log was damaged"
    )
    return {"ok": report.ok, "title": title, "text": text, "problems": problems, "hash": report.last_hash}


def _agent(summary: Summary, name: str, began: int) -> dict[str, Any]:
    agent = summary.agents[name]
    return {
        "id": agent.id,
        "type": agent.type,
        "depth": min(agent.depth, 4),
        "title": brief(agent.title),
        "began": _ms(agent.began) - began,
        "ended": _ms(agent.ended) - began,
        "status": agent.status,
        "tokens": [agent.tokens[kind] for kind in TOKEN_CLASSES],
        "cost": agent.cost,
    }


def _in_tree_order(summary: Summary) -> list[str]:
    """Order agents as a tree is read: each parent before its children, siblings by their start."""
    children: dict[str | None, list[str]] = {}
    for agent in summary.agents.values():
        parent = agent.parent if agent.parent in summary.agents and agent.parent != agent.id else None
        children.setdefault(parent, []).append(agent.id)
    ordered: list[str] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        name = waiting.pop()
        ordered.append(name)
        waiting.extend(reversed(children.pop(name, [])))
    return ordered + [name for name in summary.agents if name not in set(ordered)]


class _Table:
    """Gives each text a number."""

    def __init__(self, *first: str) -> None:
        self.names = list(first)
        self._known = {name: number for number, name in enumerate(first)}

    def number(self, text: str) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.names)
            self.names.append(text)
        return number


class _Columns:
    """The calls of a log, one list a column."""

    def __init__(self) -> None:
        self.values: list[list[Any]] = [[] for _ in COLUMNS]
        self.tools, self.strings = _Table(), _Table("")
        self.prompts: list[str] = []
        self._open: dict[tuple[str, str], int] = {}
        self._book: dict[str, Callable[[Record], None]] = {
            "prompt": self._prompt,
            "planned": self._planned,
            "done": self._done,
            "refused": self._stopped,
            "malformed": self._stopped,
        }

    def add(self, record: Record) -> None:
        """Take one record."""
        book = self._book.get(record["event"])
        if book is not None:
            book(record)

    def settle(self, began: int, place: dict[str, int]) -> None:
        """Make times relative and agents numbers, once all are known."""
        at, agent = COLUMNS.index("at"), COLUMNS.index("agent")
        self.values[at] = [value - began for value in self.values[at]]
        self.values[agent] = [place[name] for name in self.values[agent]]

    def _prompt(self, record: Record) -> None:
        if len(self.prompts) < MOST_PROMPTS:
            self.prompts.append(paragraph(record.get("input"), MOST_TEXT))

    def _planned(self, record: Record) -> None:
        self._open[str(record.get("agent_id")), str(record.get("tool_use_id"))] = len(self.values[0])
        self._append(record, "open")

    def _done(self, record: Record) -> None:
        row = self._open.pop((str(record.get("agent_id")), str(record.get("tool_use_id"))), None)
        if row is not None:
            self.values[COLUMNS.index("took")][row] = _took(record)
            self.values[COLUMNS.index("kind")][row] = KINDS.index(
                "failed" if record.get("is_error") else "ok"
            )

    def _stopped(self, record: Record) -> None:
        self._append(record, record["event"])

    def _append(self, record: Record, kind: str) -> None:
        number = self.strings.number
        row = (
            _ms(record["ts"]),
            NEVER,
            str(record.get("agent_id") or "-"),
            self.tools.number(str(record.get("tool_name") or "prompt")),
            KINDS.index(kind),
            number(paragraph(record.get("input"), MOST_TEXT)),
            number(paragraph(record.get("reason"), MOST_TEXT)),
            number(str(record.get("rule") or "")),
            record["seq"],
            number(str(record.get("tool_use_id") or "")),
            record.get("turn") or 0,
        )
        for column, value in zip(self.values, row, strict=True):
            column.append(value)


def _took(record: Record) -> float:
    took = record.get("duration_ms")
    return NEVER if took is None else took


def _ms(ts: str) -> int:
    return nanoseconds(ts) // 1_000_000

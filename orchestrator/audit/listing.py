"""One line for each session: when, where, model, agents, calls, refused, cost, state, verified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decurion.hooks import AuditError
from decurion.hooks.audit import verify

from ..screen import visible
from .summary import Summary, summarize
from .text import money

COLUMNS = (
    "SESSION",
    "WHEN (UTC)",
    "MODEL",
    "AGENTS",
    "CALLS",
    "REFUSED",
    "COST",
    "STATE",
    "VERIFIED",
    "WHERE",
)


@dataclass(frozen=True, slots=True)
class Listed:
    """One session of the list. `verified` is None where it was not asked for, `error` says why a log cannot be read."""

    name: str
    path: Path
    summary: Summary | None
    verified: bool | None
    error: str = ""

    def as_cells(self) -> tuple[str, ...]:
        """Give the row of the table."""
        summary = self.summary
        if summary is None:
            return (self.name, "", "", "", "", "", "", "unreadable", "no", self.error)
        return (
            self.name,
            summary.began[:16].replace("T", " "),
            visible(summary.model) or "-",
            str(len(summary.agents)),
            str(summary.calls),
            str(summary.refused),
            money(summary.cost) if summary.started else "-",
            visible(summary.status) or ("open" if summary.started else "hook"),
            {True: "yes", False: "NO", None: "-"}[self.verified],
            visible(summary.cwd) or str(self.path.parent),
        )

    def as_json(self) -> dict[str, Any]:
        """Give all that is known."""
        summary = self.summary
        known: dict[str, Any] = {"session": self.name, "log": str(self.path), "verified": self.verified}
        if summary is None:
            return {**known, "error": self.error}
        return {
            **known,
            "began": summary.began,
            "ended": summary.ended,
            "model": summary.model,
            "cwd": summary.cwd,
            "status": summary.status or None,
            "records": summary.records,
            "agents": len(summary.agents),
            "calls": summary.calls,
            "refused": summary.refused,
            "tokens": summary.tokens,
            "cost_usd": summary.cost,
        }


def describe(log: Path, *, prove: bool) -> Listed:
    """Sum up one log, and prove it where asked."""
    try:
        summary = summarize(log)
        verified = verify(str(log)).ok if prove else None
    except AuditError as error:
        return Listed(log.parent.name, log, None, verified=False, error=str(error))
    return Listed(log.parent.name, log, summary, verified)

"""The result contract: what a finished subagent hands to its parent, and how it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from decurion.hooks.counts import counted

from .model import Usage

Status = Literal[
    "completed", "max_turns", "budget", "timeout", "blocked", "refused", "context", "error", "cancelled"
]

SUMMARY_LIMIT = 8_000
"""Characters of a summary that reach the parent. Seven reports of this size take about 14,000 tokens."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file a subagent wrote: path relative to its workspace, and the sha256 of what it left there."""

    path: str
    sha256: str | None
    """None where the file is gone."""


@dataclass(frozen=True, slots=True)
class DeniedCall:
    """A call that was refused, with the rule and the reason the agent was given."""

    tool_use_id: str
    tool_name: str
    rule: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class CommandCount:
    """How many shell commands ran, and how many of them ended with another status than 0."""

    run: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class SubagentResult:
    """Everything that is known of a finished agent. `summary` is never empty.

    `partial` says that the summary is not the agent's own final report. `cost_usd` is None where a price is
    unknown. `branch` and `commit` are set for isolated work; `evidence` lists claims of the summary that neither
    the diff nor the log bears out.
    """

    agent_id: str
    agent_type: str
    status: Status
    summary: str
    partial: bool = False
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    files_changed: tuple[FileChange, ...] = ()
    commands: CommandCount = field(default_factory=CommandCount)
    denied: tuple[DeniedCall, ...] = ()
    branch: str | None = None
    commit: str | None = None
    evidence: tuple[str, ...] = ()
    transcript_path: str = ""
    error: str = ""

    def as_text(self, where: str = "") -> str:
        """Return what the parent's model reads: a status line unless completed, the summary, the workplace.

        `where` is the file that has the whole of a summary too long to be handed over.
        """
        lines = [] if self.status == "completed" else [self.status_line()]
        lines.append(bounded(self.summary, where or self.transcript_path))
        if self.branch:
            changed = ", ".join(change.path for change in self.files_changed) or "no files"
            lines.append(f"[branch {self.branch} at {(self.commit or '')[:12]}; changed: {changed}]")
        lines.extend(f"[not borne out: {claim}]" for claim in self.evidence)
        return "\n".join(lines)

    def status_line(self) -> str:
        """Return the one line that says how the run ended."""
        partial = ", incomplete" if self.partial else ""
        detail = f": {self.error}" if self.error else ""
        files = ", ".join(change.path for change in self.files_changed[:20])
        changed = f"; files changed: {files}" if files else ""
        return f"[subagent {self.agent_type} ended: {self.status}{partial} after {counted(self.turns, 'turn')}{detail}{changed}]"

    def as_json(self) -> dict[str, Any]:
        """Return plain data for result.json and the json output formats."""
        return {
            "agent_id": self.agent_id,
            "agent_type": self.agent_type,
            "status": self.status,
            "summary": self.summary,
            "partial": self.partial,
            "turns": self.turns,
            "usage": usage_json(self.usage),
            "cost_usd": self.cost_usd,
            "files_changed": [{"path": c.path, "sha256": c.sha256} for c in self.files_changed],
            "commands": {"run": self.commands.run, "failed": self.commands.failed},
            "denied": [
                {"tool_use_id": d.tool_use_id, "tool_name": d.tool_name, "rule": d.rule, "reason": d.reason}
                for d in self.denied
            ],
            "branch": self.branch,
            "commit": self.commit,
            "evidence": list(self.evidence),
            "transcript_path": self.transcript_path,
            "error": self.error,
        }


def usage_json(usage: Usage) -> dict[str, int]:
    """Return a usage as the API spells it."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
    }


def result_from_json(data: Mapping[str, Any]) -> SubagentResult:
    """Read back what `as_json` wrote.

    Raises:
        KeyError, TypeError: if the data is not a result; a resume then treats the agent as unfinished.
    """
    typed: dict[str, Any] = {
        **data,
        "usage": Usage(**data["usage"]),
        "files_changed": tuple(FileChange(**item) for item in data["files_changed"]),
        "commands": CommandCount(**data["commands"]),
        "denied": tuple(DeniedCall(**item) for item in data["denied"]),
        "evidence": tuple(data["evidence"]),
    }
    return SubagentResult(**typed)


def bounded(summary: str, where: str, limit: int = SUMMARY_LIMIT) -> str:
    """Cut a summary to its share of the parent's window and say where the rest can be read."""
    if len(summary) <= limit:
        return summary
    left_out = len(summary) - limit
    return f"{summary[:limit]}\n[{counted(left_out, 'more character was', 'more characters were')} left out; the whole report is in {where}]"

"""What one agent has done so far, gathered as it happens: the raw material of its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from decurion.hooks import Decision, ToolCall, ToolResult
from decurion.hooks.counts import counted

from .dispatch import Results
from .evidence import Run
from .model import Reply, Usage
from .result import CommandCount, DeniedCall, FileChange

_DIGEST_LINES = 12


@dataclass(slots=True)
class Tally:
    """Counts and keeps; decides nothing."""

    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    newest_text: str = ""
    runs: list[Run] = field(default_factory=list[Run])
    paths: dict[str, None] = field(default_factory=dict[str, None])
    todos: list[dict[str, Any]] | None = None
    """The todo list as the newest reply's calls left it; None where they did not touch it."""
    denied: list[DeniedCall] = field(default_factory=list[DeniedCall])
    steps: list[str] = field(default_factory=list[str])

    def count_reply(self, reply: Reply) -> None:
        """Take in one accepted reply; each counts once."""
        self.turns += 1
        self.usage += reply.usage
        if reply.text.strip():
            self.newest_text = reply.text.strip()

    def count_results(self, calls: Sequence[ToolCall], results: Results) -> dict[str, Any]:
        """Take in what came of one reply's calls; give what they did to the world, as plain data for `resumed`."""
        runs, paths, self.todos = len(self.runs), len(self.paths), None
        for call, result in zip(calls, results.in_order(calls), strict=True):
            self._count_call(call, result)
        self.denied += [_denied(call, decision) for call, decision in results.refused]
        new_runs = [[run.command, run.status] for run in self.runs[runs:]]
        effects = {"files_changed": [*self.paths][paths:], "runs": new_runs, "todos": self.todos}
        return {key: value for key, value in effects.items() if value}

    def _count_call(self, call: ToolCall, result: ToolResult) -> None:
        meta = result.meta or {}
        status = meta.get("exit_status")
        if status is not None:
            self.runs.append(Run(str(call.args.get("command", "")), int(status)))
        self.paths.update(dict.fromkeys(meta.get("files_changed") or ()))
        self.todos = meta.get("todos", self.todos)
        outcome = "failed" if result.is_error else "ok"
        self.steps.append(f"{call.name} {_subject(call)}: {outcome}")

    @classmethod
    def resumed(cls, turns: int, newest_text: str, effects: Iterable[Mapping[str, Any]]) -> Tally:
        """Take up the count of an interrupted run. Its tokens were counted then and are not counted again."""
        tally = cls(turns=turns, newest_text=newest_text)
        for each in effects:
            tally.runs += [Run(command, status) for command, status in each.get("runs", ())]
            tally.paths.update(dict.fromkeys(each.get("files_changed", ())))
            tally.todos = each.get("todos", tally.todos)
        return tally

    def files_changed(self, workspace: Path) -> tuple[FileChange, ...]:
        """Give every file the agent's tools wrote, with the hash of what is there now."""
        return tuple(FileChange(path, _hash(workspace / path)) for path in self.paths)

    def command_count(self) -> CommandCount:
        """Give the number of shell commands and of those that failed."""
        return CommandCount(len(self.runs), sum(run.status != 0 for run in self.runs))

    def digest(self) -> str:
        """Say what is known where the agent never wrote a word."""
        if not self.steps:
            return "The agent ended without a report and before it ran any tool."
        left_out = len(self.steps) - _DIGEST_LINES
        newest = self.steps[-_DIGEST_LINES:]
        head = f"The agent ended without a report. It ran {counted(len(self.steps), 'tool call')}"
        more = f" (the first {left_out} left out)" if left_out > 0 else ""
        return "\n".join([f"{head}{more}:", *(f"- {step}" for step in newest)])


def _denied(call: ToolCall, decision: Decision) -> DeniedCall:
    return DeniedCall(call.id, call.name, decision.rule, decision.reason)


def _subject(call: ToolCall) -> str:
    for key in ("path", "command", "pattern", "subagent_type"):
        if value := call.args.get(key):
            return str(value).splitlines()[0][:80]
    return ""


def _hash(path: Path) -> str | None:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None

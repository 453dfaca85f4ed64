"""Judging past calls by other rules: what would be refused now that ran, and what would run that was refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from decurion.hooks import RunRef, ToolCall
from decurion.hooks.rules import Law, Places

from .select import Record, Skipped, all_records

REDACTED = "[redacted:"


@dataclass(frozen=True, slots=True)
class Change:
    """One call that another verdict would meet. `rule` is the one that decides now, or decided then."""

    record: Record
    before: str
    after: str
    rule: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """What a replay found. `unsure` counts calls whose arguments were partly removed as secrets."""

    calls: int = 0
    changes: list[Change] = field(default_factory=list[Change])
    unsure: int = 0
    skipped: Skipped = field(default_factory=Skipped)

    def by(self, field: str) -> Counter[str]:
        """Count the changes by a field of their records, or by `rule`."""
        return Counter(
            change.rule if field == "rule" else str(change.record.get(field)) for change in self.changes
        )


def replay(path: Path, law: Law) -> Outcome:
    """Judge every recorded call by a law, without running anything.

    Calls refused by something other than the law (a person, another hook) are judged as well; a verdict of ask counts
    as its own kind. Paths are taken as they were in the session's folder.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    outcome, places = Outcome(), _places(str(Path.cwd()))
    for record in all_records(path, outcome.skipped):
        if record["event"] == "session_start":
            places = _places(str(record.get("cwd") or places.workspace))
            continue
        if isinstance(record.get("workspace"), str):  # by `decurion hook`, which stands anew in each call
            places = _places(record["workspace"], str(record.get("cwd") or ""))
        if record["event"] in {"planned", "refused"} and isinstance(record.get("input"), dict):
            _judge(record, law, places, outcome)
    return outcome


def _judge(record: Record, law: Law, places: Places, outcome: Outcome) -> None:
    outcome.calls += 1
    call = ToolCall(str(record.get("tool_use_id")), str(record.get("tool_name")), record["input"])
    ref = RunRef(
        str(record["session_id"]),
        str(record.get("agent_id")),
        str(record.get("agent_type") or "lead"),
        record.get("parent_id"),
        int(record.get("depth") or 0),
        int(record.get("turn") or 0),
    )
    decision = law.judge_call(call, ref, places)
    before = _word(record.get("decision"), refused=record["event"] == "refused")
    after = decision.verdict.word
    outcome.unsure += REDACTED in str(record["input"])
    if before != after:
        rule = decision.rule if after != "allow" else record.get("rule")
        outcome.changes.append(
            Change(record, before, after, str(rule or decision.by or "-"), decision.reason)
        )


def _word(decision: object, *, refused: bool) -> str:
    if decision == "ask":
        return "ask"
    return "deny" if refused else "allow"


def _places(folder: str, cwd: str = "") -> Places:
    return Places(workspace=folder, cwd=cwd or folder, home=str(Path.home()))

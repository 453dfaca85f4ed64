"""Verification in words."""

from __future__ import annotations

import re
from pathlib import Path

import click
import orjson

from decurion.hooks import UsageError, as_dict
from decurion.hooks.audit import Report
from decurion.hooks.counts import counted

from ..screen import visible

_EXPECTED = re.compile(r"(\d+):([0-9a-f]{64})")


def parse_expected(text: str | None) -> tuple[int, str] | None:
    """Read `SEQ:HASH`.

    Raises:
        UsageError: it is not of that form.
    """
    if not text:
        return None
    found = _EXPECTED.fullmatch(text)
    if not found:
        raise UsageError("--expect takes a record's number and hash, as verify prints them: 812:9f86d08…")
    return int(found[1]), found[2]


def as_text(report: Report) -> str:
    """Give a verdict and what was found, one thing a line."""
    verdict = (
        click.style("verified", fg="green", bold=True)
        if report.ok
        else click.style("DAMAGED", fg="red", bold=True)
    )
    state = {"sealed": "sealed by its session_end", "open": "still open", "empty": "empty"}[report.state]
    lines = [
        f"{verdict}  {report.path}",
        f"  {counted(report.records, 'record')}, {state}; newest {report.last_seq}:{report.last_hash}",
    ]
    for number, problem in enumerate(report.problems):
        place = f"{Path(problem.file).name} line {problem.line}, " if problem.line else ""
        first = "first bad record: " if number == 0 else ""
        lines.append(f"  {first}{problem.kind}, {place}record {problem.seq}: {visible(problem.message)}")
    if report.open_calls or report.open_agents:
        lines.append(
            f"  {counted(report.open_calls, 'call')} and {counted(report.open_agents, 'agent')} "
            "began and did not end (running, or a crash)"
        )
    if report.interrupted:
        lines.append(f"  {counted(report.interrupted, 'call was', 'calls were')} broken off, and marked so")
    if report.signed_to:
        lines.append(f"  signed up to record {report.signed_to}")
    lines += [f"  note: {visible(note)}" for note in report.notes]
    return "\n".join(lines)


def as_json(report: Report) -> bytes:
    """Give everything as one JSON object."""
    problems = [as_dict(problem) for problem in report.problems]
    return orjson.dumps({"ok": report.ok, **as_dict(report), "problems": problems})

"""Logs to test with: a lead and some subagents at work, as a real session writes them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from decurion.hooks import RunRef
from decurion.hooks.audit import AuditLog

SESSION = "5e551011-0000-4000-8000-000000000001"
LEAD = RunRef(SESSION, "lead", "lead", None, 0, 1)


def child(number: int, turn: int = 1) -> RunRef:
    return RunRef(SESSION, f"agent-{number}", "general", "lead", 1, turn, f"toolu_task_{number}")


def open_log(path: Path, **options: Any) -> AuditLog:
    return AuditLog.open(path, session_id=SESSION, policy_sha256="ab" * 32, enforcement="boundary", **options)


def call(log: AuditLog, ref: RunRef, name: str, command: str, output: str = "ok\n") -> None:
    """Write what one allowed call writes."""
    log.write(
        ref,
        "planned",
        tool_name="bash",
        tool_use_id=name,
        decision="allow",
        by="law",
        input={"command": command},
    )
    log.write(
        ref,
        "done",
        tool_name="bash",
        tool_use_id=name,
        output=output,
        exit_status=0,
        duration_ms=12.5,
    )


def refuse(log: AuditLog, ref: RunRef, name: str, command: str) -> None:
    """Write what one refused call writes."""
    log.write(
        ref,
        "refused",
        tool_name="bash",
        tool_use_id=name,
        decision="deny",
        rule="no-root-wipe",
        by="law",
        reason="removes everything; name the folder you mean",
        input={"command": command},
    )


def write_session(path: Path, agents: int = 3, calls: int = 5, *, end: bool = True, **options: Any) -> Path:
    """Write a whole session: a lead, its children, their calls, some refused, model requests, the end."""
    rng = random.Random(agents * 1000 + calls)
    with open_log(path, **options) as log:
        log.write(LEAD, "session_start", source="startup", model="m-1")
        log.write(LEAD, "agent_start")
        for number in range(agents):
            log.write(child(number), "agent_start", description=f"part {number}")
        for turn in range(calls):
            for number in rng.sample(range(agents), agents):
                _turn(log, number, turn)
        for number in range(agents):
            log.write(child(number), "agent_end", status="completed", turns=calls)
        log.write(LEAD, "agent_end", status="completed", turns=1)
        if end:
            log.write(LEAD, "session_end", reason="completed")
    return path


def _turn(log: AuditLog, number: int, turn: int) -> None:
    ref = child(number, turn + 1)
    request(log, ref, f"msg_{number}_{turn}")
    call(log, ref, f"toolu_{number}_{turn}", f"pytest tests/part_{number} -k 'case {turn} ü'")
    if turn == 1:
        refuse(log, ref, f"toolu_{number}_bad", "rm -rf /")


def request(log: AuditLog, ref: RunRef, name: str) -> None:
    log.write(
        ref,
        "model_request",
        id=name,
        model="claude-sonnet-4-5",
        stop_reason="tool_use",
        seconds=1.25,
        input_tokens=3,
        output_tokens=81,
        cache_creation_input_tokens=1000,
        cache_read_input_tokens=5000,
    )


def write_many(log: AuditLog, number: int, count: int) -> None:
    """Write numbered records as one agent; every hundredth is big."""
    for index in range(count):
        text = "x" * (100_000 if index % 100 == 99 else 40)
        log.write(child(number), "note", tool_use_id=f"{number}-{index}", input={"text": text}, index=index)

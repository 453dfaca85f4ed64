"""A real lead and a real subagent try the canary through the whole installed chain; the log must show each try."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from decurion.agents.model import ModelRequest, Progress, Reply, Usage
from decurion.hooks import HOOK_FAILED
from decurion.hooks.audit import session_dir

from ..options import LawOptions
from ..orchestrator import Orchestrator
from .canary import CONTROL, SPELLINGS, Canary
from .finding import Finding, verdict


class CanaryModel:
    """A model that tries every spelling, hands the same to a subagent, and reports. Nothing leaves the process."""

    name = "doctor"

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:  # noqa: ARG002 - the protocol's
        """Play the next step of the script, told from the history alone."""
        step = sum(message["role"] == "assistant" for message in request.messages)
        depth = request.ref.depth
        if request.tool_choice == "auto" and step == 0:
            calls = [_call(f"d{depth}n{at}", "bash", command=text) for at, text in enumerate(_tries())]
            return _reply(calls, "tool_use")
        if request.tool_choice == "auto" and step == 1 and depth == 0:
            return _reply(
                [_call("d0task", "task", description="Try the canary.", subagent_type="general")], "tool_use"
            )
        return _reply([{"type": "text", "text": "Every spelling was tried."}], "end_turn")

    async def aclose(self) -> None:
        """Hold nothing."""


def _tries() -> tuple[str, ...]:
    return (*SPELLINGS, CONTROL)


def _call(identity: str, name: str, **args: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{identity}", "name": name, "input": args}


def _reply(content: list[dict[str, Any]], stop_reason: str) -> Reply:
    return Reply("msg_doctor", "doctor", tuple(content), stop_reason, Usage(1, 1), {})


async def check_agents(canary: Canary) -> tuple[Finding, ...]:
    """Run the session and read its log.

    Raises:
        DecurionError: the session could not start, which is itself a diagnosis.
    """
    canary.forget()
    boss = Orchestrator(canary.workspace, CanaryModel(), law=LawOptions(rules_file=str(canary.rules)))
    finished = await boss.run("Try the canary.")
    path = f"{session_dir(str(canary.workspace), finished.session_id)}/audit.jsonl"
    with open(path, encoding="utf-8") as file:  # noqa: ASYNC230, PTH123 - the run is over
        records = [json.loads(line) for line in file]
    return (_judged(0, "lead", records, canary), _judged(1, "subagent", records, canary))


def _judged(depth: int, who: str, records: list[dict[str, Any]], canary: Canary) -> Finding:
    failures = ["the canary ran"] if canary.got_through else []
    details: list[str] = []
    for at, text in enumerate(_tries()):
        mine = [
            one for one in records if one["tool_use_id"] == f"toolu_d{depth}n{at}" and one["depth"] == depth
        ]
        events = [one["event"] for one in mine if one["event"] != "hook_failed"]
        if text == CONTROL:
            failures += [] if events == ["planned", "done"] else [f"`{CONTROL}` did not pass: {_why(mine)}"]
        elif events != ["refused"] or mine[-1]["rule"] in {None, HOOK_FAILED}:
            failures.append(f"`{text}`: {', '.join(events) or 'no record'} ({_why(mine)})")
        else:
            details.append(f"refused by {mine[-1]['rule']}: {text}")
    return verdict(
        who, failures, f"{len(SPELLINGS)} spellings of the canary refused and recorded", tuple(details)
    )


def _why(records: list[dict[str, Any]]) -> str:
    reasons = [one["reason"] for one in records if one.get("reason")]
    return " / ".join(reasons) or "no reason recorded"

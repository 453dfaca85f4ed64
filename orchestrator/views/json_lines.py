"""`--output-format json|stream-json`: the field names of Claude Code's headless output.

First `system`/`init`, then `assistant` and `user` messages (a subagent's carry `parent_tool_use_id`), `system`
subtypes for tasks and retries, and last one `result`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from decurion.agents.history import result_block
from decurion.agents.moments import (
    AgentFinished,
    AgentStarted,
    CallChanged,
    Moment,
    Notice,
    Replied,
    ResultsReady,
    Waiting,
)
from decurion.agents.result import usage_json

if TYPE_CHECKING:
    from ..session import Finished

SUBTYPES = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "budget": "error_max_budget_usd",
    "timeout": "error_timeout",
}
"""How the statuses of the result contract read in a `result` message; the rest is `error_during_execution`."""


class StreamJson:
    """Writes every moment as one JSON object through `write`."""

    def __init__(self, write: Callable[[Mapping[str, Any]], None], session_id: str) -> None:
        self._write = write
        self._session_id = session_id

    def init(self, fields: Mapping[str, Any]) -> None:
        """Write the first message, with `cwd`, `model`, `tools`, `agents` and `permission_mode`."""
        self._send("system", subtype="init", **fields)

    def __call__(self, moment: Moment) -> None:
        """Take in one moment."""
        match moment:
            case Replied(ref, reply, _):
                message = {
                    "id": reply.id,
                    "type": "message",
                    "role": "assistant",
                    "model": reply.model,
                    "content": [dict(block) for block in reply.content],
                    "stop_reason": reply.stop_reason,
                    "usage": usage_json(reply.usage),
                }
                self._send(
                    "assistant", message=message, parent_tool_use_id=ref.parent_call_id, agent_id=ref.agent_id
                )
            case ResultsReady(ref, results, reminders):
                content = [dict(result_block(result)) for result in results]
                content += [{"type": "text", "text": text} for text in reminders]
                message = {"role": "user", "content": content}
                self._send(
                    "user", message=message, parent_tool_use_id=ref.parent_call_id, agent_id=ref.agent_id
                )
            case _:
                self._system(moment)

    def _system(self, moment: Moment) -> None:
        match moment:
            case AgentStarted(ref, title, _, model) if ref.depth:
                self._send(
                    "system",
                    subtype="task_started",
                    task_id=ref.agent_id,
                    tool_use_id=ref.parent_call_id,
                    description=title,
                    subagent_type=ref.agent_type,
                    model=model,
                )
            case AgentFinished(ref, result) if ref.depth:
                self._send(
                    "system",
                    subtype="task_notification",
                    task_id=ref.agent_id,
                    tool_use_id=ref.parent_call_id,
                    status=result.status,
                    summary=result.summary,
                    usage=usage_json(result.usage),
                )
            case CallChanged(ref, call, "refused"):
                self._send(
                    "system",
                    subtype="permission_denied",
                    tool_name=call.name,
                    tool_use_id=call.id,
                    agent_id=ref.agent_id,
                )
            case Waiting(ref, seconds, why):
                self._send(
                    "system",
                    subtype="api_retry",
                    agent_id=ref.agent_id,
                    retry_delay_ms=round(seconds * 1000),
                    error=why,
                )
            case Notice(text, level):
                self._send("system", subtype="notice", message=text, level=level)
            case _:
                pass

    def _send(self, kind: str, **fields: Any) -> None:
        self._write({"type": kind, **fields, "session_id": self._session_id, "uuid": str(uuid.uuid4())})


def result_message(finished: Finished, duration_ms: int) -> dict[str, Any]:
    """Give the last message: what the lead reported, and what the whole session used."""
    lead, cost = finished.lead, finished.cost_usd
    return {
        "type": "result",
        "subtype": SUBTYPES.get(lead.status, "error_during_execution"),
        "is_error": lead.status != "completed",
        "status": lead.status,
        "result": lead.summary,
        "error": lead.error,
        "num_turns": lead.turns,
        "duration_ms": duration_ms,
        "total_cost_usd": None if cost is None else round(cost, 6),
        "usage": usage_json(finished.usage),
        "permission_denials": [
            {"tool_name": d.tool_name, "tool_use_id": d.tool_use_id, "rule": d.rule, "reason": d.reason}
            for d in finished.denied
        ],
        "subagents": [result.as_json() for result in finished.subagents],
        "session_id": finished.session_id,
        "uuid": str(uuid.uuid4()),
        **finished.extra(),
    }

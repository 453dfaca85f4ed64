"""From records to spans with OpenTelemetry's GenAI names: sessions, agents, tools, model calls.

Names follow open-telemetry/semantic-conventions-genai. Content (arguments, prompts) is left out unless asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from .select import Record

PROVIDER = "anthropic"
_INPUT_CLASSES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
REFUSING = frozenset({"refused", "malformed"})


@dataclass(slots=True)
class Span:
    """One span; times are nanoseconds since 1970, `end` is 0 while it is open."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int = 0
    kind: str = "internal"
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""


class SpanMaker:
    """Turns records, in order, into spans; gives each when it ends.

    Args:
        content: whether arguments and prompts become attributes.
        trace_id: 32 hex digits of a trace to join; by default one is made of the session id.
        parent_id: 16 hex digits of the span above the session.
    """

    def __init__(self, *, content: bool = False, trace_id: str = "", parent_id: str = "") -> None:
        self._content, self._trace, self._above = content, trace_id, parent_id
        self.open: dict[tuple[str, ...], Span] = {}

    def feed(self, record: Record) -> Iterator[Span]:
        """Take one record; give the spans that end with it."""
        event = record["event"]
        if event == "session_start" and ("session", record["session_id"]) not in self.open:
            self._session(record)
        elif event == "agent_start":
            self._agent(record)
        elif event == "planned":
            self._begin(("call", *_agent_key(record), str(record.get("tool_use_id"))), self._tool(record))
        elif event == "done":
            yield from self._done(record)
        elif event in REFUSING:
            yield self._refused(record)
        elif event == "model_request":
            yield self._model(record)
        elif event == "agent_end":
            yield from self._close(("agent", *_agent_key(record)), record)
        elif event == "session_end":
            yield from self._close_all(record)

    def finish(self) -> Iterator[Span]:
        """Give what is still open, ended now and marked; for logs whose writer is not there any more."""
        for key in list(self.open):
            span = self.open.pop(key)
            span.error = span.error or "not ended in the log"
            yield span

    def _session(self, record: Record) -> None:
        session = str(record["session_id"])
        span = self._span(record, "session", session, parent=self._above, name="invoke_workflow decurion")
        span.attributes.update(
            {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.workflow.name": "decurion",
                "decurion.policy_sha256": record.get("policy_sha256"),
                "decurion.enforcement": record.get("enforcement"),
            }
        )
        self.open["session", session] = span

    def _agent(self, record: Record) -> None:
        kind = str(record.get("agent_type") or "")
        span = self._span(
            record, *_agent_key(record), parent=self._parent_of(record), name=f"invoke_agent {kind}"
        )
        span.attributes.update(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.description": record.get("reason"),
                "gen_ai.request.model": record.get("model"),
            }
        )
        if self._content and record.get("input"):
            span.attributes["gen_ai.input.messages"] = orjson.dumps(record["input"]).decode()
        self.open["agent", *_agent_key(record)] = span

    def _parent_of(self, record: Record) -> str:
        """An agent stands below the `task` call that spawned it, else below its parent, else below the session."""
        session, call = str(record["session_id"]), record.get("parent_call_id")
        parent = str(record.get("parent_id"))
        for key in (("call", session, parent, str(call)), ("agent", session, parent), ("session", session)):
            if key in self.open:
                return self.open[key].span_id
        return self._above

    def _tool(self, record: Record) -> Span:
        tool, key = str(record.get("tool_name")), _agent_key(record)
        owner = self.open.get(("agent", *key)) or self.open.get(("session", key[0]))
        span = self._span(
            record, *key, str(record.get("tool_use_id")), str(record["seq"]),
            parent=owner.span_id if owner else self._above, name=f"execute_tool {tool}",
        )  # fmt: skip
        span.attributes.update(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": record.get("tool_use_id"),
                "gen_ai.tool.type": "function",
                "decurion.decision": record.get("decision"),
                "decurion.rule": record.get("rule"),
                "decurion.by": record.get("by"),
            }
        )
        if self._content and record.get("input") is not None:
            span.attributes["gen_ai.tool.call.arguments"] = orjson.dumps(record["input"]).decode()
        return span

    def _done(self, record: Record) -> Iterator[Span]:
        span = self.open.pop(("call", *_agent_key(record), str(record.get("tool_use_id"))), None)
        if span is None:
            return
        span.end = nanoseconds(record["ts"])
        span.attributes["decurion.exit_status"] = record.get("exit_status")
        if record.get("is_error"):
            span.error = span.attributes["error.type"] = "tool_error"
        yield _bare(span)

    def _refused(self, record: Record) -> Span:
        span = self._tool(record)
        span.end = span.start
        span.error = span.attributes["error.type"] = record["event"]
        span.attributes["decurion.reason"] = record.get("reason")
        return _bare(span)

    def _model(self, record: Record) -> Span:
        key = _agent_key(record)
        owner = self.open.get(("agent", *key)) or self.open.get(("session", key[0]))
        model = record.get("model")
        span = self._span(
            record,
            *key,
            str(record["seq"]),
            parent=owner.span_id if owner else self._above,
            name=f"chat {model}",
        )
        span.kind, span.end = "client", span.start
        span.start -= int(float(record.get("seconds") or 0) * 1e9)
        span.attributes.update(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": model,
                "gen_ai.response.model": model,
                "gen_ai.response.id": record.get("id"),
                "gen_ai.response.finish_reasons": [record["stop_reason"]]
                if record.get("stop_reason")
                else None,
                "gen_ai.usage.input_tokens": input_tokens(record),
                "gen_ai.usage.output_tokens": record.get("output_tokens"),
                "gen_ai.usage.cache_read.input_tokens": record.get("cache_read_input_tokens"),
                "gen_ai.usage.cache_creation.input_tokens": record.get("cache_creation_input_tokens"),
            }
        )
        return _bare(span)

    def _begin(self, key: tuple[str, ...], span: Span) -> None:
        self.open[key] = span

    def _close(self, key: tuple[str, ...], record: Record) -> Iterator[Span]:
        span = self.open.pop(key, None)
        if span is None:
            return
        span.end = nanoseconds(record["ts"])
        status = str(record.get("status") or record.get("reason") or "")
        span.attributes["decurion.status"] = status
        if status not in {"", "completed"}:
            span.error = span.attributes["error.type"] = status
        yield _bare(span)

    def _close_all(self, record: Record) -> Iterator[Span]:
        session = str(record["session_id"])
        for key in [key for key in self.open if key[1] == session and key[0] != "session"]:
            yield from self._close(key, record)
        yield from self._close(("session", session), record)

    def _span(self, record: Record, *identity: str, parent: str, name: str) -> Span:
        session = str(record["session_id"])
        attributes = {
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.conversation.id": session,
            "gen_ai.agent.id": record.get("agent_id"),
            "gen_ai.agent.name": record.get("agent_type"),
        }
        start = nanoseconds(record["ts"])
        return Span(
            self._trace or _hex(16, session),
            _hex(8, session, *identity),
            parent,
            name,
            start,
            attributes=attributes,
        )


def spans(records: Iterable[Record], *, content: bool = False) -> Iterator[Span]:
    """Turn a whole log into spans."""
    maker, last = SpanMaker(content=content), 0
    for record in records:
        last = nanoseconds(record["ts"])
        yield from maker.feed(record)
    for span in maker.finish():
        span.end = last
        yield _bare(span)


def input_tokens(record: Record) -> int:
    """Add up what went into a reply: the conventions count cached tokens too, the Messages API counts them apart."""
    return sum(int(record.get(name) or 0) for name in _INPUT_CLASSES)


def nanoseconds(ts: str) -> int:
    """Turn a record's time into nanoseconds since 1970."""
    when = datetime.fromisoformat(ts)
    return int(when.timestamp()) * 1_000_000_000 + when.microsecond * 1000


def _agent_key(record: Record) -> tuple[str, str]:
    return str(record["session_id"]), str(record.get("agent_id"))


def _hex(size: int, *parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[: size * 2]


def _bare(span: Span) -> Span:
    span.attributes = {name: value for name, value in span.attributes.items() if value is not None}
    return span

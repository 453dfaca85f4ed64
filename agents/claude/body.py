"""The bytes of one request: what changes from turn to turn is joined to what was encoded before."""

from __future__ import annotations

from typing import Any

import orjson

from ..history import History
from ..model import ModelRequest, ToolSpec
from ..texts import clean
from .settings import ClientSettings

MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
KEPT_CALLS = 6  # newest calls whose results the API is not to clear
REMEMBERED = 256  # pairs of tools and system: one for each type of agent, few even in a large session


class BodyBuilder:
    """Builds the bodies of one client; remembers the encoded tools and system of each type of agent."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._fixed: dict[tuple[int, str], tuple[tuple[ToolSpec, ...], bytes]] = {}

    def build(self, request: ModelRequest, history: History, model: str, *, stream: bool) -> bytes:
        """Give the body. The same request gives the same bytes, so a retry repeats them.

        Raises:
            ValueError: the history has open calls or no message.
        """
        fields = self._fields(request, model)
        if stream:
            fields["stream"] = True
        if self._settings.switches.diagnostics and history.last_reply_id:
            fields["diagnostics"] = {"previous_message_id": history.last_reply_id}
        before = b'%b%b,"messages":' % (orjson.dumps(fields)[:-1], self.fixed(request))
        return history.encode(before, b"}", cached=self._settings.switches.cache)

    def _fields(self, request: ModelRequest, model: str) -> dict[str, Any]:
        settings = self._settings
        fields: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens}
        if request.tool_choice == "none" and request.tools:
            fields["tool_choice"] = {"type": "none"}
        thinking, effort = request.thinking or settings.thinking, request.effort or settings.effort
        if settings.switches.thinking and thinking:
            fields["thinking"] = dict(thinking)
            fields["max_tokens"] += thinking.get("budget_tokens", 0)  # the answer keeps its own room
        if settings.switches.thinking and effort:
            fields["output_config"] = {"effort": effort}
        if settings.clear_above:
            fields["context_management"] = {"edits": [_clearing(settings.clear_above)]}
        fields |= settings.extra_body
        if request.compact:
            fields["compaction"] = {"type": "summarize"}
            fields.pop("context_management", None)  # the API takes only one of the two
        return fields

    def count(self, request: ModelRequest, history: History) -> bytes:
        """Give a body for `count_tokens`: what is sent, without what says how to answer.

        Raises:
            ValueError: as `build`.
        """
        before = b'{"model":%b%b,"messages":' % (orjson.dumps(request.model), self.fixed(request))
        return history.encode(before, b"}", cached=False)

    def fixed(self, request: ModelRequest) -> bytes:
        """Tools and system, each with its mark, as the middle of a body."""
        key = (id(request.tools), request.system)
        known = self._fixed.get(key)
        if known is not None and known[0] is request.tools:
            return known[1]
        encoded = self._encode_fixed(request)
        if len(self._fixed) >= REMEMBERED:
            self._fixed.clear()
        self._fixed[key] = (request.tools, encoded)
        return encoded

    def _encode_fixed(self, request: ModelRequest) -> bytes:
        mark = MARK if self._settings.switches.cache else {}
        encoded = b""
        if request.tools:
            tools = [_tool(spec) for spec in request.tools]
            tools[-1] |= mark
            encoded += b',"tools":' + orjson.dumps(tools)
        if request.system.strip():
            system: Any = clean(request.system)
            encoded += b',"system":' + orjson.dumps(
                [{"type": "text", "text": system, **mark}] if mark else system
            )
        return encoded


def _clearing(tokens: int) -> dict[str, Any]:
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": tokens},
        "keep": {"type": "tool_uses", "value": KEPT_CALLS},
    }


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": clean(spec.description),
        "input_schema": dict(spec.input_schema),
    }

"""One request as it arrived, with what a script wants to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request: header names are lower case, `body` is the parsed JSON object ({} where there is none)."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes = b""
    body: Json = field(default_factory=dict[str, Any])
    at: float = 0.0
    """When it arrived, in seconds of the server's event loop clock."""

    @property
    def messages(self) -> list[Json]:
        """The history sent."""
        return self.body.get("messages", [])

    @property
    def turn(self) -> int:
        """How many replies the history holds: 0 for the first request of an agent."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def task(self) -> str:
        """The text of the first user message."""
        return text_of(self.messages[0]) if self.messages else ""

    @property
    def system(self) -> str:
        """The text of the system prompt."""
        system = self.body.get("system", "")
        return system if isinstance(system, str) else "\n".join(block["text"] for block in system)

    @property
    def last(self) -> str:
        """The text of the newest message, tool results included."""
        return text_of(self.messages[-1]) if self.messages else ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools offered."""
        return tuple(tool["name"] for tool in self.body.get("tools", ()))

    @property
    def streaming(self) -> bool:
        """Whether the client wants server-sent events."""
        return bool(self.body.get("stream"))


def text_of(message: Mapping[str, Any]) -> str:
    """All text of a message, that of tool results included."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_text_of_block(block) for block in content)))


def _text_of_block(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return block["text"]
    if block["type"] == "tool_result":
        return text_of({"content": block.get("content", "")})
    return ""

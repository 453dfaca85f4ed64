"""The seam between the agent loop and whatever answers: one method, plain data in, a reply out.

The real client is `agents.claude`, the scripted one `agents.offline`; both speak the Messages API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from decurion.hooks import RunRef, ToolCall

Block = Mapping[str, Any]
"""One content block of a message as on the wire; plain data, never changed after it is made."""

Message = Mapping[str, Any]
"""One message as on the wire: `role` and `content` (a list of blocks); never changed once appended."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, or a sum of replies, in the four classes that are priced apart."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    @property
    def context_tokens(self) -> int:
        """How much of the window the request and its reply took."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: its name, its description, its JSON schema (an object schema)."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call needs. `messages` is the history, oldest first."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: Sequence[Message]
    max_tokens: int
    ref: RunRef
    tool_choice: Literal["auto", "none"] = "auto"
    effort: str = ""
    """Level for this agent; empty: the client's own setting. `thinking`, as on the wire, likewise."""
    thinking: Mapping[str, Any] | None = None
    compact: bool = False
    """Ask for a `compaction` block that sums the history up, in place of a reply. Not every endpoint offers it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One accepted reply. `content` holds the blocks as they came (thinking unchanged).

    `stop_reason` is the API's word; a stream that ended without one never becomes a Reply.
    `malformed` names calls whose arguments were not a JSON object, with what was wrong; they never run.
    """

    id: str
    model: str
    content: tuple[Block, ...]
    stop_reason: str
    usage: Usage
    malformed: Mapping[str, str]

    @property
    def text(self) -> str:
        """All text of the reply."""
        return "".join(str(block["text"]) for block in self.content if block["type"] == "text")

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order, malformed ones included (with empty arguments)."""
        return tuple(
            ToolCall(block["id"], block["name"], block["input"] if block["id"] not in self.malformed else {})
            for block in self.content
            if block["type"] == "tool_use"
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person may see while a reply comes in: `text` deltas, a tool's name, or a wait for a retry."""

    kind: Literal["text", "thinking", "tool", "retry", "slowdown"]
    text: str = ""
    seconds: float = 0.0


class Model(Protocol):
    """Answers requests. Safe to share between all agents of a session."""

    name: str

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
        """Answer one request, retries included.

        Raises:
            ModelError: by name of what happened (see `agents.errors`); the history is unchanged then.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...

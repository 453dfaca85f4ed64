"""The values that cross every border: a tool call, its result, and who made it."""

from __future__ import annotations

from .frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@frozen
class RunRef:
    """Who acts: one agent of one session at one turn. Stands in every event and every log record."""

    session_id: str
    agent_id: str
    agent_type: str
    parent_id: str | None = None
    depth: int = 0
    turn: int = 0
    parent_call_id: str | None = None
    """The id of the parent's `task` call that spawned this agent; None for the lead."""


@frozen
class ToolCall:
    """One call of a tool as the model asked for it. `args` is the parsed JSON object, never changed."""

    id: str
    name: str
    args: Mapping[str, Any]


@frozen
class ToolResult:
    """What came back from one call.

    `content` is text, or a tuple of wire blocks (`{"type": "text"|"image", …}`) where a tool returns images.
    `meta` goes to the log and to the result contract, never to the model; known keys: `exit_status` (int),
    `files_changed` (list of workspace-relative paths), `full_output` (path of the uncut text).
    """

    call_id: str
    content: str | tuple[Mapping[str, Any], ...]
    is_error: bool = False
    meta: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of the result, image blocks left out."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block["text"]) for block in self.content if block.get("type") == "text")

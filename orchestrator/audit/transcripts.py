"""The messages beside the log: what an agent was told and what it said.

A transcript holds everything, secrets that a tool printed included, for a session goes on from it. The file is its
owner's alone; what is shown of it here is cleaned like the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from decurion.hooks import UsageError
from decurion.hooks.audit import Redactor

from ..screen import visible
from .text import brief

Message = dict[str, Any]


def find_transcript(log: Path, agent: str) -> Path:
    """Find an agent's transcript beside a log, by its id or the only id that begins so.

    Raises:
        UsageError: there is none; says which there are.
    """
    folder = log.parent
    known = {path.stem: path for path in sorted((folder / "subagents").glob("*.jsonl"))}
    if (folder / "transcript.jsonl").is_file():
        known = {"lead": folder / "transcript.jsonl", **known}
    if agent in known:
        return known[agent]
    fitting = [path for name, path in known.items() if name.startswith(agent)]
    if len(fitting) == 1:
        return fitting[0]
    there = f"there are: {', '.join(known)}" if known else "this session has none"
    raise UsageError(f"No transcript of {agent!r}; {there}")


def messages(path: Path, turn: int | None = None) -> Iterator[Message]:
    """Give the messages of a transcript, secrets taken out; half a line of a crash is passed over."""
    clean = Redactor().clean
    with path.open("rb") as file:
        for raw in file:
            try:
                message: Any = orjson.loads(raw.strip(b"\0 \r\n"))
            except orjson.JSONDecodeError:
                continue
            if turn is None or message.get("turn") == turn:
                yield clean(message)


def message_text(message: Any) -> str:
    """Give one line of a transcript as text: who speaks, then each block."""
    if message.get("type") == "system":
        return f"── {visible(str(message.get('subtype')))} ──"
    told: Any = message.get("message") or Message()
    head = f"── turn {message.get('turn')} · {visible(str(message.get('type')))} · {str(message.get('timestamp'))[11:19]} ──"
    return "\n".join([head, *(_block(block) for block in _blocks(told.get("content")))])


def _blocks(content: Any) -> list[Any]:
    if hasattr(content, "append"):
        return content
    return [{"type": "text", "text": str(content or "")}]


def _block(block: Any) -> str:
    kind = block.get("type")
    if kind == "text":
        return "\n".join(visible(part) for part in str(block.get("text")).splitlines())
    if kind == "tool_use":
        return f"→ {visible(str(block.get('name')))} {brief(block.get('input'), 400)}  [{visible(str(block.get('id')))}]"
    if kind == "tool_result":
        text = "\n".join(str(part.get("text", "")) for part in _blocks(block.get("content")))
        return f"← {brief(text, 400)}  [{visible(str(block.get('tool_use_id')))}]"
    return f"[{visible(str(kind))}]"

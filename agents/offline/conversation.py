"""A request read as a conversation: the task, the calls made so far with their results, and what is asked now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..history import INTERRUPTED_MAYBE, INTERRUPTED_NOT_RUN, INTERRUPTED_UNDONE
from ..messages_api import Request
from .wording import Order, read_order

ASIDE = re.compile(r"<(reminder|context|summary|state)>.*?</\1>", re.DOTALL)
GO_ON = re.compile(
    r"(?:please )?(?:go on|continue|resume|proceed|carry on|your (?:reply|context)|the context window)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call and what came back."""

    name: str
    args: Mapping[str, Any]
    result: str
    is_error: bool
    turn: int
    """Which reply made the call, counted from 0."""

    @property
    def path(self) -> str:
        """The file it was about, where it names one."""
        return str(self.args.get("path", ""))

    @property
    def refused(self) -> bool:
        """Whether the law, and not the tool, said no."""
        return self.is_error and self.result.startswith("Refused:")

    @property
    def interrupted(self) -> bool:
        """Whether nobody knows what came of it, for the session ended meanwhile and was resumed."""
        return self.is_error and self.result in (INTERRUPTED_MAYBE, INTERRUPTED_NOT_RUN, INTERRUPTED_UNDONE)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the scripted model goes by: nothing but the request decides its reply."""

    task: str
    exchanges: tuple[Exchange, ...]
    tools: Mapping[str, Mapping[str, Any]]
    """The schemas of the tools offered, by name."""
    silenced: bool
    """Tools are switched off: this reply is to be a text."""
    said: tuple[str, ...]
    """The lines of the agent's own texts so far, and of a summary that stands for earlier ones."""
    turn: int

    def of(self, *names: str) -> tuple[Exchange, ...]:
        """The calls of some tools that came to an end, in order."""
        return tuple(one for one in self.exchanges if one.name in names and not one.interrupted)

    def about(self, path: str) -> tuple[Exchange, ...]:
        """What was read of a file, and all edits of it: one that was interrupted may have been made."""
        mine = [one for one in self.exchanges if one.path == path]
        return tuple(
            one
            for one in mine
            if one.name == "edit_file" or (one.name == "read_file" and not one.interrupted)
        )


def read_conversation(request: Request) -> Conversation:
    """Read a request. What was said and done before the newest task is past."""
    choice: Any = request.body.get("tool_choice") or {}
    start, task = _newest_task(request)
    return Conversation(
        task=task,
        exchanges=tuple(_exchanges(request, start)),
        tools={tool["name"]: tool.get("input_schema", {}) for tool in request.body.get("tools", ())},
        silenced=choice.get("type") == "none",
        said=tuple(_said(request, start)),
        turn=request.turn,
    )


def _newest_task(request: Request) -> tuple[int, str]:
    """Find the message that gave the task now worked on: the first, or a later order of the person."""
    for place in range(len(request.messages) - 1, 0, -1):
        message = request.messages[place]
        if message["role"] != "user":
            continue
        said = [block["text"] for block in _blocks(message) if block["type"] == "text"]
        text = _without_asides("\n".join(said))
        only_said = len(said) == len(_blocks(message))
        if text and (isinstance(read_order(text), Order) or (only_said and not GO_ON.match(text))):
            return place, text
    return 0, _without_asides(request.task)


def _without_asides(text: str) -> str:
    """Leave out what the program adds to a person's words: reminders, context, summaries, the state of things."""
    return ASIDE.sub("", text).strip()


def _exchanges(request: Request, start: int) -> list[Exchange]:
    found: list[Exchange] = []
    opened: dict[str, tuple[Mapping[str, Any], int]] = {}
    turn = -1
    for place, message in enumerate(request.messages):
        turn += message["role"] == "assistant"
        if place < start:
            continue
        for block in _blocks(message):
            if block["type"] == "tool_use":
                opened[block["id"]] = block, turn
            elif block["type"] == "tool_result" and block["tool_use_id"] in opened:
                call, made = opened.pop(block["tool_use_id"])
                found.append(
                    Exchange(call["name"], call["input"], _text(block), bool(block.get("is_error")), made)
                )
    return found


def _said(request: Request, start: int) -> list[str]:
    summary = re.search(r"<summary>\n(.*?)</summary>", request.task, re.DOTALL) if start == 0 else None
    texts = [summary[1]] if summary else []
    for message in request.messages[start:]:
        if message["role"] == "assistant":
            texts += [block["text"] for block in _blocks(message) if block["type"] == "text"]
    return [line for text in texts for line in text.splitlines()]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content: Any = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(result: Mapping[str, Any]) -> str:
    content = result.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text")

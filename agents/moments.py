"""What a person may watch: the stream of moments that views, output formats and tests read.

A closed union of small values; every one names its agent by `ref`. Nobody who listens can change anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from decurion.hooks import RunRef, ToolCall, ToolResult

from .model import Reply, Usage
from .result import SubagentResult
from .tools import TodoItem

CallState = Literal["started", "done", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """An agent begins; `title` says in a few words what it is to do."""

    ref: RunRef
    title: str
    max_turns: int | None
    model: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A request goes out. `ref.turn` counts from 1."""

    ref: RunRef


@dataclass(frozen=True, slots=True)
class TextArrived:
    """Some text of the reply came in."""

    ref: RunRef
    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request will be repeated in `seconds`, or is held back so long; `why` says what happened."""

    ref: RunRef
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Replied:
    """A reply was accepted. `total` is the agent's usage so far."""

    ref: RunRef
    reply: Reply
    total: Usage


@dataclass(frozen=True, slots=True)
class CallChanged:
    """One tool call took a step."""

    ref: RunRef
    call: ToolCall
    state: CallState


@dataclass(frozen=True, slots=True)
class ResultsReady:
    """The results of one reply's calls, in call order, and what was said after them."""

    ref: RunRef
    results: tuple[ToolResult, ...]
    reminders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """An agent's todo list was replaced."""

    ref: RunRef
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """An agent has ended."""

    ref: RunRef
    result: SubagentResult


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know: hooks not run for lack of trust, a repaired log, an unused definition."""

    text: str
    level: Literal["info", "warning"] = "warning"


Moment = (
    AgentStarted
    | TurnStarted
    | TextArrived
    | Waiting
    | Replied
    | CallChanged
    | ResultsReady
    | TodosChanged
    | AgentFinished
    | Notice
)

Listener = Callable[[Moment], None]


def ignore(_moment: Moment) -> None:
    """Listen to nothing."""

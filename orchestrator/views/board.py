"""The state of a session as a person sees it: pure bookkeeping over moments, drawn by whoever likes."""

from __future__ import annotations

from dataclasses import dataclass, field

from decurion.agents.moments import (
    AgentFinished,
    AgentStarted,
    CallChanged,
    Moment,
    Notice,
    Replied,
    TextArrived,
    TodosChanged,
    TurnStarted,
    Waiting,
)
from decurion.agents.tools import TodoItem
from decurion.hooks import RunRef, ToolCall

from ..screen import cut

_SUBJECT_CHARS = 60


@dataclass(slots=True)
class AgentLine:
    """One agent. `state` is `thinking`, `running`, `waiting` or, at the end, the status of its result."""

    ref: RunRef
    title: str
    max_turns: int | None
    state: str = "thinking"
    turn: int = 0
    tokens: int = 0
    calls: int = 0
    refused: int = 0
    doing: dict[str, str] = field(default_factory=dict[str, str])
    note: str = ""

    @property
    def over(self) -> bool:
        """Whether the agent has ended."""
        return self.state not in ("thinking", "running", "waiting")

    @property
    def turns(self) -> str:
        """`turn n/30`, or `turn n` where there is no cap."""
        return f"turn {self.turn}/{self.max_turns}" if self.max_turns else f"turn {self.turn}"


class Board:
    """All agents of a session, the lead's todo list, and what was refused."""

    def __init__(self) -> None:
        self.agents: dict[str, AgentLine] = {}
        self.todos: tuple[TodoItem, ...] = ()
        self.notices: list[str] = []
        self.said = ""
        """The newest text of the lead's reply."""

    def apply(self, moment: Moment) -> None:
        """Take in one moment."""
        if isinstance(moment, Notice):
            self.notices.append(moment.text)
            return
        if isinstance(moment, AgentStarted):
            self.agents[moment.ref.agent_id] = AgentLine(moment.ref, moment.title, moment.max_turns)
            return
        if line := self.agents.get(moment.ref.agent_id):
            self._update(line, moment)

    def _update(self, line: AgentLine, moment: Moment) -> None:
        match moment:
            case TurnStarted(ref):
                line.turn, line.state, line.note = ref.turn, "thinking", ""
            case TextArrived(ref, text):
                self.said = self.said + text if not ref.depth else self.said
            case Waiting(_, seconds, why):
                line.state, line.note = "waiting", f"{why}, {seconds:.0f} s"
            case Replied(ref, _, total):
                line.tokens = total.context_tokens
                self.said = "" if not ref.depth else self.said
            case CallChanged(_, call, state):
                _change_call(line, call, state)
            case TodosChanged(ref, items):
                self.todos = items if not ref.depth else self.todos
            case AgentFinished(_, result):
                line.state, line.turn = result.status, result.turns
                line.doing.clear()
            case _:
                pass


def _change_call(line: AgentLine, call: ToolCall, state: str) -> None:
    if state == "started":
        line.state = "running"
        line.calls += 1
        line.doing[call.id] = f"{call.name} {subject(call)}".rstrip()
        return
    line.doing.pop(call.id, None)
    line.refused += state == "refused"
    if not line.doing and line.state == "running":
        line.state = "thinking"


def subject(call: ToolCall) -> str:
    """Say in a few words what a call is about."""
    for key in ("title", "path", "command", "pattern", "name", "description"):
        value = call.args.get(key)
        if isinstance(value, str) and value.strip():
            return cut(" ".join(value.split()), _SUBJECT_CHARS)
    return ""

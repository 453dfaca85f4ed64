"""Plain lines for pipes, files and terminals without a screen: what happened, one line each, as it happens."""

from __future__ import annotations

from collections.abc import Callable

from decurion.agents.moments import (
    AgentFinished,
    AgentStarted,
    CallChanged,
    Moment,
    Notice,
    ResultsReady,
    TodosChanged,
    Waiting,
)
from decurion.agents.tools import TodoStore
from decurion.hooks import RunRef
from decurion.hooks.counts import counted

from ..screen import cut, on_screen
from .board import subject


class PlainLines:
    """Writes each moment a person cares about through `write`, one line (a todo list: several)."""

    def __init__(self, write: Callable[[str], None], *, verbose: bool = False) -> None:
        self._write = write
        self._verbose = verbose

    def __call__(self, moment: Moment) -> None:
        """Take in one moment."""
        for line in self._lines(moment):
            self._write(on_screen(line).rstrip())

    def _lines(self, moment: Moment) -> list[str]:  # noqa: PLR0911 - one return a kind reads best
        match moment:
            case AgentStarted(ref, title, _, model) if ref.depth:
                return [f"{_who(ref)} started: {title} ({model})"]
            case AgentFinished(ref, result) if ref.depth:
                how = f"{result.status} after {counted(result.turns, 'turn')}"
                return [f"{_who(ref)} {how}: {_first_line(result.summary)}"]
            case CallChanged(ref, call, "refused"):
                return [f"{_who(ref)} REFUSED {call.name} {subject(call)}"]
            case CallChanged(ref, call, "started") if self._verbose or not ref.depth:
                return [f"{_who(ref)} {call.name} {subject(call)}"]
            case ResultsReady(ref, results, _):
                failed = [result.text for result in results if result.is_error]
                return [f"{_who(ref)}   {_first_line(text)}" for text in failed]
            case TodosChanged(ref, items) if not ref.depth:
                return ["plan:", *(f"  {line}" for line in TodoStore(items).render().splitlines() if line)]
            case Waiting(ref, seconds, why):
                return [f"{_who(ref)} waits {seconds:.1f} s: {why}"]
            case Notice(text):
                return [text]
            case _:
                return []


def _who(ref: RunRef) -> str:
    return f"[{ref.agent_id}]"


def _first_line(text: str) -> str:
    return cut(text.strip().partition("\n")[0], 160)

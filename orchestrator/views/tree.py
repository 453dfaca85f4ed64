"""The live view on a terminal: the tree of agents, the lead's plan beside it, drawn with rich."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from decurion.agents.moments import Moment, Notice

from .board import AgentLine, Board

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_STYLES = {"completed": "green", "blocked": "yellow", "cancelled": "yellow", "max_turns": "yellow"}
_SHOWN_AGENTS = 24
"""Agents drawn at once: what is over is folded first, so that a session of hundreds fits a screen."""


_CUT: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis"}

Mark = Callable[[AgentLine], RenderableType]
"""Gives the moving mark of an agent at work."""


class LiveTree:
    """Draws the board while a session runs, and once more at its end. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self.board = Board()
        self._console = console
        self._spinners: dict[str, Spinner] = {}
        self._live = Live(
            get_renderable=self._draw,
            console=console,
            refresh_per_second=10,
            transient=False,
            redirect_stdout=False,
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Leave the terminal to somebody who asks a question, then draw on."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def __call__(self, moment: Moment) -> None:
        """Take in one moment; warnings stay on the screen above the tree."""
        self.board.apply(moment)
        if isinstance(moment, Notice):
            style = "yellow" if moment.level == "warning" else "dim"
            self._live.console.print(Text(moment.text, style=style))

    def _draw(self) -> RenderableType:
        return draw(self.board, self._spinner)

    def _spinner(self, line: AgentLine) -> RenderableType:
        return self._spinners.setdefault(line.ref.agent_id, Spinner("dots", style="cyan"))


def draw(board: Board, spinner: Mark | None = None) -> RenderableType:
    """Draw a board; `spinner(line)` gives the moving mark of an agent at work."""
    lead = next((line for line in board.agents.values() if not line.ref.depth), None)
    if lead is None:
        return Text("starting …", style="dim")
    tree = Tree(_row(lead, spinner), guide_style="dim")
    children = [line for line in board.agents.values() if line.ref.depth]
    shown = _folded(children)
    for line in shown:
        tree.add(_row(line, spinner))
    if hidden := len(children) - len(shown):
        tree.add(Text(f"and {hidden} more that are done", style="dim"))
    parts: list[RenderableType] = [tree]
    if board.todos:
        parts += [Text(""), _todos(board)]
    if board.said.strip():
        parts.append(Text("\n" + board.said.strip()[-400:], style="dim italic"))
    return Group(*parts)


def _folded(children: list[AgentLine]) -> list[AgentLine]:
    over = [line for line in children if line.over]
    room = max(0, _SHOWN_AGENTS - (len(children) - len(over)))
    kept = {line.ref.agent_id for line in over[max(0, len(over) - room) :]} if room else set[str]()
    return [line for line in children if not line.over or line.ref.agent_id in kept]


def _row(line: AgentLine, spinner: Mark | None) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    # Columns that may not wrap shrink alike, and the mark would go first; so the texts say it of themselves.
    for width in (1, None, None):
        row.add_column(width=width)
    row.add_row(_mark(line, spinner), _name(line), _details(line))
    return row


def _mark(line: AgentLine, spinner: Mark | None) -> RenderableType:
    if not line.over:
        return spinner(line) if spinner else Text("…", style="cyan")
    return Text("✓" if line.state == "completed" else "!", style=_STYLES.get(line.state, "red"))


def _name(line: AgentLine) -> Text:
    name = Text(line.ref.agent_id if line.ref.depth else "lead", style="bold", **_CUT)
    return name.append(f"  {line.title.splitlines()[0][:48] if line.title else ''}", style="not bold")


def _details(line: AgentLine) -> Text:
    parts = [line.turns, f"{_short(line.tokens)} tokens"]
    if line.refused:
        parts.append(f"{line.refused} refused")
    text = Text(" · ".join(parts), style="dim", **_CUT)
    doing = line.note or next(iter(line.doing.values()), "")
    more = f" (+{len(line.doing) - 1})" if len(line.doing) > 1 else ""
    state = line.state if line.over or not doing else doing + more
    return text.append(f"  {state}", style=_STYLES.get(line.state, "red" if line.over else "cyan"))


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)


def _todos(board: Board) -> Text:
    text = Text()
    for item in board.todos:
        style = {"completed": "dim", "in_progress": "bold cyan"}.get(item.status, "")
        now = f" <- {item.active_form}" if item.status == "in_progress" and item.active_form else ""
        text.append(f"{_MARKS[item.status]} {item.content}{now}\n", style=style)
    return text

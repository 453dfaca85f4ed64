"""The live view on a terminal: the tree of agents, the lead's plan below it, drawn with rich.

Everything is cut to the screen: texts to its width, what is over to its height, so that agents at work and the plan
stay in sight. What models wrote is spelt out where a terminal would obey it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from decurion.agents.moments import Moment, Notice
from decurion.agents.tools import TodoItem

from ..screen import on_a_line, on_screen
from .board import AgentLine, Board

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_TODO_STYLES = {"completed": "dim", "in_progress": "bold cyan"}
_STYLES = {"completed": "green", "blocked": "yellow", "cancelled": "yellow", "max_turns": "yellow"}
_SAID_LINES = 3
_LEAST_TEXT = 15
"""Columns for what an agent does, however narrow the screen is."""


class Size(NamedTuple):
    """How much room there is, in columns and rows."""

    width: int
    height: int = 48

    @property
    def wide(self) -> bool:
        """Whether a task stands beside what is being done, and not behind it."""
        return self.width >= 110

    @property
    def narrow(self) -> bool:
        """Whether there is no room for what an agent used."""
        return self.width < 60


Mark = Callable[[AgentLine], RenderableType]
"""Gives the moving mark of an agent at work."""


class LiveTree:
    """Draws the board from `start` on, and once more at the end."""

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

    def start(self) -> None:
        """Begin to draw."""
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Draw the end, and leave the terminal."""
        self._live.stop()
        self._console.print()

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
            self._live.console.print(Text(on_screen(moment.text), style=style))

    def _draw(self) -> RenderableType:
        width, height = self._console.size
        return draw(self.board, Size(width, height), self._spinner)

    def _spinner(self, line: AgentLine) -> RenderableType:
        return self._spinners.setdefault(line.ref.agent_id, Spinner("dots", style="cyan"))


def draw(board: Board, size: Size, spinner: Mark | None = None) -> RenderableType:
    """Draw a board; `spinner(line)` gives the moving mark of an agent at work."""
    lead = next((line for line in board.agents.values() if not line.ref.depth), None)
    if lead is None:
        return Text("starting …", style="dim")
    plan = _plan(board.todos, max(4, size.height // 2))
    said = wrap(on_a_line(board.said)[-_SAID_LINES * size.width :], size.width)[-_SAID_LINES:]
    children = [line for line in board.agents.values() if line.ref.depth]
    # A row each for the lead, the count of the hidden and the cursor; a blank one above the plan and the words.
    shown = _folded(children, size.height - 3 - len(plan) - bool(plan) - len(said) - bool(said))
    parts: list[RenderableType] = [_tree(lead, shown, len(children) - len(shown), size, spinner)]
    if plan:
        parts += ["", *plan]
    if said:
        parts += ["", *(Text(line, style="dim italic") for line in said)]
    return Group(*parts)


def _folded(children: list[AgentLine], room: int) -> list[AgentLine]:
    """Give those at work, and as many of those that are over as there is room for, the newest first to stay."""
    over = [line for line in children if line.over]
    room = max(0, room - (len(children) - len(over)))
    kept = {line.ref.agent_id for line in over[max(0, len(over) - room) :]} if room else set[str]()
    return [line for line in children if not line.over or line.ref.agent_id in kept]


def _tree(
    lead: AgentLine, children: list[AgentLine], hidden: int, size: Size, spinner: Mark | None
) -> RenderableType:
    table = Table.grid(padding=(0, 1), expand=True)
    # No column may squeeze out another: what is fixed has its width, and the texts share the rest.
    name = max(len(line.ref.agent_id) for line in (lead, *children)) + len("├─ ✓ ")
    table.add_column(width=min(name, size.width - _LEAST_TEXT))
    for ratio in (3, 4) if size.wide else (1,):
        table.add_column(ratio=ratio, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    last = len(children) - 1 if not hidden else None
    guides = ["", *("└─" if place == last else "├─" for place in range(len(children)))]
    for guide, line in zip(guides, (lead, *children), strict=True):
        table.add_row(_head(line, guide, spinner), *_texts(line, size), _used(line, size))
    if not hidden:
        return table
    return Group(table, Text(f"└─ and {hidden} more that are done", style="dim"))


def _head(line: AgentLine, guide: str, spinner: Mark | None) -> RenderableType:
    head = Table.grid(padding=(0, 1, 0, 0))
    if guide:
        head.add_column(width=2, style="dim")
    head.add_column(width=1)
    head.add_column(no_wrap=True, overflow="ellipsis", style="bold")
    cells = (guide, _mark(line, spinner), line.ref.agent_id if line.ref.depth else "lead")
    head.add_row(*(cells if guide else cells[1:]))
    return head


def _mark(line: AgentLine, spinner: Mark | None) -> RenderableType:
    if not line.over:
        return spinner(line) if spinner else Text("…", style="cyan")
    return Text("✓" if line.state == "completed" else "!", style=_style(line))


def _texts(line: AgentLine, size: Size) -> tuple[Text, ...]:
    """Give what the agent does and what it is for: beside each other, or in that order where room is scarce."""
    title = Text(on_a_line(line.title.partition("\n")[0]), style="" if size.wide else "dim")
    refused = Text(f"{line.refused} refused, " if line.refused else "", style="yellow")
    now = Text.assemble(refused, (_now(line), _style(line)))
    return (title, now) if size.wide else (Text.assemble(now, "  ", title),)


def _now(line: AgentLine) -> str:
    doing = line.note or next(iter(line.doing.values()), "")
    if line.over or not doing:
        return line.state
    several = f"{len(line.doing)} at once: " if len(line.doing) > 1 else ""
    return several + on_a_line(doing)


def _used(line: AgentLine, size: Size) -> Text:
    if size.narrow:
        return Text()
    tokens = f"{line.tokens / 1000:.1f}k" if line.tokens >= 1000 else str(line.tokens)
    return Text(f"{line.turns}  {tokens:>6} {'tokens' if size.wide else 'tok'}", style="dim")


def _style(line: AgentLine) -> str:
    return _STYLES.get(line.state, "red" if line.over else "cyan")


def _plan(items: tuple[TodoItem, ...], room: int) -> list[Text]:
    """Give the plan in as many rows as there is room for; what is done is counted first, then what comes last."""
    lines = [_item(item) for item in items]
    done = next((place for place, item in enumerate(items) if item.status != "completed"), 0)
    if len(lines) > room and done > 1:
        lines = [Text(f"[x] {done} completed", style="dim"), *lines[done:]]
    if len(lines) > room:
        lines = [*lines[: room - 1], Text(f"    and {len(lines) - room + 1} more", style="dim")]
    return lines


def _item(item: TodoItem) -> Text:
    now = f" <- {item.active_form}" if item.status == "in_progress" and item.active_form else ""
    style = _TODO_STYLES.get(item.status, "")
    return Text(
        f"{_MARKS[item.status]} {on_a_line(item.content + now)}",
        style=style,
        no_wrap=True,
        overflow="ellipsis",
    )

"""What a person sees of a campaign: a bar with the time left (or plain lines), and a table at the end."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table

from ..git.run import shown
from .ledger import Entry, Ledger

MARKS = {"done": "[green]done[/]", "failed": "[red]failed[/]", "skipped": "[dim]skipped[/]"}


class View:
    """Shows how entries move on, on standard error; a bar where that is a terminal."""

    def __init__(self, ledger: Ledger, *, quiet: bool = False) -> None:
        self.ledger, self.quiet = ledger, quiet
        self.console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def start(self) -> None:
        """Begin to show."""
        if self.quiet or not self.console.is_terminal:
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=self.console)
        self._task = self._bar.add_task("campaign", total=len(self.ledger.entries), completed=self._through())
        self._bar.start()

    def stop(self) -> None:
        """Leave the screen in good order."""
        if self._bar is not None:
            self._bar.stop()

    def changed(self, entry: Entry) -> None:
        """Take in that an entry moved on."""
        if self._bar is not None and self._task is not None:
            running = self.ledger.count("running", "checked")
            self._bar.update(self._task, completed=self._through(), description=f"{running} running")
            if entry.state == "failed":
                told = f"{_names(entry)}: {first_line(entry.reason)}"
                self._bar.console.print(f"[red]failed[/] {escape(told)}")
        elif not self.quiet:
            tail = f": {first_line(entry.reason)}" if entry.reason else ""
            count = f"{self._through()}/{len(self.ledger.entries)}"
            print(f"[{count}] {entry.state} {_names(entry)} (attempt {entry.attempt}){tail}", file=sys.stderr)

    def _through(self) -> int:
        return self.ledger.count("done", "failed", "skipped")


def table(entries: tuple[Entry, ...]) -> Table:
    """The final table: every group, how it ended, what it took."""
    made = Table(Column("target", overflow="fold"), "state", "attempts", "files", "cost", "time", "reason")
    for entry in entries:
        made.add_row(
            escape(_names(entry)),
            MARKS.get(entry.state, entry.state),
            str(entry.attempt or ""),
            str(len(entry.files) or ""),
            "?" if entry.usd is None else f"${entry.usd:.4f}" if entry.usd else "",
            f"{entry.seconds:.1f} s" if entry.seconds else "",
            escape(first_line(entry.reason)),
        )
    return made


def first_line(text: str) -> str:
    """The first line of a reason, bounded."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 100 else f"{line[:99]}…"


def _names(entry: Entry) -> str:
    first = shown(entry.targets[0])
    return first if len(entry.targets) == 1 else f"{first} +{len(entry.targets) - 1}"

"""Where a session's moments and its end go: one class for each way `decurion run` prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self

import anyio
import click
import orjson

from decurion.agents.dispatch import Approve, nobody
from decurion.agents.moments import AgentStarted, Listener, Notice
from decurion.agents.result import SubagentResult
from decurion.hooks.audit import Redactor
from decurion.hooks.counts import counted

from ..naming import program
from ..screen import can_draw, on_screen
from ..session import ENFORCEMENT, Finished, Session
from ..stdin import is_person
from .asking import terminal_approver
from .json_lines import StreamJson, result_message
from .lines import PlainLines

if TYPE_CHECKING:
    from .tree import LiveTree

DRAWN_AFTER = 0.1
"""Seconds from an open session until its first request is under way, and drawing may take its time to load."""

_HOW = {
    "max_turns": "stopped at the limit of turns",
    "budget": "stopped at the budget",
    "timeout": "stopped at the limit of time",
    "blocked": "blocked by policy",
    "refused": "the model refused",
    "context": "stopped at the limit of the context window",
    "error": "failed",
    "cancelled": "interrupted",
}
"""How a lead ended that did not complete, in words."""


@contextmanager
def open_output(output_format: str, *, quiet: bool, verbose: bool) -> Generator[Output]:
    """Give the output of one session; a live picture is taken off the screen at the end.

    `quiet` and `verbose` say how much of the format `text` is shown: the result alone, or every call of every agent.
    """
    if output_format == "stream-json":
        yield _Stream()
    elif output_format == "json":
        yield _Json()
    elif quiet:
        yield _Quiet()
    elif can_draw():
        with _Tree() as tree:
            yield tree
    else:
        clean = known_secrets().clean_text
        yield _Text(PlainLines(lambda line: click.echo(clean(line), err=True), verbose=verbose))


class Output:
    """Takes in what happens. The base prints the result's text, and warnings on stderr."""

    approve: Approve = staticmethod(nobody)
    """Who is asked about calls whose verdict is `ask`."""

    def listen(self, moment: Any) -> None:
        """Take in one moment. That hooks are not in force, say, is told however little else is."""
        if isinstance(moment, Notice) and moment.level == "warning":
            click.echo(f"decurion: {on_screen(moment.text)}", err=True)

    def opened(self, session: Session) -> None:
        """Learn that the session is open and its first request about to be sent."""

    async def draw(self) -> None:
        """Begin to draw, once the first request is under way."""

    def close(self, finished: Finished, started: float) -> None:  # noqa: ARG002 - others show the time spent
        """Print the end; `started` is when, by the monotonic clock, in seconds."""
        if finished.lead.status != "completed":
            click.echo(f"decurion: {on_screen(_ended(finished.lead))}", err=True)
        if not _never_began(finished):
            click.echo(on_screen(finished.lead.summary) if sys.stdout.isatty() else finished.lead.summary)


class _Quiet(Output):
    """The result's text alone; where the work lies is said all the same."""

    def close(self, finished: Finished, started: float) -> None:
        super().close(finished, started)
        if finished.branch:
            click.echo(f"decurion: the work is in branch {finished.branch}", err=True)


class _Text(Output):
    """Plain lines on stderr while it goes, the report on stdout."""

    def __init__(self, listen: Listener, approve: Approve = nobody) -> None:
        self._listen = listen
        self.approve = approve

    def listen(self, moment: Any) -> None:
        self._listen(moment)

    def close(self, finished: Finished, started: float) -> None:
        super().close(finished, started)
        if not _never_began(finished):
            click.echo(_footer(finished, started), err=True)


class _Tree(_Text):
    """The live tree. What draws it takes as long to load as all else of ours, so it comes after the first request."""

    def __init__(self) -> None:
        super().__init__(self._wait, terminal_approver(self._paused) if is_person() else nobody)
        self._early: list[Any] = []
        self._tree: LiveTree | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if any(isinstance(moment, AgentStarted) for moment in self._early):
            self._shown()
        if self._tree:
            self._tree.stop()
        for moment in self._early:
            Output.listen(self, moment)

    async def draw(self) -> None:
        await anyio.sleep(DRAWN_AFTER)
        self._shown()

    def _wait(self, moment: Any) -> None:
        self._early.append(moment)

    def _shown(self) -> LiveTree:
        if self._tree is None:
            from rich.console import Console

            from .tree import LiveTree

            self._listen = self._tree = LiveTree(Console(stderr=True))
            self._tree.start()
            early, self._early = self._early, []
            for moment in early:
                self._tree(moment)
        return self._tree

    def _paused(self) -> AbstractContextManager[None]:
        return self._shown().paused()


class _Json(Output):
    """One JSON object at the end."""

    def __init__(self) -> None:
        self._secrets = known_secrets()

    def close(self, finished: Finished, started: float) -> None:
        self._write(result_message(finished, round((time.monotonic() - started) * 1000)))

    def _write(self, value: Mapping[str, Any]) -> None:
        """Write one object as one line on stdout, at once, known secrets taken out."""
        cleaned = self._secrets.clean(value)
        sys.stdout.buffer.write(orjson.dumps(cleaned, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()


class _Stream(_Json):
    """One JSON object for each moment, and the same at the end. What comes before the session is open goes to stderr."""

    def __init__(self) -> None:
        super().__init__()
        self._stream: StreamJson | None = None

    def opened(self, session: Session) -> None:
        self._stream = StreamJson(self._write, session.id)
        policy = {"policy_sha256": session.law.law.digest, "enforcement": ENFORCEMENT}
        self._stream.init({**session.describe(), **policy})

    def listen(self, moment: Any) -> None:
        if self._stream:
            self._stream(moment)
        else:
            super().listen(moment)


def known_secrets() -> Redactor:
    """Give what takes out of the output, which others keep, what is surely a secret; nothing is guessed there."""
    return Redactor(guess=False)


def _never_began(finished: Finished) -> bool:
    """Whether no reply ever came (a wrong key, an unknown model): all there is to say is the error then."""
    return finished.lead.status == "error" and not finished.lead.turns and not finished.subagents


def _ended(lead: SubagentResult) -> str:
    """Say in one line how the lead ended."""
    if lead.error and not lead.turns:
        return lead.error
    how = _HOW.get(lead.status, lead.status)
    detail = f": {lead.error}" if lead.error and lead.error != how else ""
    return f"{how} after {counted(lead.turns, 'turn')}{detail}"


def _footer(finished: Finished, started: float) -> str:
    """Give the lines after a session: what it used, and where to look further."""
    cost = "cost unknown" if finished.cost_usd is None else f"${finished.cost_usd:.4f}"
    used = (
        counted(len(finished.subagents), "subagent"),
        counted(finished.usage.context_tokens, "token"),
        cost,
        f"{len(finished.denied)} refused",
        f"{time.monotonic() - started:.1f} s",
    )
    audit = f"{program()} audit"
    return f"\n{' · '.join(used)}\n{audit} show {finished.session_id}\n{audit} verify {finished.session_id}"

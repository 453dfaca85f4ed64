"""One session from the command line: view, signals, output, exit code."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import anyio
import click
import orjson

from decurion.agents.dispatch import Approve, nobody
from decurion.agents.groups import task_group
from decurion.agents.moments import AgentStarted, Listener, Notice
from decurion.agents.result import SubagentResult
from decurion.hooks.audit import Redactor
from decurion.hooks.counts import counted

from .naming import program
from .options import SessionOptions
from .screen import can_draw, on_screen
from .session import ENFORCEMENT, Finished, Session, open_session
from .signals import until_signal
from .stdin import is_person
from .views import PlainLines, StreamJson, result_message, terminal_approver

if TYPE_CHECKING:
    from .views.tree import LiveTree

FIRST_REQUEST = 0.1  # seconds from an open session, after which its first request is under way
EXIT_CODES = {
    "completed": 0,
    "blocked": 3,
    "max_turns": 124,
    "budget": 124,
    "timeout": 124,
    "cancelled": 130,
}
"""Exit codes by the lead's status; every other status is 1."""

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


def run_session(
    options: SessionOptions, prompt: str, output_format: str, *, quiet: bool, verbose: bool = False
) -> int:
    """Run one session and print it in the format asked for; give the exit code.

    Raises:
        DecurionError: the session could not start, or the log or the law failed.
    """
    started = time.monotonic()
    with _output(output_format, quiet=quiet, verbose=verbose) as output:
        options = replace(options, law=replace(options.law, person=output.approve))
        finished, signum = anyio.run(_run, options, prompt, output)
    output.close(finished, started)
    if signum:
        return 128 + signum
    return EXIT_CODES.get(finished.lead.status, 1) if finished.verified is not False else 1


async def _run(options: SessionOptions, prompt: str, output: Output) -> tuple[Finished, int]:
    opened: list[Session] = []

    async def run() -> None:
        async with open_session(options, output.listen) as session:
            opened.append(session)
            gc.freeze()  # what is loaded by now stays; going through it again takes a fifth of a second at the end alone
            gc.enable()
            output.opened(session)
            async with task_group() as group:
                group.start_soon(output.draw)
                await session.run(prompt)
                group.cancel_scope.cancel()

    signum = await until_signal(run)
    finished = opened[0].finished if opened else None
    return finished or not_started(), signum


class Output:
    """Where a session's moments and its end go. The base prints the result's text, and warnings on stderr."""

    approve: Approve = staticmethod(nobody)

    def listen(self, moment: Any) -> None:
        """Take in one moment. That hooks are not in force, say, is told however little else is."""
        if isinstance(moment, Notice) and moment.level == "warning":
            click.echo(f"decurion: {on_screen(moment.text)}", err=True)

    def opened(self, session: Session) -> None:
        """The session is open; its first message goes out in an hour at the latest."""

    async def draw(self) -> None:
        """Begin to draw, once the first request is under way."""

    def close(self, finished: Finished, started: float) -> None:  # noqa: ARG002 - others show the time spent
        """Print the end."""
        if finished.lead.status != "completed":
            click.echo(f"decurion: {on_screen(describe(finished.lead))}", err=True)
        if not never_began(finished):
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
        if not never_began(finished):
            click.echo(footer(finished, started), err=True)


class _Tree(_Text):
    """The live tree. What draws it takes as long to load as all else of ours, so it comes after the first request."""

    def __init__(self) -> None:
        super().__init__(self._wait, terminal_approver(self._paused) if is_person() else nobody)
        self._early: list[Any] = []
        self._tree: LiveTree | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if any(isinstance(moment, AgentStarted) for moment in self._early):
            self._shown()
        if self._tree:
            self._tree.stop()
        for moment in self._early:
            Output.listen(self, moment)

    async def draw(self) -> None:
        await anyio.sleep(FIRST_REQUEST)
        self._shown()

    def _wait(self, moment: Any) -> None:
        self._early.append(moment)

    def _shown(self) -> LiveTree:
        if self._tree is None:
            from rich.console import Console

            from .views.tree import LiveTree

            self._listen = self._tree = LiveTree(Console(stderr=True))
            self._tree.start()
            early, self._early = self._early, []
            for moment in early:
                self._tree(moment)
        return self._tree

    def _paused(self) -> AbstractContextManager[None]:
        return self._shown().paused()


class _Json(Output):
    def __init__(self, *, stream: bool) -> None:
        self._stream: StreamJson | None = None
        self._is_stream = stream
        self._secrets = known_secrets()

    def listen(self, moment: Any) -> None:
        if self._stream:
            self._stream(moment)
        else:
            super().listen(moment)

    def opened(self, session: Session) -> None:
        if self._is_stream:
            self._stream = StreamJson(self._write, session.id)
            self._stream.init(
                {**session.describe(), "policy_sha256": session.law.law.digest, "enforcement": ENFORCEMENT}
            )

    def close(self, finished: Finished, started: float) -> None:
        spent = round((time.monotonic() - started) * 1000)
        self._write(
            result_message(finished.session_id, finished.lead, finished.subagents, spent) | finished.extra()
        )

    def _write(self, value: Mapping[str, Any]) -> None:
        """Write one object as one line on stdout, at once, known secrets taken out."""
        cleaned = self._secrets.clean(value)
        sys.stdout.buffer.write(orjson.dumps(cleaned, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()


@contextmanager
def _output(output_format: str, *, quiet: bool, verbose: bool) -> Generator[Output]:
    if output_format != "text":
        yield _Json(stream=output_format == "stream-json")
    elif quiet:
        yield _Quiet()
    elif can_draw():
        with _Tree() as tree:
            yield tree
    else:
        clean = known_secrets().clean_text
        yield _Text(PlainLines(lambda line: click.echo(clean(line), err=True), verbose=verbose))


def known_secrets() -> Redactor:
    """Give what takes out of the output, which others keep, what is surely a secret; nothing is guessed there."""
    return Redactor(guess=False)


def not_started() -> Finished:
    """Give the end of a session that was stopped before it had begun."""
    lead = SubagentResult("lead", "lead", "cancelled", "Interrupted before it started.", partial=True)
    return Finished("", lead)


def never_began(finished: Finished) -> bool:
    """Whether no reply ever came (a wrong key, an unknown model): all there is to say is the error then."""
    return finished.lead.status == "error" and not finished.lead.turns and not finished.subagents


def describe(result: SubagentResult) -> str:
    """Say in one line how the lead ended."""
    if result.error and not result.turns:
        return result.error
    how = _HOW.get(result.status, result.status)
    detail = f": {result.error}" if result.error and result.error != how else ""
    return f"{how} after {counted(result.turns, 'turn')}{detail}"


def footer(finished: Finished, started: float) -> str:
    """Give the lines after a session: what it used, and where to look further."""
    results = (finished.lead, *finished.subagents)
    usage = sum((result.usage for result in finished.subagents), start=finished.lead.usage)
    costs = [result.cost_usd for result in results]
    cost = "cost unknown" if None in costs else f"${sum(cost or 0 for cost in costs):.4f}"
    refused = sum(len(result.denied) for result in results)
    return (
        f"\n{counted(len(finished.subagents), 'subagent')} · {counted(usage.context_tokens, 'token')} · {cost} · {refused} refused · "
        f"{time.monotonic() - started:.1f} s\n"
        f"{program()} audit show {finished.session_id}\n"
        f"{program()} audit verify {finished.session_id}"
    )

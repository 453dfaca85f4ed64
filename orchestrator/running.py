"""One session from the command line: output, signals, exit code."""

from __future__ import annotations

import gc
import time
from dataclasses import replace

import anyio

from decurion.agents.groups import task_group
from decurion.agents.result import SubagentResult

from .options import SessionOptions
from .session import Finished, Session, open_session
from .signals import until_signal
from .views import Output, open_output

EXIT_CODES = {
    "completed": 0,
    "blocked": 3,
    "max_turns": 124,
    "budget": 124,
    "timeout": 124,
    "cancelled": 130,
}
"""Exit codes by the lead's status; every other status is 1."""


def run_session(
    options: SessionOptions, prompt: str, output_format: str, *, quiet: bool, verbose: bool = False
) -> int:
    """Run one session and print it in the format asked for; give the exit code.

    Raises:
        DecurionError: the session could not start, or the log or the law failed.
    """
    started = time.monotonic()
    with open_output(output_format, quiet=quiet, verbose=verbose) as output:
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
    return finished or _not_started(), signum


def _not_started() -> Finished:
    """Give the end of a session that was stopped before it had begun."""
    lead = SubagentResult("lead", "lead", "cancelled", "Interrupted before it started.", partial=True)
    return Finished("", lead)

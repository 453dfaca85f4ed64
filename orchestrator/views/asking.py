"""Asking the person at the terminal about a call whose verdict is `ask`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import anyio
import click

from decurion.agents.dispatch import Approve
from decurion.hooks import Decision, ToolCall

from .board import subject


def terminal_approver(pause: Callable[[], AbstractContextManager[None]] = nullcontext) -> Approve:
    """Give an approver that asks on the terminal, one question at a time; `pause` stops a live view meanwhile.

    Anything but a clear yes is a no, the end of input too.
    """
    lock = anyio.Lock()

    async def approve(call: ToolCall, decision: Decision) -> bool:
        async with lock:
            with pause():
                click.echo(f"\n{decision.reason}\n  {call.name}: {subject(call)}", err=True)
                # The thread waits on the terminal; a cancelled session leaves it behind instead of waiting for it.
                answer = await anyio.to_thread.run_sync(_answer, abandon_on_cancel=True)
        return answer.strip().lower() in ("y", "yes")

    return approve


def _answer() -> str:
    click.echo("Allow it this once? [y/N] ", nl=False, err=True)
    return sys.stdin.readline()

"""Asking the person at the terminal about a call whose verdict is `ask`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import anyio
import click
import orjson

from decurion.agents.dispatch import Approve
from decurion.hooks import Decision, ToolCall
from decurion.hooks.counts import counted

from ..screen import on_screen

_HEAD, _TAIL = 3_000, 1_000
"""Characters shown of a call that is longer than both together."""


def terminal_approver(pause: Callable[[], AbstractContextManager[None]] = nullcontext) -> Approve:
    """Give an approver that asks on the terminal, one question at a time; `pause` stops a live view meanwhile.

    The question shows the whole call, for nobody can answer for what they do not see. Anything but a clear yes is a
    no, the end of input too.
    """
    lock = anyio.Lock()

    async def approve(call: ToolCall, decision: Decision) -> bool:
        async with lock:
            with pause():
                click.echo(f"\n{on_screen(decision.reason)}\n{question(call)}", err=True)
                # The thread waits on the terminal; a cancelled session leaves it behind instead of waiting for it.
                answer = await anyio.to_thread.run_sync(_answer, abandon_on_cancel=True)
        return answer.strip().lower() in ("y", "yes")

    return approve


def question(call: ToolCall) -> str:
    """Give a call as a person must see it: a command as it stands, other arguments as JSON, nothing left out unsaid."""
    command = call.args.get("command") if call.name == "bash" else None
    text = on_screen(command if isinstance(command, str) else orjson.dumps(dict(call.args)).decode())
    if (more := len(text) - _HEAD - _TAIL) > 0:
        text = f"{text[:_HEAD]}\n… {counted(more, 'character is', 'characters are')} not shown …\n{text[-_TAIL:]}"
    return "\n    ".join([f"  {call.name}:", *text.split("\n")])


def _answer() -> str:
    click.echo("Allow it this once? [y/N] ", nl=False, err=True)
    return sys.stdin.readline()

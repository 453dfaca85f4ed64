"""The tool that runs a shell command."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from signal import Signals
from typing import Annotated, Any

from decurion.hooks import ToolError

from ..texts import NO_OUTPUT
from .capture import Capture, Captured
from .environment import command_environment
from .process import Ended, run_to_end
from .tool import Output, ToolContext, markdown, tool

MAX_ARGUMENT_BYTES = 100_000
"""Linux takes 128 KiB in one argument; a longer command goes into a file."""
SHOWN_PROCESSES = 5


@tool(description=markdown("bash"))
async def bash(
    ctx: ToolContext,
    command: Annotated[str, "The command, in the language of bash"],
    description: Annotated[str, "What it does, in a few words, for the log"] = "",  # noqa: ARG001 - read by the log
    timeout: Annotated[  # noqa: ASYNC109 - the model gives the limit
        float | None, "Time limit in seconds", {"exclusiveMinimum": 0}
    ] = None,
) -> Output:
    """Run a command in a fresh shell at the root of the workspace, to its end or to the time limit."""
    seconds = ctx.limits.command_seconds if timeout is None else timeout
    if seconds > ctx.limits.command_seconds_max:
        raise ToolError(
            f"timeout is in seconds and at most {ctx.limits.command_seconds_max:g}; {seconds:g} was given"
        )
    name = f"command-{secrets.token_hex(6)}"
    script, argv = _argv(command, ctx.scratch / f"{name}.sh")
    capture = Capture(ctx.limits.output_chars, ctx.scratch / f"{name}.txt", ctx.limits.spill_chars)
    environ = command_environment(os.environ, ctx.environ)
    try:
        ended = await run_to_end(argv, ctx.workspace, environ, seconds, capture)
    except OSError as error:
        raise ToolError(_not_started(ctx.workspace, error)) from error
    finally:
        captured = capture.finish()
        if script is not None:
            script.unlink(missing_ok=True)
    return Output(_text(captured, ended, seconds), _meta(captured, ended), is_error=ended.timed_out)


def _argv(command: str, script: Path) -> tuple[Path | None, Sequence[str]]:
    """Return the shell's argument list, and the file that holds the command if it is too long to be an argument."""
    shell = shutil.which("bash")
    if shell is None:
        raise ToolError("bash was not found on PATH; tell the person to install it")
    if "\0" in command:
        raise ToolError("the command holds a NUL character; use printf '\\0' to make one")
    code = command.encode("utf-8")
    start = [shell, "--noprofile", "--norc"]
    if len(code) <= MAX_ARGUMENT_BYTES:
        return None, [*start, "-c", command]
    script.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    script.write_bytes(code)
    return script, [*start, str(script)]


def _not_started(workspace: Path, error: OSError) -> str:
    if not workspace.is_dir():
        return f"the workspace {workspace} no longer exists, so no command can run there"
    return f"the shell could not be started: {error}"


def _text(captured: Captured, ended: Ended, seconds: float) -> str:
    output = captured.text.rstrip("\n")
    shown = output if output.strip() else NO_OUTPUT
    return "\n".join([shown, *(f"[{note}]" for note in _notes(ended, seconds))])


def _notes(ended: Ended, seconds: float) -> Iterator[str]:
    if ended.timed_out:
        yield f"timed out after {seconds:g} s; the command and all its processes were ended"
    elif ended.exit_status:
        yield f"exit status {ended.exit_status}{_signal_name(ended.exit_status)}"
    if ended.left_behind:
        yield f"still running in the background when the command ended, and ended: {_named(ended.left_behind)}"
    if ended.survivors:
        yield f"could not be ended and still running: {_named(ended.survivors)}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_PROCESSES
    return "; ".join(names[:SHOWN_PROCESSES]) + (f" and {more} more" if more > 0 else "")


def _signal_name(status: int) -> str:
    known = {128 + number: name for number, name in ((signal.value, signal.name) for signal in Signals)}
    return f", {known[status]}" if status in known else ""


def _meta(captured: Captured, ended: Ended) -> dict[str, Any]:
    meta: dict[str, Any] = {"exit_status": ended.exit_status}
    if ended.timed_out:
        meta["timed_out"] = True
    if ended.left_behind:
        meta["left_behind"] = list(ended.left_behind)
    if captured.left_out:
        meta["truncated"] = captured.left_out
    if captured.full_output is not None:
        meta["full_output"] = str(captured.full_output)
    return meta

"""Run a person's own command, such as a check or a set-up, in a worktree: bounded, and gone with all its children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from decurion.hooks import DecurionError
from decurion.hooks.process import run_to_end

TIMED_OUT = 124  # what `timeout` reports


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command. `output` is both streams in the order in which they were written."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0

    @property
    def tail(self) -> str:
        """The last lines, for a message: failures stand at the end."""
        return "\n".join(self.output.strip().splitlines()[-40:])[-6000:] or f"exit status {self.code}"


async def run_shell(command: str | Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float) -> Ran:
    """Run a command line (or an argument list) with empty input; a time-out counts as failure."""
    args = ["/bin/sh", "-c", f"exec 2>&1\n{command}"] if isinstance(command, str) else list(command)
    try:
        with anyio.move_on_after(seconds):
            ended = await run_to_end(args, b"", cwd=str(cwd), env=env)
            return Ran(ended.status, ended.stdout.decode("utf-8", "replace"))
    except DecurionError as error:
        return Ran(127, str(error))
    return Ran(TIMED_OUT, f"ended after {seconds:.0f} s")

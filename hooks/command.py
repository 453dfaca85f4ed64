"""Command hooks: programs from settings files, asked over Claude Code's wire format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Literal

import anyio

from .calls import RunRef
from .chain import Hook
from .conditions import may_apply
from .decisions import HOOK_FAILED, Decision
from .errors import HookFailure
from .events import Event, PreToolUse
from .frozen import frozen, replace
from .payload import Surroundings, payload, updated_args
from .process import Ended, run_to_end
from .wire import read_answer

__all__ = ("CommandHook", "Where", "command_hooks")

Where = Callable[[RunRef], Surroundings]
"""Where the agent of an event works; subagents may have worktrees of their own."""

_BACKSTOP = 10.0
"""Seconds that the chain waits longer than the hook's own limit, which reports and cleans up by itself."""

_KEPT_FROM_HOOKS = ("OTEL_",)
"""Environment that is not passed on, as in Claude Code: a hook would report into our telemetry."""

_NEVER_RAN = re.compile(
    r"^\S*python[\d.]*: can't open file |"
    r"^usage: \S*python[\d.]* \[option\]|"
    r"^Can't open perl script |"
    r"^error: Failed to spawn: |"
    r"^(?:\S*/)?(?:[a-z]*sh): (?:\d+: |line \d+: |-c: )*(?:cannot open |can't open |[Ss]yntax error)",
    re.MULTILINE,
)
"""What interpreters that give up with exit status 2 say: Python, Perl, uv, dash and bash."""


@frozen
class CommandHook:
    """One `command` handler of a settings file, as it stands there.

    `command` is text for a shell, or a tuple of words that is started without one. `timeout` is in seconds.
    `advisory` (`"onFailure": "allow"`) means that its failure, and only that, lets the event pass.
    `condition` is the handler's `if`: a permission rule such as `Bash(git push:*)`.
    """

    event: str
    matcher: str
    command: str | tuple[str, ...]
    source: str
    timeout: float = 600.0
    advisory: bool = False
    gate: bool = True
    condition: str = ""
    shell: str = "sh"

    @property
    def name(self) -> str:
        """What reports call it: the command as written, and the file it comes from."""
        text = self.command if isinstance(self.command, str) else " ".join(self.command)
        return f"{text if len(text) <= 80 else text[:77] + '...'} ({self.source})"

    @property
    def argv(self) -> tuple[str, ...]:
        """The words to start it with."""
        return (self.shell, "-c", self.command) if isinstance(self.command, str) else self.command


def command_hooks(configured: Iterable[CommandHook], where: Where) -> tuple[Hook, ...]:
    """Make hooks for the chain of what settings files configure."""
    return tuple(_hook(one, where) for one in configured)


def _hook(configured: CommandHook, where: Where) -> Hook:
    async def run(event: Event) -> Decision | None:
        if not may_apply(configured.condition, event, where(event.ref)):
            return None
        try:
            return await _ask(configured, event, where(event.ref))
        except HookFailure as error:
            if not configured.advisory:
                raise
            detail = {"failure": error.kind, "text": error.text, "advisory": True}
            return Decision(rule=HOOK_FAILED, detail=detail)

    return Hook(
        name=configured.name,
        events=frozenset({configured.event}),
        run=run,
        matcher=configured.matcher,
        kind=_kind(configured),
        timeout=configured.timeout + _BACKSTOP,
    )


def _kind(configured: CommandHook) -> Literal["gate", "observer"]:
    return "gate" if configured.gate else "observer"


async def _ask(configured: CommandHook, event: Event, place: Surroundings) -> Decision | None:
    # Escaped to ASCII: text from files may hold lone surrogates, which no pipe takes.
    stdin = json.dumps(payload(event, place), default=str).encode("ascii")
    try:
        with anyio.fail_after(configured.timeout):
            ended = await run_to_end(configured.argv, stdin, cwd=place.cwd, env=_environment(place))
    except TimeoutError:
        late = f"it took longer than {configured.timeout:g} s and was killed"
        raise HookFailure("time limit", late) from None
    if ended.was_cut and not ended.status:
        raise HookFailure("invalid output", "it wrote more than a megabyte")
    _check_start(configured, ended)
    answer = read_answer(configured.event, ended.status, ended.stdout, ended.stderr)
    if answer is None or answer.updated_args is None or not isinstance(event, PreToolUse):
        return answer
    return replace(answer, updated_args=updated_args(event.call, place.cwd, answer.updated_args))


def _check_start(configured: CommandHook, ended: Ended) -> None:
    """Tell a program that never ran from one that refuses: a missing script is exit status 2 in some interpreters."""
    said = ended.stderr.decode("utf-8", "replace").strip()
    not_found = ended.status in {126, 127} and isinstance(configured.command, str)
    if not_found or (ended.status == 2 and not ended.stdout.strip() and _NEVER_RAN.search(said)):
        raise HookFailure("cannot start", said[-500:])


def _environment(place: Surroundings) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_KEPT_FROM_HOOKS)}
    return kept | {"CLAUDE_PROJECT_DIR": place.project, "DECURION_PROJECT_DIR": place.project}

"""All checks in order, each able to fail without hiding the next."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

from decurion.hooks import DecurionError
from decurion.hooks.counts import counted
from decurion.hooks.settings import Settings, load_settings

from .agents import check_agents
from .canary import Canary, released_canary
from .finding import Finding
from .machine import check_machine
from .programs import check_command_hooks, check_hook_program


async def diagnose(project: Path, *, quick: bool = False) -> AsyncGenerator[Finding]:
    """Check this machine and this project; `quick` leaves the canary out."""
    for finding in check_machine(project):
        yield finding
    settings, findings = _settings(project)
    for finding in findings:
        yield finding
    if quick:
        return
    with released_canary() as canary:
        yield _control(canary)
        try:
            for finding in await check_agents(canary):
                yield finding
        except DecurionError as error:
            yield Finding("fail", "agents", str(error))
        async for finding in check_command_hooks(settings, project, canary):
            yield finding
        async for finding in check_hook_program(project, canary):
            yield finding
        if canary.got_through:
            yield Finding("fail", "canary", "it ran")


def _settings(project: Path) -> tuple[Settings, list[Finding]]:
    try:
        settings = load_settings(project)
    except DecurionError as error:
        return Settings(), [Finding("fail", "settings", str(error))]
    text = f"{counted(len(settings.hooks), 'command hook')}, {len(settings.deny)} deny and {len(settings.ask)} ask permissions"
    notes = [Finding("note", "settings", note) for note in settings.notes]
    return settings, [Finding("ok", "settings", text), *notes]


def _control(canary: Canary) -> Finding:
    """Prove that the canary sings at all: started by hand, it must leave its mark."""
    subprocess.run([str(canary.program)], timeout=10, check=False)
    if not canary.got_through:
        return Finding("fail", "canary", "it leaves no mark even when nothing stops it, so it proves nothing")
    canary.forget()
    return Finding("ok", "canary", "leaves its mark where nothing stops it")

"""The command line: one table of commands, each loaded only when it is asked for.

`decurion --help` shows the table and imports none of them, so it starts in a blink and never loads the SDK.
A command is a click command or group named `command` in `decurion.orchestrator.commands.<name>`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import click

from decurion import __version__
from decurion.hooks.errors import DecurionError


class Entry(NamedTuple):
    """One line of the table: `target` is `module:attribute`, `help` what `decurion --help` says of it."""

    target: str
    help: str


def _entry(name: str, summary: str) -> Entry:
    return Entry(f"decurion.orchestrator.commands.{name}:command", summary)


COMMANDS: dict[str, Entry] = {
    "run": _entry("run", "Give a task to the lead agent in this folder."),
    "demo": _entry("demo", "See a whole delegation on a sample project, offline."),
    "resume": _entry("resume", "Go on with an interrupted session."),
    "apply": _entry("apply", "Put the merged result of a session into this checkout."),
    "undo": _entry("undo", "Take back what a session changed."),
    "campaign": _entry("campaign", "Run one change over many places, each in its own worktree."),
    "agents": _entry("agents", "List the agent definitions found, and those refused and why."),
    "check": _entry("check", "Ask the law about a command without running it."),
    "rules": _entry("rules", "Show, test and edit the rules in force."),
    "hook": _entry("hook", "Judge one tool call of another agent product (JSON on stdin)."),
    "trust": _entry("trust", "Let the hooks configured by this project run."),
    "audit": _entry("audit", "Read the log and prove that nothing was altered."),
    "sessions": _entry("sessions", "List the sessions of this project."),
    "doctor": _entry("doctor", "Check what this machine offers and what is in force."),
}


class LazyGroup(click.Group):
    """A group whose commands stand in `COMMANDS` and are imported when invoked, not when listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Give the commands in the order of the table, which groups them by what they are for."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import one command; None where the table has no such name."""
        entry = COMMANDS.get(cmd_name)
        return load(cmd_name, entry) if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the table itself: click's own version would import every command for its short help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def load(name: str, entry: Entry) -> click.Command:
    """Import the command behind an entry.

    Raises:
        DecurionError: this build has no such module, or what it holds is no click command.
    """
    module_name, _, attribute = entry.target.partition(":")
    if find_spec(module_name) is None:
        raise DecurionError(f"`decurion {name}` is not part of this build (no module {module_name}).")
    command = getattr(import_module(module_name), attribute, None)
    if not isinstance(command, click.Command):
        raise DecurionError(f"`decurion {name}` is broken: {entry.target} is not a command.")
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="decurion", message="%(prog)s %(version)s")
def cli() -> None:
    """Hand large work to isolated subagents, under one law and with one log."""

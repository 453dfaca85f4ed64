"""`decurion hook`: the hook program for other agent products, and its entry in their settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from decurion.hooks import UsageError

from ..given import at_most_one
from ..installation import Change, planned_install, planned_uninstall
from ..stdin import is_person

_PLACES = (
    click.option("--claude", is_flag=True, help="For Claude Code, and products that read its settings."),
    click.option("--user", is_flag=True, help="Your own settings, for all projects (the default)."),
    click.option("--project", is_flag=True, help="This project's settings, shared with others."),
    click.option("--local", is_flag=True, help="Your own settings for this project."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask on a terminal."),
)


def _with_places(function: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_PLACES):
        function = option(function)
    return function


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Judge one tool call of another agent product: its hook event as JSON on standard input.

    Exit status 2, with the reason on standard error and as JSON, refuses. No output and 0 is no objection.
    """
    if context.invoked_subcommand is not None:
        return 0
    from decurion.hooks.program import main

    return main()


@command.command(short_help="Put the hook program into a product's settings.")
@_with_places
def install(*, yes: bool, **place: bool) -> int:
    """Put the hook program into a product's settings: shown first, with a backup."""
    return _carry_out(planned_install(_settings_file(**place)), yes=yes)


@command.command(short_help="Take it out again, exactly.")
@_with_places
def uninstall(*, yes: bool, **place: bool) -> int:
    """Take the hook program out of a product's settings again, exactly."""
    return _carry_out(planned_uninstall(_settings_file(**place)), yes=yes)


def _settings_file(*, claude: bool, user: bool, project: bool, local: bool) -> Path:
    at_most_one({"--user": user, "--project": project, "--local": local})
    if not claude:
        raise UsageError("say for which product: --claude")
    from decurion.hooks.files import project_files, user_files

    in_project, in_local, _ours = project_files(Path.cwd())
    return in_project if project else in_local if local else user_files()[0]


def _carry_out(change: Change, *, yes: bool) -> int:
    click.echo(f"{change.file}:")
    click.echo(change.shown)
    if not change.is_needed:
        return 0
    if not yes and is_person():
        click.confirm("Write this?", abort=True)
    click.echo(change.carry_out())
    return 0

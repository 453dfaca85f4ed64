"""`decurion hook`: the hook program for other agent products, and its entry in their settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from decurion.hooks import UsageError

from ..installation import Change, planned_install, planned_uninstall
from ..stdin import is_person

_PLACES = (
    click.option("--claude", is_flag=True, help="For Claude Code, and products that read its settings."),
    click.option(
        "--user", "where", flag_value="user", help="Your own settings, for all projects (the default)."
    ),
    click.option(
        "--project", "where", flag_value="project", help="This project's settings, shared with others."
    ),
    click.option("--local", "where", flag_value="local", help="Your own settings for this project."),
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


@command.command()
@_with_places
def install(*, claude: bool, where: str | None, yes: bool) -> int:
    """Put the hook program into a product's settings: shown first, with a backup."""
    return _carry_out(planned_install(_settings_file(where, claude=claude)), yes=yes)


@command.command()
@_with_places
def uninstall(*, claude: bool, where: str | None, yes: bool) -> int:
    """Take the hook program out of a product's settings again, exactly."""
    return _carry_out(planned_uninstall(_settings_file(where, claude=claude)), yes=yes)


def _settings_file(where: str | None, *, claude: bool) -> Path:
    if not claude:
        raise UsageError("say for which product: --claude")
    from decurion.hooks.files import project_files, user_files

    if where in {None, "user"}:
        return user_files()[0]
    shared, local, _ours = project_files(Path.cwd())
    return shared if where == "project" else local


def _carry_out(change: Change, *, yes: bool) -> int:
    click.echo(f"{change.file}:")
    click.echo(change.shown)
    if not change.is_needed:
        return 0
    if not yes and is_person():
        click.confirm("Write this?", abort=True)
    click.echo(change.carry_out())
    return 0

"""`decurion trust`: let the hooks that a project configures run, see which are trusted, take trust back."""

from __future__ import annotations

from pathlib import Path

import click

from decurion.agents.catalogue import load_catalogue
from decurion.hooks import UsageError
from decurion.hooks.command import CommandHook
from decurion.hooks.handlers import read_hooks
from decurion.hooks.settings import Settings, load_settings
from decurion.hooks.trust import project_parts, revoke, trust_project, trusted_projects

from ..given import at_most_one, not_empty
from ..screen import on_a_line
from ..stdin import is_person


@click.command()
@click.argument("folder", metavar="[PATH]", default=".", callback=not_empty, type=click.Path())
@click.option(
    "--show", is_flag=True, help="Only show what the project configures, and whether it is trusted."
)
@click.option("--list", "list_all", is_flag=True, help="List the trusted projects.")
@click.option("--revoke", "take_back", is_flag=True, help="Take trust back.")
@click.option(
    "-y", "--yes", is_flag=True, help="Do not ask; without a terminal nothing is trusted otherwise."
)
def command(folder: str, *, show: bool, list_all: bool, take_back: bool, yes: bool) -> int:
    """Let the hooks and permissions configured by the project at PATH (default: here) be in force.

    A later change to them, or to the scripts they name, has to be trusted again.
    """
    at_most_one({"--show": show, "--list": list_all, "--revoke": take_back})
    if list_all:
        return _list()
    project = Path(folder).resolve()
    if take_back:
        return _revoke(project)
    if not project.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    settings = load_settings(project, trust_project=False)
    parts = project_parts(project)
    if not parts:
        click.echo(f"{project} configures nothing that needs trust.")
        return 0
    _show(project, settings, parts)
    if show:
        click.echo(
            {"trusted": "Trusted.", "changed": "Changed since it was trusted."}.get(
                settings.trust, "Not trusted."
            )
        )
        return 0
    if not yes and not is_person():
        raise UsageError(
            f"{project} is not trusted: nobody can be asked here. Add --yes to trust what is shown above."
        )
    if not yes:
        click.confirm("Trust these?", abort=True)
    trust_project(project)
    click.echo(f"Trusted: {project}")
    return 0


def _list() -> int:
    entries = trusted_projects()
    for path, entry in sorted(entries.items()):
        click.echo(f"{entry.get('at', ''):26}  {path}")
    if not entries:
        click.echo("No project is trusted.")
    return 0


def _revoke(project: Path) -> int:
    if revoke(project):
        click.echo(f"No longer trusted: {project}")
        return 0
    raise UsageError(f"{project} is not trusted; see `decurion trust --list`.")


def _show(project: Path, settings: Settings, parts: tuple[str, ...]) -> None:
    for hook in (*settings.hooks, *settings.withheld):
        if not _is_users(hook.source):
            _show_hook(hook)
    for definition in load_catalogue(project).found.values():
        if Path(definition.source).is_relative_to(project):
            for hook in read_hooks(definition.hooks, definition.source, inside_agent=True)[0]:
                _show_hook(hook, f" of agent {definition.name}")
    for rule in settings.brought:
        click.echo(f"  allowed without a question: {on_a_line(rule)}")
    click.echo("What would run, or is named by it:")
    for part in parts:
        click.echo(f"  {on_a_line(part)}")


def _show_hook(hook: CommandHook, whose: str = "") -> None:
    text = hook.command if isinstance(hook.command, str) else " ".join(hook.command)
    click.echo(f"  {hook.event} [{on_a_line(hook.matcher or '*')}]{whose}: {on_a_line(text)}")


def _is_users(source: str) -> bool:
    from decurion.hooks.files import user_files

    return Path(source).resolve() in {path.resolve() for path in user_files()}

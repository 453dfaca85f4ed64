"""`decurion sessions`: what lies in this project's state folder, and cleaning it without losing work."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import orjson

from decurion.hooks.counts import counted

from ..given import in_folder, not_empty
from ..naming import program
from ..screen import cut, on_a_line, on_screen, room
from ..sessions import SessionInfo, describe_session, find_session, session_folders


@click.group(invoke_without_command=True)
@in_folder()
@click.pass_context
def command(context: click.Context, folder: Path) -> None:
    """List, show and clean the sessions of this project."""
    context.obj = folder
    if context.invoked_subcommand is None:
        context.invoke(list_sessions)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def list_sessions(workspace: Path, *, as_json: bool = False) -> None:
    """List the sessions, newest first."""
    found = [describe_session(folder) for folder in reversed(session_folders(workspace))]
    if not found and not as_json:
        click.echo('There is no session here yet. Start one: decurion run "…"')
    for info in found:
        click.echo(orjson.dumps(_plain(info)) if as_json else _line(info))


@command.command("show")
@click.argument("session", default="last", callback=not_empty)
@click.pass_obj
def show_session(workspace: Path, session: str) -> None:
    """Show how one session stands and what it left."""
    info = describe_session(find_session(workspace, session))
    click.echo(_line(info))
    click.echo(f"folder: {info.folder}")
    if info.summary:
        click.echo(f"\n{on_screen(info.summary)}")
    if info.state == "open":
        click.echo(f"\nGo on with: {program()} {info.go_on} {info.id}")


@command.command("clean", short_help="Remove what is merged or saved; keep what is in doubt.")
@click.argument("session", required=False, callback=not_empty)
@click.option("--yes", is_flag=True, help="Really remove; without it the plan is only shown.")
@click.pass_obj
def clean(workspace: Path, session: str | None, *, yes: bool) -> None:
    """Remove what sessions hold and is merged or saved; anything in doubt is kept, and said why."""
    import anyio

    from ..git import clean_session

    folders = [find_session(workspace, session)] if session else session_folders(workspace)
    for folder in folders:
        for holding in anyio.run(partial(clean_session, folder, folder.name, dry_run=not yes)):
            fate = ("removed" if yes else "would be removed") if holding.safe else "KEPT"
            click.echo(f"{fate}: {holding.place} ({holding.why})")
    if not yes:
        click.echo(f"Nothing was removed. Do it with: {program()} sessions clean --yes")


def _line(info: SessionInfo) -> str:
    when = info.changed.astimezone().strftime("%m-%d %H:%M")  # the year is in the id
    head = f"{info.id}  {when}  {info.status:<11} {counted(info.subagents, 'subagent'):>12}  "
    return head + cut(on_a_line(info.prompt), room(len(head), 70))


def _plain(info: SessionInfo) -> dict[str, object]:
    return {
        "id": info.id,
        "folder": str(info.folder),
        "state": info.state,
        "status": info.status,
        "changed": info.changed.isoformat(),
        "subagents": info.subagents,
        "prompt": info.prompt,
    }

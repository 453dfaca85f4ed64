"""`decurion undo`: take back what a session put into the checkout, exactly."""

from __future__ import annotations

from pathlib import Path

import click

from decurion.hooks import UsageError
from decurion.hooks.counts import counted

from ..given import in_folder, not_empty


@click.command()
@click.argument("session", default="last", callback=not_empty)
@in_folder()
@click.option("-n", "--dry-run", is_flag=True, help="Only show which files would be taken back.")
def command(session: str, folder: Path, *, dry_run: bool) -> int:
    """Take back the newest change that `--apply` made here, or the newest of SESSION (an id or a unique prefix).

    The former bytes, permissions and times come back; what was staged was never touched. Refused, with nothing
    written, where one of the files was edited since.
    """
    import anyio

    from ..git import undo, undoable
    from ..git.run import shown

    place = _find(folder, session)
    if dry_run:
        for name in undoable(place):
            click.echo(shown(name))
        return 0
    done = anyio.run(undo, place)
    for name in done.files:
        click.echo(shown(name))
    are = (
        f"{counted(len(done.files), 'file')} {'is as it was' if len(done.files) == 1 else 'are as they were'}"
    )
    click.echo(f"{are} before session {place.name} was applied.")
    return 0


def _find(workspace: Path, session: str) -> Path:
    """Give the session whose change is to be taken back: the named one, or the last that changed anything.

    Raises:
        UsageError: nothing was applied.
    """
    from ..git import undoable
    from ..sessions import LAST, find_session, session_folders

    if session != LAST:
        chosen = find_session(workspace, session)
        if not undoable(chosen):
            raise UsageError(f"Session {chosen.name} has nothing applied in {workspace}.")
        return chosen
    changed = [place for place in session_folders(workspace) if undoable(place)]
    if not changed:
        raise UsageError(f"Nothing is applied in {workspace}: there is nothing to take back.")
    return max(changed, key=_applied_at)


def _applied_at(place: Path) -> float:
    return max(journal.stat().st_mtime for journal in place.glob("git/applied/*/journal.json"))

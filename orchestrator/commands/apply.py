"""`decurion apply`: put the merged result of a session into the checkout, whenever the person wants it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from decurion.hooks import UsageError

from ..given import in_folder, not_empty

if TYPE_CHECKING:
    from ..git import Applied


@click.command()
@click.argument("session", default="last", callback=not_empty)
@in_folder()
def command(session: str, folder: Path) -> int:
    """Put the merged result of SESSION (an id, a unique prefix, or `last`) into this checkout.

    What you have not committed stays as it is, staged or not. If you edited the same places, the files are named and
    nothing is written. `decurion undo` takes it back exactly.
    """
    import anyio

    from ..git.run import shown
    from ..sessions import find_session

    applied = anyio.run(_apply, folder, find_session(folder, session))
    for name in applied.files:
        click.echo(shown(name))
    click.echo(applied.in_words)
    return 0


async def _apply(workspace: Path, place: Path) -> Applied:
    from ..git import Isolation

    if not (place / "git" / "hub.git").is_dir():
        raise UsageError(f"Session {place.name} has no merged result: its subagents were not isolated.")
    isolation = await Isolation.prepare(workspace, place, place.name)
    try:
        if isolation.head == isolation.base:
            raise UsageError(f"Session {place.name} has no merged result.")
        return await isolation.apply()
    finally:
        isolation.release()

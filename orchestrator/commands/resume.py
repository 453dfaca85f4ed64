"""`decurion resume`: go on with an interrupted session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from .run import LAW, LIMITS, MODEL, OUTPUT, WORK, options, session_options, start


@click.command()
@click.argument("session", default="last")
@click.option("-m", "--message", default="", help="Something to tell the lead, too.")
@options(MODEL, LIMITS, LAW, WORK, OUTPUT)
def command(session: str, message: str, **given: Any) -> int:
    """Go on with SESSION (an id, a unique prefix, or `last`) in this folder.

    Subagents that had finished are not run again; interrupted ones go on from their last checkpoint. Every call that
    was open gets exactly one result.
    """
    from ..sessions import find_session

    chosen = session_options(given)
    folder = find_session(chosen.workspace, session)
    chosen = replace(chosen, resume=folder.name)
    return start(chosen, message, given)

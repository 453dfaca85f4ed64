"""`decurion resume`: go on with an interrupted session."""

from __future__ import annotations

from typing import Any

import click

from ..given import Sectioned, not_empty
from .run import ENGINE, LAW, LIMITS, MODEL, OUTPUT, WORK, options, resumed_options, start


@click.command(cls=Sectioned)
@click.argument("session", default="last", callback=not_empty)
@click.option("-m", "--message", default="", metavar="TEXT", help="Something to tell the lead, too.")
@options(MODEL, LIMITS, LAW, WORK, ENGINE, OUTPUT)
def command(session: str, message: str, **given: Any) -> int:
    """Go on with SESSION (an id, a unique prefix, or `last`) in this folder.

    Subagents that had finished are not run again; interrupted ones go on from their last checkpoint. Every call that
    was open gets exactly one result. Model, checks, isolation and limits are those the session was started with,
    where nothing else is said.
    """
    return start(resumed_options(given, session), message, given)

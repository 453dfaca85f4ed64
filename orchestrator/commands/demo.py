"""`decurion demo`: see a whole delegation on a sample project, offline."""

from __future__ import annotations

from pathlib import Path

import click

from ..given import not_empty


@click.command()
@click.option("--fast", is_flag=True, help="Without the pauses that let a person follow.")
@click.option(
    "--keep",
    callback=not_empty,
    type=click.Path(path_type=Path),
    help="Work in this new folder and leave it there. Default: a temporary one, deleted at the end.",
)
def command(keep: Path | None, *, fast: bool) -> int:
    """Rename a function across a small sample project: plan, subagents side by side, a refused call, tests, log.

    No key, no network: the model is a script that ships with the package, not an AI. Everything else is what a live
    model gets.
    """
    from ..demo import DemoOptions, run_demo

    return run_demo(DemoOptions(fast=fast, keep=keep))

"""`decurion doctor`: what this machine offers, and proof that the law binds lead, subagents and other products."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import anyio
import click

from decurion.hooks.counts import counted

from ..doctor import Finding, diagnose
from ..given import existing_folder

_MARKS = {"ok": "ok  ", "note": "note", "fail": "FAIL"}


@click.command()
@click.argument("project", metavar="[PATH]", default=".", callback=existing_folder)
@click.option("--quick", is_flag=True, help="Only look at the machine; try no canary.")
@click.option("-v", "--verbose", is_flag=True, help="Show every spelling that was tried.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(project: Path, *, quick: bool, verbose: bool, as_json: bool) -> int:
    """Check this machine and the project at PATH (default: here); exit status 1 where something is wrong.

    A harmless canary command is forbidden and then tried in many spellings by a real lead and a real subagent with a
    scripted model, beside every configured command hook, and through `decurion hook`. None may run; each must be
    recorded.
    """

    async def run() -> int:
        failed = 0
        async for finding in diagnose(project, quick=quick):
            failed += finding.state == "fail"
            _show(finding, verbose=verbose, as_json=as_json)
        return failed

    failed = anyio.run(run)
    if not as_json:
        click.echo(f"\n{counted(failed, 'check')} failed." if failed else "\nAll is well.")
    return 1 if failed else 0


def _show(finding: Finding, *, verbose: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(finding)))
        return
    click.echo(f"{_MARKS[finding.state]}  {finding.subject}: {finding.text}")
    if verbose or finding.state == "fail":
        for line in finding.details:
            click.echo(f"        {line.splitlines()[0] if line else ''}")

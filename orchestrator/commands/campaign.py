"""`decurion campaign`: one change over many places, planned, run, stopped, gone on with, and looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from decurion.hooks import UsageError

from ..given import Sectioned, in_folder, not_empty, section
from ..naming import program
from ..options import LimitOptions, SessionOptions, WorkOptions
from .run import ENGINE, LAW, MODEL, law_options, model_options, options, recalled, said

if TYPE_CHECKING:
    from ..campaign import Entry, Ledger, Plan, Report

_target, _work = section("Targets"), section("Work")

TARGETS = (
    _target("--each", multiple=True, metavar="GLOB", help="Files that match, such as 'src/**/*.py'. Repeatable."),
    _target("--from-command", default="", callback=not_empty, metavar="CMD", help="Each line that a command prints."),
    _target("--grep", default="", callback=not_empty, metavar="REGEX", help="Files whose text matches."),
    _target("--in", "inside", multiple=True, metavar="GLOB", help="With --grep: only look into these."),
    _target("--exclude", multiple=True, metavar="GLOB", help="Files to leave out."),
    _target("--group", type=int, metavar="N", help="Targets for each subagent. Default: 1."),
)  # fmt: skip
CONDUCT = (
    _work("--task", default="", callback=not_empty, help="What to do, with {path}, {name}, {stem}, {dir}, {paths}, {tests}."),
    _work("--verify", default="", metavar="CMD", callback=not_empty, help="Check of one target, a command with the same places."),
    _work("--verify-all", default="", metavar="CMD", callback=not_empty, help="Check of the merged whole. Default: --verify where it names no target."),
    _work("--tests", default="", metavar="GLOB", help="Finds {tests}. Default: **/test_{stem}.py."),
    _work("--agent", default="", metavar="NAME", help="Kind of subagent. Default: general."),
    _work("--setup", default="", metavar="CMD", callback=not_empty, help="Command run once in each worktree."),
    _work("--parallel", type=int, metavar="N", help="Subagents at once. Default: 8."),
    _work("--retries", type=int, metavar="N", help="Further attempts at a failed target. Default: 1."),
    _work("--canary", type=int, metavar="N", help="Do these first, and the rest only if they succeed."),
    _work("--max-budget-usd", "--budget-usd", "budget_usd", type=float, metavar="USD", help="Money the campaign may use."),
    _work("--apply", is_flag=True, help="Put the merged result into this checkout (`decurion undo` takes it back)."),
)  # fmt: skip
SHOW = (
    in_folder("The folder to work in."),
    click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, and nothing else."),
    click.option("-q", "--quiet", is_flag=True, help="No progress."),
)  # fmt: skip


@click.group()
def command() -> None:
    """Run one change over many places, each in its own worktree, merged into one branch."""


@command.command("run", cls=Sectioned, short_help="Run a campaign from a plan, from options, or both.")
@click.argument("plan", required=False, type=click.Path(path_type=Path))
@options(TARGETS, CONDUCT, MODEL, LAW, ENGINE, SHOW)
@click.option("--dry-run", is_flag=True, help="Show the targets and an estimate; start nothing.")
def run_command(plan: Path | None, **given: Any) -> int:
    """Run a campaign from PLAN (a TOML file), from options, or from both.

    \b
    decurion campaign run --each 'src/**/*.py' --task 'Convert {path} to pathlib'
    """  # noqa: D301 - click's sign for lines that are not to be wrapped
    from ..campaign import load_plan

    targets = {
        "each": given["each"], "command": given["from_command"], "grep": given["grep"], "inside": given["inside"],
        "exclude": given["exclude"],
    }  # fmt: skip
    names = (
        "task",
        "verify",
        "verify_all",
        "tests",
        "agent",
        "setup",
        "group",
        "parallel",
        "retries",
        "canary",
    )
    values = {name: given[name] for name in (*names, "budget_usd")}
    chosen = load_plan(plan, {**values, "targets": {name: value for name, value in targets.items() if value}})
    wanted = _session(given, chosen)
    if given["dry_run"]:
        return _dry_run(wanted, chosen)
    return _run(wanted, chosen, given)


@command.command("resume", cls=Sectioned)
@click.argument("session", default="last", callback=not_empty)
@click.option("--retry-failed", is_flag=True, help="Try failed targets again.")
@click.option(
    "--max-budget-usd",
    "--budget-usd",
    "budget_usd",
    type=float,
    metavar="USD",
    help="A new budget for all of it.",
)
@click.option("--parallel", type=int, metavar="N", help="Subagents at once.")
@click.option("--apply", is_flag=True, help="Put the merged result into this checkout.")
@options(MODEL, LAW, ENGINE, SHOW)
def resume_command(session: str, *, retry_failed: bool, **given: Any) -> int:
    """Go on with a campaign; what is done is not done again."""
    from ..campaign import Ledger
    from ..campaign.plan import checked
    from ..campaign.session import LEDGER, reopen_failed

    folder = _campaign(given["folder"], session)
    given = recalled(given, folder)
    if retry_failed:
        reopen_failed(folder)
    plan = Ledger.read(folder / LEDGER).plan
    changes = {name: given[name] for name in ("budget_usd", "parallel") if given[name] is not None}
    plan = checked(replace(plan, **changes, canary=0))
    return _run(replace(_session(given, plan), resume=folder.name), plan, given)


@command.command("status")
@click.argument("session", default="last", callback=not_empty)
@in_folder()
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
def status_command(session: str, folder: Path, *, as_json: bool) -> int:
    """Show how a campaign stands, running or not."""
    from ..campaign import Ledger
    from ..campaign.session import LEDGER

    found = _campaign(folder, session)
    ledger = Ledger.read(found / LEDGER)
    entries = tuple(ledger.entries.values())
    if as_json:
        _print_json({"session_id": found.name, "entries": [asdict(entry) for entry in entries]})
    else:
        _print_table(entries)
        click.echo(f"{_counts(entries)} · session {found.name}")
    return 0


def _session(given: dict[str, Any], plan: Plan) -> SessionOptions:
    """Give the options of the session that a campaign runs in: always isolated, its own way of being checked."""
    return SessionOptions(
        workspace=given["folder"],
        model=model_options(given),
        limits=LimitOptions(usd=plan.budget_usd, running_at_once=plan.parallel, reminder_every=0),
        law=law_options(given),
        work=WorkOptions(
            isolation="worktree", engine=given["engine"], setup=plan.setup, apply=given["apply"]
        ),
        said=said(given),
    )


def _run(wanted: SessionOptions, plan: Plan, given: dict[str, Any]) -> int:
    import anyio

    from ..campaign.view import View

    views: list[View] = []

    def shows(ledger: Ledger) -> Callable[[Entry], None]:
        views.append(View(ledger, quiet=given["quiet"] or given["as_json"]))
        views[0].start()
        return views[0].changed

    try:
        ended, signum = anyio.run(_until_signal, wanted, plan, shows)
    finally:
        for view in views:
            view.stop()
    if signum or ended is None:
        name = views[0].ledger.path.parent.name if views else ""
        click.echo(f"Interrupted. Go on with: {program()} campaign resume {name}", err=True)
        return 128 + signum
    session_id, report = ended
    if given["as_json"]:
        _print_json({"session_id": session_id, **asdict(report), "ok": report.ok})
    else:
        _print_report(session_id, report, applied=given["apply"] and report.ok)
    return 0 if report.ok else 124 if report.is_spent else 1


async def _until_signal(
    wanted: SessionOptions, plan: Plan, shows: Callable[[Ledger], Callable[[Entry], None]]
) -> tuple[tuple[str, Report] | None, int]:
    """Run to the end, or to the first interrupt; what is done by then is in the ledger."""
    from ..campaign.session import run_campaign
    from ..signals import until_signal

    ended: list[tuple[str, Report]] = []

    async def run() -> None:
        ended.append(await run_campaign(wanted, plan, shows))

    signum = await until_signal(run)
    return (ended[0] if ended else None), signum


def _dry_run(wanted: SessionOptions, plan: Plan) -> int:
    import anyio

    from decurion.agents.claude import resolve_model
    from decurion.agents.money import Prices
    from decurion.hooks.files import config_dir

    from ..campaign import find_targets, in_groups
    from ..campaign.estimate import estimate
    from ..git.run import shown

    groups = in_groups(anyio.run(find_targets, plan, wanted.workspace), plan.group)
    for number, group in enumerate(groups, 1):
        canary = " (canary)" if number <= plan.canary else ""
        click.echo(f"{number:4} {', '.join(map(shown, group))}{canary}")
    model = resolve_model(wanted.model.subagent or wanted.model.chosen)
    told = estimate(groups, wanted.workspace, model, Prices.load(config_dir()))
    click.echo(f"{told.in_words()} · model {model} · {plan.parallel} at once · nothing was started")
    return 0


def _campaign(workspace: Path, wanted: str) -> Path:
    from ..campaign.session import campaign_folders
    from ..sessions import pick, session_folders

    found = campaign_folders(session_folders(workspace))
    if not found:
        raise UsageError(
            f"There is no campaign of {workspace} yet. Start one: {program()} campaign run --help"
        )
    return pick(found[::-1], wanted, "campaign")


def _print_json(data: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(data, indent=2))


def _print_report(session_id: str, report: Report, *, applied: bool) -> None:
    from ..git.run import shown
    from ..isolation import how_to_take

    _print_table(report.entries)
    for notice in report.notices:
        click.echo(notice, err=True)
    for entry in report.entries:
        if entry.state == "failed" and "\n" in entry.reason:
            click.echo(f"\n{shown(entry.targets[0])}: {entry.reason}", err=True)
    checked = {True: "check passed", False: "CHECK FAILED", None: "not checked"}[report.verified]
    click.echo(
        f"{_counts(report.entries)} · {checked} · branch {report.branch or 'none'} · session {session_id}"
    )
    if report.branch and not applied:
        click.echo(how_to_take(session_id).capitalize())
    if report.stopped:
        click.echo(f"Stopped: {report.stopped}.")
    if not report.ok:
        click.echo(f"Go on with: {program()} campaign resume {session_id} [--retry-failed]")


def _print_table(entries: tuple[Entry, ...]) -> None:
    from rich.console import Console

    from ..campaign.view import table

    Console(highlight=False).print(table(entries))


def _counts(entries: tuple[Entry, ...]) -> str:
    states = ("done", "failed", "skipped", "running", "checked", "planned")
    counts = {state: sum(entry.state == state for entry in entries) for state in states}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)

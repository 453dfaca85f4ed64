"""`decurion audit`: read the log and prove that nothing was altered. Each sub-command imports what it alone needs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from decurion.hooks import UsageError
from decurion.hooks.counts import counted

from ..given import choosing_records, not_empty

if TYPE_CHECKING:
    from ..audit.select import Skipped

DAMAGED = 1
COUNT = click.IntRange(0, 1 << 31)

_session = click.argument("session", default="last", callback=not_empty)


@click.group()
def command() -> None:
    """Read the log and prove that nothing was altered.

    SESSION is the path of a log or of a session's folder, a session id or its beginning, or `last`.
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--verify/--no-verify", "prove", default=True, help="Prove each log as well (the default).")
@click.option(
    "-n", "--most", type=COUNT, default=20, show_default=True, help="How many, newest first; 0 for all."
)
def list_logs(*, as_json: bool, prove: bool, most: int) -> None:
    """List the sessions of all projects, newest first."""
    from ..audit.listing import COLUMNS, describe
    from ..audit.locate import all_logs
    from ..audit.text import table

    logs = all_logs()
    rows = [describe(log, prove=prove) for log in (logs[:most] if most else logs)]
    if as_json:
        for row in rows:
            click.echo(orjson.dumps(row.as_json()))
    elif not rows:
        click.echo('There is no session yet. Start one: decurion run "…"')
    else:
        click.echo(table(COLUMNS, [row.as_cells() for row in rows]))


@command.command("show")
@_session
@choosing_records
@click.option("--json", "as_json", is_flag=True, help="The records as they stand, one a line.")
def show(session: str, *, as_json: bool, **wanted: str) -> None:
    """Show the records of a session, those that fit."""
    from ..audit.locate import find_log
    from ..audit.select import Filter, Skipped, point_in_time, select
    from ..audit.text import days

    wanted["since"] = point_in_time(wanted["since"])
    skipped = Skipped()
    found = select(find_log(session), Filter(**wanted), skipped)
    if as_json:
        for raw, _ in found:
            sys.stdout.buffer.write(raw + b"\n")
    else:
        none_fits = "No record fits." if any(wanted.values()) else "The log is empty."
        _say(days(record for _, record in found), none_fits)
    _warn(skipped)


@command.command("tail", short_help="Show the last records, -f those that come.")
@_session
@choosing_records
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option(
    "-n", "--lines", type=COUNT, default=20, show_default=True, help="How many of the last records."
)
def tail(session: str, *, follow: bool, lines: int, **wanted: str) -> None:
    """Show the last records, and with -f those that come."""
    from ..audit.follow import follow_log, last_records
    from ..audit.locate import find_log
    from ..audit.select import Filter, point_in_time
    from ..audit.text import days

    wanted["since"] = point_in_time(wanted["since"])
    log, chosen = find_log(session), Filter(**wanted)
    coming = follow_log(log, chosen) if follow else ()
    _say(days(chain(last_records(log, chosen, lines), coming)), "" if follow else "No record fits.")


@command.command("tree", short_help="Show the agents: turns, tokens, cost, files, reports.")
@_session
def show_tree(session: str) -> None:
    """Show the agents of a session: who led whom, turns, tokens, cost, files, reports."""
    from ..audit.locate import find_log
    from ..audit.summary import summarize
    from ..audit.text import money
    from ..audit.tree import tree

    summary = summarize(find_log(session))
    _warn(summary.skipped)
    if not summary.records:
        click.echo("The log is empty.")
        return
    state = summary.status or (
        "has not ended" if summary.started else "recorded by decurion hook: calls alone"
    )
    click.echo(f"{summary.session_id}  {summary.began[:19].replace('T', ' ')} UTC  {state}")
    _say(tree(summary))
    spent = f", {counted(summary.tokens, 'token')}, {money(summary.cost)}" if summary.started else ""
    click.echo(f"{counted(summary.calls, 'call')}, {summary.refused} refused{spent}")


@command.command("verify")
@_session
@click.option("--key", metavar="KEY", help="The public key that must have signed: 64 hex digits or a file.")
@click.option("--expect", metavar="SEQ:HASH", help="A record's number and hash, noted down earlier.")
@click.option("--all", "every", is_flag=True, help="All sessions of all projects.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a log.")
@click.pass_context
def verify_logs(
    ctx: click.Context, session: str, *, key: str | None, expect: str | None, every: bool, as_json: bool
) -> None:
    """Prove a log. Exit code 0: nothing altered, nothing missing; 1: damaged."""
    from decurion.hooks import AuditError
    from decurion.hooks.audit import load_public, verify

    from ..audit.locate import all_logs, find_log
    from ..audit.proof import as_json as report_json
    from ..audit.proof import as_text, parse_expected

    expected, damaged = parse_expected(expect), False
    try:
        if key is not None:
            load_public(key)
    except AuditError as error:
        raise UsageError(str(error)) from None
    for log in all_logs() if every else [find_log(session)]:
        report = verify(str(log), public_key=key, expect=expected)
        damaged = damaged or not report.ok
        click.echo(report_json(report) if as_json else as_text(report))
    ctx.exit(DAMAGED if damaged else 0)


@command.command("keygen", short_help="Make a key that signs the logs from then on.")
@click.option(
    "--dir", "folder", metavar="DIR", help="Where to; the state folder by default, where it is used at once."
)
def keygen(folder: str | None) -> None:
    """Make an Ed25519 key; from then on checkpoints of every log are signed."""
    from decurion.hooks.audit import generate, state_dir

    public, name = generate(folder or state_dir())
    click.echo(f"Public key {name} in {public}: give it to whoever is to verify your logs.")
    click.echo(Path(public).read_text(encoding="ascii").strip())


@command.command("sql", short_help="Ask in SQL: SELECT … FROM calls, denied, …")
@click.argument("query")
@click.option(
    "-s",
    "--session",
    "sessions",
    multiple=True,
    help="Of which session; more than once for many. Default: last.",
)
@click.option("--all", "every", is_flag=True, help="Over all sessions of all projects.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def sql(query: str, *, sessions: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Ask a QUERY in SQL: SELECT … FROM records, calls, denied, agents, commands, costs. Needs decurion[sql]."""
    from ..audit.locate import all_logs, find_log
    from ..audit.sql import ask
    from ..audit.text import brief, table

    logs = all_logs() if every else [find_log(name) for name in (sessions or ("last",))]
    if not logs:
        raise UsageError("There is no session yet.")
    names, rows = ask(logs, query)
    if as_json:
        for row in rows:
            click.echo(orjson.dumps(dict(zip(names, row, strict=True)), default=str))
        return
    cells = [tuple("NULL" if cell is None else brief(str(cell), 200) for cell in row) for row in rows]
    click.echo(table(tuple(names), cells))


@command.command("replay", short_help="Judge past calls by a changed rule file.")
@_session
@click.option("--rules", required=True, metavar="FILE", help="The changed rule file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a changed call.")
def replay_rules(session: str, *, rules: str, as_json: bool) -> None:
    """Judge past calls by a changed rule file: which would now be refused, which allowed. Runs nothing."""
    from decurion.hooks.rules import Law

    from ..audit.locate import find_log
    from ..audit.replay import replay
    from ..audit.words import change_json, replay_text

    if not Path(rules).is_file():
        raise UsageError(f"There is no rule file {rules}.")
    outcome = replay(find_log(session), Law.load(rules, cache=False))
    _warn(outcome.skipped)
    _say([change_json(change) for change in outcome.changes] if as_json else replay_text(outcome))


@command.command("diff", short_help="Compare the calls of two sessions.")
@click.argument("first", callback=not_empty)
@click.argument("second", callback=not_empty)
def diff(first: str, second: str) -> None:
    """Compare two sessions: calls that only one of them made, and their sums."""
    from ..audit.compare import compare
    from ..audit.locate import find_log
    from ..audit.words import comparison_text

    _say(comparison_text(compare(find_log(first), find_log(second))))


@command.command("export", short_help="Hand a session on: OTLP, OCSF or CSV.")
@_session
@click.option(
    "--format", "kind", type=click.Choice(["otlp", "ocsf", "csv"]), default="otlp", show_default=True
)
@click.option(
    "-o",
    "--output",
    callback=not_empty,
    type=click.Path(dir_okay=False),
    help="The file; standard output by default.",
)
@click.option(
    "--endpoint", metavar="URL", help="Send OTLP over HTTP instead, to http://localhost:4318 or the like."
)
@click.option("--content", is_flag=True, help="With arguments and prompts (secrets stay removed).")
def export(session: str, *, kind: str, output: str | None, endpoint: str | None, content: bool) -> None:
    """Hand a session on: OpenTelemetry spans (OTLP JSON), OCSF events, or CSV."""
    from decurion.hooks.audit import raw_lines

    from ..audit.export import as_csv, ocsf, otlp, save, send
    from ..audit.locate import find_log
    from ..audit.select import Skipped, all_records

    log = find_log(session)
    next(raw_lines(str(log)), None)  # refuses what is no log before anything is written
    skipped = Skipped()
    made = {
        "otlp": lambda: otlp(all_records(log, skipped), content=content),
        "ocsf": lambda: ocsf(all_records(log, skipped)),
        "csv": lambda: as_csv(all_records(log, skipped)),
    }[kind]()
    if endpoint:
        if kind != "otlp":
            raise UsageError("--endpoint takes OTLP only; use --format otlp")
        click.echo(f"{counted(send(made, endpoint), 'request')} sent to {endpoint}")
    else:
        save(made, output)
        if output:
            click.echo(f"Written to {output}")
    _warn(skipped)


@command.command("report", short_help="Write one HTML page of a session.")
@_session
@click.option(
    "-o",
    "--output",
    callback=not_empty,
    type=click.Path(dir_okay=False),
    default="audit-report.html",
    show_default=True,
)
def report(session: str, *, output: str) -> None:
    """Write one HTML page of a session that needs no network: timeline, filters, refused calls, cost, proof."""
    from ..audit.export import save
    from ..audit.locate import find_log
    from ..audit.report import render

    save([render(find_log(session)).encode()], output)
    click.echo(f"Written to {output}")


@command.command("transcript", short_help="Read what an agent was told and said.")
@click.argument("agent", callback=not_empty)
@click.option("-s", "--session", default="last", callback=not_empty, help="Of which session.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--turn", type=COUNT, help="Only this turn.")
def transcript(agent: str, *, session: str, as_json: bool, turn: int | None) -> None:
    """Read what an AGENT was told and said: the messages beside the log, secrets taken out as in the log."""
    from ..audit.locate import find_log
    from ..audit.transcripts import find_transcript, message_text, messages

    found = messages(find_transcript(find_log(session), agent), turn)
    _say(
        (orjson.dumps(message) if as_json else message_text(message) for message in found),
        "" if as_json else "There is no such message.",
    )


def _say(lines: Iterable[str | bytes], nothing: str = "") -> None:
    """Print lines, or else that there are none."""
    said = False
    for text in lines:
        said = True
        click.echo(text)
    if nothing and not said:
        click.echo(nothing)


def _warn(skipped: Skipped) -> None:
    if skipped.lines:
        click.echo(f"decurion: {skipped}", err=True)

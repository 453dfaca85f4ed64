"""`decurion rules`: show, test, explain, start and take over rules."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path, PurePosixPath

import click

from decurion.hooks import UsageError
from decurion.hooks.counts import counted
from decurion.hooks.rules import Condition, Law, Rule, rule_files

from ..given import with_rules

STARTER = """\
# Your blocklist: what no agent may run, on top of what decurion ships (`decurion rules list`).
# One entry means the program, its subcommand and its flags, however spelled or wrapped, not the text.
# `decurion rules test` tries every example; `decurion check 'CMD'` tells what would happen.

deny = [
    # "terraform destroy",
    # "npm publish",
]
ask = []
log = []

# Shipped rules that you do without, by id. Only this file may do that; a project's can only tighten.
disable = []

# [[rule]]
# id = "no-prod-context"
# program = "kubectl"
# flags = ["--context=prod"]
# message = "The prod cluster is the user's; use `--context=dev`."
# deny = ["kubectl --context prod get pods"]
# allow = ["kubectl --context dev get pods"]
"""


@click.group()
def command() -> None:
    """Show, test and edit the rules in force."""


@command.command("list")
@with_rules
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_rules(*, rules: str | None, as_json: bool) -> None:
    """List the rules in force here, the shipped ones first."""
    law = Law.here(str(Path.cwd()), rules, cache=False)
    for rule in law.rules.rules:
        click.echo(
            _as_json(rule) if as_json else f"{rule.decision:4}  {rule.id:28}  {_where(rule)}  {rule.message}"
        )
    if not as_json:
        click.echo(f"{counted(len(law.rules.rules), 'rule')}, digest {law.digest}")


@command.command("test", short_help="Try every example of the rules.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
def test_rules(files: tuple[Path, ...]) -> None:
    """Try every example of the rules in force here, or of FILES on top of the shipped rules."""
    from decurion.hooks.rules.examples import check_examples

    for file in files or (None,):
        law = (
            Law.here(str(Path.cwd()), cache=False) if file is None else Law.load(_existing(file), cache=False)
        )
        check_examples(law.rules, law.sources, shipped=True)
        rules = law.rules.rules
        count = sum(len(rule.deny) + len(rule.allow) for rule in rules)
        click.echo(
            f"{file or 'the rules in force'}: {counted(len(rules), 'rule')}, {counted(count, 'example')}, "
            "all as they should be"
        )


@command.command()
@click.argument("rule_id")
@with_rules
def explain(rule_id: str, rules: str | None) -> None:
    """Tell what one rule asks for, what it says, and what it catches."""
    known = {rule.id: rule for rule in Law.here(str(Path.cwd()), rules, cache=False).rules.rules}
    rule = known.get(rule_id) or known.get(f"deny: {rule_id}") or known.get(f"ask: {rule_id}")
    if rule is None:
        close = get_close_matches(rule_id, list(known), 3, 0.4)
        raise UsageError(
            f"no rule {rule_id!r}; " + (f"near: {', '.join(close)}" if close else "see `decurion rules list`")
        )
    click.echo(explained(rule))


@command.command()
@click.option(
    "--project", is_flag=True, help="Write this project's .decurion/rules.toml instead of your own."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def init(*, project: bool, force: bool) -> None:
    """Write a rule file to start from."""
    user, own = rule_files(str(Path.cwd()))
    path = Path(own if project else user)
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; edit it, or replace it with --force")
    text = STARTER
    if project:
        start = text.index("# Shipped rules that")
        text = text[:start] + text[text.index("# [[rule]]") :]
    _write(path, text)
    click.echo(f"wrote {path}")


@command.command("import", short_help="Take over another product's list.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "form", type=click.Choice(["claude", "codex", "gemini"]), help="The format of FILE.")
@click.option("--output", type=click.Path(path_type=Path), help="Write here; default: standard output.")
def import_rules(file: Path, form: str | None, output: Path | None) -> None:
    """Turn another product's list into rules, and report what could not be said.

    FILE holds Claude Code permissions (JSON), Codex rules (.rules) or a Gemini policy (TOML).
    """
    from ..rulebooks import guess_format, read_book, to_toml

    book = read_book(file, form or guess_format(file))
    text = to_toml(book, file.name)
    if output is None:
        click.echo(text, nl=False)
    elif output.exists():
        raise UsageError(f"{output} is there already; choose another name and merge by hand")
    else:
        _write(output, text)
    click.echo(f"{counted(book.count, 'rule')} taken over, {len(book.left_out)} left out", err=True)
    for origin, reason in book.left_out:
        click.echo(f"  left out: {origin}\n    {reason}", err=True)
    for note in book.notes:
        click.echo(f"  note: {note}", err=True)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; mend that or name another file"
        ) from None


def _existing(file: Path) -> str:
    if not file.exists():
        raise UsageError(f"{file} is not there; check the path")
    return str(file)


def _where(rule: Rule) -> str:
    return f"[{PurePosixPath(rule.source).name}]"


def _as_json(rule: Rule) -> str:
    import json

    return json.dumps(
        {
            "id": rule.id,
            "decision": rule.decision,
            "source": rule.source,
            "agents": list(rule.agents),
            "message": rule.message,
        }
    )


def explained(rule: Rule) -> str:
    """Give a rule in words, as `decurion rules explain` shows it."""
    lines = [f"{rule.id}: {rule.decision}", f"  from     {rule.source}"]
    if rule.agents:
        lines.append(f"  agents   {', '.join(rule.agents)}")
    lines += [f"  when     {line}" for line in _fields(rule.when)]
    for condition in rule.unless:
        lines.append(f"  unless   {'; '.join(_fields(condition))}")
    if rule.message:
        lines.append(f"  says     {rule.message}")
    lines += [f"  catches  {text}" for text in rule.deny]
    lines += [f"  lets by  {text}" for text in rule.allow]
    return "\n".join(lines)


def _fields(condition: Condition) -> list[str]:
    return [f"{name}: {', '.join(held)}" for name, held in condition.asked()]

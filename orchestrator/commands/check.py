"""`decurion check`: ask the law about commands without running them."""

from __future__ import annotations

import json
import os
import posixpath
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import click

from decurion.hooks import UsageError, Verdict
from decurion.hooks.rules import Judgement, Law, Places, live_places

from ..given import with_rules
from ..screen import cut, visible
from ..stdin import is_person

EXIT = {"allow": 0, "deny": 3, "ask": 4}
"""What the exit code says; for many commands, that of the strictest verdict."""
_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Wish:
    """The places named on the command line; None where this machine's own are meant."""

    workspace: str | None = None
    cwd: str | None = None
    home: str | None = None
    user: str | None = None

    @property
    def is_here(self) -> bool:
        """True if commands are judged for this machine: links are followed, scripts are read."""
        return self.workspace is None and self.home is None and self.user is None


@click.command()
@click.argument("cmd", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--stdin-json", is_flag=True, help="Read one JSON string a line.")
@click.option("--workspace", metavar="DIR", help="The workspace; need not exist. Default: this folder.")
@click.option("--cwd", metavar="DIR", help="The working folder; need not exist. Default: the workspace.")
@click.option("--home", metavar="DIR", help="The home folder; need not exist.")
@click.option("--user", metavar="NAME", help="The user's name.")
@with_rules
@click.option("--agent", default="lead", metavar="TYPE", help="Judge for this type of agent.")
@click.pass_context
def command(
    ctx: click.Context,
    cmd: str | None,
    *,
    as_json: bool,
    stdin_json: bool,
    rules: str | None,
    agent: str,
    **places: str | None,
) -> None:
    """Ask the law about CMD, or about each line of standard input, without running anything.

    Exit code 0: allowed, 3: denied, 4: a person would be asked; of many commands, the strictest.
    """
    judged_in = places_for(Wish(**places))
    law = Law.here(judged_in.workspace, rules)
    commands = [cmd] if cmd is not None else _from_stdin(stdin_json=stdin_json)
    strictest = Verdict.ALLOW
    for text in commands:
        judgement = law.judge_command(text, judged_in, agent)
        strictest = max(strictest, judgement.verdict)
        click.echo(as_line(text, judgement) if as_json else as_text(text, judgement, show=cmd is None))
    ctx.exit(EXIT[strictest.word])


def places_for(wish: Wish) -> Places:
    """Turn the places named on the command line into those that commands are judged in.

    Raises:
        UsageError: a named place is not an absolute path where this machine cannot complete it.
    """
    if wish.is_here:
        return live_places(str(Path.cwd()), wish.cwd)
    workspace = _absolute(wish.workspace or ".", str(Path.cwd()))
    user = wish.user or (PurePosixPath(wish.home).name if wish.home else os.environ.get("USER", ""))
    home = wish.home or (f"/home/{user}" if wish.user else str(Path.home()))
    if not home.startswith("/"):
        raise UsageError(f"--home {home}: give an absolute path, like /home/{user or 'dev'}")
    cwd = _absolute(wish.cwd, workspace) if wish.cwd else workspace
    return Places(workspace=workspace, cwd=cwd, home=posixpath.normpath(home), user=user)


def _absolute(path: str, base: str) -> str:
    return posixpath.normpath(posixpath.join(base, path))


def _from_stdin(*, stdin_json: bool) -> Iterator[str]:
    if sys.stdin is None or is_person():
        raise UsageError("give a command in quotes, or commands on standard input, one a line")
    # Bytes that are not UTF-8 become lone surrogates, which the law refuses; they must not end the program.
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    return _from_json(lines) if stdin_json else (line for line in lines if line.strip())


def _from_json(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except ValueError as error:
            raise UsageError(f"standard input, line {number}: not valid JSON ({error})") from None
        if not isinstance(value, str):
            raise UsageError(f"standard input, line {number}: expected one JSON string, a command")
        yield value


def as_line(text: str, judgement: Judgement) -> str:
    """Give the JSON object for one command."""
    return json.dumps(
        {
            "cmd": text,
            "verdict": judgement.verdict.word,
            "rule": judgement.rule,
            "segment": judgement.segment,
            "events": list(judgement.events),
            "micros": judgement.micros,
            "reason": judgement.reason,
        }
    )


def as_text(text: str, judgement: Judgement, *, show: bool = False) -> str:
    """Give what a person reads for one command."""
    name = judgement.verdict.word
    lines = [f"$ {_shown(text)}"] if show else []
    rule = (judgement.rule or "").removeprefix(f"{name}: ")  # an entry of one line is its own name
    lines.append(f"{name}: {rule}" if rule else name)
    if judgement.segment and judgement.verdict > Verdict.ALLOW:
        lines.append(f"  segment  {_shown(judgement.segment)}")
    lines.extend(
        f"  {'runs' if not place else '':7}  {_shown(event)}" for place, event in enumerate(judgement.events)
    )
    if judgement.verdict > Verdict.ALLOW and judgement.message:
        lines.append(f"  instead  {_shown(judgement.message)}")
    if judgement.logged:
        lines.append(f"  logged   {', '.join(judgement.logged)}")
    return "\n".join(lines)


def _shown(text: str) -> str:
    return cut(visible(" ".join(text.split())), _SHOWN_CHARS)

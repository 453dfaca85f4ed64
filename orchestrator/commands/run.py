"""`decurion run`: give a task to the lead agent in a folder, and watch it being done."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import click

from decurion.hooks import UsageError

from ..given import Sectioned, at_most_one, in_folder, not_empty, section
from ..options import (
    ENGINES,
    PERMISSION_MODES,
    LawOptions,
    LimitOptions,
    ModelOptions,
    SessionOptions,
    WorkOptions,
)
from ..screen import can_draw
from ..stdin import task_text

_WITHOUT = ("cache", "thinking", "streaming", "count_tokens", "compaction", "share_prefix")


def _names(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split comma lists; commas inside parentheses belong to the rule they stand in."""
    if not values:
        return ()  # what splits them brings all tools along, and nothing is on the screen yet
    from ..permissions import split_rules

    return tuple(rule for value in values for rule in split_rules(value))


def _refused(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split as `_names`; a tool that nobody has may be a slip of the pen, and would refuse nothing in silence."""
    if not values:
        return ()
    from ..permissions import strangers

    rules = _names(context, parameter, values)
    for name in strangers(rules):
        click.echo(
            f"decurion: there is no tool `{name}` here, so --disallowedTools refuses nothing by it.", err=True
        )
    return rules


_model, _limit, _law, _work = map(section, ("Model", "Limits", "Law", "Work"))

MODEL = (
    _model("--model", default="", metavar="NAME", help="Model name, tier (opus, sonnet, haiku) or `offline`. Default: ANTHROPIC_MODEL, else claude-sonnet-5-5."),
    _model("--subagent-model", default="", metavar="NAME", help="Model of subagents whose definition names none."),
    _model("--fallback-model", multiple=True, metavar="NAME", callback=_names, help="Model to ask after repeated overload; a comma list."),
    _model("--provider", type=click.Choice(["anthropic", "bedrock", "vertex", "foundry"]), default="anthropic", help="The door to the models."),
    _model("--base-url", default="", metavar="URL", help="An Anthropic-compatible endpoint. Default: ANTHROPIC_BASE_URL."),
    _model("--effort", default="", metavar="LEVEL", help="How hard the models work: low, medium, high, xhigh, max."),
    _model("--thinking", default="", metavar="HOW", help="adaptive, between-tools (the least that newer models take), off, or how many tokens to think with at most."),
    _model("--clear-above", type=click.IntRange(1), default=None, metavar="TOKENS", help="Let the API clear old tool results above so many (context editing, its beta); without it decurion does near the end of the window."),
    _model("--without", multiple=True, type=click.Choice(_WITHOUT), help="What the endpoint lacks."),
)  # fmt: skip
LIMITS = (
    _limit("--max-turns", type=click.IntRange(1), metavar="N", help="Cap on the lead's turns. Subagents have 30."),
    _limit("--max-budget-usd", type=click.FloatRange(0, min_open=True), metavar="USD", help="Money the session may use."),
    _limit("--max-tokens-total", type=click.IntRange(1), metavar="N", help="Tokens the session may use, of all kinds."),
    _limit("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Time the session may take."),
    _limit("--subagent-timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Time each subagent may take."),
    _limit("--parallel", type=click.IntRange(1, 1000), metavar="N", default=8, show_default=True, help="Subagents running at once."),
    _limit("--reminder", type=click.IntRange(0), metavar="N", default=3, show_default=True, help="Rounds without a todo update before a reminder; 0 is off."),
)  # fmt: skip
LAW = (
    _law("--rules", "rules_file", type=click.Path(exists=True, dir_okay=False), help="A further rules file; it can only tighten."),
    _law("--trust-project", is_flag=True, help="Run the hooks configured by this project, this once."),
    _law("--permission-mode", type=click.Choice(PERMISSION_MODES), default="default", show_default=True, help="plan: read only. bypassPermissions: `ask` rules pass; deny rules never do."),
    _law("--allowedTools", "--allowed-tools", "allowed", multiple=True, metavar="LIST", callback=_names, help="Answer `ask` rules with yes, such as 'Bash(git push:*)'; a comma list."),
    _law("--disallowedTools", "--disallowed-tools", "disallowed", multiple=True, metavar="LIST", callback=_refused, help="Tools or rules such as 'Bash(npm publish:*)' to refuse; a comma list."),
)  # fmt: skip
WORK = (
    _work("--verify", default="", metavar="CMD", callback=not_empty, help="Check command, run after the work (and after each merge with -w)."),
    _work("-w", "--worktree", is_flag=True, help="Every subagent works in a checkout of its own; the work is merged into one branch."),
    _work("--setup", default="", metavar="CMD", callback=not_empty, help="Command run once in each worktree."),
    _work("--apply", is_flag=True, help="With -w: put the merged result into this checkout (`decurion undo` takes it back)."),
    _work("--agents", "agents_json", default="", metavar="JSON", help="Further agent definitions as JSON."),
    _work("--append-system-prompt", "system_extra", default="", help="Text added to the lead's system prompt."),
)  # fmt: skip
ENGINE = (
    _work("--engine", type=click.Choice(ENGINES), default="inprocess", show_default=True, help="Where subagents run: in this process, or each as a worker program (pipe), which a crash or a kill takes away alone."),
)  # fmt: skip
OUTPUT = (
    click.option("-p", "--print", "print_mode", is_flag=True, help="Print only the result; no live view."),
    click.option("--output-format", type=click.Choice(["text", "json", "stream-json"]), default="text", show_default=True),
    in_folder("The folder to work in."),
    click.option("-v", "--verbose", is_flag=True, help="Without a terminal: also show every call of every subagent."),
)  # fmt: skip


def options(*groups: tuple[Any, ...]) -> Any:
    """Put groups of options on a command."""

    def add(command: Any) -> Any:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return add


KEPT = (
    "model", "subagent_model", "fallback_model", "provider", "base_url", "effort", "thinking", "clear_above", "without",
    "max_turns", "max_budget_usd", "max_tokens_total", "subagent_timeout", "parallel", "reminder", "rules_file", "permission_mode",
    "allowed", "disallowed", "verify", "worktree", "engine", "setup", "apply", "agents_json", "system_extra",
)  # fmt: skip
"""Options that are the session's: going on with it takes them up. Trust and `--timeout` are for one command."""


def recalled(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Take up what a session was started with, where the command line of today says nothing about it.

    Without this, a session whose subagents are isolated would go on in the person's own checkout.
    """
    from click.core import ParameterSource

    from ..sessions import said_before

    context, before = click.get_current_context(), said_before(folder)
    unsaid = {
        name for name in before if context.get_parameter_source(name) in (None, ParameterSource.DEFAULT)
    }
    return {**given, **{name: before[name] for name in unsaid if name in given and name in KEPT}}


def said(given: dict[str, Any]) -> dict[str, Any]:
    """Give what is kept of a command line; a file's name must be found from another folder, too."""
    rules = given["rules_file"]
    kept = {name: given[name] for name in KEPT if name in given}
    return kept | {"rules_file": str(Path(rules).resolve()) if rules else ""}


def model_options(given: dict[str, Any]) -> ModelOptions:
    """Turn the options of `MODEL` into the values that the library takes."""
    return ModelOptions(
        name=given["model"],
        subagent=given["subagent_model"],
        fallback=given["fallback_model"],
        provider=given["provider"],
        base_url=given["base_url"],
        effort=given["effort"],
        thinking=given["thinking"],
        clear_above=given["clear_above"] or 0,
        without=given["without"],
    )


def law_options(given: dict[str, Any]) -> LawOptions:
    """Turn the options of `LAW` into the values that the library takes."""
    return LawOptions(
        rules_file=given["rules_file"] or "",
        trust_project=given["trust_project"],
        permission_mode=given["permission_mode"],
        allowed=given["allowed"],
        disallowed=given["disallowed"],
    )


def session_options(given: dict[str, Any]) -> SessionOptions:
    """Turn the whole command line into the values that the library takes.

    Raises:
        UsageError: options contradict each other.
    """
    if given["apply"] and not given["worktree"]:
        raise UsageError(
            "--apply goes with -w/--worktree: without it the work is done in the checkout itself."
        )
    return SessionOptions(
        workspace=given["folder"],
        model=model_options(given),
        limits=LimitOptions(
            lead_turns=given["max_turns"],
            usd=given["max_budget_usd"],
            tokens=given["max_tokens_total"],
            seconds=given["timeout"],
            subagent_seconds=given["subagent_timeout"],
            running_at_once=given["parallel"],
            reminder_every=given["reminder"],
        ),
        law=law_options(given),
        work=WorkOptions(
            isolation="worktree" if given["worktree"] else "none",
            engine=given["engine"],
            setup=given["setup"],
            verify=given["verify"],
            apply=given["apply"],
        ),
        agents_json=given["agents_json"],
        system_extra=given["system_extra"],
        resume=given.get("resume") or "",
        said=said(given),
    )


@click.command(cls=Sectioned)
@click.argument("task", nargs=-1)
@click.option(
    "-r",
    "--resume",
    default="",
    callback=not_empty,
    metavar="SESSION",
    help="Go on with a session (id or unique prefix).",
)
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the newest session of this folder.")
@options(MODEL, LIMITS, LAW, WORK, ENGINE, OUTPUT)
def command(task: tuple[str, ...], **given: Any) -> int:
    """Give TASK to the lead agent in this folder.

    Without TASK it is read from standard input; with -p what is piped in goes along with TASK.

    The lead plans, hands parts to isolated subagents, checks what comes back, and reports. Every tool call of every
    agent passes the same hooks and rules and lands in one audit log (`decurion audit show last`).
    """
    at_most_one({"--resume": bool(given["resume"]), "--continue": given["go_on"]})
    chosen = resumed_options(given, given["resume"]) if given["go_on"] or given["resume"] else None
    chosen = chosen or session_options(given)
    prompt = task_text(" ".join(task), print_mode=given["print_mode"])
    if not prompt and not chosen.resume:
        raise UsageError('There is no task. Write one: decurion run "rename load to read_config".')
    return start(chosen, prompt, given)


def resumed_options(given: dict[str, Any], session: str) -> SessionOptions:
    """Give the options of a session that is gone on with.

    Raises:
        UsageError: there is no such session, or options contradict each other.
    """
    from ..sessions import find_resumable

    folder = find_resumable(given["folder"], session)
    return session_options({**recalled(given, folder), "resume": folder.name})


def start(chosen: SessionOptions, prompt: str, given: dict[str, Any]) -> int:
    """Run a session as the output options say; the first sign of life comes before the large imports."""
    if can_draw() and given["output_format"] == "text" and not given["print_mode"]:
        click.echo("starting …\r", nl=False, err=True)
    gc.disable()  # what the imports make, stays; the collector goes on once the session is open
    try:
        from ..running import run_session

        return run_session(
            chosen, prompt, given["output_format"], quiet=given["print_mode"], verbose=given["verbose"]
        )
    finally:
        gc.enable()

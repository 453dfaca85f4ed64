"""Options that several commands share, and what a person gives, held against slips that click lets through."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from decurion.hooks.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Given = TypeVar("Given")
Function = TypeVar("Function", bound="Callable[..., Any]")


def not_empty(context: click.Context, parameter: click.Parameter, value: Given) -> Given:
    """Refuse an empty text that was given: `--verify "$CHECK"` of an unset variable must not switch the check off.

    Raises:
        BadParameter: it is empty.
    """
    said = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    if value == "" and said:
        raise click.BadParameter("it is empty; leave it out, or say which.", context, parameter)
    return value


class Sectioned(click.Command):
    """A command with many options: `--help` shows them under headings (`section`), the others first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each section under its heading."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            told = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if told is not None:
                heading = parameter.section if isinstance(parameter, _InSection) else "Options"
                sections.setdefault(heading, []).append(told)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class _InSection(click.Option):
    def __init__(self, *args: Any, section: str, **given: Any) -> None:
        super().__init__(*args, **given)
        self.section = section


def section(heading: str) -> Callable[..., Any]:
    """Give what makes an option, as `click.option` does, and puts it under a heading."""
    return partial(click.option, cls=_InSection, section=heading)


def existing_folder(context: click.Context, parameter: click.Parameter, value: str) -> Path:
    """Find a folder that is there, resolved; `~` is the home folder.

    Raises:
        BadParameter: the text is empty.
        UsageError: it is no folder.
    """
    path = Path(not_empty(context, parameter, value)).expanduser()
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder.")
    return path.resolve()


def in_folder(what: str = "The project's folder.") -> Callable[[Function], Function]:
    """Add the option `-C`, which gives the parameter `folder`."""
    return click.option(
        "-C", "--cwd", "folder", default=".", metavar="DIR", callback=existing_folder, help=what
    )


with_rules = click.option(
    "--rules", metavar="FILE", help="Use this rule file in place of your own rules.toml."
)


def at_most_one(options: Mapping[str, bool]) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: more than one is given.
    """
    given = [name for name, said in options.items() if said]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} contradict each other; give one of them.")


def _decision(_context: click.Context, _parameter: click.Parameter, word: str) -> str:
    """Refuse a slip of the pen, which would look as if nothing had been refused."""
    from decurion.hooks import Verdict
    from decurion.hooks.audit import EVENTS

    known = (*(verdict.name.lower() for verdict in Verdict), *EVENTS)
    if word and word not in known:
        raise click.BadParameter(f"{word!r} is none of {', '.join(known)}.")
    return word


def choosing_records(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose records."""
    for option in (
        click.option(
            "--since", default="", metavar="WHEN", help="From a time on: 10m, 2h, 1d, 2026-11-30T14:00."
        ),
        click.option(
            "--rule", default="", metavar="RULE", help="Only this rule; `git-*` for all that begin so."
        ),
        click.option(
            "--decision",
            default="",
            metavar="WORD",
            callback=_decision,
            help="Only this decision or event: deny, ask, refused, …",
        ),
        click.option("--tool", default="", metavar="NAME", help="Only this tool, in any product's spelling."),
        click.option("--agent", default="", metavar="AGENT", help="Only this agent's id or type."),
    ):
        function = option(function)
    return function

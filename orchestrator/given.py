"""What a person gives on the command line, held against slips that click lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Mapping

Given = TypeVar("Given")


def not_empty(context: click.Context, parameter: click.Parameter, value: Given) -> Given:
    """Refuse an empty text that was given: `--verify "$CHECK"` of an unset variable must not switch the check off.

    Raises:
        BadParameter: it is empty.
    """
    said = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    if value == "" and said:
        raise click.BadParameter("it is empty; leave it out, or say which.", context, parameter)
    return value


def at_most_one(options: Mapping[str, bool]) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: more than one is given.
    """
    given = [name for name, said in options.items() if said]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} contradict each other; give one of them.")

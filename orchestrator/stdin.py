"""Standard input: a person who can be asked, or what is piped in: the task itself, or what goes along with it."""

from __future__ import annotations

import os
import select
import stat
import sys

import click

from decurion.hooks import UsageError

_NO_TEXT = "{} is not UTF-8 text."
FIRST_BYTE_SECONDS = 3.0
"""How long a pipe may keep silent beside a task: a program that was started with a pipe it never uses is no input."""


def is_person() -> bool:
    """Whether a person sits at standard input, who can be asked; nobody does where it is closed."""
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False


def task_text(said: str, *, print_mode: bool) -> str:
    """Give the task: what the command line says, else what is piped in; with `-p` both, as Claude Code does.

    Without `-p` a task is taken as it stands, so that a shell loop that feeds several commands keeps its input.

    Raises:
        UsageError: one of them is not UTF-8 text.
    """
    said = _proper(said, "The task").strip()
    if said and not (print_mode and _has_input()):
        return said
    return "\n\n".join(filter(None, (said, _read())))


def _has_input() -> bool:
    """Whether a file or a pipe stands at standard input, and the pipe says something (its end, too) in time."""
    if sys.stdin is None:
        return False
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
        if not stat.S_ISFIFO(mode):
            return stat.S_ISREG(mode)
        if select.select([number], [], [], FIRST_BYTE_SECONDS)[0]:
            return True
    except (OSError, ValueError):  # closed, or no file at all
        return False
    click.echo("decurion: nothing came on standard input; going on with the task alone.", err=True)
    return False


def _read() -> str:
    if sys.stdin is None or is_person():
        return ""
    try:
        return _proper(sys.stdin.read(), "What is piped in").strip()
    except UnicodeDecodeError:
        raise UsageError(_NO_TEXT.format("What is piped in")) from None


def _proper(text: str, name: str) -> str:
    """Refuse what was read in a locale that lets any bytes pass, as C does, and no model could be told."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(_NO_TEXT.format(name)) from None
    return text

"""Web frameworks' own interpreters: `manage.py shell -c`, `rails runner`, `artisan tinker --execute`; many-command runners."""

from __future__ import annotations

from ..code import run_shell
from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import values_of
from ..programs import run_argv


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def django(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`manage.py shell -c code`."""
    django_words(m, st, _inner(fr, event), event.argv)
    return None


def django_words(m: Machine, st: State, fr: Frame, words: tuple[Value, ...]) -> None:
    """The words behind `manage.py`."""
    if words and words[0].text in {"shell", "shell_plus"}:
        for code in values_of(words, "c", "command"):
            run_argv(m, st, fr, [literal("python"), literal("-c"), code])


def rails(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`rails runner code`."""
    words = event.argv
    if len(words) > 1 and words[0].text in {"runner", "r"}:
        for code in words[1:]:
            if not code.prefix.startswith("-") and not (code.text or "").endswith(".rb"):
                run_argv(m, st, _inner(fr, event), [literal("ruby"), literal("-e"), code])
    return None


def artisan(m: Machine, st: State, fr: Frame, words: tuple[Value, ...]) -> None:
    """The words behind `artisan`."""
    if words and words[0].text == "tinker":
        for code in values_of(words, "", "execute"):
            run_argv(m, st, fr, [literal("php"), literal("-r"), code])


def each(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`concurrently code code`, `pueue add code`: every word is a command line."""
    for value in event.argv:
        if not value.prefix.startswith("-"):
            run_shell(m, st, _inner(fr, event), value, event.name or "")
    return None


__all__ = ("artisan", "django", "django_words", "each", "rails")

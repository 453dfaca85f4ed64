"""xargs and parallel: programs run on items that were read."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Stdin, Value, literal
from ..loops import note_endless_input
from ..machine import DONE, Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv
from ..redirects import content_of
from ..rows import to_try
from ..values import fields, join, lines, of, unknown
from .finders import inside_of, substituted

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

MAX_ITEMS = 40
"""Input items that are run a few at a time; more are given to one call."""

_XARGS_LONG = frozenset({
    "arg-file", "delimiter", "eof", "max-args", "max-chars", "max-lines", "max-procs", "process-slot-var", "replace-str",
})  # fmt: skip


def xargs(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`xargs program …`: the words of its input become arguments."""
    words = event.argv
    at = skip(words, "aEdInLPsJRS", _XARGS_LONG)
    argv = list(words[at:]) or [literal("echo")]
    options = words[:at]
    mark = next(values_of(options, "I"), None) or next(values_of(options, "J"), None)
    if mark is None and any(value.text in {"-i", "--replace"} for value in options):
        mark = literal("{}")
    text = _xargs_input(m, st, fr, options)
    note_endless_input(m, fr, options, argv)
    items = _items(text, options, one_line=mark is not None)
    inner = replace(inside_of(fr, event), stdin=Stdin("null"))
    inside = st.fork()
    inside.unread = None
    calls = _calls(argv, items, mark.text if mark is not None else None, options)
    out = [run_argv(m, inside, inner, call, functions=False).out for call in calls]
    st.take_files(inside)
    return Outcome(join(out))


def _xargs_input(m: Machine, st: State, fr: Frame, options: tuple[Value, ...]) -> Value:
    file = next(values_of(options, "a", "arg-file"), None)
    if file is not None:
        found = content_of(m, st, file)
        return found if found is not None else unknown(f"the content of {file.show()}")
    text = st.unread if st.unread is not None else fr.stdin.text
    if text is None:
        return unknown("a word of the input", fr.stdin.upstream)
    if text.is_opaque and not text.sources:
        return unknown(text.show().strip("<>"), fr.stdin.upstream)
    return text


def _items(text: Value, options: tuple[Value, ...], *, one_line: bool) -> list[Value]:
    delimiter = next((value.text for value in values_of(options, "d", "delimiter")), None)
    if has(options, "0", "null"):
        return [item for item in _split(text, "\0") if item.parts]
    if delimiter:
        from ..quotes import backslash

        return [item for item in _split(text, backslash(delimiter)) if item.parts]
    if one_line:
        return [_unquoted(item) for item in lines(text) if item.parts]
    return [_unquoted(item) for item in fields(text)]


def _split(text: Value, separator: str) -> list[Value]:
    whole = lines(
        of(
            part.replace("\n", "\x1f").replace(separator, "\n") if isinstance(part, str) else part
            for part in text.parts
        )
    )
    back = [
        of(part.replace("\x1f", "\n") if isinstance(part, str) else part for part in item.parts)
        for item in whole
    ]
    return [of(part.rstrip("\n") if isinstance(part, str) else part for part in item.parts) for item in back]


def _unquoted(item: Value) -> Value:
    """Xargs takes quotes and backslashes in its input away."""
    text = item.text
    if text is None or not any(mark in text for mark in "'\"\\"):
        return item
    return literal(
        re.sub(r"'([^']*)'|\"([^\"]*)\"|\\(.)", lambda found: found[1] or found[2] or found[3] or "", text)
    )


def _calls(
    argv: list[Value], items: list[Value], mark: str | None, options: tuple[Value, ...]
) -> list[list[Value]]:
    if mark:
        return [[substituted(word, mark, item) for word in argv] for item in to_try(items)]
    one = next((value.text for value in values_of(options, "n", "max-args")), None) or next(
        (value.text for value in values_of(options, "L", "max-lines")), None
    )
    if one and one.isdigit() and int(one) and len(items) <= MAX_ITEMS:
        size = int(one)
        return [[*argv, *items[index : index + size]] for index in range(0, len(items), size)]
    return [[*argv, *items]]


def parallel(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """GNU parallel: `parallel program ::: items`, items from input, or whole commands from input."""
    words = event.argv
    at = skip(words, "jnNaSIDdELsCPU", frozenset({"jobs", "max-args", "arg-file", "colsep", "delay", "timeout", "joblog",
                                               "results", "tmpdir", "workdir", "wd", "retries", "halt", "sshlogin", "env",
                                               "basefile", "return", "load", "memfree", "nice", "tagstring"}))  # fmt: skip
    rest = list(words[at:])
    argv, items = _parallel_items(m, st, rest)
    inner = inside_of(fr, event)
    if items is None:
        note_endless_input(m, fr, words[:at], argv)
        items = lines(_xargs_input(m, st, fr, words[:at]))
    if not argv:
        for item in items:
            run_shell(m, st, inner, item, "parallel")
        return DONE
    for item in to_try(items):
        _parallel_call(m, st, inner, argv, item)
    return None


def _parallel_call(m: Machine, st: State, fr: Frame, argv: list[Value], item: Value) -> None:
    """The words are joined and read by a shell, as parallel does."""
    marked = [substituted(word, "{}", item) for word in argv]
    call = marked if marked != argv else [*argv, item]
    run_argv(m, st.fork(), fr, call, functions=False)
    code = join(call[:-1] if marked == argv else call, " ")
    if code.text is not None and any(mark in code.text for mark in " ;|&$`"):
        run_shell(m, st, fr, join(call, " "), "parallel")


def _parallel_items(m: Machine, st: State, rest: list[Value]) -> tuple[list[Value], list[Value] | None]:
    """Take the command off the items: words behind `:::`, lines of files behind `::::`."""
    marks = [index for index, value in enumerate(rest) if (value.text or "").startswith(":::")]
    if not marks:
        return rest, None
    items: list[Value] = []
    for start, end in zip(marks, (*marks[1:], len(rest)), strict=True):
        given = rest[start + 1 : end]
        items += (
            [line for file in given for line in _lines_in(m, st, file)]
            if rest[start].text == "::::"
            else given
        )
    return rest[: marks[0]], items


def _lines_in(m: Machine, st: State, file: Value) -> list[Value]:
    text = content_of(m, st, file)
    return lines(text) if text is not None else [unknown(f"a line of {file.show()}")]

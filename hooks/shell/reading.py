"""Builtins that read their input into variables."""

from __future__ import annotations

from .arith import text_number
from .events import ExecEvent, Hole, Value, literal
from .lookup import DEFAULT_IFS, field_separators
from .machine import DONE, FALSE, TRUE, Frame, Machine, Outcome, State
from .options import skip, values_of
from .state import Array
from .values import EMPTY, fields, join, lines, unknown


def read(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`read`: takes the next line of what is known of the input; fails at its end."""
    words = event.argv
    names = [value.text or "" for value in words[skip(words, "adinNptu") :]]
    array = next((value.text for value in values_of(words, "a") if value.text), None)
    separator = next((value.text for value in values_of(words, "d")), None)
    line, at_end = _next(st, fr, words, separator)
    ifs = field_separators(m, st)
    pieces = fields(line, ifs) if ifs else [line]
    if array:
        st.vars[array] = (Array(tuple((str(index), piece) for index, piece in enumerate(pieces))),)
    else:
        _spread(m, st, fr, names or ["REPLY"], line)
    return FALSE if at_end else TRUE if line.text is not None else DONE


def _next(st: State, fr: Frame, words: tuple[Value, ...], separator: str | None) -> tuple[Value, bool]:
    text = st.unread
    for value in values_of(words, "u"):
        opened = st.fds.get(int(value.text)) if value.text and value.text.isdigit() else None
        text = opened[1].text if opened and opened[1] else None
    if text is None:
        return unknown("a line of input", fr.stdin.upstream), False
    if not text.parts:
        return EMPTY, True
    if separator == "" or (separator is not None and separator != "\n"):
        st.unread = EMPTY
        return text, False
    first, *rest = lines(text)
    if any(isinstance(part, Hole) for part in first.parts) and not rest:
        return first, False
    st.unread = join((*rest, EMPTY), "\n") if rest else EMPTY
    return first, False


def _spread(m: Machine, st: State, fr: Frame, names: list[str], line: Value) -> None:
    ifs = field_separators(m, st)
    pieces = fields(line, ifs) if ifs else [line]
    if len(names) == 1:
        put_named(m, st, fr, names[0], _stripped(line, ifs))
        return
    for index, name in enumerate(names):
        last = index == len(names) - 1
        value = join(pieces[index:], (ifs or " ")[0]) if last else join(pieces[index : index + 1])
        put_named(m, st, fr, name, line if line.is_opaque else value)


def _stripped(line: Value, ifs: str) -> Value:
    text = line.text
    blanks = "".join(char for char in ifs if char in DEFAULT_IFS)
    return literal(text.strip(blanks)) if text is not None else line


def put_named(m: Machine, st: State, fr: Frame, name: str, value: Value) -> None:
    """Assign to a name or an array element given as text; code in its index runs."""
    base, bracket, index = name.partition("[")
    if bracket:
        text_number(m, st, fr, literal(index.rstrip("]")))
        old = st.vars.get(base, (None,))[0]
        array = old if isinstance(old, Array) else Array()
        st.vars[base] = (array.with_item(index.rstrip("]"), value),)
    elif name:
        st.put(name, value)


def mapfile(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`mapfile`/`readarray`: lines into an array; `-C code` runs for them."""
    from .code import run_shell

    words = event.argv
    inner = fr.within(event.name or "")
    for code in values_of(words, "C"):
        run_shell(m, st, inner, join((code, literal(" 0 ''"))), "mapfile")
    names = words[skip(words, "dnOsuCc") :]
    name = names[0].text if names and names[0].text else "MAPFILE"
    text = st.unread
    found = lines(text) if text is not None else [unknown("a line of input", fr.stdin.upstream)]
    st.vars[name] = (Array(tuple((str(index), line) for index, line in enumerate(found))),)
    st.unread = EMPTY
    return DONE


def getopts(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`getopts`: the option letter is one of few; its argument one of the parameters."""
    del m, fr
    if len(event.argv) > 1 and event.argv[1].text:
        st.put(event.argv[1].text, unknown("an option letter", digits=True))
        arguments = event.argv[2:] or tuple(st.positional) or (EMPTY,)
        st.set_options("OPTARG", arguments)
    return DONE

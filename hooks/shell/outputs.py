"""What programs print, where it can be worked out: echo, printf, decoders and simple filters on known text."""

from __future__ import annotations

import posixpath
import re

from ..patterns import lazy
from . import quotes
from .events import ExecEvent, Glob, Value, literal
from .machine import DONE, Frame, Machine, Outcome, State
from .options import has, operands, skip, values_of
from .redirects import FRESH, content_of, put_file
from .values import EMPTY, fields, join, lines, of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_TEXT = 200_000
"""Characters of a computed text past which it counts as unknown."""


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """The output of a program this module knows; None (so: unknown, but of known origin) if it cannot be told."""
    name = event.name or ""
    if name != "tee" and not m.hears(fr):
        return DONE
    source = _SOURCES.get(name)
    if source is not None:
        value = source(m, st, fr, event)
        return None if value is None else Outcome(value)
    from .filters import FILTERS

    if name not in FILTERS:
        return None
    text = input_text(m, st, fr, event, FILTERS[name][1])
    if text is None or text.text is None or len(text.text) > MAX_TEXT:
        return _passed(name, text)
    try:
        result = FILTERS[name][0](event.argv, text.text)
    except (ValueError, IndexError, KeyError, OverflowError, OSError, EOFError, re.error):
        return None
    return None if result is None else Outcome(literal(result))


def _passed(name: str, text: Value | None) -> Outcome | None:
    """A filter that keeps lines keeps their origin as well."""
    if text is not None and name in {"head", "tail", "sort", "uniq", "tac"} and text.sources:
        return Outcome(text)
    return None


def input_text(m: Machine, st: State, fr: Frame, event: ExecEvent, valued: str = "") -> Value | None:
    """What a filter reads: its file operands, or standard input."""
    files = [value for value in operands(event.argv, valued) if value.text != "-"]
    if event.name == "tr":
        files = []
    elif event.name == "openssl":
        files = list(values_of(event.argv, "in", "in"))
    if not files:
        return st.unread if st.unread is not None else fr.stdin.text
    texts = [content_of(m, st, value) for value in files]
    known = [text for text in texts if text is not None]
    return join(known) if len(known) == len(texts) else None


def _echo(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value:
    del m, st, fr
    words = list(event.argv)
    newline, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0].text or ""):
        flags = words.pop(0).text or ""
        newline = "" if "n" in flags else newline
        escapes = "e" in flags or (escapes and "E" not in flags)
    line = join(words, " ")
    if escapes:
        line = of(quotes.backslash(part) if isinstance(part, str) else part for part in line.parts)
    return join((line, literal(newline)))


def _cat(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    files = [value for value in operands(event.argv) if value.text != "-"]
    if not files:
        return st.unread if st.unread is not None else fr.stdin.text
    texts: list[Value] = []
    for value in files:
        text = content_of(m, st, value)
        texts.append(text if text is not None else unknown(f"the content of {value.show()}", (event,)))
    return join(texts)


def _tee(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    text = st.unread if st.unread is not None else fr.stdin.text
    content = text if text is not None else unknown("what tee reads", fr.stdin.upstream)
    for value in operands(event.argv):
        pending = [later for path, later in m.processes if path == value.text]
        for later in pending:
            later(content, (*fr.stdin.upstream, event))
        m.processes = [item for item in m.processes if item[0] != value.text]
        if not pending:
            put_file(m, st, value, content, append=has(event.argv, "a", "append"))
    return text


def _ls(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    """Names of files as given, or some names inside a folder."""
    del st, fr
    if has(event.argv, "lgonsRmxC"):
        return None
    names = operands(event.argv, "IwT", frozenset({"ignore", "width", "tabsize", "sort", "color", "format"}))
    inside = Value((Glob("*"), "\n"))
    if not names:
        return inside
    given = join([*names, EMPTY], "\n")
    folders = any(
        value.suffix.endswith("/") or (value.text and "." not in value.base().show()) for value in names
    )
    if not folders or has(event.argv, "d", "directory"):
        return given
    return m.pick(("ls", given), (given, inside))


def _seq(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    del m, st, fr
    numbers = [value.text or "" for value in operands(event.argv, "fs")]
    if not numbers or len(numbers) > 3 or not all(re.fullmatch(r"-?\d{1,9}", text) for text in numbers):
        return unknown("a number", (event,), digits=True)
    first = int(numbers[0]) if len(numbers) > 1 else 1
    step = int(numbers[1]) if len(numbers) == 3 else 1
    last = int(numbers[-1])
    found = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    if len(found) > 200:
        return unknown("a number", (event,), digits=True)
    return literal("".join(f"{number}\n" for number in found))


def _basename(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    del m, st, fr
    words = operands(event.argv, "s")
    if not words or words[0].text is None:
        return None
    base = posixpath.basename(words[0].text.rstrip("/")) or words[0].text
    ending = words[1].text if len(words) > 1 else ""
    return literal((base.removesuffix(ending) if ending else base) + "\n")


def _dirname(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    del m, st, fr
    words = operands(event.argv)
    if not words or words[0].text is None:
        return None
    return literal(
        (posixpath.dirname(words[0].text.rstrip("/")) or ("/" if words[0].text[:1] == "/" else ".")) + "\n"
    )


def _realpath(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    del fr
    words = operands(event.argv)
    if (
        not words
        or words[0].text is None
        or (event.name == "readlink" and not has(event.argv, "fem", "canonicalize"))
    ):
        return None
    path = m.places.join(st.cwds[0] if st.cwds else "/", words[0].text)
    file = st.files.get(path)
    return literal((file.target if file and file.link and file.target else path) + "\n")


def _mktemp(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value:
    del fr
    words = [value for value in operands(event.argv, "p", frozenset({"suffix", "tmpdir"})) if value.text]
    folder = next((value.text for value in values_of(event.argv, "p", "tmpdir") if value.text), None)
    template = words[0].text or "" if words else "tmp.XXXXXXXXXX"
    if folder or not words or has(event.argv, "t"):
        template = posixpath.join(folder or (m.places.temp[0] if m.places.temp else "/tmp"), template)  # noqa: S108
    path = m.places.join(st.cwds[0] if st.cwds else "/", template)
    suffix = next((value.text or "" for value in values_of(event.argv, "", "suffix")), "")
    head, tail = path.rstrip("X"), suffix
    if found := re.search(r"X{3,}([^X/]+)$", path):
        head, tail = path[: found.start()], found[1] + suffix
    return Value((head, *FRESH, f"{tail}\n"))


def _printenv(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value | None:
    from .params import read

    del fr
    names = operands(event.argv)
    if len(names) != 1 or not names[0].text:
        return None
    found = read(m, st, names[0].text)
    return join((found, literal("\n"))) if isinstance(found, Value) else EMPTY


def _who(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value:
    del st, fr, event
    return literal((m.places.user or posixpath.basename(m.places.home)) + "\n")


def _yes(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Value:
    del m, st, fr
    line = join(event.argv, " ") if event.argv else literal("y")
    return join((line, literal("\n"), line, literal("\n")))


_SOURCES: dict[str, Callable[[Machine, State, Frame, ExecEvent], Value | None]] = {
    "echo": _echo,
    "cat": _cat,
    "tee": _tee,
    "seq": _seq,
    "ls": _ls,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": _realpath,
    "mktemp": _mktemp,
    "printenv": _printenv,
    "whoami": _who,
    "yes": _yes,
}

_SPEC = lazy(r"%(?:%|\(([^)]*)\)T|([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?[hlLjzt]*([diouxXfFeEgGaAcsbqQ]))")


def printf(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`printf`: the format is used again while arguments are left; `-v name` assigns."""
    words = event.argv
    target = next(values_of(words, "v"), None) if words and (words[0].text or "")[:2] == "-v" else None
    rest = list(words[skip(words, "v") :])
    if not rest:
        return DONE
    out = _formatted(rest[0], rest[1:])
    if target is None:
        return Outcome(out)
    _assign_target(m, st, fr, target, out)
    return DONE


def _assign_target(m: Machine, st: State, fr: Frame, target: Value, out: Value) -> None:
    from .reading import put_named

    put_named(m, st, fr, target.text or "", out)


def _formatted(form: Value, args: list[Value]) -> Value:
    text = form.text
    if text is None:
        sources = form.sources + tuple(event for arg in args for event in arg.sources)
        return unknown("a formatted text", sources)
    out: list[Value] = []
    rest = list(args)
    for _turn in range(400):
        before = len(rest)
        out.extend(_one_round(text, rest))
        if not rest or len(rest) == before:
            break
    return join(out)


def _one_round(text: str, rest: list[Value]) -> list[Value]:
    out: list[Value] = []
    at = 0
    for found in _SPEC.finditer(text):
        out.append(literal(quotes.backslash(text[at : found.start()])))
        at = found.end()
        if found[0] == "%%":
            out.append(literal("%"))
        elif found[1] is not None:
            out.append(unknown("a date"))
        else:
            width = rest.pop(0).text if found[3] == "*" and rest else found[3]
            value = rest.pop(0) if rest else EMPTY
            out.append(_converted(found[5], value, found[4], width, found[2] or ""))
    out.append(literal(quotes.backslash(text[at:])))
    return out


def _converted(kind: str, value: Value, precision: str | None, width: str | None, flags: str) -> Value:
    text = value.text
    if text is None:
        return value
    if kind == "b":
        return literal(quotes.backslash(text))
    if kind in "sqQ":
        if kind != "s":
            text = quotes.quote(text)
        elif precision and precision.isdigit():
            text = text[: int(precision)]
        pad = int(width) if width and width.isdigit() and len(width) < 5 else 0
        return literal(text.ljust(pad) if "-" in flags else text.rjust(pad))
    if kind == "c":
        return literal(text[:1])
    return _number(kind, text, int(width) if width and width.isdigit() and len(width) < 5 else 0, flags)


def _number(kind: str, text: str, width: int, flags: str) -> Value:
    from .arith import parse_number

    number = ord(text[1]) if text[:1] in {"'", '"'} and len(text) > 1 else parse_number(text or "0")
    if number is None:
        return unknown("a number", digits=True)
    shown = {"o": f"{number:o}", "x": f"{number:x}", "X": f"{number:X}"}.get(kind, str(number))
    return literal(
        shown.zfill(width) if "0" in flags else shown.ljust(width) if "-" in flags else shown.rjust(width)
    )


__all__ = ("fields", "input_text", "lines", "printf", "run")

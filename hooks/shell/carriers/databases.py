"""Interactive clients that hand lines to a shell: sqlite3, psql, mysql, ftp, less, man."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Stdin, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import operands, values_of
from ..redirects import content_of


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def _texts(m: Machine, st: State, fr: Frame, event: ExecEvent, *files: str) -> list[str]:
    """All the program's arguments, its input, and files given to it, as far as they are known."""
    values: list[Value] = list(event.argv)
    given = st.unread if st.unread is not None else fr.stdin.text
    if given is not None:
        values.append(given)
    for file in values_of(event.argv, files[0] if files else "", *files[1:]):
        content = content_of(m, st, file)
        if content is not None:
            values.append(content)
    return [m.hide(value) for value in values]


def _run_matches(m: Machine, st: State, fr: Frame, event: ExecEvent, texts: list[str], pattern: str) -> None:
    for text in texts:
        for found in re.finditer(pattern, text):
            code = next((group for group in found.groups() if group is not None), "")
            if code.strip():
                run_shell(m, st, _inner(fr, event), m.value(code), event.name or "")


def _fed(m: Machine, st: State, event: ExecEvent) -> None:
    """A file of statements that a process substitution gives is what the client reads."""
    for value in event.argv:
        path = value.show().rpartition("=")[2]
        content = content_of(m, st, m.value(path)) if "/dev/fd/" in path else None
        if content is not None:
            m.emit(replace(event, stdin=Stdin("text", content, content.sources)))


def _included(m: Machine, st: State, event: ExecEvent, texts: list[str]) -> None:
    r"""`.read FILE`, `\i FILE`, `source FILE`: the statements of a file, as if they had come in."""
    for text in texts:
        for found in _INCLUDED.finditer(text):
            content = content_of(m, st, m.value(found[1]))
            if content is not None:
                m.emit(replace(event, stdin=Stdin("text", content)))


_INCLUDED = re.compile(
    r"(?m)(?:^|;)\s*(?:\.read|\\(?:ir?|include(?:_relative)?|\.)|source)\s+['\"]?([^\s;'\"]+)"
)


def sqlite(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`.shell code`, `.system code`, `.once |code`, `edit()`."""
    texts = _texts(m, st, fr, event, "", "init")
    _included(m, st, event, texts)
    for found in (found for text in texts for found in _SQLITE_WRITES.finditer(text)):
        m.write(m.value(found[1]), None, event)
    _run_matches(
        m,
        st,
        fr,
        event,
        texts,
        r"(?m)^\s*\.(?:sh\w*|sy\w*)\s+(.*)$|^\s*\.(?:once|output|import)\s+\"?\|([^\"\n]*)",
    )
    return None


_SQLITE_WRITES = re.compile(r"(?m)^\s*\.(?:output|once|backup|save|log)\s+(?:main\s+)?['\"]?([^|'\"\s]+)")


def psql(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    r"""`\! code`, `\o |code`, `\g |code`, `COPY … PROGRAM 'code'`."""
    texts = _texts(m, st, fr, event, "f", "file")
    _fed(m, st, event)
    _included(m, st, event, texts)
    _run_matches(
        m, st, fr, event, texts, r"\\!\s*([^\n]*)|\\(?:o|g|gx|w|copy.*?program)\s+\|?\s*'?\|([^\n']*)"
    )
    _run_matches(m, st, fr, event, texts, r"(?i)\bprogram\s+'((?:[^']|'')*)'")
    return None


def mysql(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    r"""`\! code`, `system code`, `pager code`."""
    texts = _texts(m, st, fr, event)
    _included(m, st, event, texts)
    _run_matches(
        m,
        st,
        fr,
        event,
        texts,
        r"(?m)\\!\s*([^\n]*)|^\s*system\s+([^\n;]*)|^\s*pager\s+([^\n;]*)|^\s*\\P\s+([^\n]*)",
    )
    return None


def bang(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`!code` lines of ftp, sftp, gnuplot; `system "code"` of gnuplot."""
    texts = _texts(m, st, fr, event, "b", "e")
    _run_matches(m, st, fr, event, texts, r"(?m)^\s*!\s*([^\n]*)|\bsystem\s*\(?\s*['\"]([^'\"]*)['\"]")
    return None


def less(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`less +!code`."""
    _run_matches(m, st, fr, event, [value.text or "" for value in event.argv], r"^\+\+?!(.*)")
    return None


def man(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`man -P code`, `man -H browser`."""
    for code in (*values_of(event.argv, "P", "pager", "html"), *values_of(event.argv, "H")):
        run_shell(m, st, _inner(fr, event), code, "man")
    return None


def none(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Nothing to follow."""
    del m, st, fr, event
    return None


def fed(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Other clients: statements from a process substitution."""
    del fr
    _fed(m, st, event)
    return None


__all__ = ("bang", "fed", "less", "literal", "man", "mysql", "none", "operands", "psql", "sqlite")

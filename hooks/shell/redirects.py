"""Redirections: where input comes from, which files are written, descriptors kept open by `exec`."""

from __future__ import annotations

import posixpath

from ..frozen import replace
from ..patterns import lazy
from .events import ANYWHERE, Glob, Hole, Redirect, Stdin, Value, literal
from .expand import fields_of, value_of
from .machine import Frame, Machine, Outcome, State
from .state import File
from .tree import Redir
from .values import EMPTY, join, unknown

NULL = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})


def apply_redirects(m: Machine, st: State, fr: Frame, redirects: tuple[Redir, ...], *, keep: bool) -> Frame:
    """The frame inside the redirections. With `keep` (a bare `exec`) they stay in force."""
    for redirect in redirects:
        fr = _apply(m, st, fr, redirect)
        if keep:
            _keep(m, st, fr, redirect)
    return fr


def _apply(m: Machine, st: State, fr: Frame, redirect: Redir) -> Frame:
    op = redirect.op
    if op in {"<<", "<<-"}:
        return _feed(st, fr, redirect, Stdin("text", value_of(m, st, fr, redirect.body)))
    if op == "<<<":
        start = len(m.trace)
        text = join((value_of(m, st, fr, redirect.word), literal("\n")))
        return _feed(st, fr, redirect, Stdin("text", text, tuple(m.trace[start:])))
    start = len(m.trace)
    target = _target(m, st, fr, redirect)
    if (
        op in {"<&", ">&"}
        and target.text is not None
        and (target.text.strip("-").isdigit() or target.text == "-")
    ):
        return _duplicate(st, fr, redirect, target.text)
    fd = redirect.fd if redirect.fd >= 0 else 0 if op.startswith("<") else 1
    if redirect.name:
        fd = next(number for number in range(10, 256) if number not in st.fds or number == 255)
        st.put(redirect.name, literal(str(fd)))
    found = Redirect(">" if op == ">&" else op, fd, target)
    fr = replace(fr, redirects=(*fr.redirects, found))
    if op in {"<", "<>"}:
        stdin = _read_from(m, st, target, tuple(m.trace[start:]))
        if fd == 0:
            return _feed(st, fr, redirect, stdin)
        st.fds[fd] = (found, stdin if op == "<" else None)
    elif op == "<&" and fd == 0:
        text = unknown(f"what descriptor {target.show()} gives", tuple(m.trace[-20:]))
        return _feed(st, fr, redirect, Stdin("file", text, tuple(m.trace[-20:])))
    return fr


def _target(m: Machine, st: State, fr: Frame, redirect: Redir) -> Value:
    fields = fields_of(m, st, fr, (redirect.word,))
    return fields[0] if len(fields) == 1 else value_of(m, st, fr, redirect.word)


def _feed(st: State, fr: Frame, redirect: Redir, stdin: Stdin) -> Frame:
    if redirect.fd > 0:
        st.fds[redirect.fd] = (None, stdin)
        return fr
    st.unread = stdin.text
    return replace(fr, stdin=stdin)


def _duplicate(st: State, fr: Frame, redirect: Redir, text: str) -> Frame:
    known = st.fds.get(int(text.strip("-"))) if text.strip("-") else None
    if known is None:
        return fr
    opened, stdin = known
    if opened is not None:
        fd = redirect.fd if redirect.fd >= 0 else 0 if redirect.op == "<&" else 1
        fr = replace(fr, redirects=(*fr.redirects, Redirect(opened.op, fd, opened.target)))
        if redirect.op == "<&" and stdin is None:
            stdin = Stdin("file", unknown(f"what is read from {opened.target.show()}"))
    if stdin is not None and redirect.op == "<&" and redirect.fd <= 0:
        st.unread = stdin.text
        return replace(fr, stdin=stdin)
    return fr


def _keep(m: Machine, st: State, fr: Frame, redirect: Redir) -> None:
    if redirect.op in {"<<", "<<-", "<<<"} or not fr.redirects:
        return
    last = fr.redirects[-1]
    if last.writes and last.op not in {">>", "&>>", "<>"}:
        m.write(last.target, None, m.trace[-1] if m.trace else None)
    fd = last.fd
    st.fds[fd] = (last, st.fds.get(fd, (None, None))[1] if redirect.op == "<" else None)


def _read_from(m: Machine, st: State, target: Value, upstream: tuple[object, ...]) -> Stdin:
    from .events import ExecEvent

    feeders = tuple(event for event in upstream if isinstance(event, ExecEvent))
    if target.text == "/dev/null":
        return Stdin("null", EMPTY)
    text = content_of(m, st, target)
    if text is None:
        text = unknown(f"the content of {target.show()}", feeders)
    return Stdin("file", text, feeders + text.sources)


FRESH = (Glob("[0-9A-Za-z]"),) * 10
"""The letters that `mktemp` puts into a name."""


def _is_fresh(m: Machine, value: Value) -> bool:
    """True for the name that `mktemp` gives: not known, but one file."""
    head, *rest = value.parts or ("",)
    rest = rest[:-1] if rest and isinstance(rest[-1], str) else rest
    return (
        isinstance(head, str)
        and (tuple(rest) == FRESH or rest == [Glob("*")])
        and any(head.startswith(f"{temp}/") for temp in m.places.temp)
    )


def paths_of(m: Machine, st: State, value: Value) -> list[str]:
    """The absolute paths a fully known word may name from the current folders."""
    text = value.text
    if not text:
        return [value.show()] if _is_fresh(m, value) else []
    return [
        m.places.join(cwd, text)
        for cwd in (*st.cwds, *st.fallback)
        if cwd != ANYWHERE or text.startswith("/")
    ]


def file_at(m: Machine, st: State, value: Value) -> File | None:
    """The file the command itself made under this name, if it did."""
    if not st.files:
        return None
    for path in paths_of(m, st, value):
        found = st.files.get(path)
        if found is not None:
            return found
    return None


_DESCRIPTOR = lazy(r"/(?:dev|proc/self|proc/\$\$)/fd/(\d+)")


def content_of(m: Machine, st: State, value: Value) -> Value | None:
    """The text of a file: written by the command itself, or read where that is allowed; None if unknown."""
    opened = _DESCRIPTOR.fullmatch(value.text) if value.text and value.text[0] == "/" else None
    if opened and int(opened[1]) in st.fds:
        return _descriptor(st, int(opened[1]))
    seen: set[str] = set()
    found = file_at(m, st, value)
    while found is not None and found.target and not found.contents and found.target not in seen:
        seen.add(found.target)
        value = literal(found.target)
        found = st.files.get(found.target)
    if found is not None and found.contents:
        return m.pick(("file", value, found.contents), found.contents)
    if m.places.read is not None:
        for path in paths_of(m, st, value):
            text = m.read_disk(path)
            if text is not None:
                return literal(text)
    return None


def _descriptor(st: State, fd: int) -> Value:
    redirect, stdin = st.fds[fd]
    if stdin is not None and stdin.text is not None:
        return stdin.text
    return unknown(
        f"what is read from {redirect.target.show() if redirect else fd}", stdin.upstream if stdin else ()
    )


def put_file(m: Machine, st: State, path: Value, content: Value, *, append: bool = False) -> None:
    """Remember what the command wrote into a file."""
    event = m.trace[-1] if m.trace else None
    for where in paths_of(m, st, path):
        if where in NULL or is_device(where):
            continue
        old = st.files.get(where)
        whole = join((old.contents[-1], content)) if append and old and old.contents else content
        st.files[where] = File((whole,), old.target if old and old.link else "", link=bool(old and old.link))
        m.write(literal(where), content, event, append=append)
        for behind in behind_links(st, where):
            m.write(literal(behind), content, event, append=append)
    if path.text is None:
        m.write(path, content, event, append=append)


def note_write(
    m: Machine, st: State, path: Value, content: Value | None = None, *, append: bool = False
) -> None:
    """Take down that the last event would write a file, and what links of the command lead to behind it."""
    event = m.trace[-1] if m.trace else None
    m.write(path, content, event, append=append)
    for where in paths_of(m, st, path):
        for behind in behind_links(st, where):
            m.write(literal(behind), content, event, append=append)


def is_device(path: str) -> bool:
    """True for what keeps nothing that could be read or run again; `/dev/shm` holds files like any other folder."""
    return path.startswith("/dev/") and not path.startswith("/dev/shm/")  # noqa: S108 - nothing is put there


def behind_links(st: State, path: str) -> list[str]:
    """What a path comes to through the links that the command itself made."""
    links = [(link, file.target) for link, file in st.files.items() if file.link and file.target]
    return [
        target + path[len(link) :] for link, target in links if path == link or path.startswith(f"{link}/")
    ]


def record_output(m: Machine, st: State, fr: Frame, outcome: Outcome, inherited: int) -> Outcome:
    """Let what a command prints go where its own redirections say; what is left is its output."""
    out = outcome.out
    for redirect in fr.redirects[inherited:]:
        if not redirect.writes or redirect.op == "<>":
            continue
        if redirect.fd == 1 or redirect.op.startswith("&"):
            _flush(m, st, redirect, out)
            out = EMPTY
        elif redirect.fd == 2:
            put_file(m, st, redirect.target, EMPTY, append=redirect.op == ">>")
    return outcome if out is outcome.out else Outcome(out, outcome.status)


def _flush(m: Machine, st: State, redirect: Redirect, out: Value) -> None:
    target = redirect.target.text or ""
    if target.startswith("/dev/fd/"):
        for index, (path, later) in enumerate(m.processes):
            if path == target:
                del m.processes[index]
                later(out, tuple(m.trace[-12:]))
                return
    put_file(m, st, redirect.target, out, append=redirect.op in {">>", "&>>"})


def is_path(value: Value) -> bool:
    """True if the word has a slash in its known text, so that no search path is used."""
    if value.text is not None:
        return "/" in value.text
    return any(isinstance(part, str) and "/" in part for part in value.parts)


__all__ = ("Glob", "Hole", "apply_redirects", "content_of", "file_at", "put_file", "record_output")


def absolute(m: Machine, st: State, text: str) -> str:
    """One absolute path from the first current folder."""
    cwd = st.cwds[0] if st.cwds and st.cwds[0] != ANYWHERE else m.places.cwd
    return m.places.join(cwd, text)


def inside_workspace(m: Machine, path: str) -> bool:
    """True if the path is the workspace or beneath it."""
    return path == m.places.workspace or path.startswith(posixpath.join(m.places.workspace, ""))

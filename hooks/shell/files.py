"""Programs that make, copy, link or fetch files: what they leave under which name is remembered."""

from __future__ import annotations

import posixpath

from ..patterns import lazy
from .events import ExecEvent, Value, literal
from .machine import DONE, Frame, Machine, Outcome, State
from .options import has, operands, values_of
from .redirects import behind_links, file_at, paths_of, put_file
from .state import File
from .values import unknown


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Remember what the program does to files."""
    del fr
    return _RUN[event.name or ""](m, st, event)


def _copy(m: Machine, st: State, event: ExecEvent) -> Outcome:
    valued = {"install": "mogtS", "ln": "tS"}.get(event.name or "", "tS")
    words = operands(
        event.argv, valued, frozenset({"target-directory", "suffix", "mode", "owner", "group", "backup"})
    )
    folder = next(values_of(event.argv, "t", "target-directory"), None)
    if event.name == "install" and has(event.argv, "d", "directory"):
        return _make_folders(m, st, event)
    if folder is None and len(words) < 2:
        if event.name in {"ln", "link"} and words:
            place(m, st, event, words[0], literal("."))
        return DONE
    sources = words if folder is not None else words[:-1]
    for source in sources:
        place(m, st, event, source, folder if folder is not None else words[-1])
    return DONE


def place(m: Machine, st: State, event: ExecEvent, source: Value, target: Value) -> None:
    """Remember a copy, move or link under the name it gets, also inside a folder of that name."""
    made = _made_from(m, st, event, source)
    linked = [behind for path in paths_of(m, st, target) for behind in behind_links(st, path)]
    name = posixpath.basename((source.text or "").rstrip("/"))
    content = made.contents[-1] if made.contents else None
    for path in paths_of(m, st, target):
        st.files[path] = made
        if name:
            st.files.setdefault(posixpath.join(path, name), made)
    for written in (target, *map(literal, linked if event.name in {"cp", "install"} else ())):
        m.write(written, content, event, append=_adds(event, target))
    if event.name == "mv":
        for path in paths_of(m, st, source):
            st.files.pop(path, None)


def _adds(event: ExecEvent, target: Value) -> bool:
    """True for what goes into a folder under its own name, and for a link that replaces nothing."""
    if event.name == "ln":
        return not has(event.argv, "f", "force")
    return target.suffix.endswith("/")


def _made_from(m: Machine, st: State, event: ExecEvent, source: Value) -> File:
    link = event.name in {"ln", "link"} or (
        event.name == "cp" and has(event.argv, "sl", "symbolic-link", "link")
    )
    known = file_at(m, st, source)
    if known is not None and not (link and not known.contents and not known.target):
        return File(known.contents, known.target, link or known.link)
    if source.text in {"/dev/stdin", "/dev/fd/0"} and not link:
        return File(
            (st.unread if st.unread is not None else unknown("standard input", event.stdin.upstream),)
        )
    paths = paths_of(m, st, source)
    if not paths:
        return File(
            (unknown(f"a copy of {source.show()}", source.sources),) if source.sources else (), link=link
        )
    return File((), paths[0], link)


def _make_folders(m: Machine, st: State, event: ExecEvent) -> Outcome:
    for value in operands(event.argv, "mogZ", frozenset({"mode", "context"})):
        for path in paths_of(m, st, value):
            st.files.setdefault(path, File())
    return DONE


def _make_pipe(m: Machine, st: State, event: ExecEvent) -> Outcome:
    """What comes through a named pipe is whatever anybody writes into it."""
    for value in operands(event.argv, "mZ", frozenset({"mode", "context"})):
        for path in paths_of(m, st, value):
            st.files[path] = File((unknown(f"what comes through {value.show()}", (event,)),))
    return DONE


def _soak_up(m: Machine, st: State, event: ExecEvent) -> Outcome:
    content = st.unread if st.unread is not None else event.stdin.text
    for value in operands(event.argv):
        put_file(
            m,
            st,
            value,
            content if content is not None else unknown("what sponge reads", event.stdin.upstream),
        )
    return DONE


def _touch(m: Machine, st: State, event: ExecEvent) -> Outcome:
    for value in operands(event.argv, "drt", frozenset({"date", "reference", "time"})):
        m.write(value, None, event, append=True)
        for path in paths_of(m, st, value):
            st.files.setdefault(path, File())
    return DONE


def _remove(m: Machine, st: State, event: ExecEvent) -> Outcome:
    for value in operands(event.argv):
        for path in paths_of(m, st, value):
            file = st.files.get(path)
            if file is not None and not file.link:
                st.files.pop(path)
    return DONE


def _dd(m: Machine, st: State, event: ExecEvent) -> Outcome | None:
    pairs = {key: value for key, value in map(_pair, event.argv) if key}
    target = pairs.get("of")
    if target is None:
        return None
    source = pairs.get("if")
    content = None
    if source is not None:
        from .redirects import content_of

        content = content_of(m, st, source)
    elif st.unread is not None:
        content = st.unread
    put_file(m, st, target, content or unknown("what dd copies", (event,)))
    return DONE


def _pair(word: Value) -> tuple[str, Value]:
    from .options import after

    key, equals, _rest = word.prefix.partition("=")
    return (key, after(word, len(key) + 1)) if equals else ("", word)


def _curl(m: Machine, st: State, event: ExecEvent) -> Outcome | None:
    named = list(values_of(event.argv, "o", "output"))
    fetched = unknown("what curl fetches", (event,))
    if has(event.argv, "O", "remote-name", "remote-name-all"):
        named.extend(_remote_names(event))
    for value in named:
        if value.text != "-":
            put_file(m, st, value, fetched)
    return DONE if named and all(value.text != "-" for value in named) else None


_ADDRESS = lazy(r"\w+://|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?/")


def _remote_names(event: ExecEvent) -> list[Value]:
    names = [
        posixpath.basename((value.text or "").partition("?")[0])
        for value in event.argv
        if _ADDRESS.match(value.text or "")
    ]
    return [literal(name) for name in names if name]


def _wget(m: Machine, st: State, event: ExecEvent) -> Outcome | None:
    for program in values_of(event.argv, "", "use-askpass"):
        from .code import run_shell
        from .machine import Frame

        run_shell(m, st, Frame(via=("wget",), segment=event.segment), program, "wget")
    named = list(values_of(event.argv, "O", "output-document"))
    if named and named[0].text == "-":
        return None
    fetched = unknown("what wget fetches", (event,))
    folder = next((value.text for value in values_of(event.argv, "P", "directory-prefix") if value.text), "")
    names = named or [literal(posixpath.join(folder, value.text or "")) for value in _remote_names(event)]
    for value in names:
        put_file(m, st, value, fetched)
    return DONE


FETCH_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "aria2c": ("o", ("out",)),
    "axel": ("o", ("output",)),
    "http": ("o", ("output",)),
    "https": ("o", ("output",)),
    "xh": ("o", ("output",)),
    "wget2": ("O", ("output-document",)),
    "curlie": ("o", ("output",)),
    "lftp": ("", ()),
    "aws": ("", ()),
    "gsutil": ("", ()),
    "tftp": ("", ()),
}
"""Other programs that fetch, and the options that name the file; those without copy from an address to a path."""


def fetch(m: Machine, st: State, event: ExecEvent) -> Outcome | None:
    """Remember which file holds what the program fetches."""
    short, long = FETCH_OPTIONS[event.name or ""]
    named = list(values_of(event.argv, short, *long)) if long else _copied_here(event)
    if long and not named and event.name in {"aria2c", "axel", "wget2"}:
        named = _remote_names(event)
    for value in named:
        put_file(m, st, value, unknown(f"what {event.name} fetches", (event,)))
    return None


def _copied_here(event: ExecEvent) -> list[Value]:
    """`aws s3 cp s3://b/x.sh .` leaves x.sh here; `tftp host -c get x.sh` too."""
    words = operands(event.argv)
    texts = [value.text or "" for value in words]
    if "get" in texts[:-1]:
        return [words[-1], literal(posixpath.basename(texts[texts.index("get") + 1]))]
    if len(words) < 2 or "://" not in texts[-2] or "://" in texts[-1] or texts[-1] == "-":
        return []
    return [words[-1], literal(posixpath.join(texts[-1], posixpath.basename(texts[-2])))]


_RUN = {
    **dict.fromkeys(FETCH_OPTIONS, fetch),
    "cp": _copy,
    "mv": _copy,
    "ln": _copy,
    "install": _copy,
    "link": _copy,
    "mkdir": _make_folders,
    "mkfifo": _make_pipe,
    "sponge": _soak_up,
    "touch": _touch,
    "rm": _remove,
    "unlink": _remove,
    "dd": _dd,
    "curl": _curl,
    "wget": _wget,
}

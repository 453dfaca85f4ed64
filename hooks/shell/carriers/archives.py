"""tar, zip and other archivers with options that run programs."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Value
from ..machine import Frame, Machine, Outcome, State
from ..options import after, has, operands, values_of
from ..redirects import content_of, put_file
from ..unpacked import unpack
from ..values import lines, unknown

TAR_CODE = (
    "to-command", "use-compress-program", "rsh-command", "info-script", "new-volume-script", "use-compress-prog",
    "rmt-command",
)  # fmt: skip


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def tar(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`tar --checkpoint-action=exec=…`, `--to-command`, `-I program`, `-F script`."""
    inner = _inner(fr, event)
    words = event.argv
    for value in values_of(words, "", "checkpoint-action"):
        if value.prefix.startswith("exec="):
            run_shell(m, st, inner, after(value, 5), "tar")
    for code in (
        *values_of(words, "", *_abbreviations(words)),
        *values_of(words, "I"),
        *values_of(words, "F"),
    ):
        if code.text is None or not re.fullmatch(
            r"(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzop|brotli)(?: -\S+)*", code.text
        ):
            run_shell(m, st, inner, code, "tar")
    for file in values_of(words, "T", "files-from"):
        _listed(m, event, content_of(m, st, file))
    first = words[0].text or "" if words else ""
    if has(words, "cru", "create", "append", "update") or re.match(r"[A-Za-z]*[cru]", first):
        _made(
            m, st, event, next(values_of(words, "f", "file"), None) or (words[1] if len(words) > 1 else None)
        )
    elif has(words, "x", "extract", "get") or re.match(r"[A-Za-z]*x", first):
        _extract(m, st, fr, event)
    return None


def _listed(m: Machine, event: ExecEvent, names: Value | None) -> None:
    """The names in a list are read as if they stood among the words."""
    if names is not None and not names.is_opaque:
        m.emit(replace(event, argv=(*event.argv, *lines(names))))


def cpio(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`cpio -o`: the names come from standard input."""
    if has(event.argv, "op", "create", "pass-through"):
        _listed(m, event, st.unread if st.unread is not None else fr.stdin.text)
    return None


def _made(m: Machine, st: State, event: ExecEvent, archive: Value | None) -> None:
    """An archive holds what went into it."""
    if archive is not None and archive.text not in {None, "-"}:
        put_file(m, st, archive, unknown(f"an archive made by {event.name}", (event,)))


def _abbreviations(words: tuple[object, ...]) -> tuple[str, ...]:
    found = {"to-command", *TAR_CODE}
    for word in words:
        text = getattr(word, "prefix", "")
        name = text[2:].partition("=")[0] if text.startswith("--") else ""
        if len(name) > 3 and any(option.startswith(name) for option in TAR_CODE):
            found.add(name)
    return tuple(sorted(found))


def zip_(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`zip -T -TT code`."""
    words = event.argv
    for index, value in enumerate(words):
        text = value.text or ""
        if text in {"-TT", "--unzip-command"} and index + 1 < len(words):
            run_shell(m, st, _inner(fr, event), words[index + 1], "zip")
        elif value.prefix.startswith("-TT") and len(value.prefix) > 3:
            run_shell(m, st, _inner(fr, event), after(value, 3), "zip")
        elif value.prefix.startswith("--unzip-command="):
            run_shell(m, st, _inner(fr, event), after(value, 16), "zip")
    _made(m, st, event, next(iter(operands(words, "bnt")), None))
    return None


def unzip(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`unzip`, `7z x`, `jar xf`: what comes out of an archive that was fetched."""
    del fr
    words = event.argv
    folder = next(values_of(words, "d" if event.name == "unzip" else "o"), None)
    if not has(words, "l", "list"):
        for archive in words:
            if "." in archive.suffix:
                unpack(m, st, content_of(m, st, archive), archive.show(), folder)
    return None


def _extract(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    words = event.argv
    archive = next(values_of(words, "f", "file"), None)
    if archive is None and words and "f" in (words[0].text or "") and len(words) > 1:
        archive = words[1]
    folder = next(values_of(words, "C", "directory"), None)
    if archive is None or archive.text == "-":
        text = st.unread if st.unread is not None else fr.stdin.text
        unpack(m, st, text, "", folder)
    else:
        unpack(m, st, content_of(m, st, archive), archive.show(), folder)

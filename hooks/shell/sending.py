"""Programs that send files over a network: what flowed into a file the command itself made flows on with it."""

from __future__ import annotations

from ..frozen import replace
from .events import ExecEvent, Stdin, Value, literal
from .machine import Machine, State
from .redirects import file_at

SENDERS = frozenset(
    "curl wget nc ncat netcat socat scp sftp rsync ssh ftp http https xh aws gsutil rclone mail mutt sendmail lftp tftp"
    " gh glab telnet restic borg swaks sendemail mosquitto_pub kcat logger croc wormhole pastebinit mc s3cmd b2 az gcloud"
    " xh curlie websocat openssl".split()
)

CONVERTERS = frozenset(
    "gpg gpg2 age rage openssl zip 7z 7za 7zz rar tar bsdtar gtar split gsplit csplit gzip pigz bzip2 xz zstd lz4 base64 base32"
    " uuencode qrencode steghide ccrypt mcrypt cpio pax ar xxd jq yq sops magick convert".split()
)
"""Programs that put one file into another, named among their arguments."""


def with_sent_files(m: Machine, st: State, event: ExecEvent) -> ExecEvent:
    """The event, fed also by the commands that filled the files it names."""
    feeders: list[ExecEvent] = []
    originals: list[Value] = []
    for value in event.argv:
        original = value
        for named in _files_named(value):
            file = file_at(m, st, named)
            if file is not None and file.target and not file.link:
                original = literal(value.show().replace(named.show(), file.target))
            feeders.extend(
                source for content in (file.contents if file else ()) for source in content.sources
            )
            feeders.extend(one for one in m.trace if one.name in CONVERTERS and _names(one, named.show()))
        originals.append(original)
    if tuple(originals) != event.argv:
        m.emit(replace(event, argv=tuple(originals)))
    if not feeders:
        return event
    stdin = event.stdin
    return replace(event, stdin=Stdin(stdin.kind, stdin.text, (*feeders, *stdin.upstream)))


def _files_named(value: Value) -> list[Value]:
    """Give what of a word may name a file: all of it, and what stands behind `@`, `=` or `=@`."""
    head = value.parts[0] if value.parts else ""
    if not isinstance(head, str) or (value.text is None and value.holes):
        return []
    starts = {head, *(head.rpartition(mark)[2] for mark in ("@", "=", "=@"))}
    return [Value((start, *value.parts[1:])) for start in sorted(starts) if start]


def _names(event: ExecEvent, name: str) -> bool:
    """Tell whether an earlier event is given a file's name, or what it begins with, beside other words."""
    words = [value.show() for value in event.argv if value.parts and not value.holes]
    return len(words) > 1 and any(
        word == name or (len(word) > 1 and name in {f"{word}aa", f"{word}*"}) for word in words
    )


__all__ = ("SENDERS", "Value", "with_sent_files")

"""Programs that send files over a network: what flowed into a file the command itself made flows on with it."""

from __future__ import annotations

from ..frozen import replace
from .events import ExecEvent, Stdin, Value, literal
from .machine import Machine, State
from .redirects import file_at

SENDERS = frozenset(
    "curl wget nc ncat netcat socat scp sftp rsync ssh ftp http https xh aws gsutil rclone mail mutt sendmail lftp tftp"
    " gh glab telnet restic borg".split()
)


def with_sent_files(m: Machine, st: State, event: ExecEvent) -> ExecEvent:
    """The event, fed also by the commands that filled the files it names."""
    feeders: list[ExecEvent] = []
    originals: list[Value] = []
    for value in event.argv:
        original = value
        text = value.text or ""
        for name in {text, text.rpartition("@")[2], text.rpartition("=")[2], text.rpartition("=@")[2]}:
            file = file_at(m, st, literal(name)) if name else None
            if file is not None and file.target and not file.link:
                original = literal(text.replace(name, file.target))
            feeders.extend(
                source for content in (file.contents if file else ()) for source in content.sources
            )
        originals.append(original)
    if tuple(originals) != event.argv:
        m.emit(replace(event, argv=tuple(originals)))
    if not feeders:
        return event
    stdin = event.stdin
    return replace(event, stdin=Stdin(stdin.kind, stdin.text, (*feeders, *stdin.upstream)))


__all__ = ("SENDERS", "Value", "with_sent_files")

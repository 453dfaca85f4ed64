"""An agent's messages on disk, one JSON object a line, appended after every step.

A crash leaves everything up to the last complete line; reading says what was skipped instead of pretending.
The line's shape follows Claude Code's transcripts: `type`, `uuid`, `timestamp`, `message`, and who wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import orjson

from decurion.hooks import AuditError, RunRef

from .model import Message

COMPACTED, UNBOUND = "compact_boundary", "unbound"
REWRITTEN = frozenset({COMPACTED, UNBOUND})
"""Notes of what the history became: made smaller, or without the thinking that the API no longer takes."""

_OWNER_ONLY = 0o600


class Transcript:
    """Appends lines to one agent's file. One writer a file; whole lines, one `write` each."""

    def __init__(self, path: Path) -> None:
        """Open `path` for appending; a torn last line of an earlier crash is closed with a newline first.

        Raises:
            AuditError: it cannot be opened for writing.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _OWNER_ONLY)
        except OSError as error:
            raise AuditError(f"{path} cannot be written: {error.strerror}") from None
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def add(self, ref: RunRef, message: Message, **extra: Any) -> None:
        """Append one message of the history.

        Raises:
            AuditError: it could not be written; an agent whose history is not kept does not go on.
        """
        self._line(ref, {"type": message["role"], "message": message, **extra})

    def note(self, ref: RunRef, kind: str, **fields: Any) -> None:
        """Append a line that is no message: a compaction boundary, the start's brief, the end's result."""
        self._line(ref, {"type": "system", "subtype": kind, **fields})

    def close(self) -> None:
        """Close the file; adding afterwards is an error."""
        os.close(self._file)

    def _line(self, ref: RunRef, fields: Mapping[str, Any]) -> None:
        head = {
            "uuid": _new_uuid(),
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "session_id": ref.session_id,
            "agent_id": ref.agent_id,
            "agent_type": ref.agent_type,
            "turn": ref.turn,
        }
        line = orjson.dumps({**head, **fields}, option=orjson.OPT_APPEND_NEWLINE)
        try:
            whole = os.write(self._file, line) == len(line)
        except OSError as error:
            raise AuditError(f"{self.path} cannot be written: {error.strerror}") from None
        if not whole:
            raise AuditError(f"{self.path} cannot be written: the disk is full")


def _new_uuid() -> str:
    """Give a random UUID (version 4) as text, in a fifth of the time that `uuid` takes for every line."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


@dataclass(frozen=True, slots=True)
class ReadTranscript:
    """What a transcript file still holds.

    `turns` is the number of the newest turn that has a reply, those before a compaction counted; `effects` is
    what the agent did to the world, turn by turn. `skipped` counts lines that could not be read,
    `first_bad` is the first one's number, from 1.
    """

    messages: tuple[Message, ...]
    notes: tuple[Mapping[str, Any], ...]
    turns: int = 0
    effects: tuple[Mapping[str, Any], ...] = ()
    skipped: int = 0
    first_bad: int = 0

    def note(self, kind: str) -> Mapping[str, Any] | None:
        """Give the newest note of a kind."""
        return next((note for note in reversed(self.notes) if note.get("subtype") == kind), None)


def read_transcript(path: Path) -> ReadTranscript:
    """Read the messages that are in force: those of the newest note that says what the history became, and all since.

    Raises:
        OSError: the file cannot be read.
    """
    messages: list[Message] = []
    notes: list[Mapping[str, Any]] = []
    bad: list[int] = []
    effects: list[Mapping[str, Any]] = []
    turns = 0
    with path.open("rb") as lines:
        records = [(number, _parsed(line)) for number, line in enumerate(lines, 1)]
    for number, record in records:
        if record is None:
            bad.append(number)
            continue
        effects += [record["effects"]] if isinstance(record.get("effects"), dict) else []
        if record["type"] != "system":
            messages.append(record["message"])
            turns = _turn(record) if record["type"] == "assistant" else turns
            continue
        notes.append(record)
        if record.get("subtype") in REWRITTEN:
            # One line holds the cut and what the history became, so a crash cannot fall between the two.
            messages = list(record.get("messages") or ())
    return ReadTranscript(
        tuple(messages), tuple(notes), turns, tuple(effects), len(bad), bad[0] if bad else 0
    )


def _turn(record: Mapping[str, Any]) -> int:
    turn = record.get("turn")
    return turn if isinstance(turn, int) else 0


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Give the record of a line, or None where it is none; NULs are what a crashed file system leaves behind."""
    try:
        value: Any = orjson.loads(line.strip(b"\0 \r\n"))
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    record = cast("dict[str, Any]", value)
    kind = record.get("type")
    is_message = kind in ("user", "assistant") and isinstance(record.get("message"), dict)
    return record if is_message or kind == "system" else None

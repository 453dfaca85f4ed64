"""An agent's messages on disk, one JSON object a line, appended after every step.

A crash leaves everything up to the last complete line; reading says what was skipped instead of pretending.
The line's shape follows Claude Code's transcripts: `type`, `uuid`, `timestamp`, `message`, and who wrote it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import orjson

from decurion.hooks import RunRef

from .model import Message

_OWNER_ONLY = 0o600


class Transcript:
    """Appends lines to one agent's file. One writer a file; whole lines, one `write` each."""

    def __init__(self, path: Path) -> None:
        """Open `path` for appending; a torn last line of an earlier crash is closed with a newline first."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _OWNER_ONLY)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def add(self, ref: RunRef, message: Message, **extra: Any) -> None:
        """Append one message of the history."""
        self._line(ref, {"type": message["role"], "message": message, **extra})

    def note(self, ref: RunRef, kind: str, **fields: Any) -> None:
        """Append a line that is no message: a compaction boundary, the start's brief, the end's result."""
        self._line(ref, {"type": "system", "subtype": kind, **fields})

    def close(self) -> None:
        """Close the file; adding afterwards is an error."""
        os.close(self._file)

    def _line(self, ref: RunRef, fields: Mapping[str, Any]) -> None:
        head = {
            "uuid": str(uuid.uuid4()),
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "session_id": ref.session_id,
            "agent_id": ref.agent_id,
            "agent_type": ref.agent_type,
            "turn": ref.turn,
        }
        os.write(self._file, orjson.dumps({**head, **fields}, option=orjson.OPT_APPEND_NEWLINE))


@dataclass(frozen=True, slots=True)
class ReadTranscript:
    """What a transcript file still holds. `skipped` counts lines that could not be read, `first_bad` is 1-based."""

    messages: tuple[Message, ...]
    notes: tuple[Mapping[str, Any], ...]
    skipped: int = 0
    first_bad: int = 0

    def note(self, kind: str) -> Mapping[str, Any] | None:
        """Give the newest note of a kind."""
        return next((note for note in reversed(self.notes) if note.get("subtype") == kind), None)

    @property
    def turns(self) -> int:
        """How many replies of the model it holds."""
        return sum(message["role"] == "assistant" for message in self.messages)


def read_transcript(path: Path) -> ReadTranscript:
    """Read the messages that are in force: those since the newest compaction boundary.

    Raises:
        OSError: the file cannot be read.
    """
    messages: list[Message] = []
    notes: list[Mapping[str, Any]] = []
    bad: list[int] = []
    with path.open("rb") as lines:
        records = [(number, _parsed(line)) for number, line in enumerate(lines, 1)]
    for number, record in records:
        if record is None:
            bad.append(number)
            continue
        if record["type"] != "system":
            messages.append(record["message"])
            continue
        notes.append(record)
        if record.get("subtype") == "compact_boundary":
            # One line holds the cut and what the history became, so a crash cannot fall between the two.
            messages = list(record.get("messages") or ())
    return ReadTranscript(tuple(messages), tuple(notes), len(bad), bad[0] if bad else 0)


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

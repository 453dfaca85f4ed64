"""Transcripts: what a crash leaves is read, what is damaged is said, compaction is one line."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from decurion.agents.transcript import Transcript, read_transcript
from decurion.hooks import RunRef

REF = RunRef("s", "a", "general", turn=1)


def message(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def written(path: Path, *texts: str) -> Transcript:
    """Write a transcript with some messages of the user."""
    transcript = Transcript(path)
    for text in texts:
        transcript.add(REF, message("user", text))
    return transcript


def test_messages_come_back_as_they_went_in_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "t.jsonl"
    written(path, "one", "zwei — ü").close()
    assert read_transcript(path).messages == (message("user", "one"), message("user", "zwei — ü"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {"uuid", "timestamp", "session_id", "agent_id", "turn", "type"} <= json.loads(
        path.read_text().splitlines()[0]
    ).keys()


def test_every_kind_of_torn_tail_costs_one_line_and_the_next_one_stands_alone(tmp_path: Path) -> None:
    """BUG-65: half a record, half a character, no newline, NULs in the middle."""
    whole = tmp_path / "whole"
    written(whole, "a", "b", "ü").close()
    data = whole.read_bytes()
    for name, torn, kept, skipped in [
        ("half a record", data[:-20], 2, 1),
        ("half a character", data[: data.rindex("ü".encode()) + 1], 2, 1),
        ("no newline", data[:-1], 3, 0),
        ("nul bytes", data + b"\0" * 300 + b"\n", 3, 1),
    ]:
        path = tmp_path / name
        path.write_bytes(torn)
        written(path, "new").close()
        read = read_transcript(path)
        assert (len(read.messages), read.skipped) == (kept + 1, skipped), name
        assert read.messages[-1] == message("user", "new")
        assert read.first_bad == (kept + 1 if skipped else 0)


def test_a_compaction_puts_its_messages_in_the_place_of_all_before(tmp_path: Path) -> None:
    path = tmp_path / "t"
    transcript = written(path, "old")
    transcript.note(REF, "compact_boundary", messages=(message("user", "short"),))
    transcript.add(REF, message("assistant", "later"))
    transcript.close()
    read = read_transcript(path)
    assert read.messages == (message("user", "short"), message("assistant", "later"))
    assert read.turns == 1
    assert read.note("compact_boundary") is not None
    assert read.note("nothing") is None

"""BUG-65: what a crash or a full disk leaves at the end of a log is mended on the next open, and said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks.audit import records, verify
from decurion.hooks.audit.store import head_path

from .samples import LEAD, open_log, write_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_session(tmp_path / "audit.jsonl", agents=2, calls=3, end=False)


def events_after(path: Path, count: int) -> list[dict[str, Any]]:
    return list(records(str(path)))[count:]


def crash(path: Path, change: Callable[[bytes], bytes]) -> int:
    """Alter the file's bytes as a crash does; give how many whole records were before."""
    data = path.read_bytes()
    count = data.count(b"\n")
    path.write_bytes(change(data))
    return count


def append(path: Path) -> None:
    with open_log(path) as log:
        log.write(LEAD, "note", reason="after")


def test_half_a_record_is_taken_out_and_reported_once_with_its_place(path: Path) -> None:
    size = path.stat().st_size
    count = crash(path, lambda data: data + b'{"v":1,"seq":99,"ts":"20')
    append(path)
    append(path)
    repair, *notes = events_after(path, count)
    assert (repair["event"], repair["damage"], repair["at_byte"], repair["removed_bytes"]) == (
        "repair",
        "torn",
        size,
        24,
    )
    assert repair["fragment"] == '{"v":1,"seq":99,"ts":"20'
    assert [note["event"] for note in notes] == ["note", "note"]
    assert verify(str(path)).ok


@pytest.mark.parametrize("half", [b'{"v":1,"seq":99,"ts":"20', b"\0" * 5000])
def test_until_then_half_a_record_that_the_head_never_knew_is_a_crash_and_no_tampering(
    path: Path, half: bytes
) -> None:
    count = crash(path, lambda data: data + half)
    report = verify(str(path))
    assert (report.ok, report.state, report.records) == (True, "open", count)
    assert [f"record {count + 1};" in note for note in report.notes] == [True]


def test_half_a_record_that_the_head_knew_whole_was_cut(path: Path) -> None:
    count = crash(path, lambda data: data[:-40])
    found = verify(str(path)).first
    assert found is not None
    assert (found.kind, found.seq) == ("truncated", count)


def test_half_a_character_is_taken_out(path: Path) -> None:
    count = crash(path, lambda data: data + b'{"v":1,"reason":"gr\xc3')
    append(path)
    assert [record["event"] for record in events_after(path, count)] == ["repair", "note"]
    assert verify(str(path)).ok


def test_a_whole_record_without_newline_is_kept(path: Path) -> None:
    count = crash(path, lambda data: data[:-1])
    append(path)
    assert [record["event"] for record in events_after(path, count)] == ["note"]
    assert verify(str(path)).ok


def test_nul_bytes_at_the_end_are_taken_out(path: Path) -> None:
    count = crash(path, lambda data: data + b"\0" * 5000)
    append(path)
    repair = events_after(path, count)[0]
    assert (repair["damage"], repair["removed_bytes"]) == ("torn", 5000)
    assert verify(str(path)).ok


def test_nul_bytes_after_a_record_without_newline_are_taken_out(path: Path) -> None:
    count = crash(path, lambda data: data[:-1] + b"\0" * 77)
    append(path)
    assert [record["event"] for record in events_after(path, count)] == ["repair", "note"]
    assert verify(str(path)).ok


def test_nul_bytes_in_the_middle_stay_and_records_on_both_sides_are_read(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"\0" * 512, *lines[5:]]))
    append(path)
    found = list(records(str(path)))
    assert [record["seq"] for record in found] == list(range(1, len(lines) + 2))
    assert [problem.line for problem in verify(str(path)).problems] == [6]


def test_whole_lines_of_rubbish_stay_as_evidence(path: Path) -> None:
    count = crash(path, lambda data: data + b"rubbish\n")
    append(path)
    assert [record.get("damage") for record in events_after(path, count)] == ["garbage", None]
    assert b"rubbish\n" in path.read_bytes()
    assert not verify(str(path)).ok


def test_a_first_record_cut_in_half_is_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"v":1,"seq":1,"ts":"2026')
    append(path)
    assert [record["event"] for record in records(str(path))] == ["repair", "note"]
    assert verify(str(path)).ok


def test_a_cut_end_is_not_papered_over(path: Path) -> None:
    """Lines are missing, not torn: the next writer says so, and the gap stays visible for ever."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-3]))
    append(path)
    repair = events_after(path, len(lines) - 3)[0]
    assert (repair["missing_from"], repair["missing_to"]) == (len(lines) - 2, len(lines))
    found = verify(str(path)).first
    assert found is not None
    assert (found.kind, found.seq) == ("removed", len(lines) - 2)


def test_a_head_left_behind_by_a_crash_is_brought_up_to_date(path: Path) -> None:
    """Killed between the record and the head."""
    lines = path.read_bytes().splitlines(keepends=True)
    before = json.loads(lines[-2])
    stale = {
        "v": 1,
        "seq": before["seq"],
        "hash": before["hash"],
        "size": sum(map(len, lines[:-1])),
        "part": 0,
    }
    Path(head_path(str(path))).write_text(json.dumps(stale))
    assert verify(str(path)).ok
    append(path)
    assert [record["event"] for record in events_after(path, len(lines))] == ["note"]
    assert verify(str(path)).ok


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 192, b'{"seq":"x"}'])
def test_a_damaged_head_is_made_anew(path: Path, content: bytes) -> None:
    count = path.read_bytes().count(b"\n")
    Path(head_path(str(path))).write_bytes(content)
    append(path)
    assert [record["event"] for record in events_after(path, count)] == ["note"]
    assert verify(str(path)).ok

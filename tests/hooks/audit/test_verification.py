"""Whatever is done to a log is found, and the first bad record is named."""

from __future__ import annotations

import hashlib
import json
import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from decurion.hooks import AuditError
from decurion.hooks.audit import Report, raw_lines, verify
from decurion.hooks.audit.store import head_path
from tests.effort import effort

from .samples import open_log, write_session

Lines = list[bytes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_session(tmp_path / "audit.jsonl", agents=3, calls=4)


def lines_of(path: Path) -> Lines:
    return path.read_bytes().splitlines(keepends=True)


def rehash(line: bytes, **changes: object) -> bytes:
    """Alter a record as somebody would who knows how hashes are made."""
    record = {**json.loads(line), **changes}
    del record["hash"]
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return body[:-1] + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def tampered(path: Path, change: Callable[[Lines], object]) -> Report:
    lines = lines_of(path)
    change(lines)
    path.write_bytes(b"".join(lines))
    return verify(str(path))


def first(report: Report) -> tuple[str, int, int]:
    assert report.first is not None
    return report.first.kind, report.first.seq, report.first.line


def test_an_untouched_log_is_proven(path: Path) -> None:
    report = verify(str(path))
    assert (report.ok, report.state, report.records) == (True, "sealed", len(lines_of(path)))
    assert (report.open_calls, report.open_agents) == (0, 0)


def test_an_edit_is_named(path: Path) -> None:
    report = tampered(path, lambda lines: lines.__setitem__(9, lines[9].replace(b'"turn":1', b'"turn":2')))
    assert first(report) == ("edited", 10, 10)
    assert len(report.problems) == 1


def test_an_edit_with_a_new_hash_is_named(path: Path) -> None:
    report = tampered(path, lambda lines: lines.__setitem__(9, rehash(lines[9], decision="allow", rule="x")))
    assert first(report) == ("edited", 10, 10)


def test_a_rewritten_last_record_is_named(path: Path) -> None:
    report = tampered(path, lambda lines: lines.__setitem__(-1, rehash(lines[-1], status="failed")))
    assert first(report)[0] == "edited"
    assert first(report)[1] == len(lines_of(path))


def test_a_removal_is_named(path: Path) -> None:
    report = tampered(path, lambda lines: lines.pop(9))
    assert first(report) == ("removed", 10, 10)
    assert "record 10 is missing" in report.problems[0].message


def test_a_removed_beginning_is_named(path: Path) -> None:
    report = tampered(path, lambda lines: lines.__delitem__(slice(0, 5)))
    assert first(report) == ("removed", 1, 1)


@pytest.mark.parametrize("origin", [2, 15])
def test_an_inserted_copy_is_named(path: Path, origin: int) -> None:
    report = tampered(path, lambda lines: lines.insert(9, lines[origin]))
    assert first(report)[0] == "inserted"
    assert first(report)[2] == 10


def test_an_inserted_forgery_that_fits_the_chain_is_named(path: Path) -> None:
    def forge(lines: Lines) -> None:
        good = json.loads(lines[8])
        lines.insert(9, rehash(lines[8], seq=good["seq"] + 1, prev=good["hash"], tool_use_id="forged"))

    assert first(tampered(path, forge)) == ("inserted", 10, 10)


def test_swapped_records_are_named(path: Path) -> None:
    def swap(lines: Lines) -> None:
        lines[9], lines[10] = lines[10], lines[9]

    assert first(tampered(path, swap))[::2] == ("reordered", 10)


@pytest.mark.parametrize("keep", [0, 1, 20])
def test_a_cut_end_is_named(path: Path, keep: int) -> None:
    report = tampered(path, lambda lines: lines.__delitem__(slice(keep, None)))
    assert first(report)[:2] == ("truncated", keep + 1)


def test_a_log_that_is_gone_is_truncated(path: Path) -> None:
    path.unlink()
    assert first(verify(str(path)))[:2] == ("truncated", 1)


def test_without_a_head_only_a_sealed_log_is_proven(path: Path) -> None:
    Path(head_path(str(path))).unlink()
    report = verify(str(path))
    assert report.ok
    assert report.notes == ("the head file is missing; the log ends with its session_end",)
    assert first(tampered(path, lambda lines: lines.pop()))[0] == "truncated"


def test_a_rewritten_chain_is_found_by_a_hash_noted_down_earlier(path: Path) -> None:
    """Who may write all files can forge everything but what stands elsewhere."""
    noted = json.loads(lines_of(path)[20])
    prev, made = "0" * 64, list[bytes]()
    for line in lines_of(path):
        made.append(rehash(line, prev=prev, reason="forged"))
        prev = json.loads(made[-1])["hash"]
    path.write_bytes(b"".join(made))
    Path(head_path(str(path))).unlink()
    assert verify(str(path)).ok
    report = verify(str(path), expect=(noted["seq"], noted["hash"]))
    assert first(report)[:2] == ("edited", 21)
    assert report.first
    assert (report.first.line, report.first.file) == (21, str(path))


def test_random_alterations_are_all_found_and_the_first_bad_record_is_named(
    tmp_path: Path,
) -> None:
    original = lines_of(write_session(tmp_path / "audit.jsonl", agents=4, calls=5))
    rng = random.Random(67)
    missed: list[str] = []
    path = tmp_path / "audit.jsonl"
    for number in range(effort(200, 1000)):
        lines = list(original)
        kind, place = ALTERATIONS[number % len(ALTERATIONS)](lines, rng)
        path.write_bytes(b"".join(lines))
        found = verify(str(path)).first
        if found is None or found.line != place or found.kind != kind:
            missed.append(f"{number}: wanted {kind} at line {place}, found {found}")
    assert missed == []


def _edit(lines: Lines, rng: random.Random) -> tuple[str, int]:
    place = rng.randrange(len(lines))
    line = lines[place]
    while True:
        at = rng.randrange(len(line) - 1)
        new = bytes([rng.choice([*range(1, 10), *range(11, 256)])])
        if line[at : at + 1] != new:
            break
    lines[place] = line[:at] + new + line[at + 1 :]
    return "edited", place + 1


def _delete(lines: Lines, rng: random.Random) -> tuple[str, int]:
    place = rng.randrange(len(lines) - 1)
    del lines[place]
    return "removed", place + 1


def _insert(lines: Lines, rng: random.Random) -> tuple[str, int]:
    place = rng.randrange(1, len(lines) - 2)
    copy = rng.choice([line for number, line in enumerate(lines) if number not in {place - 1, place}])
    lines.insert(place, rng.choice([copy, copy.replace(b"bash", b"hash"), b'{"event":"planned"}\n']))
    return "inserted", place + 1


def _swap(lines: Lines, rng: random.Random) -> tuple[str, int]:
    one, other = sorted(rng.sample(range(len(lines)), 2))
    lines[one], lines[other] = lines[other], lines[one]
    return "reordered", one + 1


def _truncate(lines: Lines, rng: random.Random) -> tuple[str, int]:
    keep = rng.randrange(1, sum(map(len, lines)) - 1)
    data = b"".join(lines)[:keep]
    lines[:] = data.splitlines(keepends=True)
    whole = data.count(b"\n")
    # A record that lacks nothing but its newline is whole.
    whole += bool(data and not data.endswith(b"\n") and data.endswith(b'"}') and b',"hash":"' in lines[-1])
    return "truncated", whole + 1


ALTERATIONS = (_edit, _delete, _insert, _swap, _truncate)


# ---- what is no good log ----


@pytest.mark.parametrize("text", [b"hello\n", b"\x00\x01\x02", b"[1,2]\n", b'{"a":1}\n', b"%PDF-1.4\n"])
def test_what_is_no_log_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x.jsonl").write_bytes(text)
    with pytest.raises(AuditError, match="is not an audit log"):
        verify(str(tmp_path / "x.jsonl"))


def test_another_versions_log_is_refused_by_name(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'{"v":1,', b'{"v":2,'))
    with pytest.raises(AuditError, match=r"newer decurion.*version 2, this one reads 1"):
        verify(str(path))


def test_no_log_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="there is no audit log at"):
        verify(str(tmp_path / "audit.jsonl"))


def test_nul_bytes_in_the_middle_are_named_and_all_other_records_counted(path: Path) -> None:
    lines = lines_of(path)
    report = tampered(path, lambda lines: lines.__setitem__(9, b"\0" * 4096 + lines[9]))
    assert first(report) == ("edited", 10, 10)
    assert "4096 NUL bytes" in report.problems[0].message
    assert report.records == len(lines) - 1


def test_half_a_record_in_the_middle_is_named_and_all_other_records_counted(path: Path) -> None:
    lines = lines_of(path)
    report = tampered(path, lambda lines: lines.__setitem__(9, lines[9][:40] + b"\n"))
    assert first(report) == ("edited", 10, 10)
    assert report.records == len(lines) - 1


def test_an_endless_line_is_passed_over_in_flat_memory(path: Path) -> None:
    lines = lines_of(path)
    with path.open("wb") as file:
        file.writelines(lines[:9])
        file.seek(200_000_000, 1)  # a hole, which takes no room
        file.write(b"\n")
        file.writelines(lines[9:])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = verify(str(path))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert report.records == len(lines)
    assert first(report) == ("inserted", 10, 10)
    assert "endless line" in report.problems[0].message
    assert grown < 150_000  # KiB


def test_damage_without_end_does_not_fill_the_report(path: Path) -> None:
    report = tampered(path, lambda lines: lines.__setitem__(slice(1, None), [b"junk\n"] * 5000))
    assert len(report.problems) <= 60
    assert any("stopped after" in note for note in report.notes)


def test_rotated_parts_are_one_log_and_a_missing_part_is_named(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl", agents=4, calls=10, max_bytes=15_000)
    whole = verify(str(path))
    assert whole.ok
    assert whole.records == len(list(raw_lines(str(path))))
    (tmp_path / "audit.0002.jsonl").unlink()
    report = verify(str(path))
    assert first(report)[0] == "removed"
    assert Path(report.problems[0].file).name == "audit.0003.jsonl"


def test_a_log_in_which_nothing_happened_yet_is_empty_and_no_damage(tmp_path: Path) -> None:
    open_log(tmp_path / "audit.jsonl").close()
    report = verify(str(tmp_path / "audit.jsonl"))
    assert (report.ok, report.state, report.records) == (True, "empty", 0)
    (tmp_path / "audit.head").write_bytes(b"")
    assert not verify(str(tmp_path / "audit.jsonl")).ok

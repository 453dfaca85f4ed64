"""A record is whole, complete, private and on disk when `write` returns."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks import AuditError, RunRef
from decurion.hooks.audit import FIELDS, AuditLog, records, verify

from .samples import LEAD, SESSION, call, child, open_log, write_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session" / "audit.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_every_record_has_every_field_in_order(path: Path) -> None:
    write_session(path)
    for record in read(path):
        named = [name for name in record if name in FIELDS]
        assert named == list(FIELDS)


def test_a_record_tells_who_did_what_under_which_rule(path: Path) -> None:
    with open_log(path) as log:
        log.write(
            child(7, 4), "refused", tool_name="bash", tool_use_id="t1", decision="deny", rule="r1", by="law",
            reason="no", input={"command": "x"}, segment="x", micros=120,
        )  # fmt: skip
    record = read(path)[0]
    told = {
        name: record[name]
        for name in ("session_id", "agent_id", "parent_id", "parent_call_id", "depth", "turn")
    }
    assert told == {
        "session_id": SESSION, "agent_id": "agent-7", "parent_id": "lead", "parent_call_id": "toolu_task_7",
        "depth": 1, "turn": 4,
    }  # fmt: skip
    assert (record["rule"], record["by"], record["reason"], record["segment"], record["micros"]) == (
        "r1",
        "law",
        "no",
        "x",
        120,
    )


def test_the_record_is_on_disk_when_write_returns(path: Path) -> None:
    with open_log(path) as log:
        log.write(LEAD, "planned", tool_use_id="t1", input={"command": "true"})
        assert read(path)[0]["tool_use_id"] == "t1"


def test_output_is_hashed_and_counted_but_not_stored(path: Path) -> None:
    with open_log(path) as log:
        log.write(LEAD, "done", tool_use_id="t", output="grün\n", exit_status=0)
    record = read(path)[0]
    assert record["output_sha256"] == hashlib.sha256("grün\n".encode()).hexdigest()
    assert record["output_bytes"] == 6
    assert b"gr" not in path.read_bytes()


def test_equal_inputs_are_matched_by_a_keyed_digest_that_differs_between_installations(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {"command": "login --password hunter2"}
    with open_log(path) as log:
        log.write(LEAD, "planned", input=secret)
        log.write(LEAD, "planned", input=secret)
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "elsewhere"))
    with open_log(tmp_path / "b.jsonl") as log:
        log.write(LEAD, "planned", input=secret)
    first, second, other = *read(path), *read(tmp_path / "b.jsonl")
    assert first["input_mac"] == second["input_mac"] != other["input_mac"]
    stored = json.dumps(first["input"], ensure_ascii=False, separators=(",", ":")).encode()
    assert first["input_sha256"] == hashlib.sha256(stored).hexdigest()
    assert "hunter2" not in stored.decode()


def test_files_and_folders_are_owner_only(path: Path) -> None:
    os.umask(0o022)
    write_session(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("audit.head").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "odd",
    [
        {"text": "\udc80 lone \ud800"},
        {"number": math.nan, "other": math.inf},
        {"path": Path("/x"), "bytes": b"\xff\x00", "set": {1}},
        {1: "int key", None: "null key", ("a",): "tuple key"},
        {"tuple": (1, 2)},
        {"big": 10**5000},
        {"control": "\x00\x1f\u2028\n\r"},
        "just text",
        {"deep": None},
    ],
    ids=["surrogates", "nan", "types", "keys", "tuple", "big", "control", "text", "deep"],
)  # fmt: skip
def test_no_odd_argument_stops_the_log(path: Path, odd: Any) -> None:
    if odd == {"deep": None}:
        for _ in range(3000):
            odd = {"deep": odd}
    with open_log(path) as log:
        log.write(LEAD, "malformed", tool_use_id="t", input=odd, reason="\ud800", detail=odd)
        log.write(LEAD, "session_end", status="completed")
    assert len(read(path)) == 2
    assert verify(str(path)).ok


def test_a_long_text_is_cut_with_a_note(path: Path) -> None:
    with open_log(path) as log:
        log.write(LEAD, "planned", input={"content": "x" * 3_000_000})
    content = read(path)[0]["input"]["content"]
    assert len(content) < 1_100_000
    assert content.endswith("[cut: 1951488 more characters]")


def test_a_field_of_the_record_cannot_be_set_from_outside(path: Path) -> None:
    with open_log(path) as log, pytest.raises(AuditError, match="seq"):
        log.write(LEAD, "note", seq=7)


def test_processors_are_structlog_functions_and_a_failing_one_stops_the_call(path: Path) -> None:
    def tag(_logger: object, method: str, event_dict: dict[str, Any]) -> dict[str, Any]:
        return {**event_dict, "team": "blue", "method": method}

    def broken(_logger: object, _method: str, _event_dict: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("lost")

    with open_log(path, processors=[tag]) as log:
        log.write(LEAD, "note", reason="hello", input={"a": 1})
    record = read(path)[0]
    assert (record["team"], record["method"], record["agent_id"], record["input"]) == (
        "blue",
        "note",
        "lead",
        {"a": 1},
    )
    with open_log(path, processors=[broken]) as log, pytest.raises(AuditError, match="broken failed"):
        log.write(LEAD, "note")


def test_writing_after_close_raises(path: Path) -> None:
    log = open_log(path)
    log.close()
    with pytest.raises(AuditError, match="closed"):
        log.write(LEAD, "note")


def test_an_unwritable_place_is_an_audit_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(AuditError, match="cannot open the audit log"):
        open_log(tmp_path / "file" / "audit.jsonl")


def test_a_link_in_place_of_the_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(AuditError, match="a link stands where the log should be"):
        open_log(tmp_path / "audit.jsonl")
    assert not (tmp_path / "target").exists()


def test_a_strangers_file_is_not_touched(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", "hello\n"), ("b.jsonl", '{"a":1}'), ("c.jsonl", '{"a":1}\n{"b":2}\n')):
        (tmp_path / name).write_text(text)
        with pytest.raises(AuditError, match="is not an audit log"):
            open_log(tmp_path / name)
        assert (tmp_path / name).read_text() == text


def test_rotation_loses_nothing_and_carries_the_chain_over(path: Path) -> None:
    write_session(path, agents=4, calls=20, max_bytes=20_000)
    parts = sorted(path.parent.glob("audit.*.jsonl"))
    assert len(parts) > 3
    assert all(part.stat().st_size <= 20_000 for part in parts)
    rotated = [record for record in records(str(path)) if record["event"] == "rotate"]
    assert [record["previous_file"] for record in rotated] == [part.name for part in parts]
    report = verify(str(path))
    assert report.ok, report.problems
    assert report.records == sum(len(read(part)) for part in (*parts, path))


def test_a_log_that_vanishes_under_its_writer_is_noticed(path: Path) -> None:
    with open_log(path) as log:
        for number in range(3):
            log.write(LEAD, "note", reason=str(number))
        path.unlink()
        time.sleep(0.06)  # a writer looks twenty times a second
        log.write(LEAD, "note", reason="after")
    events = [(record["event"], record.get("damage")) for record in records(str(path))]
    assert events == [("repair", "missing"), ("note", None)]
    assert not verify(str(path)).ok


def test_a_file_size_limit_stops_the_call_and_leaves_no_half_record(path: Path) -> None:
    """A full disk as far as one process is concerned: `ulimit -f`."""
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.hooks.audit.samples import LEAD, open_log
from decurion.hooks import AuditError
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
log, written = open_log(Path({str(path)!r})), 0
try:
    while True:
        log.write(LEAD, "planned", tool_use_id=str(written), input={{"command": "x" * 500}})
        written += 1
except AuditError as error:
    print(written, error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    written, _, message = done.stdout.partition(" ")
    assert "raise the file size limit" in message
    assert [record["tool_use_id"] for record in read(path)] == [str(number) for number in range(int(written))]
    with open_log(path) as log:
        log.write(LEAD, "session_end", status="failed")
    assert verify(str(path)).ok


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_stops_the_call_and_leaves_no_half_record(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        path, written = disk / "audit.jsonl", 0
        log = open_log(path)
        message = ""
        while not message and written < 1000:
            try:
                log.write(LEAD, "planned", tool_use_id=str(written), input={"command": "x" * 300})
                written += 1
            except AuditError as error:
                message = str(error)
        assert "No space left" in message
        assert "free some disk space" in message
        assert 10 < written < 200
        assert [record["tool_use_id"] for record in read(path)] == [str(number) for number in range(written)]
        with pytest.raises(AuditError):
            log.write(LEAD, "planned", tool_use_id="again", input={"command": "x" * 5000})
        log.close()
        assert [problem.kind for problem in verify(str(path)).problems] == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_the_error_tree_names_the_system_error(tmp_path: Path) -> None:
    assert errno.EFBIG
    assert resource.RLIMIT_FSIZE
    locked = tmp_path / "locked"
    locked.mkdir()
    (locked / "audit.jsonl").mkdir()
    with pytest.raises(AuditError) as caught:
        open_log(locked / "audit.jsonl")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)


def test_two_logs_of_one_session_do_not_share_a_chain(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with AuditLog.open(tmp_path / name / "audit.jsonl", session_id=name) as log:
            call(log, RunRef(name, "lead", "lead"), "t", "true")
    first, second = (read(tmp_path / name / "audit.jsonl") for name in ("a", "b"))
    assert first[0]["hash"] != second[0]["hash"]
    assert first[0]["prev"] == second[0]["prev"] == "0" * 64

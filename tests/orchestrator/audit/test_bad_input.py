"""Logs that are none, are another version's, or were damaged: a clear word, the good records still read, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks.audit.reading import MAX_LINE
from tests.hooks.audit.samples import LEAD, open_log, write_session

from .commands import Run, rows

READERS = (
    ("show",),
    ("tail",),
    ("tree",),
    ("export", "--format", "otlp"),
    ("export", "--format", "ocsf"),
    ("export", "--format", "csv"),
    ("report", "-o", "report.html"),
    ("replay", "--rules", "rules.toml"),
    ("diff", "last"),
)
RULES = '[[rule]]\nid = "no-ls"\nprogram = ["ls"]\nmessage = "no"\ndeny = ["ls"]\nallow = ["cat x"]\n'


@pytest.fixture
def rules(session: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to stand in that holds a rule file."""
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "rules.toml"


def wrong_types(lines: list[bytes]) -> None:
    """Make something else of each field of some records."""
    record: dict[str, Any] = {
        **json.loads(lines[5]),
        "model": "m-1",
        "cwd": "/w",
        "workspace": "/w",
        "files_changed": [],
    }
    for name in record:
        for other in (None, 7, "x", ["x"], {"x": 1}):
            lines.append(json.dumps({**record, name: other}).encode())  # noqa: PERF401 - more follow
    lines.append(
        json.dumps({**record, "event": "model_request", "input_tokens": "many", "seconds": "long"}).encode()
    )
    lines.append(json.dumps({**record, "ts": "2026-99-99T99:99:99.999999Z"}).encode())


def nuls(lines: list[bytes]) -> None:
    lines[7] = b"\0" * 5000


def half(lines: list[bytes]) -> None:
    lines[-1] = lines[-1][:-40]


def endless(lines: list[bytes]) -> None:
    lines.insert(9, b'{"v":1,' + b" " * MAX_LINE)


@pytest.mark.parametrize(
    ("command", "damage"),
    [*product(READERS, (wrong_types, nuls, half)), (("show",), endless)],
    ids=lambda value: value.__name__ if callable(value) else value[0],
)
def test_the_good_records_of_a_damaged_log_are_read_by_every_command(
    audit: Run, session: Path, rules: Path, command: tuple[str, ...], damage: Callable[[list[bytes]], None]
) -> None:
    lines = session.read_bytes().splitlines()
    damage(lines)
    session.write_bytes(b"\n".join(lines) + b"\n")
    arguments = (command[0], str(session), *command[1:])
    status, _, err = audit(*arguments)
    assert (status, "internal error" in err) == (0, False), err
    if command[0] not in {"report", "tail", "diff"}:
        assert "passed over; `decurion audit verify` says" in err
    assert audit("verify", str(session))[0] == 1


@pytest.mark.parametrize("command", [*READERS, ("verify",), ("sql",)], ids=" ".join)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello\nworld\n", "is not an audit log"),
        (b'{"a":1}\n[1,2]\n', "is not an audit log"),
        (b"\x89PNG\r\n\x1a\n" * 500, "is not an audit log"),
        (b'{"v":2,"seq":1,"more":[]}\n', "was written by a newer decurion"),
    ],
)
def test_what_is_no_log_of_ours_is_refused_in_one_line(
    audit: Run, rules: Path, tmp_path: Path, command: tuple[str, ...], data: bytes, message: str
) -> None:
    if command[0] == "sql":
        pytest.importorskip("duckdb")
    foreign = tmp_path / "other.jsonl"
    foreign.write_bytes(data)
    arguments = (command[0], str(foreign), *command[1:])
    status, out, err = (
        audit("sql", "SELECT 1", "-s", str(foreign)) if command[0] == "sql" else audit(*arguments)
    )
    assert (status, message in err, len(err.splitlines()), out) == (1, True, 1, "")


@pytest.mark.parametrize("line", [b"\0" * 700, b"hello", b'{"v":2,"seq":1,"more":[]}', b""])
def test_a_log_whose_first_line_was_damaged_is_still_one(audit: Run, session: Path, line: bytes) -> None:
    lines = session.read_bytes().splitlines()
    lines[0] = line
    session.write_bytes(b"\n".join(lines) + b"\n")
    assert len(rows(audit("show", "--json")[1])) == len(lines) - 1
    status, out, _ = audit("verify")
    assert (status, "first bad record: edited, audit.jsonl line 1, record 1" in out) == (1, True)


@pytest.mark.parametrize("damage", [nuls, endless])
def test_sql_answers_over_the_good_records_of_a_damaged_log(
    audit: Run, session: Path, damage: Callable[[list[bytes]], None]
) -> None:
    pytest.importorskip("duckdb")
    lines = session.read_bytes().splitlines()
    damage(lines)
    session.write_bytes(b"\n".join(lines) + b"\n")
    whole = len(lines) - 1
    assert rows(audit("sql", "SELECT count(*) AS n, max(seq) AS last FROM records", "--json")[1]) == [
        {"n": whole, "last": json.loads(lines[-1])["seq"]}
    ]


def test_an_empty_log_is_said_to_be_empty(audit: Run, tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl"):
        pass
    for command in ("show", "tree"):
        assert audit(command, str(tmp_path))[:2] == (0, "The log is empty.\n")
    assert audit("tail", str(tmp_path))[1] == "No record fits.\n"


def test_a_part_that_cannot_be_read_is_named(audit: Run, tmp_path: Path) -> None:
    log = write_session(tmp_path / "x" / "audit.jsonl")
    (tmp_path / "x" / "audit.0001.jsonl").mkdir()
    status, _, err = audit("show", str(log))
    assert (status, "cannot read" in err, "audit.0001.jsonl" in err) == (1, True, True)


# ---- a log of `decurion hook` ----


def test_a_log_of_the_hook_program_shows_what_is_known_and_is_replayed_where_it_stood(
    audit: Run, session: Path, rules: Path, tmp_path: Path
) -> None:
    """Nothing of tokens and ends is known there; paths mean what they meant in the folder of the call."""
    hooked = session.parent.parent / "hooked"
    where: dict[str, Any] = {"workspace": str(tmp_path / "project"), "cwd": str(tmp_path / "project" / "src")}
    with open_log(hooked / "audit.jsonl") as log:
        for number, command in enumerate(("rm -rf ../build", "ls")):
            given = {"command": command}
            log.write(
                LEAD,
                "planned",
                tool_name="bash",
                tool_use_id=f"t{number}",
                decision="allow",
                input=given,
                **where,
            )
    out = audit("tree", str(hooked))[1]
    assert "recorded by decurion hook: calls alone" in out
    assert "$" not in out
    changed = rows(audit("replay", str(hooked), "--rules", str(rules), "--json")[1])
    assert [(row["tool_use_id"], row["rule"]) for row in changed] == [("t1", "no-ls")]
    (row,) = rows(audit("list", "--json", "-n", "1")[1])
    assert row["cwd"] == where["workspace"]

"""`decurion audit` from the outside: what a person types, what comes back, and the exit code."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import orjson
import pytest

from decurion.hooks.audit import session_dir, verify
from tests.hooks.audit.samples import LEAD, child, open_log, refuse, write_session

from .commands import Run, rows

# ---- finding ----


def test_without_any_session_it_says_how_to_start_one(audit: Run) -> None:
    assert audit("list")[:2] == (0, 'There is no session yet. Start one: decurion run "…"\n')
    status, _, err = audit("show")
    assert status == 2
    assert "There is no session yet" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["last", "20261130-120000-aaaaaa", "2026"])
def test_a_session_is_found_by_id_beginning_or_last(audit: Run, session: Path, name: str) -> None:
    assert audit("verify", name)[0] == 0


def test_a_session_is_found_by_path_of_its_log_or_folder(audit: Run, session: Path) -> None:
    assert audit("verify", str(session))[0] == 0
    assert audit("verify", str(session.parent))[0] == 0


def test_an_unknown_or_ambiguous_beginning_names_what_there_is(audit: Run, session: Path) -> None:
    write_session(session.parent.parent / "20261130-130000-bbbbbb" / "audit.jsonl")
    status, _, err = audit("show", "2026")
    assert (status, "2 sessions begin with" in err, "20261130-130000-bbbbbb" in err) == (2, True, True)
    assert "No session begins with 'x9'" in audit("show", "x9")[2]


def test_last_prefers_the_current_project(audit: Run, session: Path, tmp_path: Path) -> None:
    write_session(Path(session_dir(str(tmp_path / "other"), "20261130-999999-cccccc"), "audit.jsonl"))
    assert str(session) in audit("verify")[1]


# ---- list, show, tail, tree ----


def test_list_says_when_where_who_what_and_whether_it_is_proven(audit: Run, session: Path) -> None:
    broken = write_session(session.parent.parent / "20261130-130000-bbbbbb" / "audit.jsonl")
    broken.write_bytes(broken.read_bytes().replace(b'"turn":1', b'"turn":3', 1))
    found = {row["session"]: row for row in rows(audit("list", "--json")[1])}
    row = found["20261130-120000-aaaaaa"]
    assert (row["agents"], row["calls"], row["refused"], row["status"], row["verified"]) == (
        4,
        15,
        3,
        "completed",
        True,
    )
    assert found["20261130-130000-bbbbbb"]["verified"] is False
    text = audit("list")[1]
    assert "SESSION" in text
    assert "NO" in text


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--decision", "deny"], 3),
        (["--decision", "refused"], 3),
        (["--agent", "agent-1"], 18),
        (["--agent", "general", "--tool", "Bash"], 33),
        (["--rule", "no-root-*", "--agent", "agent-2"], 1),
        (["--rule", "no-root-wipe"], 3),
        (["--since", "1h", "--decision", "planned"], 15),
        (["--since", "2030-01-01"], 0),
    ],
)
def test_show_filters(audit: Run, session: Path, options: list[str], count: int) -> None:
    status, out, _ = audit("show", "last", "--json", *options)
    assert (status, len(rows(out))) == (0, count)


def test_show_gives_records_as_they_stand(audit: Run, session: Path) -> None:
    assert audit("show", "--json")[1].encode() == session.read_bytes()


def test_show_never_lets_a_model_move_the_cursor(audit: Run, tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "note", reason="\x1b[2J\x1b]0;owned\x07 \u202e line\nbreak", tool_name="\x1b[31m")
    out = audit("show", str(tmp_path))[1]
    assert "\x1b" not in out
    assert len(out.splitlines()) == 1


def test_a_time_that_is_none_is_refused(audit: Run, session: Path) -> None:
    status, _, err = audit("show", "--since", "yesterdayish")
    assert (status, "is no time" in err) == (2, True)


def test_tail_shows_the_last(audit: Run, session: Path) -> None:
    assert len(audit("tail", "-n", "4")[1].splitlines()) == 4


def test_tree_shows_who_led_whom(audit: Run, session: Path) -> None:
    (session.parent / "subagents").mkdir()
    (session.parent / "subagents" / "agent-1.result.json").write_bytes(
        orjson.dumps({"summary": "All green."})
    )
    out = audit("tree")[1]
    assert "✓ lead" in out
    assert "├─✓ agent-0 (general)  part 0" in out
    assert "└─✓ agent-2 (general)" in out
    assert "“All green.”" in out
    assert "15 calls, 3 refused" in out


# ---- verify ----


def test_verify_names_the_first_bad_record_and_exits_with_one(audit: Run, session: Path) -> None:
    assert audit("verify")[0] == 0
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(lines[:9] + lines[10:]))
    status, out, _ = audit("verify")
    assert status == 1
    assert (
        "first bad record: removed, audit.jsonl line 10, record 10: record 10 is missing before this one"
        in out
    )
    assert json.loads(audit("verify", "--json")[1])["problems"][0]["kind"] == "removed"


def test_verify_takes_a_key_and_an_expected_hash(
    audit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = audit("keygen")
    assert status == 0
    key = out.splitlines()[1]
    path = write_session(tmp_path / "audit.jsonl")
    report = verify(str(path))
    assert (
        audit("verify", str(path), "--key", key, "--expect", f"{report.last_seq}:{report.last_hash}")[0] == 0
    )
    assert audit("verify", str(path), "--key", "ab" * 32)[0] == 1
    assert audit("verify", str(path), "--expect", f"3:{'0' * 64}")[0] == 1
    assert audit("verify", str(path), "--expect", "nonsense")[0] == 2
    assert audit("keygen")[0] == 1


def test_what_is_no_log_is_one_line_and_no_traceback(audit: Run, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("hello\n")
    for command in ("verify", "show", "tree", "report", "export"):
        status, _, err = audit(command, str(tmp_path / "x.jsonl"))
        assert (status, err.count("\n")) == (1, 1)
        assert "is not an audit log" in err


# ---- sql, replay, diff, export ----


def test_sql_answers_over_one_or_many_sessions(audit: Run, session: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra sql is not installed")
    write_session(session.parent.parent / "20261130-130000-bbbbbb" / "audit.jsonl", max_bytes=20_000)
    query = "SELECT count(*) AS n, sum(CASE WHEN exit_status = 0 THEN 1 END) AS good FROM calls"
    assert rows(audit("sql", query, "--json", "-s", str(session))[1]) == [{"n": 15, "good": 15}]
    assert rows(audit("sql", "SELECT count(*) AS n FROM denied", "--all", "--json")[1]) == [{"n": 6}]
    by_rule = "SELECT rule, count(*) AS n FROM denied GROUP BY 1"
    assert rows(audit("sql", by_rule, "--json", "-s", str(session))[1]) == [{"rule": "no-root-wipe", "n": 3}]
    assert len(rows(audit("sql", "SELECT * FROM agents", "--json", "-s", str(session))[1])) == 4
    assert "pytest tests" in audit("sql", "SELECT command FROM commands ORDER BY 1 LIMIT 1")[1]
    assert rows(
        audit("sql", "SELECT sum(cache_read_input_tokens) AS n FROM costs", "--json", "-s", str(session))[1]
    ) == [{"n": 75_000}]


@pytest.mark.parametrize(
    "query",
    ["SELEKT", "SELECT * FROM read_csv('/etc/passwd')", "COPY records TO '/tmp/x.csv'", "INSTALL httpfs"],
)
def test_a_wrong_or_prying_query_is_refused_in_one_line(audit: Run, session: Path, query: str) -> None:
    pytest.importorskip("duckdb", reason="the extra sql is not installed")
    status, _, err = audit("sql", query)
    assert status == 2
    assert err.startswith("decurion: SQL: ")
    assert len(err.splitlines()) == 1


RULE = """
[[rule]]
id = "no-tests"
decision = "deny"
message = "Tests are not run here. Ask for a test run."
program = "pytest"
deny = ["pytest -q"]
allow = ["ls"]
"""


def test_replay_says_what_a_changed_rule_file_would_refuse_and_allow(
    audit: Run, session: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE)
    status, out, _ = audit("replay", "--rules", str(rules))
    assert status == 0
    assert "allow → deny  agent-1  no-tests  pytest tests/part_1 -k 'case 0 ü'" in out
    assert "18 calls judged: 15 would now be refused, 0 asked about, 0 allowed; 3 as before" in out
    assert "by agent: agent-" in out
    assert "by rule: no-tests 15" in out
    changed = rows(audit("replay", "--rules", str(rules), "--json")[1])
    assert {(change["before"], change["after"], change["rule"]) for change in changed} == {
        ("allow", "deny", "no-tests")
    }
    assert audit("replay", "--rules", str(tmp_path / "none.toml"))[0] == 2


def test_replay_says_what_would_no_longer_be_refused(audit: Run, tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        refuse(log, child(1), "t1", "ls -la")
    rules = tmp_path / "rules.toml"
    rules.write_text("")
    out = audit("replay", str(tmp_path), "--rules", str(rules))[1]
    assert "deny → allow  agent-1  no-root-wipe  ls -la" in out


def test_diff_shows_what_only_one_session_did(audit: Run, session: Path, tmp_path: Path) -> None:
    other = write_session(tmp_path / "audit.jsonl", agents=3, calls=6)
    status, out, _ = audit("diff", str(session), str(other))
    assert status == 0
    assert "+ bash  pytest tests/part_0 -k 'case 5 ü'" in out
    assert "18 calls in both, 0 only in the first, 3 only in the second" in out


def test_csv_has_a_line_a_record_and_no_formula(audit: Run, tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "note", reason='=HYPERLINK("http://x")')
    found = list(csv.DictReader(io.StringIO(audit("export", str(tmp_path), "--format", "csv")[1])))
    assert [row["reason"] for row in found] == ['\'=HYPERLINK("http://x")']


def test_ocsf_says_who_did_what_and_whether_it_was_stopped(audit: Run, session: Path) -> None:
    found = rows(audit("export", "--format", "ocsf")[1])
    refused = [event for event in found if event.get("action_id") == 2]
    assert len(refused) == 3
    assert refused[0]["process"]["cmd_line"] == "rm -rf /"
    assert refused[0]["policy"]["name"] == "no-root-wipe"
    assert {event["class_uid"] for event in found} == {1007, 6003}


def test_each_ocsf_event_has_what_its_class_requires(audit: Run, session: Path, tmp_path: Path) -> None:
    """As `ocsf-schema` says in events/base_event.json, events/system and events/application; and no nulls."""
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(None, "note", reason="of no agent")
        log.write(LEAD, "planned", tool_name="bash", input={"command": "ls"})
    base = {
        "activity_id",
        "category_uid",
        "class_uid",
        "metadata",
        "severity_id",
        "time",
        "type_uid",
        "actor",
    }
    required = {1007: {"device", "process"}, 6003: {"api", "src_endpoint"}}
    for log_path in (str(session), str(tmp_path)):
        out = audit("export", log_path, "--format", "ocsf")[1]
        for event in rows(out):
            assert event.keys() >= base | required[event["class_uid"]]
            assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"]
            assert event["metadata"].keys() >= {"product", "version"}
            assert event.get("process", {"uid": "x"})["uid"]
            assert ("action_id" in event) == ("security_control" in event["metadata"]["profiles"])
        assert ":null" not in out


def test_export_goes_to_a_file_and_says_so_when_it_cannot(audit: Run, session: Path, tmp_path: Path) -> None:
    assert audit("export", "-o", str(tmp_path / "spans.json"))[0] == 0
    assert orjson.loads((tmp_path / "spans.json").read_bytes())["resourceSpans"]
    status, _, err = audit("export", "-o", str(tmp_path / "no" / "spans.json"))
    assert (status, "cannot write" in err) == (2, True)

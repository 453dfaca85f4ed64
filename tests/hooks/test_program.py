"""`decurion hook` as the program that other products start: refuses, records, and fails closed."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.hooks import Decision, HookFailure, Verdict, ask, deny
from decurion.hooks.audit import session_dir
from decurion.hooks.request import read_request
from decurion.hooks.wire import read_answer, render

START = [sys.executable, "-I", "-c", "from decurion.hooks.program import main; raise SystemExit(main())"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".decurion").mkdir(parents=True)
    (folder / ".decurion/rules.toml").write_text('deny = ["canary-wipe"]\n')
    return folder


def hook(stdin: bytes, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(START, input=stdin, cwd=cwd, capture_output=True, timeout=30, check=False)


def event(project: Path, tool: str = "Bash", name: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    return {
        "session_id": "s-1",
        "transcript_path": "/t.jsonl",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": {"command": "true"},
        "tool_use_id": "toolu_1",
        **fields,
    }


def ask_hook(project: Path, **fields: Any) -> subprocess.CompletedProcess[bytes]:
    return hook(json.dumps(event(project, **fields)).encode(), project)


def records(project: Path, session: str = "s-1") -> list[dict[str, Any]]:
    path = Path(session_dir(str(project), session)) / "audit.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    "command",
    [
        "canary-wipe x",
        "true && canary-wipe",
        "c''anary-wipe",
        "$(printf canary-wipe) x",
        "env -i bash -c 'canary-wipe'",
        "sudo true",
        "rm -rf /",
    ],
)
def test_a_forbidden_command_is_refused_in_every_way_a_product_reads(project: Path, command: str) -> None:
    run = ask_hook(project, tool_input={"command": command})
    assert run.returncode == 2
    said = json.loads(run.stdout)["hookSpecificOutput"]
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
    assert said["permissionDecisionReason"]
    assert run.stderr.decode().strip() == said["permissionDecisionReason"].strip()
    (record,) = records(project)
    assert (record["event"], record["decision"], record["tool_use_id"]) == ("refused", "deny", "toolu_1")
    assert record["rule"]


def test_no_objection_is_silence_and_a_record(project: Path) -> None:
    run = ask_hook(project)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    (record,) = records(project)
    assert (record["event"], record["tool_name"], record["input"]) == ("planned", "bash", {"command": "true"})


def test_a_question_is_left_to_the_product_and_recorded(project: Path) -> None:
    (project / ".decurion/rules.toml").write_text('ask = ["mytool deploy"]\n')
    run = ask_hook(project, tool_input={"command": "timeout 9 mytool deploy"})
    assert (run.returncode, run.stderr) == (0, b"")
    said = json.loads(run.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "ask"
    assert "mytool deploy" in said["permissionDecisionReason"]
    (record,) = records(project)
    assert (record["event"], record["decision"]) == ("planned", "ask")


def test_after_the_call_its_outcome_is_recorded(project: Path) -> None:
    ask_hook(project)
    run = ask_hook(project, name="PostToolUse", tool_response={"stdout": "hi"}, duration_ms=3)
    assert (run.returncode, run.stdout) == (0, b"")
    assert ask_hook(project, name="PostToolUseFailure", error="exit 1").returncode == 0
    planned, done, failed = records(project)
    assert [one["event"] for one in (planned, done, failed)] == ["planned", "done", "done"]
    assert (done["is_error"], failed["is_error"], done["duration_ms"]) == (False, True, 3)
    assert len({one["prev"] for one in (planned, done, failed)}) == 3


def test_a_subagent_of_the_product_is_recorded_as_one(project: Path) -> None:
    ask_hook(project, agent_id="a-7", agent_type="Explore", tool_input={"command": "canary-wipe"})
    (record,) = records(project)
    assert (record["agent_id"], record["agent_type"], record["depth"]) == ("a-7", "Explore", 1)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Write", {"file_path": "~/.ssh/authorized_keys", "content": "x"}),
        ("Edit", {"file_path": ".git/hooks/pre-commit", "old_string": "a", "new_string": "b"}),
        ("NotebookEdit", {"notebook_path": ".git/hooks/pre-commit", "new_source": "x"}),
        ("shell", {"command": ["bash", "-lc", "canary-wipe x"]}),
        ("run_shell_command", {"command": "canary-wipe"}),
        ("mcp__box__exec", {"command": "canary-wipe"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch"}),
    ],
)
def test_other_tools_and_other_names_are_bound_too(project: Path, tool: str, args: dict[str, Any]) -> None:
    if "file_path" in args:
        args = {**args, "file_path": str(Path(args["file_path"]).expanduser())}
    assert ask_hook(project, tool=tool, tool_input=args).returncode == 2


@pytest.mark.parametrize("tool", ["WebFetch", "Agent", "Skill", "mcp__db__query"])
def test_a_tool_the_law_says_nothing_of_passes_and_is_recorded(project: Path, tool: str) -> None:
    assert ask_hook(project, tool=tool, tool_input={"prompt": "canary-wipe"}).returncode == 0
    assert [one["event"] for one in records(project)] == ["planned"]


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"   ",
        b"{",
        b"[]",
        b"null",
        b'"PreToolUse"',
        b"\xff\xfe{}",
        b'{"hook_event_name": "PreToolUse", "tool_name": "B\xe9"}',
        b"{}",
        b'{"hook_event_name": 1}',
        b'{"hook_event_name": "PreToolUse"}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": "rm"}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": 1}}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"content": "x"}}',
        b"[" * 200_000,
    ],
    ids=lambda stdin: repr(stdin[:40]),
)
def test_input_that_is_not_understood_refuses_in_one_line(project: Path, stdin: bytes) -> None:
    run = hook(stdin, project)
    assert (run.returncode, run.stdout) == (2, b"")
    assert len(run.stderr.decode().splitlines()) == 1
    assert b"Traceback" not in run.stderr


def test_a_closed_standard_input_refuses(project: Path) -> None:
    argv = ["sh", "-c", 'exec "$@" <&-', "sh", *START]
    assert subprocess.run(argv, cwd=project, capture_output=True, timeout=30, check=False).returncode == 2


def test_a_reader_that_went_away_does_not_turn_a_refusal_into_something_else(project: Path) -> None:
    said = project / "event.json"
    said.write_text(json.dumps(event(project, tool_input={"command": "canary-wipe"})))
    script = 'exec "$@" < event.json >&- 2>&-'
    assert (
        subprocess.run(["sh", "-c", script, "sh", *START], cwd=project, timeout=30, check=False).returncode
        == 2
    )


def test_a_huge_input_is_answered(project: Path) -> None:
    big = ask_hook(project, tool="Write", tool_input={"file_path": "big.txt", "content": "x" * 5_000_000})
    assert big.returncode == 0
    assert ask_hook(project, tool_input={"command": "echo " + "x" * 5_000_000}).returncode == 2


@pytest.mark.parametrize("rules", ["deny = [", "nonsense = 1", "\x00"])
def test_broken_rules_refuse_everything_and_name_the_file(project: Path, rules: str) -> None:
    (project / ".decurion/rules.toml").write_text(rules)
    run = ask_hook(project)
    assert run.returncode == 2
    assert b"rules.toml" in run.stderr


def test_a_log_that_cannot_be_written_refuses(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "file/state"))
    run = ask_hook(project)
    assert run.returncode == 2
    assert b"Traceback" not in run.stderr


def test_events_that_are_no_tool_calls_pass_untouched(project: Path) -> None:
    said = {"session_id": "s-1", "hook_event_name": "Stop", "cwd": str(project)}
    run = hook(json.dumps(said).encode(), project)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.parametrize("session", ["../../escape", "..", "a/b", "", "x" * 300, "é", 7, None])
def test_a_session_id_cannot_leave_the_state_folder(project: Path, own_places: Path, session: Any) -> None:
    assert ask_hook(project, session_id=session).returncode == 0
    logs = list((own_places / "state/projects").rglob("audit.jsonl"))
    assert len(logs) == 1
    assert len(logs[0].relative_to(own_places / "state/projects").parts) == 3


def test_the_project_of_the_product_counts_not_the_folder_it_stands_in(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "src"
    inner.mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    assert ask_hook(project, cwd=str(inner), tool_input={"command": "canary-wipe"}).returncode == 2
    assert len(records(project)) == 1


def test_twenty_at_once_leave_one_unbroken_log(project: Path) -> None:
    running = [
        subprocess.Popen(START, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=project)
        for _ in range(20)
    ]
    for number, process in enumerate(running):
        process.communicate(json.dumps(event(project, tool_use_id=f"t{number}")).encode(), timeout=60)
    assert [process.returncode for process in running] == [0] * 20
    written = records(project)
    assert {one["tool_use_id"] for one in written} == {f"t{number}" for number in range(20)}
    assert [one["prev"] for one in written[1:]] == [one["hash"] for one in written[:-1]]


def test_the_cold_path_imports_nothing_heavy(project: Path) -> None:
    code = (
        "import sys; from decurion.hooks.program import main; status = main();"
        "print(' '.join(sys.modules), file=sys.stderr); raise SystemExit(status)"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", code],
        input=json.dumps(event(project)).encode(),
        cwd=project,
        capture_output=True,
        check=False,
    )
    heavy = {
        "dataclasses",
        "tomllib",
        "subprocess",
        "pathlib",
        "typing",
        "asyncio",
        "anyio",
        "inspect",
        "click",
    }
    assert run.returncode == 0
    ask_hook(project)
    warm = subprocess.run(
        [sys.executable, "-I", "-c", code],
        input=json.dumps(event(project)).encode(),
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert heavy & set(warm.stderr.decode().split()) == set()


def test_what_is_printed_is_what_we_would_understand() -> None:
    for decision in (deny("no"), ask("sure?"), deny("x" * 20_000)):
        said = read_answer("PreToolUse", 0, render("PreToolUse", decision).encode(), b"")
        assert said
        assert (said.verdict, said.reason[:4]) == (decision.verdict, decision.reason[:4])
    assert render("PreToolUse", Decision(Verdict.ALLOW)) == render("PreToolUse", Decision()) == ""


@given(
    st.binary()
    | st.dictionaries(st.text(), st.text() | st.none()).map(lambda said: json.dumps(said).encode())
)
def test_any_input_is_a_request_or_a_failure(data: bytes) -> None:
    with suppress(HookFailure):
        assert read_request(data).event

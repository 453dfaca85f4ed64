"""What hook programs are told and what is made of their answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.hooks import (
    Decision,
    HookFailure,
    Notification,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    RunRef,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStart,
    SubagentStop,
    ToolCall,
    ToolResult,
    UserPromptSubmit,
    Verdict,
)
from decurion.hooks.payload import Surroundings, payload, tool_input, updated_args
from decurion.hooks.wire import MAX_TEXT, read_answer

LEAD = RunRef("s1", "a0", "lead", turn=3)
CHILD = RunRef("s1", "a7", "explorer", "a0", 1, 2, "call_9")
PLACE = Surroundings("/w/app", "/w/app", "/state/t.jsonl", "acceptEdits")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def answer(said: object, event: str = "PreToolUse", status: int = 0, stderr: str = "") -> Decision | None:
    stdout = said if isinstance(said, bytes) else json.dumps(said).encode()
    return read_answer(event, status, stdout, stderr.encode())


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


def test_a_tool_call_is_told_in_the_words_of_the_ecosystem() -> None:
    event = PreToolUse(
        CHILD, ToolCall("c1", "edit_file", {"path": "src/a.py", "old_string": "a", "new_string": "b"})
    )
    assert payload(event, PLACE) == {
        "session_id": "s1",
        "transcript_path": "/state/t.jsonl",
        "cwd": "/w/app",
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "agent_id": "a7",
        "agent_type": "explorer",
        "tool_name": "Edit",
        "tool_use_id": "c1",
        "tool_input": {
            "path": "src/a.py",
            "file_path": "/w/app/src/a.py",
            "old_string": "a",
            "new_string": "b",
        },
        "decurion": {
            "agent_id": "a7",
            "agent_type": "explorer",
            "parent_id": "a0",
            "parent_tool_use_id": "call_9",
            "depth": 1,
            "turn": 2,
            "tool_name": "edit_file",
        },
    }


def test_only_a_subagent_has_an_agent_id_where_existing_hooks_look_for_one() -> None:
    assert "agent_id" not in payload(UserPromptSubmit(LEAD, "hi"), PLACE)
    assert payload(Stop(CHILD, "done"), PLACE)["agent_id"] == "a7"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (SessionStart(LEAD, "resume", "m1"), {"source": "resume", "model": "m1"}),
        (UserPromptSubmit(LEAD, "hi"), {"prompt": "hi"}),
        (SubagentStart(CHILD, "do", "short"), {"prompt": "do", "description": "short"}),
        (
            Stop(LEAD, "said", stop_hook_active=True),
            {"stop_hook_active": True, "last_assistant_message": "said"},
        ),
        (
            SubagentStop(CHILD, "completed", "said", "/t.jsonl"),
            {"agent_transcript_path": "/t.jsonl", "last_assistant_message": "said", "status": "completed"},
        ),
        (PreCompact(LEAD, "manual"), {"trigger": "manual"}),
        (Notification(LEAD, "look", "warning"), {"message": "look", "notification_type": "warning"}),
        (SessionEnd(LEAD, "completed"), {"reason": "completed"}),
    ],
)
def test_each_event_tells_what_its_hooks_expect(event: Any, told: dict[str, Any]) -> None:
    assert told.items() <= payload(event, PLACE).items()


def test_a_result_is_told_with_output_and_meta() -> None:
    call = ToolCall("c1", "bash", {"command": "false"})
    result = ToolResult("c1", "out", is_error=True, meta={"exit_status": 1})
    body = payload(PostToolUseFailure(LEAD, call, result, 12.5), PLACE)
    assert body["error"] == "out"
    assert body["duration_ms"] == 12.5
    assert body["tool_response"]["stdout"] == "out"
    assert body["tool_response"]["exit_status"] == 1
    assert payload(PostToolUse(LEAD, call, result), PLACE)["tool_response"]["content"] == "out"


def test_no_opinion_has_many_forms() -> None:
    for said in (
        b"",
        b"  \n",
        b"checked, all fine\n",
        b"[1]",
        {},
        {"continue": True},
        {"suppressOutput": True},
    ):
        decision = answer(said)
        assert decision is None or decision == Decision()


@pytest.mark.parametrize(
    ("said", "verdict", "reason"),
    [
        (specific(permissionDecision="deny", permissionDecisionReason="R"), Verdict.DENY, "R"),
        (specific(permissionDecision="ask", permissionDecisionReason="R"), Verdict.ASK, "R"),
        (specific(permissionDecision="defer"), Verdict.ASK, ""),
        (specific(permissionDecision="allow"), Verdict.ALLOW, ""),
        ({"decision": "block", "reason": "R"}, Verdict.DENY, "R"),
        ({"decision": "approve"}, Verdict.ALLOW, ""),
        ({"continue": False, "stopReason": "S"}, Verdict.HALT, "S"),
        ({"continue": False, **specific(permissionDecision="allow")}, Verdict.HALT, "a hook ended the run"),
        ({"decision": "approve", **specific(permissionDecision="deny")}, Verdict.DENY, ""),
        ({"decision": "approve", "meta": 1}, Verdict.ALLOW, ""),
    ],
)
def test_json_decides_and_the_strongest_word_in_it_counts(
    said: object, verdict: Verdict, reason: str
) -> None:
    decision = answer(said)
    assert decision
    assert (decision.verdict, decision.reason) == (verdict, reason)


@pytest.mark.parametrize(
    "said",
    [
        b"{not json",
        b'{"decision": "block"} trailing',
        b'{"decision": "block", "reason": "\xff"}',
        b"{" * 5000,
        {"decision": "maybe"},
        {"decision": 1},
        {"continue": "false"},
        {"reason": ["x"], "decision": "block"},
        {"verdict": "deny"},
        {"permissionDecision": "deny"},
        {"continue": True, "permissionDecision": "deny"},
        {"hookSpecificOutput": "deny"},
        {"hookSpecificOutput": {"decision": "deny"}},
        {"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}},
        specific(permissionDecision="DENY"),
        specific(updatedInput="rm"),
        specific(updatedToolOutput="x", additionalContext="y"),
    ],
)
def test_what_is_not_understood_is_a_failure(said: object) -> None:
    with pytest.raises(HookFailure, match="invalid output"):
        answer(said)


@pytest.mark.parametrize(
    ("stdout", "stderr", "reason"),
    [
        (b"", "not allowed", "not allowed"),
        (b"", "", ""),
        (b'{"decision": "block", "reason": "R"}', "E", "R"),
        (b'{"decision": "approve"}', "E", "E"),
        (b"{broken", "E", "E"),
    ],
)
def test_status_2_refuses_whatever_the_json_says(stdout: bytes, stderr: str, reason: str) -> None:
    decision = answer(stdout, status=2, stderr=stderr)
    assert decision
    assert (decision.verdict, decision.reason) == (Verdict.DENY, reason)


@pytest.mark.parametrize("status", [1, 3, 126, 127, 255, -9, -11])
def test_any_other_status_is_a_failure_even_with_a_yes(status: int) -> None:
    with pytest.raises(HookFailure, match=r"exit status|killed by signal"):
        answer({"decision": "approve"}, status=status)


def test_plain_text_is_context_only_where_the_protocol_says_so() -> None:
    assert answer(b"remember x\n", "UserPromptSubmit") == Decision(context="remember x")
    assert answer(b"remember x\n", "SessionStart") == Decision(context="remember x")
    assert answer(b"remember x\n", "PostToolUse") is None


def test_contexts_and_messages_are_kept_and_bounded() -> None:
    decision = answer({"systemMessage": "hello", **specific(additionalContext="x" * (MAX_TEXT + 5))})
    assert decision
    assert decision.detail == {"system_message": "hello"}
    assert len(decision.context) < MAX_TEXT + 50
    assert decision.context.endswith("[5 characters cut]")


@given(json_values)
def test_any_json_is_a_decision_a_failure_or_no_opinion(said: object) -> None:
    try:
        decision = answer(said)
    except HookFailure:
        return
    assert decision is None or isinstance(decision, Decision)


@given(st.binary(), st.integers(-64, 255), st.binary())
def test_any_bytes_are_survived(stdout: bytes, status: int, stderr: bytes) -> None:
    try:
        decision = read_answer("PreToolUse", status, stdout, stderr)
    except HookFailure:
        return
    assert status in {0, 2}
    assert decision is None or isinstance(decision, Decision)


@given(
    st.sampled_from(("read_file", "write_file", "edit_file", "task", "bash", "grep", "mine")),
    st.dictionaries(st.sampled_from(("path", "description", "prompt", "command", "x")), st.text(min_size=1)),
)
def test_what_a_hook_hands_back_unchanged_is_the_call_as_it_was(name: str, args: dict[str, str]) -> None:
    call = ToolCall("c", name, args)
    assert updated_args(call, "/w", tool_input(call, "/w")) == args


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"file_path": "/w/b.py"}, {"path": "/w/b.py", "content": "x"}),
        ({"path": "b.py"}, {"path": "b.py", "content": "x"}),
        ({"path": "/w/b.py", "file_path": "/w/b.py"}, {"path": "/w/b.py", "content": "x"}),
        ({"content": "y"}, {"path": "a.py", "content": "y"}),
    ],
)
def test_a_rewrite_in_either_spelling_arrives_in_ours(
    changes: dict[str, str], wanted: dict[str, str]
) -> None:
    call = ToolCall("c", "write_file", {"path": "a.py", "content": "x"})
    assert updated_args(call, "/w", tool_input(call, "/w") | changes) == wanted


def test_a_rewrite_in_the_ecosystems_spelling_alone_is_understood() -> None:
    call = ToolCall("c", "write_file", {"path": "a.py", "content": "x"})
    assert updated_args(call, "/w", {"file_path": "/w/a.py", "content": "y"}) == {
        "path": "a.py",
        "content": "y",
    }


def test_a_rewrite_that_contradicts_itself_is_a_failure() -> None:
    call = ToolCall("c", "write_file", {"path": "a.py", "content": "x"})
    with pytest.raises(HookFailure, match="different values"):
        updated_args(call, "/w", {"path": "b.py", "file_path": "/w/c.py", "content": "x"})

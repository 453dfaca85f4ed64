"""The border values as their users see them: frozen, closed, and nothing an `Any` away."""

from __future__ import annotations

from typing import assert_never, assert_type

from decurion.hooks import (
    Decision,
    Event,
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
    UserPromptSubmit,
    Verdict,
    deny,
)


def a_value_cannot_be_changed(call: ToolCall, decision: Decision) -> None:
    call.name = "bash"  # pyright: ignore[reportAttributeAccessIssue]
    decision.verdict = Verdict.ALLOW  # pyright: ignore[reportAttributeAccessIssue]


def arguments_cannot_be_changed(call: ToolCall) -> None:
    call.args["path"] = "elsewhere"  # pyright: ignore[reportIndexIssue]


def a_value_needs_its_fields() -> None:
    ToolCall("call-1", "bash")  # pyright: ignore[reportCallIssue]
    RunRef("session", "agent", "general", depht=1)  # pyright: ignore[reportCallIssue]


def a_verdict_is_no_text() -> None:
    Decision("deny")  # pyright: ignore[reportArgumentType]
    assert_type(deny("no").verdict, Verdict)


def events_are_a_closed_union(event: Event) -> str:
    match event:
        case SessionStart() | SessionEnd() | Notification() | PreCompact():
            return event.ref.session_id
        case UserPromptSubmit() | SubagentStart():
            return event.prompt
        case PreToolUse() | PostToolUse() | PostToolUseFailure():
            return event.call.name
        case SubagentStop() | Stop():
            return event.summary
        case _:
            assert_never(event)


def an_event_that_is_left_out_is_noticed(event: PreToolUse | PostToolUse) -> str:
    match event:
        case PreToolUse():
            return event.call.name
        case _:
            assert_never(event)  # pyright: ignore[reportArgumentType]

"""What each stop reason leads to."""

from __future__ import annotations

from typing import Any

import pytest

from decurion.agents.model import Reply, Usage
from decurion.agents.stop_reasons import PATIENCE, Step, next_step

CALL: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "x", "input": {}}


def reply(reason: str, text: str = "", *, call: bool = False) -> Reply:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}, *([CALL] if call else [])]
    return Reply("m", "m", tuple(blocks), reason, Usage(), {})


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "tool_use", "pause_turn"])
def test_calls_of_a_whole_reply_run(reason: str) -> None:
    assert next_step(reply(reason, call=True), nudged=PATIENCE) == Step("run")


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "because", "refusal"])
def test_calls_of_a_reply_that_may_be_cut_never_run(reason: str) -> None:
    """BUG-29."""
    assert next_step(reply(reason, call=True)).action != "run"


def test_the_output_limit_grows_once() -> None:
    first, second = (
        next_step(reply("max_tokens", call=True)),
        next_step(reply("max_tokens", call=True), grown=True),
    )
    assert (first.larger, second.larger) == (True, False)
    assert "smaller pieces" in first.text


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence"])
def test_only_these_two_complete(reason: str) -> None:
    assert next_step(reply(reason, "Done.")) == Step("finish")


@pytest.mark.parametrize(
    "reason", ["max_tokens", "pause_turn", "model_context_window_exceeded", "because", "tool_use"]
)
def test_a_text_that_ended_otherwise_is_asked_about(reason: str) -> None:
    assert next_step(reply(reason, "Half.")).action == "say"


def test_a_blank_reply_is_asked_for_again() -> None:
    assert next_step(reply("end_turn", " \n")).action == "say"


def test_a_refusal_ends_as_refused_with_what_was_said() -> None:
    step = next_step(reply("refusal", "I will not.", call=True))
    assert (step.action, step.status) == ("finish", "refused")
    assert "I will not." in step.text


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("max_tokens", "error"),
        ("model_context_window_exceeded", "context"),
        ("because", "error"),
        ("end_turn", "error"),
    ],
)
def test_asking_again_is_bounded(reason: str, status: str) -> None:
    step = next_step(reply(reason), nudged=PATIENCE)
    assert (step.action, step.status) == ("finish", status)
    assert step.text


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "because", "tool_use", "end_turn"])
def test_what_we_say_is_marked_as_ours(reason: str) -> None:
    """A compaction keeps the last request of the person, and must not take our words for theirs."""
    assert next_step(reply(reason)).text.startswith("<reminder>")

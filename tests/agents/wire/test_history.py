"""The history: whatever happens to an agent, what is sent is what the API accepts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from decurion.agents.history import INTERRUPTED_NOT_RUN, History
from decurion.agents.messages_api import rules
from decurion.agents.model import Reply, Usage
from decurion.hooks import ToolResult
from tests.effort import effort

TEXTS = st.text(st.characters(codec=None), max_size=12)  # lone surrogates, blanks and all
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8)


def body(history: History) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": orjson.loads(history.encode())}


def reply(*blocks: dict[str, Any], reason: str = "tool_use") -> Reply:
    return Reply("msg", "m", blocks, reason, Usage(), {})


def use(call_id: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "x", "input": args}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class Histories(RuleBasedStateMachine):
    """Everything that can happen to a history, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self.history.add_user("Begin.")
        self.calls = 0
        self.sent = b""

    @precondition(lambda self: not self.history.open_calls)
    @rule(words=TEXTS, calls=st.integers(0, 4), thinking=st.booleans())
    def reply(self, words: str, calls: int, thinking: bool) -> None:
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if thinking else []
        names = [f"call_{self.calls + n}" for n in range(calls)]
        self.calls += calls
        self.history.add_reply(reply(*blocks, text(words), *(use(name, a=words) for name in names)))

    @precondition(lambda self: self.history.open_calls)
    @rule(data=st.data(), words=TEXTS, reminders=st.lists(TEXTS, max_size=2))
    def results(self, data: st.DataObject, words: str, reminders: list[str]) -> None:
        known = data.draw(st.lists(st.sampled_from(self.history.open_calls), unique=True))
        found = [ToolResult(call, words, is_error=call.endswith("1")) for call in reversed(known)]
        self.history.add_results(found, reminders)

    @rule(words=WORDS)
    def user(self, words: str) -> None:
        self.history.add_user(words)

    @rule(cut=st.integers(0, 30))
    def resume(self, cut: int) -> None:
        self.history = History.restore(list(self.history)[: max(1, len(self.history) - cut)])
        self.sent = b""

    @invariant()
    def is_accepted(self) -> None:
        if self.history.open_calls or self.history[-1]["role"] == "assistant":
            return
        rules.check(body(self.history))
        roles = [message["role"] for message in self.history]
        assert all(one != other for one, other in pairwise(roles))
        assert orjson.loads(self.history.encode(cached=False)) == list(self.history)

    @invariant()
    def never_changes_earlier_bytes(self) -> None:
        if self.history.open_calls:
            return
        now = self.history.encode(cached=False)
        assert now.startswith(self.sent[:-3])  # `}]` and `]` close what is open at the end
        self.sent = now


Histories.TestCase.settings = settings(max_examples=effort(30, 1000), stateful_step_count=20)
TestHistories = Histories.TestCase


def test_results_come_in_call_order_and_reminders_after_them() -> None:
    history = History()
    history.add_user("go")
    history.add_reply(reply(use("a"), use("b")))
    message = history.add_results([ToolResult("b", "second"), ToolResult("a", "first")], ["remember"])
    assert [block.get("tool_use_id", block.get("text")) for block in message["content"]] == [
        "a",
        "b",
        "remember",
    ]


@pytest.mark.parametrize(
    ("finished", "expected"),
    [
        (("a", "b", "c"), ["fine", "fine", "fine"]),
        (("a",), ["fine", INTERRUPTED_NOT_RUN, INTERRUPTED_NOT_RUN]),
        ((), [INTERRUPTED_NOT_RUN] * 3),
    ],
)
def test_what_a_person_says_after_an_interrupt_stands_after_results_for_every_call(
    finished: tuple[str, ...], expected: list[str]
) -> None:
    """BUG-24."""
    history = History()
    history.add_user("go")
    history.add_reply(reply(use("a"), use("b"), use("c")))
    history.add_user("Stop, do this.", results=[ToolResult(name, "fine") for name in finished])
    rules.check(body(history))
    assert [block.get("content") for block in history[-1]["content"][:3]] == expected
    assert history[-1]["content"][3] == text("Stop, do this.")


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_blank_texts_never_get_in(blank: str) -> None:
    """BUG-31."""
    history = History()
    with pytest.raises(ValueError, match="text"):
        history.add_user(blank)
    history.add_user("go")
    history.add_reply(reply(text(blank), use("a")))
    history.add_results([ToolResult("a", blank)], [blank])
    rules.check(body(history))
    assert history[-1]["content"] == [{"type": "tool_result", "tool_use_id": "a", "content": "(no output)"}]


def test_odd_file_names_are_escaped_and_halves_of_a_pair_are_joined() -> None:
    """BUG-31."""
    history = History()
    history.add_user("caf\udcff \ud83d\ude00 \ud83d")
    assert history[0]["content"] == [text("caf\\xff \U0001f600 \\ud83d")]
    history.encode().decode()


def test_a_saved_history_that_holds_bad_values_is_mended_and_mending_it_again_changes_nothing() -> None:
    saved = [
        {"role": "assistant", "content": [text("a reply to nothing")]},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [text(" "), use("a", p="\udcff"), use("a"), use("b")]},
        {
            "role": "user",
            "content": [text("too early"), {"type": "tool_result", "tool_use_id": "b", "content": ""}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "zz", "content": "stray"}]},
        {"role": "assistant", "content": [use("c")]},
    ]
    history = History.restore(saved)
    rules.check(body(history))
    assert list(History.restore(history)) == list(history)
    assert history[-1]["content"][0]["is_error"]


def test_thinking_is_kept_unchanged_unless_it_was_cut() -> None:
    history = History()
    history.add_user("go")
    whole = {"type": "thinking", "thinking": "  deep  ", "signature": "sig"}
    hidden = {"type": "redacted_thinking", "data": "abc"}
    history.add_reply(
        reply(whole, hidden, {"type": "thinking", "thinking": "cut", "signature": ""}, use("a"))
    )
    assert history[-1]["content"] == [whole, hidden, use("a")]


def test_a_reply_of_nothing_or_of_thinking_alone_is_left_out() -> None:
    history = History()
    history.add_user("go")
    assert (
        history.add_reply(reply({"type": "thinking", "thinking": "hm", "signature": "s"}, text(""))) is None
    )
    assert len(history) == 1


def test_marks_stand_on_the_two_newest_user_messages() -> None:
    history = History()
    history.add_user("one")
    for number in range(3):
        history.add_reply(reply(use(f"c{number}")))
        history.add_results([ToolResult(f"c{number}", "fine")])
    marked = [
        place
        for place, message in enumerate(body(history)["messages"])
        if "cache_control" in message["content"][-1]
    ]
    assert marked == [4, 6]
    assert b"cache_control" not in history.encode(cached=False)


def test_misuse_is_refused_at_once() -> None:
    history = History()
    with pytest.raises(ValueError, match="empty"):
        history.encode()
    with pytest.raises(ValueError, match="user message"):
        history.add_reply(reply(use("a")))
    history.add_user("go")
    history.add_reply(reply(use("a")))
    with pytest.raises(ValueError, match="open calls"):
        history.encode()
    with pytest.raises(ValueError, match="open"):
        history.add_reply(reply(use("b")))
    with pytest.raises(ValueError, match="without an open call"):
        history.add_results([ToolResult("zz", "?")])
    with pytest.raises(ValueError, match="open"):
        history.replace([])
    history.add_results([ToolResult("a", "fine")])
    with pytest.raises(ValueError, match="twice"):
        history.add_reply(reply(use("a")))


@given(st.integers(min_value=-(2**200), max_value=2**200), st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_in_arguments_can_be_sent_back(whole: int, broken: float) -> None:
    history = History()
    history.add_user("go")
    history.add_reply(reply(use("a", n=whole, f=broken)))
    history.add_results([ToolResult("a", "fine")])
    history.encode()


def test_images_in_results_stay_blocks() -> None:
    history = History()
    history.add_user("go")
    history.add_reply(reply(use("a")))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    history.add_results([ToolResult("a", (image, text(" ")))])
    assert history[-1]["content"][0]["content"] == [image]
    assert history.tokens < 2000


def test_an_image_counts_for_what_it_costs_and_not_for_its_bytes() -> None:
    history = History()
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}
    history.add_user([{"type": "image", "source": source}, text("Look.")])
    assert 1_000 < history.tokens < 2_000

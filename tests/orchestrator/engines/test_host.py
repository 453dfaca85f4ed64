"""The parts of the border between session and worker: histories that are followed, values and errors that cross."""

from __future__ import annotations

from typing import Any

import pytest

from decurion.agents.errors import BudgetExhausted
from decurion.agents.history import History
from decurion.agents.moments import Moment, Notice, ResultsReady
from decurion.agents.shared import Work
from decurion.agents.tools import Skill
from decurion.hooks import (
    Decision,
    DecurionError,
    PolicyError,
    RunRef,
    ToolCall,
    ToolError,
    ToolResult,
    Verdict,
)
from decurion.orchestrator.engines.away import same
from decurion.orchestrator.engines.errors import Elsewhere, as_pair, from_pair
from decurion.orchestrator.engines.host import Mirror
from decurion.orchestrator.engines.plain import build, dumps, loads, tagged, untagged

REF = RunRef("s", "a-1", "a", "lead", 1, 3)


class Sender:
    """A worker's model as far as it says what is new, and the mirror of it."""

    def __init__(self) -> None:
        self.history, self.mirror, self.sent = History(), Mirror(), list[int]()
        self._before: list[Any] = []

    def request(self) -> None:
        messages = list(self.history)
        kept = same(self._before, messages)
        self._before = messages
        self.sent.append(len(messages) - kept)
        followed = self.mirror.follow(kept, loads(dumps(messages[kept:])))
        assert followed.encode() == self.history.encode()


def _turn(history: History, number: int) -> None:
    history.add_content(
        [{"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": "true"}}]
    )
    history.add_results([ToolResult(f"t{number}", "out " * 600)], ("<reminder>x</reminder>",))


def test_of_a_history_only_what_is_new_goes_over_and_the_bytes_are_the_same() -> None:
    sender = Sender()
    sender.history.add_user("go")
    sender.request()
    for number in range(5):
        _turn(sender.history, number)
        sender.request()
    sender.history.add_user("last turn")  # joins the newest message, which was sent already
    sender.request()
    assert sender.sent == [1, 2, 2, 2, 2, 2, 1]


def test_a_history_that_was_cut_is_followed() -> None:
    sender = Sender()
    sender.history.add_user("go")
    for number in range(4):
        _turn(sender.history, number)
    sender.request()
    sender.mirror.history.last_reply_id = "msg_1"
    sender.history.replace([{"role": "user", "content": [{"type": "text", "text": "a summary"}]}])
    sender.request()
    _turn(sender.history, 9)
    sender.request()
    assert sender.sent == [9, 1, 2]
    assert sender.mirror.history.last_reply_id == "msg_1"


@pytest.mark.parametrize(
    "value",
    [
        Decision(Verdict.ASK, "why", detail={"failures": [{"hook": "x"}]}),
        ToolResult("1", ({"type": "text", "text": "a"},), meta={"exit_status": 0}),
        ToolResult("1", "half \ud83d"),
        ToolCall("1", "bash", {"big": 2**70}),
        Work("b", "c", notices=("n",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_cross_as_they_are(value: object) -> None:
    assert build(type(value), loads(dumps(value))) == value


def test_unions_cross_by_the_name_of_their_class() -> None:
    for moment in (ResultsReady(REF, (ToolResult("a", "b"),), ("r",)), Notice("text", "info")):
        assert untagged(Moment, loads(dumps(tagged(moment)))) == moment
    with pytest.raises(KeyError):
        untagged(Moment, ["Nothing", {}])


def test_what_json_has_no_form_for_becomes_its_text() -> None:
    assert loads(dumps({"odd": {1}, "kind": Skill})) == {"odd": "{1}", "kind": str(Skill)}


@pytest.mark.parametrize(
    "error", [BudgetExhausted("spent"), PolicyError("no law"), ToolError("mend it")], ids=repr
)
def test_an_error_arrives_as_what_it_was(error: DecurionError) -> None:
    again = from_pair(loads(dumps(as_pair(error))))
    assert (type(again), str(again)) == (type(error), str(error))


def test_an_error_that_is_none_of_ours_is_named() -> None:
    again = from_pair(as_pair(KeyError("x")))
    assert isinstance(again, Elsewhere)
    assert str(again) == "KeyError: 'x'"

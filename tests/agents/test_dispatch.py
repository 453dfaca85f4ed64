"""The dispatcher by itself: order of records and runs, and that nothing runs that is not on record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.agents.court import Court
from decurion.agents.dispatch import Dispatcher, Results
from decurion.agents.history import INTERRUPTED_MAYBE, INTERRUPTED_NOT_RUN
from decurion.agents.moments import Moment, Notice
from decurion.agents.offline.conversation import Exchange
from decurion.agents.tools import Tool, ToolContext, tool
from decurion.hooks import (
    AuditError,
    Decision,
    Event,
    HookChain,
    PolicyError,
    PreToolUse,
    RunRef,
    ToolCall,
    ask,
    deny,
    halt,
)
from decurion.hooks.chain import Hook

pytestmark = pytest.mark.anyio

LEAD = RunRef("s", "lead", "lead", turn=1)
CHILD = RunRef("s", "general-1", "general", "lead", 1, 1, "toolu_1")


class Notebook:
    """A log in memory that takes so many records and then none."""

    def __init__(self, room: int = 1000) -> None:
        self.room = room
        self.records: list[tuple[str, dict[str, Any]]] = []

    def write(self, ref: RunRef | None, event: str, **fields: Any) -> None:
        if len(self.records) >= self.room:
            raise AuditError("the disk is full")
        self.records.append((event, fields))

    @property
    def told(self) -> list[str]:
        return [f"{event} {fields.get('tool_use_id')}" for event, fields in self.records]


class Yard:
    """Tools that leave a trace, and a dispatcher for them."""

    def __init__(self, hooks: tuple[Hook, ...] = (), room: int = 1000) -> None:
        self.trace: list[str] = []
        self.log = Notebook(room)
        self.moments: list[Moment] = []
        self.tools: dict[str, Tool] = {
            "look": self._tool("look", read_only=True),
            "change": self._tool("change"),
        }
        self.dispatcher = Dispatcher(self.tools, Court(HookChain(hooks), self.log, self.moments.append))
        self.results = Results()

    def _tool(self, name: str, *, read_only: bool = False) -> Tool:
        async def run(ctx: ToolContext, what: str) -> str:
            self.trace.append(f"+{what}")
            for _ in range(20):  # rounds of the loop, so that whatever may run beside it, does
                await anyio.lowlevel.checkpoint()
            self.trace.append(f"-{what}")
            return what

        run.__name__ = name
        return tool(description=name, read_only=read_only)(run)

    async def run(self, *wanted: tuple[str, dict[str, Any]], ref: RunRef = LEAD) -> list[str]:
        calls = [ToolCall(f"c{n}", name, args) for n, (name, args) in enumerate(wanted)]
        await self.dispatcher.run(ToolContext(ref, Path(), Path()), calls, {}, self.results)
        return [result.text for result in self.results.in_order(calls)]


def look(what: str) -> tuple[str, dict[str, Any]]:
    return "look", {"what": what}


def change(what: str) -> tuple[str, dict[str, Any]]:
    return "change", {"what": what}


async def test_reads_run_side_by_side_and_whatever_changes_alone_in_call_order() -> None:
    yard = Yard()
    assert await yard.run(look("a"), look("b"), change("c"), change("d"), look("e")) == [
        "a",
        "b",
        "c",
        "d",
        "e",
    ]
    assert sorted(yard.trace[:2]) == ["+a", "+b"]
    assert yard.trace[4:] == ["+c", "-c", "+d", "-d", "+e", "-e"]
    planned = [line for line in yard.log.told if line.startswith("planned")]
    assert planned == [f"planned c{n}" for n in range(5)]


async def test_records_of_judgement_stand_in_call_order_however_long_the_gates_take() -> None:
    async def gate(event: Event) -> Decision | None:
        assert isinstance(event, PreToolUse)
        await anyio.sleep(0.05 if event.call.id == "c0" else 0)
        return deny("no") if event.call.id != "c1" else None

    yard = Yard((Hook("gate", frozenset({"PreToolUse"}), gate),))
    await yard.run(change("a"), change("b"), change("c"))
    assert yard.log.told == ["refused c0", "refused c2", "planned c1", "done c1"]


@pytest.mark.parametrize("room", range(4))
async def test_without_its_record_nothing_starts(room: int) -> None:
    yard = Yard(room=room)
    with pytest.raises(AuditError, match="disk is full"):
        await yard.run(change("a"), change("b"))
    assert [step for step in yard.trace if step.startswith("+")] == ["+a", "+b"][: (room + 1) // 2]


async def test_reads_side_by_side_do_not_start_without_their_records_either() -> None:
    yard = Yard(room=1)
    with pytest.raises(AuditError, match="disk is full"):
        await yard.run(look("a"), look("b"), look("c"))
    assert {step for step in yard.trace if step.startswith("+")} <= {"+a"}


async def test_a_halt_before_the_run_leaves_no_call_without_record_and_result() -> None:
    async def gate(event: Event) -> Decision | None:
        return halt("stop all") if isinstance(event, PreToolUse) and event.call.id == "c1" else None

    yard = Yard((Hook("gate", frozenset({"PreToolUse"}), gate),))
    texts = await yard.run(look("a"), look("b"), look("c"))
    assert (yard.trace, yard.results.halted) == ([], "stop all")
    assert texts == ["Refused: not run: stop all", "Refused: stop all", "Refused: not run: stop all"]
    assert sorted(yard.log.told) == ["refused c0", "refused c1", "refused c2"]


async def test_a_law_that_cannot_be_asked_ends_the_run() -> None:
    @tool()
    async def lawless(ctx: ToolContext) -> str:
        """Find the law gone."""
        raise PolicyError("no rules")

    yard = Yard()
    yard.tools["lawless"] = lawless
    with pytest.raises(PolicyError, match="no rules"):
        await yard.run(("lawless", {}), change("b"))
    assert yard.trace == []
    assert yard.log.told == ["planned c0", "done c0"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("Change", {"what": "x"}), "There is no tool 'Change'"),
        (("look ", {"what": "x"}), "Did you mean 'look'?"),
        (("look", {"what": 3}), "what"),
        (("look", dict[str, Any]()), "what"),
        (("look", {"what": "x", "more": 1}), "more"),
    ],
)
async def test_calls_that_cannot_be_right_are_told_how_and_recorded(
    call: tuple[str, dict[str, Any]], said: str
) -> None:
    yard = Yard()
    [text] = await yard.run(call)
    assert said in text
    assert (yard.trace, yard.log.told) == ([], ["malformed c0"])


async def test_what_hooks_say_to_the_person_is_shown_once_and_their_failures_are_recorded() -> None:
    async def says(_event: Event) -> Decision | None:
        return Decision(detail={"system_message": "the budget is nearly spent"})

    async def fails(_event: Event) -> Decision | None:
        raise RuntimeError("broken")

    events = frozenset({"PreToolUse"})
    hooks = (
        Hook("says", events, says),
        Hook("again", events, says),
        Hook("fails", events, fails, kind="observer"),
    )
    yard = Yard(hooks)
    assert await yard.run(change("a")) == ["a"]
    assert [moment.text for moment in yard.moments if isinstance(moment, Notice)] == [
        "the budget is nearly spent"
    ]
    assert yard.log.told == ["hook_failed c0", "planned c0", "done c0"]
    assert "system_message" not in json.dumps([fields for _, fields in yard.log.records])


@pytest.mark.parametrize("name", ["task", "TASK", " _task_ ", "Agent"])
async def test_no_spelling_of_task_reaches_a_tool_of_a_child(name: str) -> None:
    """BUG-14: in the dispatcher itself, whatever its tools are."""
    yard = Yard()
    yard.tools["task"] = yard.tools[name] = yard.tools["change"]
    [text] = await yard.run((name, {"what": "x"}), ref=CHILD)
    assert "cannot delegate" in text
    assert yard.trace == []


async def test_hooks_are_notified_before_a_person_is_asked() -> None:
    heard: list[str] = []

    async def question(event: Event) -> Decision | None:
        return ask("sure?")

    async def listener(event: Event) -> Decision | None:
        heard.append(f"{getattr(event, 'kind', '')}: {getattr(event, 'message', '')}")
        return None

    yard = Yard(
        (
            Hook("question", frozenset({"PreToolUse"}), question),
            Hook(
                "listener",
                frozenset({"Notification"}),
                listener,
                matcher="permission_prompt",
                kind="observer",
            ),
        )
    )
    assert await yard.run(look("x")) == ["Refused: sure?"]
    assert heard == ["permission_prompt: look: sure?"]


def test_a_call_that_was_cut_short_is_told_in_one_form_wherever_it_is_read() -> None:
    """The scripted model knows it by these words, and makes an interrupted check again."""
    running, waiting = ToolCall("1", "bash", {}), ToolCall("2", "bash", {})
    told = Results(running={"1"}).in_order([running, waiting])
    assert [one.content for one in told] == [INTERRUPTED_MAYBE, INTERRUPTED_NOT_RUN]
    assert all(Exchange("bash", {}, str(one.content), one.is_error, 0).interrupted for one in told)

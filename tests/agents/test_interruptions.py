"""Interrupts at every point of a turn, then a new message, in the same process and in another one (BUG-24, BUG-23)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from decurion.agents.messages_api import Answer, Fault, Refusal, Request, call, calls, say
from decurion.agents.moments import Notice, TodosChanged
from decurion.hooks import AuditError, Decision, Event
from decurion.hooks.chain import Hook

from .helpers import Stage, is_lead, results_of, stage, text_of

pytestmark = pytest.mark.anyio

THREE = [("bash", {"command": f"echo {name} >> ran; {then}"}) for name, then in (("one", "echo 1"), ("two", "sleep 30"), ("three", "echo 3"))]  # fmt: skip


async def interrupt(on: Stage, there: Callable[[Stage], bool]) -> None:
    """Run the lead and cancel it when the moment has come."""
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(on.run)
            while not there(on):  # noqa: ASYNC110 - nobody sets an event for it
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    assert "cancelled" in [record["status"] for record in on.events("agent_end")]


@dataclass
class Interrupted:
    """A run of the lead that is cancelled when `there` says that the moment has come, then one more prompt."""

    tmp_path: Path
    answer: Callable[[Request], Awaitable[Answer | Refusal]]
    hooks: list[Hook] = field(default_factory=list[Hook])

    @asynccontextmanager
    async def gone_on_with(
        self, there: Callable[[Stage], bool], prompt: str, *, resume: bool
    ) -> AsyncGenerator[tuple[Stage, list[Request]]]:
        """Give the stage after the second run, and that run's requests."""
        async with stage(self.answer, self.tmp_path, hooks=self.hooks) as on:
            await interrupt(on, there)
            if not resume:
                before = len(on.api.message_requests)
                await on.run(prompt)
                yield on, on.api.message_requests[before:]
                return
        async with stage(self.answer, self.tmp_path) as on:
            await on.run(prompt)
            yield on, on.api.message_requests


@pytest.mark.parametrize("resume", [False, True], ids=["in process", "resumed"])
async def test_while_the_reply_streams_nothing_of_it_counts(tmp_path: Path, *, resume: bool) -> None:
    stalls = [True]

    async def answer(request: Request) -> Answer:
        if stalls:
            stalls.clear()
            head = calls(("bash", {"command": "touch ran"}), text="working").content
            return Answer((*head, {"type": "text", "text": "x" * 1000}), chunk=10, fault=Fault.STALL)
        return say("done")

    case = Interrupted(tmp_path, answer)
    async with case.gone_on_with(lambda on: not stalls, "and now?", resume=resume) as (on, requests):
        assert not (on.workspace / "ran").exists()
        assert on.api.refused == []
        [message] = requests[0].messages
        assert [block["text"] for block in message["content"]] == ["Do the job.", "and now?"]


@pytest.mark.parametrize("resume", [False, True], ids=["in process", "resumed"])
async def test_before_the_first_call_starts_all_are_told_as_not_run(tmp_path: Path, *, resume: bool) -> None:
    asked: list[Event] = []

    async def hang(event: Event) -> Decision | None:
        asked.append(event)
        await anyio.sleep_forever()
        return None

    async def answer(request: Request) -> Answer:
        return calls(*THREE) if request.turn == 0 else say("done")

    case = Interrupted(tmp_path, answer, [Hook("hang", frozenset({"PreToolUse"}), hang)])
    async with case.gone_on_with(lambda on: len(asked) == 3, "and now?", resume=resume) as (on, requests):
        assert not (on.workspace / "ran").exists()
        assert on.api.refused == []
        results = results_of(requests[0])
        assert len(results) == 3
        assert all(one["is_error"] and "not run" in text_of(one) for one in results)
        assert requests[0].messages[-1]["content"][-1]["text"] == "and now?"
        assert on.events("planned") == []


@pytest.mark.parametrize("resume", [False, True], ids=["in process", "resumed"])
async def test_during_the_second_call_each_is_told_as_it_was(tmp_path: Path, *, resume: bool) -> None:
    async def answer(request: Request) -> Answer:
        return calls(*THREE) if request.turn == 0 else say("done")

    def second_runs(on: Stage) -> bool:
        return "two" in ((on.workspace / "ran").read_text() if (on.workspace / "ran").exists() else "")

    case = Interrupted(tmp_path, answer)
    async with case.gone_on_with(second_runs, "and now?", resume=resume) as (on, requests):
        assert (on.workspace / "ran").read_text() == "one\ntwo\n"
        assert on.api.refused == []
        one, two, three = results_of(requests[0])
        assert (text_of(one).startswith("1"), one.get("is_error", False)) == (True, False)
        assert "may have had effect" in text_of(two)
        assert "not run" in text_of(three)
        assert (two["is_error"], three["is_error"]) == (True, True)
        content = requests[0].messages[-1]["content"]
        assert [block["type"] for block in content] == [*["tool_result"] * 3, "text"]
        assert [r["tool_use_id"] for r in on.events("planned")] == [
            r["tool_use_id"] for r in on.events("done")
        ]


async def test_an_interrupted_child_goes_on_with_its_turns_and_files_counted(tmp_path: Path) -> None:
    """BUG-23: neither begun again nor given thirty more turns, and its result has all it did."""
    stalled: list[int] = []

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return call("task", {"description": "work"}) if request.turn == 0 else say("done")
        if request.body.get("tool_choice") == {"type": "none"}:
            return say("report")
        if request.turn == 3 and not stalled:
            stalled.append(1)
            return say("never", latency=60)
        return call("write_file", {"path": f"file-{request.turn}", "content": "x"})

    case = Interrupted(tmp_path, answer)
    async with case.gone_on_with(lambda on: bool(stalled), "", resume=True) as (on, _):
        [child] = on.team.results
        assert (child.status, child.turns, child.summary) == ("max_turns", 30, "report")
        assert [change.path for change in child.files_changed] == [f"file-{n}" for n in range(29)]
        assert len(on.requests_of("work")) == 27
        assert text_of(results_of(on.requests_of("Do the job.")[0])[0]).endswith("report")


async def test_a_child_that_fails_for_good_answers_its_call_once(tmp_path: Path) -> None:
    """BUG-23, second case."""

    async def answer(request: Request) -> Answer | Refusal:
        if is_lead(request):
            return call("task", {"description": "work"}) if request.turn == 0 else say("done")
        return (
            Refusal(400, "invalid_request_error", "no")
            if request.turn
            else call("glob", {"pattern": "*"}, text="seen")
        )

    async with stage(answer, tmp_path) as on:
        lead = await on.run()
        [told] = results_of(on.requests_of("Do the job.")[1])
        assert len(on.requests_of("work")) == 2
    assert lead.status == "completed"
    assert "ended: error, incomplete" in text_of(told)
    assert "seen" in text_of(told)


async def test_a_session_that_ended_with_the_models_word_can_be_gone_on_with(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        return say(f"report {request.turn}")

    async with stage(answer, tmp_path) as on:
        await on.run()
        assert (await on.run("")).summary == "report 1"
        assert on.api.refused == []


async def test_where_the_history_cannot_be_kept_the_run_ends_in_words(tmp_path: Path) -> None:
    async def answer(_request: Request) -> Answer:
        return say("done")

    async with stage(answer, tmp_path) as on:
        (on.folder / "transcript.jsonl").mkdir()
        with pytest.raises(AuditError, match=r"transcript\.jsonl cannot be written"):
            await on.run()
        assert on.api.message_requests == []


async def test_the_plan_is_still_there_after_an_interruption_and_lost_lines_are_told(tmp_path: Path) -> None:
    todo = {"todos": [{"content": "count the sheep", "status": "in_progress"}]}

    async def answer(request: Request) -> Answer:
        return call("todo_write", todo) if request.turn == 0 else say("done")

    async with stage(answer, tmp_path) as on:
        await on.run()
        with (on.folder / "transcript.jsonl").open("a") as file:
            file.write("torn li\n")
        on.moments.clear()
        await on.run("go on")
        plans = [moment.items for moment in on.moments if isinstance(moment, TodosChanged)]
        notices = [moment.text for moment in on.moments if isinstance(moment, Notice)]
    assert [[item.content for item in plan] for plan in plans] == [["count the sheep"]]
    assert len(notices) == 1
    assert "1 line of" in notices[0]

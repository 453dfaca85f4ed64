"""Lead and subagents together: isolation, the cap, statuses, siblings, recursion, hooks for everyone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from decurion.agents.messages_api import Answer, Options, Refusal, Request, call, calls, overloaded, say
from decurion.agents.money import Limits
from decurion.agents.tools import ToolContext, tool
from decurion.hooks import Decision, Event, PreToolUse, SubagentStart, allow, deny
from decurion.hooks.chain import Hook

from .helpers import is_lead, results_of, stage, text_of

pytestmark = pytest.mark.anyio


def tasks(*descriptions: str, kind: str = "general") -> Answer:
    return calls(*[("task", {"description": text, "subagent_type": kind}) for text in descriptions])


async def test_only_the_summary_crosses_between_lead_and_child(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("CHILD-TASK") if request.turn == 0 else say("LEAD-END")
        if request.turn == 0:
            return call("bash", {"command": "echo CHILD-SECRET"}, text="CHILD-THOUGHT")
        return say("CHILD-REPORT")

    async with stage(answer, tmp_path) as on:
        result = await on.run("LEAD-PROMPT")
    lead = [r for r in on.api.message_requests if is_lead(r)]
    child = [r for r in on.api.message_requests if not is_lead(r)]
    assert result.summary == "LEAD-END"
    assert all(b"LEAD-PROMPT" not in r.raw and b"todo_write" not in r.raw for r in child)
    assert all(b"CHILD-SECRET" not in r.raw and b"CHILD-THOUGHT" not in r.raw for r in lead)
    assert text_of(results_of(lead[-1])[0]) == "CHILD-REPORT"
    assert child[0].body["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "CHILD-TASK", "cache_control": {"type": "ephemeral"}}],
        }
    ]
    assert on.api.refused == []


async def test_a_child_that_never_ends_makes_thirty_requests_and_its_findings_come_back(
    tmp_path: Path,
) -> None:
    """BUG-16."""

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("endless", "quick one", "quick two") if request.turn == 0 else say("done")
        if "endless" in request.task:
            return call(
                "bash", {"command": f"echo {request.turn} >> log"}, text=f"finding {request.turn + 1}"
            )
        return say("quick report")

    async with stage(answer, tmp_path) as on:
        await on.run()
        assert len(on.requests_of("endless")) == 30
        assert on.requests_of("endless")[-1].body["tool_choice"] == {"type": "none"}
        results = [text_of(r) for r in results_of(on.api.message_requests[-1])]
    assert "max_turns" in results[0]
    assert "incomplete" in results[0]
    assert "finding 30" in results[0]
    assert results[1:] == ["quick report", "quick report"]
    ran = (on.workspace / "log").read_text().split()
    assert ran == [str(n) for n in range(29)]
    assert len([r for r in on.events("done") if r["agent_type"] == "general"]) == 29


async def test_the_report_asked_for_at_the_cap_is_the_summary(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("work") if request.turn == 0 else say("done")
        if request.body.get("tool_choice") == {"type": "none"}:
            return say("my report")
        return call("read_file", {"path": "x"})

    async with stage(answer, tmp_path, subagent_turns=3) as on:
        await on.run()
    [result] = on.team.results
    assert (result.status, result.summary, result.partial, result.turns) == (
        "max_turns",
        "my report",
        False,
        3,
    )


@pytest.mark.parametrize("name", ["task", "Task", " task ", "TASK", "Agent"])
async def test_a_child_cannot_delegate_under_any_spelling(tmp_path: Path, name: str) -> None:
    """BUG-14."""

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("delegate!") if request.turn == 0 else say("done")
        if request.turn < 3:
            return call(name, {"description": "delegate!", "prompt": "delegate!"})
        return say("did it myself")

    (tmp_path / "work" / ".claude" / "agents").mkdir(parents=True)
    (tmp_path / "work" / ".claude" / "agents" / "general.md").write_text(
        "---\nname: general\ndescription: d\ntools: Task, bash, task\n---\nWork.\n"
    )
    async with stage(answer, tmp_path) as on:
        await on.run()
        assert len(on.requests_of("delegate!")) == 4
        refusal = text_of(results_of(on.requests_of("delegate!")[1])[0])
    assert "cannot delegate" in refusal
    assert [r["event"] for r in on.records].count("agent_start") == 2
    assert len(on.events("malformed")) == 3


async def test_hooks_bind_the_lead_and_every_child(tmp_path: Path) -> None:
    """BUG-01, BUG-63: Pre and Post of every agent, and a refusal that is obeyed everywhere."""
    seen: list[tuple[str, str, str]] = []

    async def log(event: Event) -> Decision | None:
        call_ = getattr(event, "call", None)
        assert call_ is not None
        seen.append((type(event).__name__, event.ref.agent_id, call_.args["command"]))
        return None

    async def gate(event: Event) -> Decision | None:
        assert isinstance(event, PreToolUse)
        return deny("not that") if "denied" in event.call.args["command"] else None

    hooks = [
        Hook("log", frozenset({"PreToolUse", "PostToolUse"}), log, matcher="Bash", kind="observer"),
        Hook("gate", frozenset({"PreToolUse"}), gate, matcher="bash"),
    ]

    async def answer(request: Request) -> Answer:
        if request.turn == 0:
            return calls(("bash", {"command": "true"}), ("bash", {"command": "touch denied"}))
        if is_lead(request) and request.turn == 1:
            return tasks("one", "two")
        return say("done")

    async with stage(answer, tmp_path, hooks=hooks) as on:
        await on.run()
    assert not (on.workspace / "denied").exists()
    agents = {agent for _, agent, _ in seen}
    assert len(agents) == 3
    for agent in agents:
        mine = sorted((kind, command) for kind, who, command in seen if who == agent)
        assert mine == [("PostToolUse", "true"), ("PreToolUse", "touch denied"), ("PreToolUse", "true")]
    refused = on.events("refused")
    assert {r["agent_id"] for r in refused} == agents
    assert {(r["decision"], r["by"], r["reason"]) for r in refused} == {("deny", "gate", "not that")}
    assert "not that" in text_of(results_of(on.requests_of("one")[1])[1])


async def test_every_call_has_one_planned_and_one_done_record_of_the_right_agent(tmp_path: Path) -> None:
    """BUG-63, and the log's promise under a fan-out."""

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks(*[f"mark-{n}-" for n in range(12)]) if request.turn == 0 else say("done")
        mark = request.task.strip()
        if request.turn < 3:
            return calls(("bash", {"command": f"echo {mark}"}), ("read_file", {"path": f"{mark}"}))
        return say("done")

    async with stage(answer, tmp_path) as on:
        await on.run()
    planned, done = on.events("planned"), on.events("done")
    assert sorted(r["tool_use_id"] for r in planned) == sorted(r["tool_use_id"] for r in done)
    assert len({r["tool_use_id"] for r in planned}) == len(planned) == 12 * 6 + 12
    starts = {r["agent_id"]: r for r in on.events("agent_start")}
    by_agent: dict[str, set[str]] = {}
    for record in planned:
        assert record["agent_id"] in starts
        if record["depth"]:
            by_agent.setdefault(record["agent_id"], set()).add(
                str(record["input"]).split("mark-")[1].split("-")[0]
            )
            assert record["parent_id"] == "lead"
            assert record["parent_call_id"] == starts[record["agent_id"]]["parent_call_id"]
    assert all(len(marks) == 1 for marks in by_agent.values())
    assert {r["agent_id"] for r in on.events("agent_end")} == set(starts)
    assert all(a["seq"] + 1 == b["seq"] for a, b in pairwise(on.records))


async def test_one_bad_call_of_five_leaves_the_others_whole(tmp_path: Path) -> None:
    """BUG-28: results in call order, each with its own id, errors with a name, effects once."""

    @tool(read_only=True)
    async def broken(ctx: ToolContext, how: str) -> str:
        """Fail."""
        raise (KeyError() if how == "key" else RuntimeError())

    @tool(read_only=True)
    async def stray(ctx: ToolContext) -> str:
        """Let a cancellation of its own escape."""
        from asyncio import CancelledError  # noqa: TID251 - the stray one of the case

        import sniffio

        if sniffio.current_async_library() == "trio":
            raise RuntimeError("trio never lets one out")
        raise CancelledError("stray")

    async def answer(request: Request) -> Answer:
        if request.turn == 0:
            return calls(
                ("bash", {"command": "echo x >> ledger; echo good"}),
                ("broken", {"how": "key"}),
                ("broken", {"how": "silent"}),
                ("bash", {"command": "sleep 0.2; echo slow"}),
                ("stray", {}),
            )
        return say("done")

    async with stage(answer, tmp_path, tools=[broken, stray]) as on:
        result = await on.run()
        results = results_of(on.api.message_requests[1])
    assert result.status == "completed"
    assert [r["tool_use_id"] for r in results] == [
        b["id"] for b in on.api.message_requests[1].body["messages"][1]["content"]
    ]
    texts = [text_of(r) for r in results]
    assert texts[0].startswith("good")
    assert texts[1:3] == ["KeyError", "RuntimeError"]
    assert texts[3].startswith("slow")
    assert [r.get("is_error", False) for r in results] == [False, True, True, False, True]
    assert (on.workspace / "ledger").read_text() == "x\n"


async def test_a_tool_that_succeeded_is_not_run_again_when_the_next_request_fails(tmp_path: Path) -> None:
    """BUG-33."""
    failures = {"lead": 2, "child": 2}

    async def answer(request: Request) -> Answer | Refusal:
        who = "lead" if is_lead(request) else "child"
        if request.turn == 0:
            return call("bash", {"command": f"echo x >> {who}"})
        if failures[who]:
            failures[who] -= 1
            return overloaded(500)
        if is_lead(request) and request.turn == 1:
            return tasks("child")
        return say("done")

    async with stage(answer, tmp_path) as on:
        await on.run()
    assert (on.workspace / "lead").read_text() == (on.workspace / "child").read_text() == "x\n"
    retried = [r.raw for r in on.requests_of("child")][1:4]
    assert retried[0] == retried[1] == retried[2]


async def test_long_reports_of_many_children_are_cut_with_a_note(tmp_path: Path) -> None:
    """BUG-19."""

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            if request.turn == 1:
                path = text_of(results_of(request)[0]).split("the whole report is in ")[1].rstrip("]")
                return call("read_file", {"path": path})
            return tasks(*[f"part {n}" for n in range(7)]) if request.turn == 0 else say("done")
        return say("x" * 40_000)

    async with stage(answer, tmp_path, options=Options(max_bytes=150_000)) as on:
        result = await on.run()
        texts = [text_of(r) for r in results_of(on.api.message_requests[-2])]
        [whole] = results_of(on.api.message_requests[-1])
    assert result.status == "completed"
    assert "x" * 2_000 in text_of(whole)
    assert sum(map(len, texts)) < 100_000
    assert all("32,000 more characters were left out" in text for text in texts)
    assert all(len(r.summary) == 40_000 for r in on.team.results)


async def test_a_refused_spawn_never_starts_and_a_rewritten_one_runs_as_rewritten(tmp_path: Path) -> None:
    async def gate(event: Event) -> Decision | None:
        assert isinstance(event, SubagentStart)
        if "forbidden" in event.prompt:
            return deny("not this one")
        return Decision(allow().verdict, updated_args={"prompt": "REWRITTEN"})

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("forbidden work", "fine work") if request.turn == 0 else say("done")
        return say(f"did {request.task}")

    async with stage(answer, tmp_path, hooks=[Hook("gate", frozenset({"SubagentStart"}), gate)]) as on:
        await on.run()
        texts = [text_of(r) for r in results_of(on.api.message_requests[-1])]
    assert "not started: not this one" in texts[0]
    assert "blocked" in texts[0]
    assert texts[1] == "did REWRITTEN"
    assert [r["reason"] for r in on.events("refused")] == ["not this one"]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (say("I will not", stop_reason="refusal"), "refused"),
        (Refusal(400, "invalid_request_error", "messages: wrong"), "error"),
        (say("half", stop_reason="max_tokens"), "error"),
    ],
)
async def test_a_child_that_fails_is_a_result_with_its_status(
    tmp_path: Path, reply: Answer | Refusal, status: str
) -> None:
    async def answer(request: Request) -> Answer | Refusal:
        if is_lead(request):
            return tasks("bad", "good") if request.turn == 0 else say("done")
        return reply if "bad" in request.task else say("fine")

    async with stage(answer, tmp_path) as on:
        lead = await on.run()
        texts = [text_of(r) for r in results_of([r for r in on.api.message_requests if is_lead(r)][-1])]
    assert lead.status == "completed"
    assert texts[1] == "fine"
    assert f"ended: {status}" in texts[0]
    assert {r.status for r in on.team.results} == {status, "completed"}
    assert all(r.summary.strip() for r in on.team.results)


async def test_at_most_the_set_number_of_children_run_at_once(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks(*[f"t{n}" for n in range(9)]) if request.turn == 0 else say("done")
        return say("ok", latency=0.05)

    async with stage(answer, tmp_path, running_at_once=3) as on:
        await on.run()
        assert on.api.most_active == 3


async def test_a_spent_budget_refuses_the_next_request_and_reports_the_work_so_far(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("spend") if request.turn == 0 else say("done")
        return call("read_file", {"path": "x"}, text=f"finding {request.turn}")

    async with stage(answer, tmp_path, budget=Limits(tokens=12_000)) as on:
        lead = await on.run()
    [child] = on.team.results
    assert child.status == "budget"
    assert child.partial
    assert "finding" in child.summary
    assert lead.status == "budget"


async def test_a_time_limit_ends_a_child_and_not_its_siblings(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return tasks("slow", "fast") if request.turn == 0 else say("done")
        if "slow" in request.task and request.turn == 0:
            return call("bash", {"command": "sleep 30"}, text="starting")
        return say("ok")

    async with stage(answer, tmp_path, subagent_seconds=0.5) as on:
        await on.run()
    assert {r.agent_id: r.status for r in on.team.results} == {
        r.agent_id: ("timeout" if r.summary == "starting" else "completed") for r in on.team.results
    }
    assert sorted(r.status for r in on.team.results) == ["completed", "timeout"]


async def test_a_resumed_session_never_runs_a_finished_child_again(tmp_path: Path) -> None:
    """BUG-23: the open task calls get exactly one result each."""
    stopped = False

    async def first(request: Request) -> Answer:
        nonlocal stopped
        if is_lead(request):
            return tasks("finishes", "is stopped") if request.turn == 0 else say("done")
        if "finishes" in request.task:
            return say("finished report")
        if request.turn == 0:
            return call("bash", {"command": "echo once >> once"}, text="half way")
        stopped = True
        return say("never read", latency=60)

    async def second(request: Request) -> Answer:
        if is_lead(request):
            return say("all in")
        return say("went on")

    import anyio

    async with stage(first, tmp_path) as on, anyio.create_task_group() as group:
        group.start_soon(on.run)
        while not stopped or not on.team.results:  # noqa: ASYNC110 - nobody sets an event for it
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    async with stage(second, tmp_path) as on:
        result = await on.run("")
        lead = [r for r in on.api.message_requests if is_lead(r)]
        assert len(on.requests_of("finishes")) == 0
        assert len(on.requests_of("is stopped")) == 1
        assert [text_of(r) for r in results_of(lead[0])] == ["finished report", "went on"]
    assert result.summary == "all in"
    assert (on.workspace / "once").read_text() == "once\n"
    assert on.api.refused == []

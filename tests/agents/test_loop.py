"""The loop over a strict API: what odd replies, odd values, reminders and hooks on the stop do to one agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.messages_api import Answer, Options, Refusal, Request, call, calls, say
from decurion.agents.tools import ToolContext, tool
from decurion.hooks import Decision, Event, Stop, SubagentStop, Verdict, deny, halt
from decurion.hooks.chain import Hook

from .helpers import is_lead, results_of, stage, text_of

pytestmark = pytest.mark.anyio


def cut(
    name: str, args: Mapping[str, Any], *fragments: str, before: tuple[Mapping[str, Any], ...] = ()
) -> Answer:
    """A reply that hits the output limit inside a call, after whole calls if given."""
    use = {"type": "tool_use", "id": "toolu_cut", "name": name, "input": dict(args)}
    return Answer((*before, use), "max_tokens", arguments={"toolu_cut": fragments} if fragments else {})


ECHO = {"type": "tool_use", "id": "toolu_echo", "name": "bash", "input": {"command": "touch ran"}}


@pytest.mark.parametrize(
    "reply",
    [
        cut("write_file", {"path": "kept.txt"}),
        cut("write_file", {}, '{"path": "kept.txt", "content": "half a li'),
        cut("bash", {}, '{"command": "touch r', before=(ECHO,)),
    ],
    ids=["content missing", "content cut", "whole call before the cut one"],
)
async def test_nothing_of_a_reply_that_was_cut_runs_and_smaller_pieces_are_asked_for(
    tmp_path: Path, reply: Answer
) -> None:
    """BUG-29."""

    async def answer(request: Request) -> Answer:
        return reply if request.turn == 0 else say("done")

    async with stage(answer, tmp_path) as on:
        (on.workspace / "kept.txt").write_bytes(b"as it was\n")
        result = await on.run()
        told = results_of(on.api.message_requests[1])
    assert (result.status, on.api.refused) == ("completed", [])
    assert [path.name for path in on.workspace.iterdir()] == ["kept.txt"]
    assert (on.workspace / "kept.txt").read_bytes() == b"as it was\n"
    assert all(
        one["is_error"] and "output limit" in text_of(one) and "smaller pieces" in text_of(one)
        for one in told
    )
    assert len(told) == len(on.events("malformed"))


async def test_the_output_limit_is_raised_once_and_asking_ends(tmp_path: Path) -> None:
    """BUG-29: the same size is not tried for ever."""
    ids = iter(range(100))

    async def answer(_request: Request) -> Answer:
        use: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{next(ids)}", "name": "bash", "input": {}}
        return Answer((use,), "max_tokens")

    async with stage(answer, tmp_path, max_tokens=1000) as on:
        result = await on.run()
        asked = [request.body["max_tokens"] for request in on.api.message_requests]
    assert asked == [1000, 2000, 2000, 2000]
    assert (result.status, result.partial) == ("error", True)
    assert "output limit" in result.error


async def test_an_empty_content_on_purpose_makes_an_empty_file_and_a_missing_one_never_does(
    tmp_path: Path,
) -> None:
    """BUG-29."""

    async def answer(request: Request) -> Answer:
        if request.turn == 0:
            return calls(
                ("write_file", {"path": "empty", "content": ""}), ("write_file", {"path": "missing"})
            )
        return say("done")

    async with stage(answer, tmp_path) as on:
        await on.run()
        _, missing = results_of(on.api.message_requests[1])
    assert (on.workspace / "empty").read_bytes() == b""
    assert not (on.workspace / "missing").exists()
    assert missing["is_error"]
    assert "content" in text_of(missing)


@tool(read_only=True)
async def ping(ctx: ToolContext) -> str:
    """Say pong."""
    return "pong"


@pytest.mark.parametrize(
    ("fragments", "text"),
    [
        (['{"pa', 'th": BAD'], "Nothing was run"),
        (['["ls"]'], "Nothing was run"),
        (['"ls"'], "Nothing was run"),
        ([], "pong"),
    ],
    ids=["no JSON", "a list", "a text", "no fragments"],
)
async def test_arguments_that_are_no_object_are_an_error_result_and_the_run_goes_on(
    tmp_path: Path, fragments: list[str], text: str
) -> None:
    """BUG-30."""
    use: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "ping", "input": {}}

    async def answer(request: Request) -> Answer:
        if request.turn == 0:
            return Answer((use,), "tool_use", arguments={"toolu_1": fragments})
        return say("done")

    async with stage(answer, tmp_path, tools=[ping]) as on:
        result = await on.run()
        [told] = results_of(on.api.message_requests[1])
    assert (result.status, on.api.refused) == ("completed", [])
    assert text in text_of(told)
    assert bool(told.get("is_error")) == bool(fragments)


async def test_odd_file_names_blank_texts_and_empty_outputs_never_spoil_a_history(tmp_path: Path) -> None:
    """BUG-31: every request is taken, and the odd name as shown can be read."""
    replies = [
        Answer(
            (
                {"type": "text", "text": "  "},
                {"type": "tool_use", "id": "t0", "name": "glob", "input": {"pattern": "*"}},
            ),
            "tool_use",
        ),
        call("bash", {"command": "true"}),
        call("bash", {"command": "yes 🦊🦊🦊 | tr -d '\\n' | head -c 200001"}),
        say("done"),
    ]

    async def answer(request: Request) -> Answer:
        return replies[request.turn]

    async with stage(answer, tmp_path) as on:
        (on.workspace / "odd-\udcff.txt").write_text("found\n")
        result = await on.run()
        requests = on.api.message_requests
        [listed] = results_of(requests[1])
        [empty] = results_of(requests[2])
    assert (result.status, on.api.refused) == ("completed", [])
    assert "odd-\\xff.txt" in text_of(listed)
    assert text_of(empty).strip()
    assert all(request.raw.decode("utf-8") for request in requests)


def bare(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give messages without the moving marks of the prompt cache."""
    return [
        {
            **message,
            "content": [
                {k: v for k, v in block.items() if k != "cache_control"} for block in message["content"]
            ],
        }
        for message in messages
    ]


TODO = {"todos": [{"content": "a", "status": "in_progress"}]}
REFUSED_TODO = {"todos": [{"content": "a", "status": "odd"}]}


def reminders(request: Request) -> list[str]:
    blocks = request.messages[-1]["content"]
    texts = [block["text"] for block in blocks if block["type"] == "text" and "todo list" in block["text"]]
    assert not texts or blocks[0]["type"] == "tool_result"
    return texts


@pytest.mark.parametrize(
    ("plan", "reminded"),
    [
        ({0: TODO}, [4, 7, 10]),
        ({0: TODO, 2: REFUSED_TODO}, [4, 7, 10]),
        ({0: TODO, 3: TODO}, [7, 10]),
        ({}, []),
        ({0: {"todos": [{"content": "a", "status": "completed"}]}}, []),
    ],
    ids=["never updated", "a refused update is none", "updated", "no list", "all done"],
)
async def test_reminders_come_at_intervals_after_the_results_and_change_nothing_sent_before(
    tmp_path: Path, plan: dict[int, dict[str, Any]], reminded: list[int]
) -> None:
    """BUG-37."""

    async def answer(request: Request) -> Answer:
        if request.turn == 12:
            return say("done")
        if request.turn in plan:
            return call("todo_write", plan[request.turn])
        return call("ping")

    async with stage(answer, tmp_path, tools=[ping]) as on:
        await on.run()
        requests = on.api.message_requests
    assert [request.turn for request in requests if reminders(request)] == reminded
    for earlier, later in pairwise(requests):
        assert bare(later.messages)[: len(earlier.messages)] == bare(earlier.messages)


async def test_a_child_without_the_todo_tool_is_never_reminded(tmp_path: Path) -> None:
    """BUG-37."""

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return [call("todo_write", TODO), call("task", {"description": "work"}), say("done")][
                request.turn
            ]
        return call("read_file", {"path": "x"}) if request.turn < 6 else say("done")

    async with stage(answer, tmp_path, reminder_every=1) as on:
        await on.run()
        assert not any(reminders(request) for request in on.requests_of("work"))


async def test_each_agents_commands_start_in_its_own_root_and_nothing_persists(tmp_path: Path) -> None:
    """BUG-52."""

    async def answer(request: Request) -> Answer:
        commands = [
            "mkdir -p {0} && cd {0} && export WHO={0} && pwd",
            "cd {0} && rmdir ../{0}",
            "pwd; echo [$WHO]",
        ]
        if is_lead(request) and request.turn == 3:
            return calls(*[("task", {"description": f"child-{n}"}) for n in range(2)])
        if request.turn < 3:
            who = "lead" if is_lead(request) else request.task
            return call("bash", {"command": commands[request.turn].format(who)})
        return call("bash", {"command": "pwd"}) if is_lead(request) and request.turn == 4 else say("done")

    before = Path.cwd()
    async with stage(answer, tmp_path) as on:
        await on.run()
        requests = on.api.message_requests
        last = {request.task: request for request in requests}
    assert Path.cwd() == before
    for task in ("child-0", "child-1", "Do the job."):
        results = [
            block for m in last[task].messages for block in m["content"] if block["type"] == "tool_result"
        ]
        texts = [text_of(result) for result in results]
        assert f"{on.workspace.resolve()}\n[]" in texts[2], texts
    assert text_of(results_of(last["Do the job."])[0]).startswith(str(on.workspace.resolve()))


@pytest.mark.parametrize(
    ("replies", "status", "runs"),
    [
        ([Answer((ECHO,), "something_new"), say("done")], "completed", False),
        ([say("so far", stop_reason="something_new"), say("done")], "completed", False),
        ([say("so far", stop_reason="pause_turn"), say("done")], "completed", False),
        ([Answer((ECHO,), "pause_turn"), say("done")], "completed", True),
        ([Answer((ECHO,), "refusal")], "refused", False),
        ([say("   "), say("done")], "completed", False),
        ([Answer((ECHO,), "model_context_window_exceeded"), say("done")], "completed", False),
    ],
    ids=["unknown with a call", "unknown", "pause", "pause with a call", "refusal", "blank", "window"],
)
async def test_each_stop_reason_is_handled_by_name(
    tmp_path: Path, replies: list[Answer], status: str, *, runs: bool
) -> None:
    async def answer(request: Request) -> Answer:
        return replies[min(len(on.api.message_requests), len(replies)) - 1]

    async with stage(answer, tmp_path) as on:
        result = await on.run()
        assert on.api.refused == []
    assert (result.status, (on.workspace / "ran").exists()) == (status, runs)
    assert result.summary.strip()
    assert result.partial == (status != "completed")


@pytest.mark.parametrize("agent", ["lead", "general"])
async def test_a_hook_on_the_stop_keeps_an_agent_working_eight_times_at_most(
    tmp_path: Path, agent: str
) -> None:
    active: list[bool] = []

    async def gate(event: Event) -> Decision | None:
        assert isinstance(event, (Stop, SubagentStop))
        active.append(event.stop_hook_active)
        return deny("the tests fail still")

    async def answer(request: Request) -> Answer:
        if is_lead(request) and agent != "lead" and request.turn == 0:
            return call("task", {"description": "work"})
        return say(f"report {request.turn}")

    event = "Stop" if agent == "lead" else "SubagentStop"
    async with stage(answer, tmp_path, hooks=[Hook("keep", frozenset({event}), gate)]) as on:
        await on.run()
        requests = on.requests_of("Do the job." if agent == "lead" else "work")
    assert active == [False, *[True] * 7]
    assert len(requests) == 9
    assert "the tests fail still" in requests[1].last


async def test_a_hook_that_keeps_a_child_working_gets_its_better_report(tmp_path: Path) -> None:
    async def gate(event: Event) -> Decision | None:
        assert isinstance(event, SubagentStop)
        return deny("name the files") if "files" not in event.summary else None

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return call("task", {"description": "work"}) if request.turn == 0 else say("done")
        return say("report" if request.turn == 0 else "report with files")

    async with stage(answer, tmp_path, hooks=[Hook("gate", frozenset({"SubagentStop"}), gate)]) as on:
        await on.run()
        assert text_of(results_of(on.requests_of("Do the job.")[1])[0]) == "report with files"


async def test_observers_are_told_of_a_childs_end_that_is_none_of_its_own(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    async def see(event: Event) -> None:
        assert isinstance(event, SubagentStop)
        told.append((event.status, event.summary))

    async def answer(request: Request) -> Answer:
        if is_lead(request):
            return call("task", {"description": "work"}) if request.turn == 0 else say("done")
        return call("ping", text="finding")

    hook = Hook("see", frozenset({"SubagentStop"}), see, kind="observer")
    async with stage(answer, tmp_path, hooks=[hook], subagent_turns=2) as on:
        await on.run()
    assert told == [("max_turns", "finding")]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
async def test_a_hook_can_end_the_run_and_what_was_not_run_says_so(tmp_path: Path, event: str) -> None:
    async def stop(seen: Event) -> Decision | None:
        return halt("enough for today") if "two" in json.dumps(getattr(seen, "call").args) else None  # noqa: B009

    async def answer(request: Request) -> Answer:
        return calls(
            *[("bash", {"command": f"touch {name}"}) for name in ("one", "two", "three")], text="working"
        )

    kind = "gate" if event == "PreToolUse" else "observer"
    async with stage(answer, tmp_path, hooks=[Hook("stop", frozenset({event}), stop, kind=kind)]) as on:
        result = await on.run()
        assert len(on.api.message_requests) == 1
    assert (result.status, result.error, result.summary, result.partial) == (
        "blocked", "enough for today", "working", True,
    )  # fmt: skip
    ran = {"one", "two"} if event == "PostToolUse" else set[str]()
    assert {path.name for path in on.workspace.iterdir()} == ran
    by_event = {name: len(on.events(name)) for name in ("planned", "done", "refused")}
    assert by_event == {"planned": len(ran), "done": len(ran), "refused": 3 - len(ran)}


async def test_what_hooks_say_after_a_call_reaches_the_model_after_the_results(tmp_path: Path) -> None:
    async def note(event: Event) -> Decision | None:
        return Decision(context=f"linter: 2 warnings ({type(event).__name__})")

    async def answer(request: Request) -> Answer:
        return calls(("ping", {}), ("bash", {"command": "false"})) if request.turn == 0 else say("done")

    events = frozenset({"PostToolUse", "PostToolUseFailure"})
    async with stage(
        answer, tmp_path, tools=[ping], hooks=[Hook("note", events, note, kind="observer")]
    ) as on:
        await on.run()
        blocks = on.api.message_requests[1].messages[-1]["content"]
    assert [block["type"] for block in blocks][:2] == ["tool_result"] * 2
    assert "linter: 2 warnings (PostToolUse)" in [block.get("text") for block in blocks[2:]]


@pytest.mark.parametrize(
    ("args", "runs"), [({"command": "touch safe"}, True), ({"cmd": 3}, False), ({}, False)]
)
async def test_arguments_that_a_hook_rewrote_must_fit_the_tool_like_any_others(
    tmp_path: Path, args: dict[str, Any], *, runs: bool
) -> None:
    async def rewrite(_event: Event) -> Decision | None:
        return Decision(Verdict.ALLOW, updated_args=args)

    async def answer(request: Request) -> Answer:
        return call("bash", {"command": "touch asked"}) if request.turn == 0 else say("done")

    async with stage(answer, tmp_path, hooks=[Hook("rewrite", frozenset({"PreToolUse"}), rewrite)]) as on:
        await on.run()
        [told] = results_of(on.api.message_requests[1])
    assert [path.name for path in on.workspace.iterdir()] == (["safe"] if runs else [])
    assert bool(told.get("is_error")) != runs
    assert [record["input"] for record in on.events("planned")] == ([args] if runs else [])


async def test_a_question_nobody_answers_is_a_no(tmp_path: Path) -> None:
    async def doubt(_event: Event) -> Decision | None:
        return Decision(Verdict.ASK, "is that wise?", "doubt")

    async def answer(request: Request) -> Answer:
        return call("bash", {"command": "touch ran"}) if request.turn == 0 else say("done")

    async with stage(answer, tmp_path, hooks=[Hook("doubt", frozenset({"PreToolUse"}), doubt)]) as on:
        await on.run()
        [told] = results_of(on.api.message_requests[1])
    assert not (on.workspace / "ran").exists()
    assert "is that wise?" in text_of(told)
    assert [(r["decision"], r["rule"]) for r in on.events("refused")] == [("ask", "doubt")]


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_hook_may_forbid_to_compact(tmp_path: Path, *, allowed: bool) -> None:
    async def gate(_event: Event) -> Decision | None:
        return None if allowed else deny("keep all")

    async def answer(request: Request) -> Answer:
        if "replaced by your summary" in request.last or len(on.api.message_requests) > 8:
            return say("done")
        return call("read_file", {"path": "big"})

    hook = Hook("gate", frozenset({"PreCompact"}), gate)
    async with stage(answer, tmp_path, hooks=[hook], options=Options(max_bytes=180_000)) as on:
        (on.workspace / "big").write_text(("x" * 70 + "\n") * 800)
        result = await on.run()
    assert result.status == ("completed" if allowed else "context")
    assert bool(on.events("compaction")) == allowed


async def test_the_leads_own_cap_is_one_of_each_prompt(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        last = request.body.get("tool_choice") == {"type": "none"}
        return say(f"report {request.turn}") if last else call("ping")

    async with stage(answer, tmp_path, tools=[ping], lead_turns=3) as on:
        results = [await on.run("first"), await on.run("second")]
        assert on.api.refused == []
        assert len(on.api.message_requests) == 6
    assert [(r.status, r.summary, r.turns) for r in results] == [
        ("max_turns", "report 2", 3),
        ("max_turns", "report 5", 6),
    ]


async def test_a_history_whose_thinking_the_api_takes_no_more_goes_on_without_it(tmp_path: Path) -> None:
    """As after a resume under another prompt: the API binds thinking to everything before it."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}

    async def answer(request: Request) -> Answer | Refusal:
        if request.turn == 0:
            return Answer((thought, *call("bash", {"command": "true"}).content), "tool_use")
        if "signature" in str(request.messages):
            said = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
            return Refusal(400, "invalid_request_error", said)
        return say("done")

    async with stage(answer, tmp_path) as on:
        result = await on.run()
    assert (result.status, result.summary) == ("completed", "done")
    assert len(on.api.message_requests) == 3
    assert "without thinking" in on.events("note")[0]["reason"]
    async with stage(
        answer, tmp_path
    ) as again:  # what it became was written down: no resume is refused for it
        assert (await again.run("Go on.")).summary == "done"
        assert len(again.api.message_requests) == 1
        assert len(again.api.message_requests[0].messages) == 5


async def test_an_image_that_the_api_cannot_read_is_taken_out_for_good(tmp_path: Path) -> None:
    """A file with a good head and a broken body passes every look of ours, and would spoil each request after it."""

    async def answer(request: Request) -> Answer | Refusal:
        if request.turn == 0:
            return calls(("read_file", {"path": "a.png"}), ("read_file", {"path": "a.txt"}))
        if '"image"' in request.raw.decode():
            return Refusal(400, "invalid_request_error", "messages.2.content.0: Could not process image")
        return say("done")

    async with stage(answer, tmp_path) as on:
        (on.workspace / "a.png").write_bytes(
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (9).to_bytes(4) * 2 + b"\x08\x02"
        )
        (on.workspace / "a.txt").write_text("kept\n")
        assert (await on.run()).summary == "done"
        image, text = results_of(on.api.message_requests[2])
        assert "An image stood here" in str(image)
        assert "kept" in text_of(text)
        assert on.events("note")[0]["reason"].startswith("sent again without images")
    async with stage(answer, tmp_path) as again:
        assert (await again.run("Go on.")).summary == "done"
        assert len(again.api.message_requests) == 1


async def test_a_refusal_that_speaks_of_images_where_there_are_none_ends_the_run(tmp_path: Path) -> None:
    async def answer(_request: Request) -> Refusal:
        return Refusal(400, "invalid_request_error", "images: not today")

    async with stage(answer, tmp_path) as on:
        result = await on.run()
        assert len(on.api.message_requests) == 1
    assert (result.status, "images: not today" in result.error) == ("error", True)


async def test_a_window_that_turns_out_smaller_than_it_was_thought_is_learned_from_the_stop_reason(
    tmp_path: Path,
) -> None:
    """As with a local server: the reply ends there, nothing is refused, and the tables know another window."""
    room = 30_000

    async def answer(request: Request) -> Answer:
        size = len(json.dumps(request.messages))
        usage = {"input_tokens": size // 4, "output_tokens": 5}
        if size > room:
            return Answer(({"type": "text", "text": "I "},), "model_context_window_exceeded", usage=usage)
        if len(on.events("compaction")):
            return say("done", usage=usage)
        return Answer(call("bash", {"command": "seq 1 2000"}).content, "tool_use", usage=usage)

    async with stage(answer, tmp_path) as on:
        result = await on.run()
    assert (result.status, result.summary) == ("completed", "done")
    assert len(on.events("compaction")) == 1

"""The chain: strongest verdict wins, failure refuses, cancellation passes through, on both event loops."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.hooks import (
    HOOK_FAILED,
    ConfigError,
    Decision,
    Event,
    Hook,
    HookChain,
    HookFailure,
    Notification,
    PostToolUse,
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
    allow,
    ask,
    deny,
    guard,
    halt,
    observer,
)

pytestmark = pytest.mark.anyio

LEAD = RunRef("s1", "a0", "lead")
UNTYPED: Any = Decision
UNTYPED_CHAIN: Any = HookChain
"""As code without types would call them."""


def pre(name: str = "bash", **args: Any) -> PreToolUse:
    return PreToolUse(LEAD, ToolCall("c1", name, args))


def post(text: str = "fine") -> PostToolUse:
    return PostToolUse(LEAD, ToolCall("c1", "bash", {}), ToolResult("c1", text))


def says(answer: Any, name: str = "g", **options: Any) -> Hook:
    async def run(_event: Event) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return Hook(name, frozenset({options.pop("event", "PreToolUse")}), run, **options)


async def test_an_empty_chain_has_no_opinion() -> None:
    assert await HookChain().ask(pre()) == Decision()
    assert await HookChain().tell(post()) == Decision()


async def test_the_strongest_verdict_wins_whatever_the_order() -> None:
    hooks = [says(allow()), says(ask("sure?")), says(deny("no", "r1"), name="strict"), says(None)]
    for order in (hooks, hooks[::-1]):
        decision = await HookChain(order).ask(pre())
        assert (decision.verdict, decision.reason, decision.rule, decision.by) == (
            Verdict.DENY,
            "no",
            "r1",
            "strict",
        )


async def test_halt_beats_deny() -> None:
    decision = await HookChain([says(deny("no")), says(halt("stop"))]).ask(pre())
    assert (decision.verdict, decision.reason) == (Verdict.HALT, "stop")


async def test_a_refusal_without_a_reason_names_the_hook() -> None:
    decision = await HookChain([says(Decision(Verdict.DENY), name="silent")]).ask(pre())
    assert "'silent'" in decision.reason


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (ValueError("boom"), "raised ValueError"),
        (TimeoutError(), "raised TimeoutError"),
        (SystemExit(0), "raised SystemExit"),
        (HookFailure("exit status 1", "oops"), "exit status 1"),
        ("yes", "invalid answer"),
        (True, "invalid answer"),
        (UNTYPED(2), "invalid answer"),
        (UNTYPED(updated_args=[1]), "invalid answer"),
    ],
)
async def test_a_gate_that_fails_refuses_and_is_named(answer: Any, kind: str) -> None:
    decision = await HookChain([says(allow()), says(answer, name="broken")]).ask(pre())
    assert (decision.verdict, decision.rule, decision.by) == (Verdict.DENY, HOOK_FAILED, "broken")
    assert "'broken'" in decision.reason
    assert kind in decision.reason
    assert decision.detail
    assert [(one["hook"], one["failure"]) for one in decision.detail["failures"]] == [("broken", kind)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio lets nobody make a Cancelled
async def test_a_gate_that_cancels_itself_refuses_and_leaves_the_others_alone() -> None:
    chain = HookChain(
        [says(anyio.get_cancelled_exc_class()(), name="self"), says(deny("real", "r"), name="other")]
    )
    decision = await chain.ask(pre())
    assert decision.verdict is Verdict.DENY
    assert "'self'" in decision.reason
    assert "real" in decision.reason


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("count", [1, 2])
async def test_a_cancellation_from_outside_every_scope_is_not_taken_for_a_failure(count: int) -> None:
    import asyncio  # noqa: TID251 - what a library's user may do

    async def run(_event: Event) -> None:
        await anyio.sleep(30)

    hooks = [Hook(f"slow{at}", frozenset({"PreToolUse"}), run) for at in range(count)]
    task = asyncio.ensure_future(HookChain(hooks).ask(pre()))
    await anyio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_gate_may_use_scopes_of_its_own() -> None:
    async def run(_event: Event) -> None:
        with anyio.move_on_after(0):
            await anyio.sleep(30)

    assert (
        await HookChain([Hook("own-scope", frozenset({"PreToolUse"}), run)]).ask(pre())
    ).verdict is Verdict.ABSTAIN


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_lone_gate_that_raises_a_cancellation_refuses() -> None:
    decision = await HookChain([says(anyio.get_cancelled_exc_class()(), name="self")]).ask(pre())
    assert (decision.verdict, decision.rule, decision.by) == (Verdict.DENY, HOOK_FAILED, "self")


async def test_a_late_gate_refuses_and_is_ended() -> None:
    ended: list[str] = []

    async def run(_event: Event) -> Decision:
        try:
            await anyio.sleep(60)
        finally:
            ended.append("yes")
        return allow()

    began = time.monotonic()
    decision = await HookChain([Hook("slow", frozenset({"PreToolUse"}), run, timeout=0.05)]).ask(pre())
    assert time.monotonic() - began < 50
    assert ended == ["yes"]
    assert (decision.verdict, decision.rule) == (Verdict.DENY, HOOK_FAILED)
    assert "time limit" in decision.reason


async def test_a_gate_that_blocks_the_loop_and_says_yes_too_late_refuses() -> None:
    @guard(timeout=0.01)
    def blocking(call: ToolCall) -> Decision:
        time.sleep(0.05)
        return allow(call.name)

    assert (await HookChain([blocking]).ask(pre())).verdict is Verdict.DENY


async def test_eight_slow_gates_cost_the_time_of_one_and_start_in_order() -> None:
    started: list[int] = []
    all_began = anyio.Event()

    def slow(number: int) -> Hook:
        async def run(_event: Event) -> Decision:
            started.append(number)
            if number == 7:
                all_began.set()
            await all_began.wait()
            return deny(f"no {number}")

        return Hook(f"g{number}", frozenset({"PreToolUse"}), run, timeout=60)

    decision = await HookChain([slow(number) for number in range(8)]).ask(pre())
    assert started == list(range(8))
    assert decision.reason.splitlines() == [f"no {number}" for number in range(8)]


async def test_a_plain_function_that_gives_something_to_wait_for_waits_beside_the_others() -> None:
    all_began = anyio.Event()

    def slow(number: int) -> Hook:
        async def wait() -> Decision:
            if number == 7:
                all_began.set()
            await all_began.wait()
            return deny(f"no {number}")

        return Hook(f"g{number}", frozenset({"PreToolUse"}), lambda _event: wait(), timeout=60)

    decision = await HookChain([slow(number) for number in range(8)]).ask(pre())
    assert decision.reason.splitlines() == [f"no {number}" for number in range(8)]


async def test_a_plain_function_that_fails_refuses_and_the_others_are_still_asked() -> None:
    def broken(_event: Event) -> Decision:
        raise ValueError("lost its list")

    async def late(_event: Event) -> Decision:
        await anyio.sleep(0.001)
        return deny("not today")

    names = frozenset({"PreToolUse"})
    decision = await HookChain([Hook("broken", names, broken), Hook("late", names, late)]).ask(pre())
    assert (decision.verdict, decision.by) == (Verdict.DENY, "broken")
    assert "raised ValueError: lost its list" in decision.reason
    assert decision.reason.endswith("not today")


async def test_cancelling_the_caller_cancels_the_hooks_and_gives_no_answer() -> None:
    states: list[str] = []

    async def run(_event: Event) -> None:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            states.append("cancelled")
            raise

    async def caller(chain: HookChain) -> None:
        await chain.ask(pre())
        states.append("answered")

    async with anyio.create_task_group() as group:
        group.start_soon(caller, HookChain([Hook("slow", frozenset({"PreToolUse"}), run)]))
        await anyio.sleep(0.05)
        group.cancel_scope.cancel()
    assert states == ["cancelled"]


async def test_a_rewritten_call_is_judged_again_by_all_gates() -> None:
    @guard()
    def rewrite(call: ToolCall) -> Decision:
        return Decision(Verdict.ALLOW, updated_args={**call.args, "command": "rm -rf /"})

    @guard()
    def no_rm(call: ToolCall) -> Decision | None:
        return deny("no rm") if "rm" in str(call.args["command"]) else None

    for order in ([rewrite, no_rm], [no_rm, rewrite]):
        decision = await HookChain(order).ask(pre(command="true"))
        assert (decision.verdict, decision.updated_args) == (Verdict.DENY, None)


async def test_the_answer_carries_the_arguments_that_were_judged_last() -> None:
    @guard()
    def safer(call: ToolCall) -> Decision | None:
        if call.args["command"] != "rm":
            return None
        return Decision(Verdict.ALLOW, updated_args={"command": "trash"}, context="use trash")

    decision = await HookChain([safer]).ask(pre(command="rm"))
    assert (decision.verdict, decision.updated_args) == (Verdict.ALLOW, {"command": "trash"})
    assert decision.context == "use trash"


async def test_a_question_about_the_first_form_survives_the_rewriting() -> None:
    @guard()
    def careful(call: ToolCall) -> Decision | None:
        return (
            Decision(Verdict.ASK, "sure?", updated_args={"command": "b"})
            if call.args["command"] == "a"
            else None
        )

    decision = await HookChain([careful]).ask(pre(command="a"))
    assert (decision.verdict, decision.reason) == (Verdict.ASK, "sure?")
    assert decision.updated_args == {"command": "b"}


async def test_a_yes_for_the_first_form_is_no_yes_for_what_another_hook_made_of_it() -> None:
    @guard()
    def lets_ls(call: ToolCall) -> Decision | None:
        return allow() if call.args["command"] == "ls" else None

    @guard()
    def swap(call: ToolCall) -> Decision | None:
        return Decision(updated_args={"command": "curl"}) if call.args["command"] == "ls" else None

    assert (await HookChain([lets_ls, swap]).ask(pre(command="ls"))).verdict is Verdict.ABSTAIN


async def test_hooks_that_never_agree_on_a_form_refuse() -> None:
    @guard()
    def longer(call: ToolCall) -> Decision:
        return Decision(updated_args={"command": str(call.args["command"]) + "x"})

    decision = await HookChain([longer]).ask(pre(command=""))
    assert (decision.verdict, decision.rule, decision.updated_args) == (Verdict.DENY, HOOK_FAILED, None)
    assert "'longer'" in decision.reason


async def test_a_spawn_can_be_rewritten_or_refused() -> None:
    spawn = SubagentStart(LEAD, "delete it", "cleanup")

    @guard(events="SubagentStart")
    def politer(event: SubagentStart) -> Decision:
        return Decision(updated_args={"prompt": event.prompt.replace("delete", "archive")})

    decision = await HookChain([politer]).ask(spawn)
    assert decision.updated_args == {"prompt": "archive it"}
    refused = await HookChain([politer, says(deny("no"), event="SubagentStart")]).ask(spawn)
    assert refused.verdict is Verdict.DENY


@pytest.mark.parametrize("event", [Stop(LEAD, "done"), SubagentStart(LEAD, "p")])
async def test_a_rewrite_that_fits_no_argument_is_a_failure_not_forgotten(event: Event) -> None:
    hook = says(Decision(updated_args={"command": "x"}), event=type(event).__name__)
    assert (await HookChain([hook]).ask(event)).rule == HOOK_FAILED


async def test_a_broken_stop_gate_keeps_an_agent_working_only_once() -> None:
    chain = HookChain([says(ValueError("x"), event="Stop")])
    first = await chain.ask(Stop(LEAD, "done"))
    second = await chain.ask(Stop(LEAD, "done", stop_hook_active=True))
    assert (first.verdict, second.verdict) == (Verdict.DENY, Verdict.ABSTAIN)
    assert second.detail
    assert second.detail["failures"][0]["failure"] == "raised ValueError"


async def test_a_working_stop_gate_may_refuse_again() -> None:
    chain = HookChain([says(deny("tests fail"), event="Stop")])
    assert (await chain.ask(Stop(LEAD, "done", stop_hook_active=True))).reason == "tests fail"


async def test_an_observer_never_blocks_but_its_failure_is_noted() -> None:
    watching = {"kind": "observer"}
    hooks = [
        says(deny("no"), **watching),
        says(ValueError("x"), name="bad", **watching),
        says(halt("h"), **watching),
    ]
    decision = await HookChain(hooks).ask(pre())
    assert decision.verdict is Verdict.ABSTAIN
    assert decision.detail
    assert [one["hook"] for one in decision.detail["failures"]] == ["bad"]


async def test_after_the_call_objections_become_text_for_the_model() -> None:
    hooks = [
        says(deny("lint failed"), event="PostToolUse", kind="observer"),
        says(Decision(context="see lint.txt"), event="PostToolUse", kind="observer"),
        says(ValueError("x"), name="bad", event="PostToolUse", kind="observer"),
    ]
    decision = await HookChain(hooks).tell(post())
    assert (decision.verdict, decision.context) == (Verdict.ABSTAIN, "lint failed\nsee lint.txt")
    assert decision.detail
    assert [one["hook"] for one in decision.detail["failures"]] == ["bad"]
    assert await HookChain(hooks).ask(post()) == decision


async def test_after_the_call_a_hook_may_still_end_the_run() -> None:
    decision = await HookChain([says(halt("enough"), event="PostToolUse", kind="observer")]).tell(post())
    assert (decision.verdict, decision.reason) == (Verdict.HALT, "enough")


async def test_guards_select_by_tool_and_by_agent() -> None:
    @guard(tools="count_*|Bash", agents="review*")
    async def no(call: ToolCall) -> Decision:
        return deny(call.name)

    def asked(tool: str, agent: str) -> PreToolUse:
        return PreToolUse(RunRef("s", "a", agent), ToolCall("c", tool, {}))

    chain = HookChain([no])
    verdicts = {
        (tool, agent): (await chain.ask(asked(tool, agent))).verdict is Verdict.DENY
        for tool in ("count_lines", "bash", "grep")
        for agent in ("reviewer", "lead")
    }
    assert [key for key, refused in verdicts.items() if refused] == [
        ("count_lines", "reviewer"),
        ("bash", "reviewer"),
    ]


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        (pre("bash"), "Bash"),
        (post(), "bash"),
        (SubagentStart(RunRef("s", "c", "explorer", depth=1), "p"), "explorer"),
        (SubagentStop(RunRef("s", "c", "explorer", depth=1), "completed", "x"), "explorer"),
        (SessionStart(LEAD, "resume"), "resume"),
        (PreCompact(LEAD, "auto"), "auto"),
        (Notification(LEAD, "m", "warning"), "warning"),
        (SessionEnd(LEAD, "completed"), "completed"),
    ],
)
async def test_a_matcher_is_held_against_what_the_event_is_about(event: Event, subject: str) -> None:
    name = type(event).__name__
    hooks = [
        says(Decision(context=text), event=name, matcher=text, kind="observer") for text in (subject, "other")
    ]
    assert (await HookChain(hooks).ask(event)).context == subject


@pytest.mark.parametrize("event", [UserPromptSubmit(LEAD, "hi"), Stop(LEAD, "done")])
async def test_an_event_about_nothing_in_particular_passes_every_matcher(event: Event) -> None:
    hook = says(deny("no"), event=type(event).__name__, matcher="Bash")
    assert (await HookChain([hook]).ask(event)).verdict is Verdict.DENY


async def test_the_guard_of_the_style_guide_works() -> None:
    @guard(tools="count_*")
    async def stay_inside(call: ToolCall) -> Decision | None:
        if ".." in Path(str(call.args["path"])).parts:
            return deny("paths stay inside the workspace")
        return None

    chain = HookChain().with_hooks([stay_inside])
    assert (await chain.ask(pre("count_lines", path="../x"))).reason == "paths stay inside the workspace"
    assert await chain.ask(pre("count_lines", path="x")) == Decision(by="stay_inside")


async def test_an_observer_hears_every_event_or_those_it_names() -> None:
    heard: list[str] = []

    @observer()
    async def everything(event: Event) -> None:
        heard.append(type(event).__name__)

    @observer(events="PostToolUse", tools="grep")
    def greps(_event: Event) -> None:
        heard.append("grep")

    chain = HookChain([everything, greps])
    await chain.ask(pre())
    await chain.tell(post())
    await chain.ask(Stop(LEAD, "done"))
    assert heard == ["PreToolUse", "PostToolUse", "Stop"]


def test_a_chain_only_grows() -> None:
    first, second = says(None, name="1"), says(None, name="2")
    chain = HookChain([first])
    longer = chain.with_hooks([second])
    assert (chain.hooks, longer.hooks) == ((first,), (first, second))


def test_a_function_without_its_decorator_is_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match="@guard"):
        UNTYPED_CHAIN([print])


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (says(None, event="PreTolUse"), "PreTolUse"),
        (says(None, event="PostToolUse"), "cannot refuse PostToolUse"),
        (says(None, matcher="("), "regular expression"),
    ],
)
def test_a_hook_that_could_never_work_does_not_enter_a_chain(hook: Hook, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        HookChain([hook])

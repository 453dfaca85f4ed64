"""Context that lasts: bounded results, compaction that keeps every rule, a long session in a small window."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.claude import Patience, Switches
from decurion.agents.context import Compaction, ContextKeeper, bounded, fair_share
from decurion.agents.errors import ContextOverflow, Overloaded, StaleBlocks
from decurion.agents.history import History
from decurion.agents.messages_api import Answer, Options, Refusal, Request, call, overloaded, rules, say
from decurion.agents.model import ModelRequest
from decurion.agents.shortening import clear_results, compact, digest
from decurion.hooks import Decision, PreCompact, ToolResult, allow, deny
from tests.loopback import REF, TOOLS, Wire, begun, wired

WINDOW = 100_000


def keeper_of(wire: Wire, window: int = WINDOW, ask: Any = None) -> ContextKeeper:
    return ContextKeeper(wire.model, lambda _model: window, ask, smallest_window=window)


def request_of(history: History) -> ModelRequest:
    return ModelRequest("m", "Be good.", TOOLS, history, 8000, REF)


async def summing_up(request: Request) -> Any:
    if "about to be replaced by your summary" in request.last:
        return say("We renamed half of it.")
    use = call("x", {"n": request.turn}, text="Next: " + "look further " * 30)
    return Answer(({"type": "thinking", "thinking": "hm", "signature": "s"}, *use.content), "tool_use")


@st.composite
def histories(draw: st.DrawFn) -> History:
    history, calls = begun("The task: rename a to b."), 0
    for _ in range(draw(st.integers(0, 8))):
        count = draw(st.integers(0, 3))
        words = draw(st.sampled_from(["", "Looking.", "<reminder>odd</reminder>"]))
        uses: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"c{calls + n}", "name": "x", "input": {}} for n in range(count)
        ]
        calls += count
        history.add_content([{"type": "text", "text": words}, *uses])
        known = draw(st.integers(0, count))
        size = draw(st.sampled_from([0, 10, 5000]))
        results = [ToolResult(name, "r" * size) for name in history.open_calls[:known]]
        if draw(st.booleans()):
            history.add_user(draw(st.sampled_from(["And c too.", "Stop that."])), results)
        elif history.open_calls:
            history.add_results(results, ["<reminder>Update the list.</reminder>"])
    return history


@given(histories(), st.integers(0, 20_000), st.integers(1, 3))
def test_a_compacted_history_keeps_every_rule_at_every_cut(history: History, tail: int, times: int) -> None:
    """BUG-26."""
    history.repair()
    said = [b["text"] for m in history for b in m["content"] if b.get("text") in {"And c too.", "Stop that."}]
    for _ in range(times):
        messages = clear_results(history)
        first, again = (
            compact(messages, "The sum.", "[ ] item", tail),
            compact(messages, "The sum.", "[ ] item", tail),
        )
        assert first == again
        history = History.restore(first)
        if history[-1]["role"] == "user":
            rules.check({"model": "m", "max_tokens": 1, "messages": list(history)})
        text = str(list(history))
        assert "rename a to b" in text
        assert not said or said[-1] in text


def test_a_compaction_never_starts_while_calls_are_open() -> None:
    history = begun("go")
    history.add_content([{"type": "tool_use", "id": "a", "name": "x", "input": {}}])
    with pytest.raises(ValueError, match="open"):
        history.replace([])


@pytest.mark.anyio
@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_four_hundred_turns_fit_a_window_of_a_hundred_thousand_tokens() -> None:
    history, done = begun("The task: rename a to b."), list[Compaction]()
    async with wired(summing_up, Options(window=WINDOW)) as wire:
        keeper = keeper_of(wire)
        for turn in range(400):
            request = request_of(history)
            if compaction := await keeper.before_request(request, keep="[>] rename"):
                done.append(compaction)
            reply = await wire.model.complete(request, wire.progress.append)
            history.add_reply(reply)
            text = "r" * (40_000 if turn % 3 == 0 else 4_000)
            history.add_results(keeper.bounded([ToolResult(c.id, text) for c in reply.calls]))
        assert wire.api.refused == []
        assert {one.how for one in done} == {"cleared", "api"}
        assert all(one.after < one.before for one in done)
        text = str(history[0])
        assert "rename a to b" in text
        assert "[>] rename" in text


def full(turns: int = 60) -> History:
    """A history near the end of the window that clearing does not help."""
    history = begun("The task: rename a to b.")
    for number in range(turns):
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        use = {"type": "tool_use", "id": f"c{number}", "name": "grep", "input": {"n": "p" * 4000}}
        history.add_content([thought, use])
        history.add_results([ToolResult(f"c{number}", "found " * 200)])
    return history


@pytest.mark.anyio
@pytest.mark.parametrize("streaming", [True, False])
async def test_the_api_sums_up_where_it_offers_to_and_its_block_goes_back_first_and_unchanged(
    streaming: bool,
) -> None:
    async with wired(summing_up, clear_above=50_000, switches=Switches(streaming=streaming)) as wire:
        history, keeper = full(), keeper_of(wire)
        done = await keeper.before_request(request_of(history), keep="[>] rename")
        assert done
        assert (done.how, done.usage.output_tokens, done.usage.context_tokens > 50_000) == ("api", 100, True)
        block, task, state, _go_on = history[0]["content"]
        assert (block["type"], bool(block["signature"])) == ("compaction", True)
        assert (task["text"], "[>] rename" in state["text"]) == ("The task: rename a to b.", True)
        assert "thinking" not in str(list(history)[1:])
        asked = wire.api.requests[0].body
        assert (asked["compaction"], "context_management" in asked) == ({"type": "summarize"}, False)
        assert asked["messages"][-1]["content"][0]["content"].startswith(
            "found"
        )  # all of it, as it is cached
        for _ in range(3):
            reply = await wire.ask(history)
            history.add_reply(reply)
            history.add_results([])
        sent = wire.api.requests[-1]
        assert sent.body["messages"][0]["content"][0] == block
        assert sent.headers["anthropic-beta"] == "context-management-2025-06-27,compact-2026-09-04"
        assert wire.api.refused == []


@pytest.mark.anyio
@pytest.mark.parametrize("options", [Options(compaction=False), Options(compaction=False, strict=False)])
async def test_where_the_api_offers_none_the_model_sums_up_and_the_api_is_asked_once(
    options: Options,
) -> None:
    """Refused, or not noticed by a server that takes any field."""
    async with wired(summing_up, options) as wire:
        keeper = keeper_of(wire)
        for _ in range(2):
            history = full()
            done = await keeper.before_request(request_of(history))
            assert done
            assert done.how == "summary"
            assert "We renamed half of it." in str(history[0])
        assert ["compaction" in one.body for one in wire.api.requests] == [True, False, False]


@pytest.mark.anyio
async def test_a_history_that_is_too_long_to_be_summed_up_is_summed_up_without_its_old_results() -> None:
    """Its size was an estimate, and the estimate was too small."""

    async def answer(request: Request) -> Any:
        if len(request.raw) > 260_000:
            return Refusal(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
        return say("We renamed half of it.")

    async with wired(answer, Options(compaction=False)) as wire:
        history = full(46)
        for number in range(3):
            history.add_content([{"type": "tool_use", "id": f"r{number}", "name": "grep", "input": {}}])
            history.add_results([ToolResult(f"r{number}", "line " * 4000)])
        for number in range(3):
            history.add_content([{"type": "tool_use", "id": f"s{number}", "name": "grep", "input": {}}])
            history.add_results([ToolResult(f"s{number}", "few")])
        done = await keeper_of(wire).before_request(request_of(history))
        assert done
        assert done.how == "summary"
        assert "We renamed half of it." in str(history[0])


@pytest.mark.anyio
async def test_an_api_that_is_down_costs_no_history() -> None:
    async with wired(overloaded(), Options(compaction=False), patience=Patience(attempts=1)) as wire:
        with pytest.raises(Overloaded):
            await keeper_of(wire).before_request(request_of(full()))


@pytest.mark.anyio
async def test_compaction_by_the_api_can_be_switched_off() -> None:
    async with wired(summing_up, switches=Switches(compaction=False)) as wire:
        history = full()
        await keeper_of(wire).before_request(request_of(history))
        assert not any("compaction" in one.body for one in wire.api.requests)


@pytest.mark.anyio
async def test_a_summary_of_the_api_is_a_text_at_a_door_that_does_not_take_it() -> None:
    """As when a session is resumed elsewhere."""
    async with wired(say("fine")) as wire:
        history = full(2)
        history.replace(
            compact(history, {"type": "compaction", "content": "Half is done.", "signature": "?"})
        )
        with pytest.raises(StaleBlocks):
            await wire.ask(history)
        assert "Half is done." in digest(history)
        assert history.unbind()
        assert (await wire.ask(history)).text == "fine"
        assert "<summary>" in str(history[0])
        assert "Half is done." in digest(history)
        assert not history.unbind()


@pytest.mark.anyio
async def test_after_a_refusal_for_size_one_request_is_enough_and_the_size_is_learned() -> None:
    """BUG-20: the endpoint's window is smaller than anyone knew."""
    history = begun("The task.")
    async with wired(summing_up, Options(max_bytes=200_000)) as wire:
        keeper, refusals = keeper_of(wire, 1_000_000), 0
        for _ in range(40):
            request = request_of(history)
            await keeper.before_request(request)
            try:
                reply = await wire.model.complete(request, wire.progress.append)
            except ContextOverflow:
                refusals += 1
                assert await keeper.before_request(request, forced=True)
                reply = await wire.model.complete(request, wire.progress.append)
            history.add_reply(reply)
            history.add_results([ToolResult(c.id, "r" * 30_000) for c in reply.calls])
        assert refusals == 1


@pytest.mark.anyio
async def test_what_cannot_be_made_smaller_ends_as_overflow() -> None:
    async with wired(summing_up) as wire:
        with pytest.raises(ContextOverflow, match="nothing left"):
            await keeper_of(wire).before_request(request_of(begun("word " * 30_000)), forced=True)


@pytest.mark.anyio
async def test_pre_compact_is_asked_and_may_refuse() -> None:
    asked: list[PreCompact] = []

    async def refuse(event: PreCompact) -> Decision:
        asked.append(event)
        return deny("not now") if len(asked) == 1 else allow()

    async with wired(summing_up) as wire:
        history = begun("word " * 80_000)
        keeper = keeper_of(wire, ask=refuse)
        assert await keeper.before_request(request_of(history)) is None
        assert await keeper.before_request(request_of(history))
        assert [event.ref for event in asked] == [REF, REF]


@pytest.mark.anyio
async def test_a_summary_that_fails_is_replaced_by_a_digest() -> None:
    async with wired(Refusal(400, "invalid_request_error", "no"), Options(compaction=False)) as wire:
        history = begun("The task.")
        for number in range(60):
            history.add_content(
                [{"type": "tool_use", "id": f"c{number}", "name": "grep", "input": {"n": "p" * 4000}}]
            )
            history.add_results([ToolResult(f"c{number}", "found " * 200)])
        done = await keeper_of(wire).before_request(request_of(history))
        assert done
        assert done.how == "digest"
        assert "called grep" in str(history[0])


@pytest.mark.parametrize("count", [1, 7, 40])
def test_the_results_of_one_turn_fit_together(count: int) -> None:
    """BUG-19: seven reports of 40,000 characters, and many more."""
    keeper = ContextKeeper(cast("Any", None), lambda _m: WINDOW, smallest_window=WINDOW)  # asks no model
    cut = keeper.bounded([ToolResult(str(n), "r" * 400_000) for n in range(count)])
    assert sum(len(result.text) for result in cut) < WINDOW * 3.5 * 0.36 + 200 * count
    assert max(len(result.text) for result in cut) < WINDOW * 3.5 * 0.11
    assert all("characters left out" in result.text for result in cut)


def test_small_results_stay_whole_beside_large_ones() -> None:
    assert fair_share([10, 20, 1000, 1000], 1030) == 500
    assert fair_share([], 100) == 100


def test_a_cut_result_names_the_file_with_the_whole_and_keeps_its_images() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1000}}
    result = ToolResult(
        "a", (image, {"type": "text", "text": "\U0001f600" * 5000}), meta={"full_output": "out.txt"}
    )
    cut = bounded(result, 100)
    assert isinstance(cut.content, tuple)
    assert cut.content[0] == image
    assert "out.txt" in cut.text
    cut.text.encode()


def test_a_digest_is_bounded_and_never_empty_for_work_done() -> None:
    history = begun("go")
    for number in range(500):
        history.add_content([{"type": "tool_use", "id": f"c{number}", "name": "x", "input": {}}])
        history.add_results([])
    assert 0 < len(digest(history)) < 7000


@pytest.mark.anyio
async def test_a_long_history_that_was_resumed_is_counted_by_the_api_once() -> None:
    asked: list[ModelRequest] = []

    async def count(request: ModelRequest) -> int:
        asked.append(request)
        return 60_000

    async with wired(summing_up) as wire:
        keeper = ContextKeeper(wire.model, lambda _m: WINDOW, smallest_window=WINDOW, count=count)
        history = begun("word " * 70_000)  # 100,000 tokens by its bytes
        for _ in range(3):
            assert await keeper.before_request(request_of(history)) is None
        assert len(asked) == 1

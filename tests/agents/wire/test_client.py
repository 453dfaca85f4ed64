"""The client against the strict loopback API: replies whole, faults by name, retries that repeat only the request."""

from __future__ import annotations

from email.utils import formatdate
from time import time
from typing import Any, cast

import orjson
import pytest

from decurion.agents.claude import Endpoint, Patience, Switches
from decurion.agents.claude.faults import retry_after
from decurion.agents.claude.model import ClaudeModel
from decurion.agents.errors import (
    AuthenticationFailed,
    BadRequest,
    ContextOverflow,
    Overloaded,
    StaleBlocks,
    UnknownModel,
    Unreachable,
)
from decurion.agents.messages_api import (
    Answer,
    Fault,
    Options,
    Refusal,
    Script,
    call,
    calls,
    overloaded,
    rate_limited,
    say,
)
from decurion.agents.model import ModelRequest, ToolSpec
from tests.loopback import QUICK, REF, answered, begun, fast_clock, wired

pytestmark = pytest.mark.anyio

THINKING: dict[str, Any] = {"type": "thinking", "thinking": "hm", "signature": "sig"}
HIDDEN = {"type": "redacted_thinking", "data": "abc"}


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_reply_comes_whole_and_goes_back_unchanged(streaming: bool) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "x", "input": {"a": "ü\n\"'"}}
    first = Answer((THINKING, HIDDEN, {"type": "text", "text": "Look: €"}, use), "tool_use", chunk=1)
    async with wired([first, say("Done.")], switches=Switches(streaming=streaming)) as wire:
        history = begun("Go.")
        reply = await wire.ask(history)
        assert reply.text == "Look: €"
        assert reply.calls[0].args == {"a": "ü\n\"'"}
        assert reply.usage.output_tokens > 0
        assert (await wire.ask(answered(history, reply))).text == "Done."
        sent = wire.api.requests[1].body["messages"][1]["content"]
        assert sent == [*reply.content]
        bound = sent[0]["signature"]  # to what stands before it
        assert sent == [{**THINKING, "signature": bound}, HIDDEN, {"type": "text", "text": "Look: €"}, use]
        assert wire.api.refused == []


async def test_thinking_behind_something_else_than_before_is_told_and_the_rest_is_taken_without_it() -> None:
    first = Answer((THINKING, *call("x").content), "tool_use")
    async with wired([first, say("Done.")]) as wire:
        history = answered(begun("Go."), await wire.ask())
        with pytest.raises(StaleBlocks):
            await wire.ask(history, system="Be better.")
        assert history.unbind()
        assert (await wire.ask(history, system="Be better.")).text == "Done."
        assert not history.unbind()


async def test_progress_is_told_while_the_reply_comes() -> None:
    async with wired(call("x", {"a": "1"}, text="Hello")) as wire:
        await wire.ask()
        assert [(step.kind, step.text) for step in wire.progress] == [("text", "Hello"), ("tool", "x")]


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in {Fault.NOT_STREAMED, Fault.PAGE}])
async def test_a_reply_that_breaks_is_asked_for_again_byte_for_byte(fault: Fault) -> None:
    """BUG-33."""
    patience = Patience(seconds=600, idle=0.3, first_wait=0.01)
    plan = [call("x", {"a": "1"}), say("Whole."), say("Whole.")]
    async with wired(plan, clock=fast_clock(), patience=patience) as wire:
        history = answered(begun("Go."), await wire.ask())
        wire.api.answer = _first(say("Half of it", fault=fault), say("Whole."))
        reply = await wire.ask(history)
        assert reply.text == "Whole."
        before, after = wire.api.requests[-2:]
        assert before.raw == after.raw
        assert len(wire.kinds("retry")) == 1
        assert any(step.kind == "retry" for step in wire.progress)


def _first(first: Answer | Refusal, then: Answer) -> Any:
    left = [first]

    async def answer(_request: Any) -> Answer | Refusal:
        return left.pop() if left else then

    return answer


async def test_an_address_that_sends_nowhere_is_told_as_such() -> None:
    async with wired(Refusal(302, "", "")) as wire:
        with pytest.raises(Unreachable, match="ANTHROPIC_BASE_URL"):
            await wire.ask()
        assert len(wire.api.requests) == 1


@pytest.mark.parametrize(
    ("status", "location", "followed"),
    [
        (307, "/v1/messages?again", True),
        (308, "/v1/messages?again", True),
        (302, "/v1/messages", False),
        (303, "/login", False),
        (307, "http://127.0.0.1:9/v1/messages", False),
        (308, "https://elsewhere.example/", False),
        (307, "mailto:nobody", False),
    ],
)
async def test_a_redirect_is_followed_only_with_the_same_request_to_the_same_server(
    status: int, location: str, followed: bool
) -> None:
    """Neither key nor conversation goes to an address that nobody gave, and no request becomes another."""
    async with wired([Refusal(status, "", "", {"location": location}), say("Here.")]) as wire:
        if followed:
            assert (await wire.ask()).text == "Here."
            assert wire.api.requests[0].raw == wire.api.requests[1].raw
            return
        with pytest.raises(Unreachable, match=f"sends elsewhere \\({status}: .*ANTHROPIC_BASE_URL"):
            await wire.ask()
        assert len(wire.api.requests) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<!DOCTYPE html><html><title>502 Bad\n Gateway</title>" + b"x" * 5000, "(502: a page, '502 Bad Gateway')"),
        (b"<html>" + b"x" * 5000, "(502: a page)"),
        (b'{"error": null, "message": "odd\\n\\u001b[31mnews"}', "(502: odd [31mnews)"),
        (b'{"detail": "no such thing"}', "(502: no such thing)"),
        (b"error code: 502", "(502: error code: 502)"),
        (b"", "(502: no reason given)"),
    ],
)  # fmt: skip
async def test_whatever_a_proxy_says_is_told_in_one_short_line(body: bytes, told: str) -> None:
    async with wired(Refusal(502, "", "", body=body), patience=Patience(attempts=1)) as wire:
        with pytest.raises(Overloaded) as caught:
            await wire.ask()
        assert told in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "150"}, 0.15),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5 "}, 1.5),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 99999999 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_each_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize("zone", [" GMT", ""], ids=["with its zone", "without"])
def test_a_date_to_wait_for_is_in_universal_time(zone: str) -> None:
    date = formatdate(time() + 100, usegmt=True).removesuffix(" GMT") + zone
    assert retry_after({"retry-after": date}) == pytest.approx(100, abs=2)


async def test_a_page_instead_of_a_reply_is_told_at_once() -> None:
    async with wired(say("never", fault=Fault.PAGE)) as wire:
        with pytest.raises(Unreachable, match="a page"):
            await wire.ask()
        assert len(wire.api.requests) == 1


async def test_json_in_answer_to_a_stream_is_taken() -> None:
    async with wired(say("Plain.", fault=Fault.NOT_STREAMED)) as wire:
        assert (await wire.ask()).text == "Plain."
        assert len(wire.api.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_passing_trouble_of_the_server_is_waited_out(status: int) -> None:
    trouble = rate_limited(0.01) if status == 429 else overloaded(status)
    async with wired([trouble, say("Fine.")], clock=fast_clock(), patience=QUICK) as wire:
        assert (await wire.ask()).text == "Fine."
        assert len(wire.api.requests) == 2  # the SDK's own retries are off


@pytest.mark.parametrize(
    ("refusal", "error", "told"),
    [
        (Refusal(400, "invalid_request_error", "max_tokens: too many"), BadRequest, "max_tokens: too many"),
        (Refusal(422, "invalid_request_error", "tools: odd"), BadRequest, "tools: odd"),
        (
            Refusal(401, "authentication_error", "invalid x-api-key"),
            AuthenticationFailed,
            "ANTHROPIC_API_KEY",
        ),
        (Refusal(402, "billing_error", "no credit"), AuthenticationFailed, "no credit"),
        (Refusal(403, "permission_error", "not yours"), AuthenticationFailed, "ANTHROPIC_API_KEY"),
        (Refusal(404, "not_found_error", "model: nope"), UnknownModel, "--model"),
        (Refusal(413, "request_too_large", "too large"), ContextOverflow, "too large"),
        (
            Refusal(400, "invalid_request_error", "prompt is too long: 9 tokens > 8"),
            ContextOverflow,
            "9 tokens",
        ),
        (Refusal(501, "api_error", "not here"), Overloaded, "not here"),
        (Refusal(500, "api_error", "no", {"x-should-retry": "false"}), Overloaded, "no"),
    ],
)
async def test_what_asking_again_cannot_mend_is_asked_once(
    refusal: Refusal, error: type[Exception], told: str
) -> None:
    async with wired(refusal) as wire:
        with pytest.raises(error) as caught:
            await wire.ask()
        assert told in str(caught.value)
        assert len(str(caught.value).splitlines()) <= 2
        assert len(wire.api.requests) == 1


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (rate_limited(), "limits the rate of this key (429"),
        (overloaded(), "is overloaded (529"),
        (overloaded(500), "failed (500"),
        (overloaded(502), "failed (502"),
        (overloaded(503), "is not available (503"),
        (overloaded(504), "took too long (504"),
        (overloaded(408), "gave up waiting for the request (408"),
        (Refusal(501, "api_error", "no"), "does not offer this (501"),
        (say("Half", fault=Fault.ERROR_EVENT), "is overloaded (529"),
        (say("Half", fault=Fault.RESET_DURING), "broke"),
        (say("Half", fault=Fault.CUT_CLEAN), "not whole"),
        (say("Half", fault=Fault.BROKEN_EVENT), "not whole"),
    ],
)
async def test_each_trouble_is_told_by_its_own_name(refusal: Answer | Refusal, told: str) -> None:
    async with wired(refusal, clock=fast_clock(), patience=Patience(attempts=1)) as wire:
        with pytest.raises(Overloaded) as caught:
            await wire.ask()
        assert told in str(caught.value)
        assert ("is overloaded" in str(caught.value)) == ("529" in told)


async def test_a_server_that_echoes_the_key_does_not_get_it_printed() -> None:
    """BUG-69."""
    async with wired(Refusal(401, "authentication_error", "key test-key is wrong")) as wire:
        with pytest.raises(AuthenticationFailed) as caught:
            await wire.ask()
        assert "test-key" not in str(caught.value)
        assert "test-key" not in repr(wire.model.__dict__)


async def test_when_tries_are_used_up_the_last_fault_is_told_with_their_number() -> None:
    async with wired(
        overloaded(), clock=fast_clock(), patience=Patience(attempts=3, first_wait=0.01)
    ) as wire:
        with pytest.raises(Overloaded, match="gave up after 3 tries"):
            await wire.ask()
        assert len(wire.api.requests) == 3


async def test_a_wait_that_would_end_too_late_is_not_begun_by_anybody() -> None:
    async with wired(rate_limited(3600), clock=fast_clock(), patience=Patience(seconds=5)) as wire:
        for _ in range(2):
            with pytest.raises(Overloaded):
                await wire.ask()
        assert len(wire.api.requests) == 2


async def test_after_refusals_for_load_the_fallback_model_is_asked() -> None:
    async def answer(request: Any) -> Answer | Refusal:
        return overloaded() if request.body["model"] == "claude-sonnet-5-5" else say("From the other.")

    patience = Patience(fallback_after=2, first_wait=0.01)
    async with wired(
        answer, clock=fast_clock(), fallback_models=("claude-opus-5-5",), patience=patience
    ) as wire:
        assert (await wire.ask()).text == "From the other."
        assert wire.kinds("fallback")[0].data["to"] == "claude-opus-5-5"


async def test_a_wait_too_long_for_one_model_is_not_waited_for_where_there_is_another() -> None:
    async def answer(request: Any) -> Answer | Refusal:
        return rate_limited(3600) if request.body["model"] == "claude-sonnet-5-5" else say("From the other.")

    async with wired(
        answer, fallback_models=("claude-opus-5-5",)
    ) as wire:  # no fast clock: an hour is an hour
        assert (await wire.ask()).text == "From the other."
        assert len(wire.api.requests) == 2
        assert wire.kinds("retry")[0].data["wait_seconds"] == 0


async def test_nothing_at_the_address_is_told_after_a_few_tries() -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1:9", key="k")
    async with wired(say("never"), endpoint=endpoint) as wire:
        with pytest.raises(Unreachable, match="Cannot reach http") as caught:
            await wire.ask()
        assert "ANTHROPIC_BASE_URL" in str(caught.value)
        assert len(wire.kinds("retry")) == 2


@pytest.mark.parametrize(
    ("fragments", "args", "wrong"),
    [
        (['{"path": BAD}'], {}, "not valid JSON"),
        (['{"a": ', '"unfinished'], {}, "not valid JSON"),
        (['{"a": "', "caf\u00e9 \\u00", 'e9 \\"', '"}'], {"a": 'caf\u00e9 \u00e9 "'}, ""),
        ([], {}, ""),
        ([""], {}, ""),
        (["[1, 2]"], {}, "a list"),
        (['"text"'], {}, "a text"),
        (["null"], {}, "null"),
        (['{"a": "\\ud83d"}'], {"a": "\\ud83d"}, ""),
    ],
)
async def test_arguments_are_exactly_what_was_streamed_or_named_as_malformed(
    fragments: list[str], args: dict[str, Any], wrong: str
) -> None:
    """BUG-30."""
    use: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "x", "input": {}}
    async with wired([Answer((use,), "tool_use", arguments={"t1": fragments}), say("ok")]) as wire:
        history = begun("Go.")
        reply = await wire.ask(history)
        assert reply.calls[0].args == args
        assert wrong in reply.malformed.get("t1", "")
        assert bool(wrong) == ("t1" in reply.malformed)
        await wire.ask(answered(history, reply))
        assert wire.api.refused == []


async def test_ids_that_were_used_before_are_made_new() -> None:
    """Some servers number the calls of each reply from zero."""
    again = calls(("x", {}), ("x", {}), ids=("call_0", "call_0"))
    async with wired([again, again, say("ok")]) as wire:
        history = begun("Go.")
        for _ in range(2):
            answered(history, await wire.ask(history))
        await wire.ask(history)
        assert wire.api.refused == []


async def test_unknown_blocks_and_stop_reasons_do_not_end_a_run() -> None:
    odd = Answer(({"type": "mystery", "data": 1}, {"type": "text", "text": "Hi"}), "because")
    async with wired(odd) as wire:
        history = begun("Go.")
        reply = await wire.ask(history)
        assert (reply.text, reply.stop_reason) == ("Hi", "because")
        history.add_reply(reply)
        history.add_user("And?")
        await wire.ask(history)
        assert wire.api.refused == []


async def test_a_reply_without_a_stop_reason_is_no_reply() -> None:
    """BUG-29: its calls never run."""
    async with wired([Answer(call("x").content, None), say("Whole.")]) as wire:
        assert (await wire.ask()).text == "Whole."


async def test_switches_leave_out_what_a_local_server_lacks() -> None:
    settings: dict[str, Any] = {
        "switches": Switches(cache=False, thinking=False),
        "thinking": {"type": "adaptive"},
        "extra_body": {"service_tier": "auto"},
    }
    async with wired(say("ok"), **settings) as wire:
        await wire.ask()
        sent = wire.api.requests[0]
        assert b"cache_control" not in sent.raw
        assert "thinking" not in sent.body
        assert sent.body["system"] == "Be good."
        assert sent.body["service_tier"] == "auto"


async def test_thinking_effort_headers_and_token_are_passed_on() -> None:
    async with wired(say("ok"), thinking={"type": "adaptive"}, effort="low") as wire:
        await wire.ask()
        assert wire.api.requests[0].body["thinking"] == {"type": "adaptive"}
        assert wire.api.requests[0].body["output_config"] == {"effort": "low"}
        endpoint = Endpoint(base_url=wire.api.url, token="secret", headers={"x-team": "a"})
        async with wired(say("unused"), endpoint=endpoint) as other:
            await other.ask()
        headers = wire.api.requests[1].headers
        assert (headers["authorization"], headers["x-team"], headers.get("x-api-key")) == (
            "Bearer secret",
            "a",
            None,
        )


async def test_a_request_may_name_its_own_effort_and_thinking_and_a_budget_leaves_the_answer_its_room() -> (
    None
):
    async with wired(say("ok"), thinking={"type": "disabled"}, effort="low") as wire:
        await wire.ask(effort="max", thinking={"type": "enabled", "budget_tokens": 2_000})
        sent = wire.api.requests[0].body
        assert sent["output_config"] == {"effort": "max"}
        assert (sent["thinking"]["budget_tokens"], sent["max_tokens"]) == (2_000, 3_000)


async def test_tools_system_and_the_two_newest_messages_are_marked_and_the_prefix_is_read() -> None:
    tools = (ToolSpec("x", "Does x. " * 700, {"type": "object"}),)
    replies: list[Answer | Refusal] = [call("x") for _ in range(4)]
    async with wired([*replies, say("ok")]) as wire:
        history, read = begun("Go."), 0
        for _ in range(4):
            reply = await wire.ask(history, tools=tools)
            assert reply.usage.cache_read_input_tokens >= read
            assert reply.usage.input_tokens == 0  # all of it marked: written once, read from then on
            read = reply.usage.cache_read_input_tokens + reply.usage.cache_creation_input_tokens
            answered(history, reply)
        assert wire.api.refused == []


async def test_the_reason_of_a_cache_miss_is_asked_for_and_logged() -> None:
    reason = {"type": "messages_changed", "cache_missed_input_tokens": 7}
    missed = say("ok", extra={"diagnostics": {"cache_miss_reason": reason}})
    async with wired([call("x"), missed], switches=Switches(diagnostics=True)) as wire:
        history = begun("Go.")
        first = await wire.ask(history)
        await wire.ask(answered(history, first))
        assert wire.api.requests[1].body["diagnostics"] == {"previous_message_id": first.id}
        assert wire.kinds("cache_miss")[0].data["reason"]["type"] == "messages_changed"


async def test_a_history_as_plain_messages_is_sent_too() -> None:
    async with wired(say("ok")) as wire:
        await wire.ask(messages=[{"role": "user", "content": "Go."}])
        assert orjson.loads(wire.api.requests[0].raw)["messages"][0]["content"][0]["text"] == "Go."


async def test_the_last_turn_switches_tools_off_and_keeps_the_prefix() -> None:
    async with wired(Script({}, say("Report."))) as wire:
        await wire.ask(tool_choice="none")
        assert wire.api.requests[0].body["tool_choice"] == {"type": "none"}
        assert wire.api.requests[0].tools == ("x",)


async def test_a_window_that_is_too_small_is_told_as_such() -> None:
    async with wired(say("ok"), Options(window=10)) as wire:
        with pytest.raises(ContextOverflow, match="too long"):
            await wire.ask()


async def test_the_api_counts_tokens_where_it_can_and_is_not_asked_again_where_it_cannot() -> None:
    async with wired(say("ok")) as wire:
        request = ModelRequest("m", "Be good.", (), begun("Go."), 10, REF)
        model = cast("ClaudeModel", wire.model)
        assert await model.count_tokens(request) == len(wire.api.requests[0].raw) // 4
        wire.api.options = Options(keys=("none",))
        assert await model.count_tokens(request) is None
        assert await model.count_tokens(request) is None
        assert len(wire.api.requests) == 2


async def test_context_editing_is_asked_for_with_its_beta_header() -> None:
    async with wired(say("ok"), clear_above=50_000) as wire:
        await wire.ask()
        sent = wire.api.requests[0]
        assert sent.body["context_management"]["edits"][0]["trigger"]["value"] == 50_000
        assert sent.headers["anthropic-beta"] == "context-management-2025-06-27"


async def test_citations_and_fields_that_nobody_knows_are_kept() -> None:
    """Blocks go back as they came, so nothing of them may be lost on the way."""
    odd = {
        "type": "text",
        "text": "As said.",
        "citations": [{"type": "x", "n": 1}],
        "new_field": {"deep": [1]},
    }
    async with wired(Answer((odd,))) as wire:
        assert (await wire.ask()).content == (odd,)

"""The strict API itself: it refuses what the real one refuses, and goes wrong as it is told to."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import orjson
import pytest

from decurion.agents.messages_api import Answer, Api, Fault, Options, call, rules, say, serve, serve_in_thread
from tests.loopback import Plan

pytestmark = pytest.mark.anyio

USER = {"role": "user", "content": "go"}
USE: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
MARK = {"type": "ephemeral"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 10, "messages": list(messages), **fields}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    "accepted",
    [
        body(USER),
        body(USER, assistant(text("a"), USE), user(RESULT, text("and"))),
        body(USER, USER),
        body(USER, assistant({"type": "mystery", "data": 1}, text("a")), USER),
        body(
            USER, system=[text("s")], tools=[{"name": "x", "input_schema": {"type": "object"}}], max_tokens=0
        ),
    ],
)
def test_valid_requests_pass(accepted: dict[str, Any]) -> None:
    rules.check(accepted)


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ({}, "model: Field required"),
        (body(), "at least one message"),
        (body(assistant(text("a")), USER), "first message"),
        (body(USER, assistant(text("a"))), "prefill"),
        (body(USER, assistant(USE), user(text("no"))), "without `tool_result` blocks"),
        (body(USER, assistant(USE), user(text("no"), RESULT)), "must come first"),
        (body(USER, assistant(USE), user(RESULT, RESULT)), "single result"),
        (body(USER, assistant(text("a")), user(RESULT)), "unexpected `tool_use_id`"),
        (body(USER, assistant(USE, USE), user(RESULT)), "unique"),
        (body(USER, assistant(USE), user(RESULT), assistant(USE), user(RESULT)), "unique"),
        (body(user(text(""))), "non-empty"),
        (body(user(text(" \n"))), "non-whitespace"),
        (body(user()), "non-empty content"),
        (body(USER, assistant(USE), user({**RESULT, "content": [text("")]})), "non-empty"),
        (body(USER, assistant({**USE, "input": []}), user(RESULT)), "valid dictionary"),
        (body(USER, assistant({"type": "thinking", "thinking": "a", "signature": ""}), USER), "signature"),
        (body(user(USE)), "expected tags"),
        (body(USER, assistant(RESULT), USER), "expected tags"),
        (body(USER, temperature=1), "not supported"),
        (body(USER, colour="red"), "Extra inputs"),
        (body(USER, tools=[{"name": "x", "input_schema": {}}]), "Input should be 'object'"),
        (body(user(*({**text("a"), "cache_control": MARK} for _ in range(5)))), "maximum of 4"),
    ],
)
def test_what_the_real_api_refuses_is_refused_with_its_words(refused: dict[str, Any], told: str) -> None:
    with pytest.raises(rules.Invalid, match=told):
        rules.check(refused)


async def post(
    api: Api, sent: Any, key: str = "k", path: str = "/v1/messages", beta: str = ""
) -> httpx2.Response:
    headers = {"x-api-key": key} if key else {}
    async with httpx2.AsyncClient() as client:
        content = sent if isinstance(sent, bytes) else orjson.dumps(sent)
        return await client.post(
            f"{api.url}{path}", content=content, headers={**headers, "anthropic-beta": beta}
        )


async def test_errors_have_the_shape_of_the_real_ones_and_are_kept() -> None:
    async with serve(Plan([say("hi")])) as api:
        reply = await post(api, body())
        assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")
        assert api.refused == ["messages: at least one message is required"]
        assert (await post(api, b"\xff\xfe")).status_code == 400


async def test_keys_models_and_sizes_are_checked() -> None:
    options = Options(keys=("good",), models=("m",), max_bytes=200)
    async with serve(Plan([say("hi")]), options) as api:
        assert (await post(api, body(USER), "")).status_code == 401
        assert (await post(api, body(USER), "bad")).status_code == 401
        assert (await post(api, {**body(USER), "model": "n"}, "good")).status_code == 404
        assert "too long" in (await post(api, body(user(text("a" * 300))), "good")).text
        assert (await post(api, body(USER), "good")).json()["content"] == [text("hi")]


async def test_tokens_are_counted_models_listed_and_caches_warmed() -> None:
    async with serve(Plan([say("hi")]), Options(models=("m",))) as api:
        assert (await post(api, body(USER), path="/v1/messages/count_tokens")).json()["input_tokens"] > 0
        warmed = (await post(api, body(USER, max_tokens=0))).json()
        assert warmed["content"] == []
        async with httpx2.AsyncClient() as client:
            listed = (await client.get(f"{api.url}/v1/models", headers={"x-api-key": "k"})).json()
        assert [model["id"] for model in listed["data"]] == ["m"]
        assert len(api.message_requests) == 0


async def test_a_marked_prefix_is_written_once_and_read_after_that() -> None:
    system = [{**text("s" * 8000), "cache_control": {"type": "ephemeral"}}]
    async with serve(Plan([say("hi")])) as api:
        first = (await post(api, body(USER, system=system))).json()["usage"]
        second = (await post(api, body(user(text("else")), system=system))).json()["usage"]
    assert first["cache_creation_input_tokens"] > 2000
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]


@pytest.mark.parametrize("fault", [Fault.RESET_BEFORE, Fault.RESET_DURING, Fault.CUT_EVENT])
async def test_broken_connections_are_broken_for_the_client(fault: Fault) -> None:
    async with serve(Plan([say("hi there", fault=fault)])) as api:
        with pytest.raises(httpx2.TransportError):
            await post(api, body(USER, stream=True))


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (Fault.CUT_CLEAN, "message_start"),
        (Fault.ERROR_EVENT, "overloaded_error"),
        (Fault.NOT_STREAMED, '"type":"message"'),
    ],
)
async def test_other_faults_arrive_as_named(fault: Fault, seen: str) -> None:
    async with serve(Plan([say("hi there", fault=fault)])) as api:
        got = (await post(api, body(USER, stream=True))).text
        assert seen in got
        assert "message_stop" not in got


async def test_chunked_requests_and_kept_connections_are_understood() -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for part in (b'{"model":"m","max_tokens":1,', b'"messages":[{"role":"user","content":"go"}]}'):
            yield part

    async with serve(Plan([call("x", {"a": 1})])) as api, httpx2.AsyncClient() as client:
        for _ in range(2):
            reply = await client.post(f"{api.url}/v1/messages", content=pieces(), headers={"x-api-key": "k"})
            assert reply.json()["stop_reason"] == "tool_use"


def test_it_can_be_served_from_a_thread_for_code_without_a_loop() -> None:
    with serve_in_thread(Plan([Answer((text("hi"),))])) as api:
        reply = httpx2.post(
            f"{api.url}/v1/messages", content=orjson.dumps(body(USER)), headers={"x-api-key": "k"}
        )
        assert reply.json()["content"] == [text("hi")]
        assert api.requests[0].task == "go"


BETA = "x,compact-2026-09-04"


async def test_a_summary_of_the_api_comes_back_first_alone_unchanged_and_announced() -> None:
    async with serve(Plan([say("ok")])) as api:
        asked = (await post(api, body(USER, compaction={"type": "summarize"}), beta=BETA)).json()
        assert asked["stop_reason"] == "compaction"
        [block] = asked["content"]
        for messages, beta, told in (
            ([user(block, text("on"))], BETA, ""),
            ([assistant(block), USER], BETA, ""),
            ([user(block, text("on"))], "", "expected tags"),
            ([USER, assistant(text("a")), user(block)], BETA, "first block"),
            ([user(block, block, text("on"))], BETA, "more than one"),
            ([user({**block, "content": "else"}, text("on"))], BETA, "does not verify"),
        ):
            answer = await post(api, body(*messages), beta=beta)
            assert (answer.status_code, told in answer.text) == (400 if told else 200, True)


async def test_a_summary_is_refused_where_it_is_not_offered_or_not_announced() -> None:
    asked = body(USER, compaction={"type": "summarize"})
    async with serve(Plan([say("ok")]), Options(compaction=False)) as api:
        assert "compaction: Extra inputs are not permitted" in (await post(api, asked, beta=BETA)).text
        api.options = Options()
        assert "requires anthropic-beta" in (await post(api, asked)).text
        both = body(USER, compaction={"type": "summarize"}, context_management={})
        assert "context_management" in (await post(api, both, beta=BETA)).text


async def test_thinking_is_bound_to_all_that_stood_before_it() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    async with serve(Plan([Answer((thought, text("a"), thought))])) as api:
        first = (await post(api, body(USER, system="s"))).json()["content"]
        reply = assistant(*first)
        for messages, system, code in (
            ([USER, reply, USER], "s", 200),
            ([USER, assistant(*first[1:]), USER], "s", 200),  # without the first of them
            ([USER, reply, USER], "other", 400),
            ([user(text("gone")), reply, USER], "s", 400),
            ([USER, assistant(text("b"), *first[1:]), USER], "s", 400),
        ):
            assert (await post(api, body(*messages, system=system))).status_code == code

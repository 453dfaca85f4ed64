"""Streams of every kind of server: what the SDK would make of a good one, and all that can be used of an odd one."""

from __future__ import annotations

from typing import Any, get_args

import httpx2
import orjson
import pytest
from anthropic import AsyncAnthropic
from anthropic.types.beta import BetaRawContentBlockDelta

from decurion.agents.claude import Patience
from decurion.agents.claude.reply import Garbled, Received
from decurion.agents.claude.stream import JOINED, REPLACED, Events, Reader, Stream, receive
from decurion.agents.errors import BadRequest, ModelError, Overloaded, UnknownModel
from decurion.agents.messages_api import Answer, Refusal
from decurion.agents.messages_api.events import event
from decurion.agents.stop_reasons import next_step
from tests.loopback import QUICK, begun, wired

pytestmark = pytest.mark.anyio

USAGE = {"input_tokens": 5, "output_tokens": 1}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "usage": USAGE,
}
STOP = event("message_stop")


def start(**fields: Any) -> bytes:
    return event("message_start", message={**MESSAGE, **fields})


def end(reason: str | None = "end_turn", **fields: Any) -> bytes:
    return event(
        "message_delta", **{"delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}, **fields}
    )


def block(place: Any, begun_with: Any, *deltas: Any) -> list[bytes]:
    first = event("content_block_start", index=place, content_block=begun_with)
    parts = [event("content_block_delta", index=place, delta=delta) for delta in deltas]
    return [first, *parts, event("content_block_stop", index=place)]


def text(value: Any) -> dict[str, Any]:
    return {"type": "text_delta", "text": value}


def said(*deltas: Any, place: Any = 0, **begun_with: Any) -> list[bytes]:
    return block(place, {"type": "text", "text": "", **begun_with}, *(deltas or (text("Hello."),)))


def use(*fragments: Any, **fields: Any) -> list[bytes]:
    deltas = [{"type": "input_json_delta", "partial_json": fragment} for fragment in fragments]
    return block(0, {"type": "tool_use", "id": "t1", "name": "x", "input": {}, **fields}, *deltas)


def unnamed(part: bytes) -> bytes:
    return part[part.index(b"data:") :]


HELLO = said()
TEXTS: dict[str, tuple[list[bytes], str]] = {
    "events that nobody knows": ([start(), event("weather"), *HELLO, event("block_mood", index=0), end(), STOP], "Hello."),
    "pings and comments": ([event("ping"), b": hi\n\nretry: 3\n\n", start(), event("ping"), *HELLO, end(), event("ping"), STOP], "Hello."),
    "events that are no objects": ([start(), b"event: a\ndata: [1]\n\n", b"event: b\ndata: null\n\n", b"event: c\ndata: {}\n\n", *HELLO, end(), STOP], "Hello."),
    "byte by byte": ([bytes([byte]) for byte in b"".join([start(), *said(text("\u20ac\U0001f600")), end(), STOP])], "\u20ac\U0001f600"),
    "carriage returns": ([part.replace(b"\n", b"\r\n") for part in [start(), *HELLO, end(), STOP]], "Hello."),
    "only carriage returns": ([part.replace(b"\n", b"\r") for part in [start(), *HELLO, end(), STOP]], "Hello."),
    "no names": ([*map(unnamed, [start(), *HELLO, end(), STOP]), b"data: [DONE]\n\n"], "Hello."),
    "a mark of the byte order": ([b"\xef\xbb\xbf", start(), *HELLO, end(), STOP], "Hello."),
    "no line behind the end": ([start(), *HELLO, end(), STOP.rstrip(b"\n")], "Hello."),
    "no spaces": ([part.replace(b": ", b":") for part in [start(), *HELLO, end(), STOP]], "Hello."),
    "names instead of types": ([part.replace(b'"type":"' + part[7 : part.index(b"\n")] + b'",', b"") for part in [start(), *HELLO, end(), event("message_stop", x=1)]], "Hello."),
    "data in two lines": ([start(), *[part.replace(b',"delta"', b'\ndata:,"delta"') for part in HELLO], end(), STOP], "Hello."),
    "more after the end": ([start(), *HELLO, end(), STOP, b"data: [DONE]\n\n", b"event: message_stop\ndata: {\n\n"], "Hello."),
    "no usage": ([start(usage=None), *HELLO, end(usage=None), STOP], "Hello."),
    "counts that are none": ([start(usage={"input_tokens": None, "output_tokens": "?"}), *HELLO, b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":NaN}}\n\n', STOP], "Hello."),
    "names that are null": ([start(id=None, model=None), *HELLO, end(), STOP], "Hello."),
    "a message of next to nothing": ([event("message_start", message={"id": "m"}), *HELLO, end(), STOP], "Hello."),
    "a text in the start": ([start(), *said(text("lo."), text="Hel"), end(), STOP], "Hello."),
    "a text only in the start": ([start(), *block(0, {"type": "text", "text": "Hello."}), end(), STOP], "Hello."),
    "a start without text": ([start(), *said(text("Hello."), text=None), *block(1, {"type": "text"}), end(), STOP], "Hello."),
    "fragments of nothing": ([start(), *said(text(""), text(None), {"type": "text_delta"}, None, {}, {"type": "mood", "x": 1}, text("Hello.")), end(), STOP], "Hello."),
    "places out of order": ([start(), *said(text("lo."), place=7), *said(text("Hel"), place=3), end(), STOP], "Hello."),
    "a place used twice": ([start(), *said(text("Hel")), *said(text("lo.")), end(), STOP], "Hello."),
    "blocks that are none": ([start(), *block(0, None), *block(1, {"x": 1}), *said(place=2), end(), STOP], "Hello."),
    "two ends": ([start(), *HELLO, end(usage={"output_tokens": 2}), end(None), STOP], "Hello."),
    "an end without a delta": ([start(), *HELLO, end(), end(delta=None), STOP], "Hello."),
    "an end in the start": ([start(stop_reason="end_turn"), *HELLO, STOP], "Hello."),
    "all of it in the start": ([start(content=[{"type": "text", "text": "Hello."}]), end(), STOP], "Hello."),
    "places that are texts and numbers": ([start(), HELLO[0].replace(b'"index":0', b'"index":"0"'), *HELLO[1:], end(), STOP], "Hello."),
    "no places": ([start(), *[part.replace(b'"index":0,', b"") for part in HELLO], end(), STOP], "Hello."),
    "a citation of nothing": ([start(), *said({"type": "citations_delta"}, text("Hello.")), end(), STOP], "Hello."),
    "iterations that are none": ([start(usage={**USAGE, "iterations": 5}), *HELLO, end(), STOP], "Hello."),
    "a pair in two halves": ([start(), *[part.replace(b"UP", b"\\ud83d").replace(b"DOWN", b"\\ude00") for part in said(text("UP"), text("DOWN"))], end(), STOP], "\U0001f600"),
    "half a pair": ([start(), *[part.replace(b"UP", b"\\ud83d") for part in said(text("so UP"))], end(), STOP], "so \\ud83d"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
async def test_all_that_can_be_used_of_an_odd_stream_is_used(name: str) -> None:
    raw, expected = TEXTS[name]
    async with wired([Answer((), raw=raw), Answer(({"type": "text", "text": "ok"},))]) as wire:
        history = begun("Go.")
        reply = await wire.ask(history)
        assert (reply.text, reply.stop_reason) == (expected, "end_turn")
        assert reply.usage.output_tokens in range(4)
        history.add_reply(reply)
        history.add_user("And?")
        await wire.ask(history)
        assert (wire.api.refused, len(wire.api.requests)) == ([], 2)


@pytest.mark.parametrize(
    "parts",
    [
        use('{"a":', ' "1"}'),
        use(None, '{"a": "1"}', ""),
        use(input={"a": "1"}),
        use("", input={"a": "1"}),
        use('{"a": "1"}', input=None),
        use('{"a": "1"}', input=""),
        use(input='{"a": "1"}'),
    ],
)
async def test_arguments_are_taken_wherever_they_stand(parts: list[bytes]) -> None:
    raw = [start(), *parts, end("tool_use"), STOP]
    async with wired(Answer((), raw=raw)) as wire:
        reply = await wire.ask()
        assert (reply.calls[0].args, reply.malformed) == ({"a": "1"}, {})


@pytest.mark.parametrize("parts", [use(), use(input=None), use(input=""), use("", "")])
async def test_no_arguments_are_an_empty_object(parts: list[bytes]) -> None:
    async with wired(Answer((), raw=[start(), *parts, end("tool_use"), STOP])) as wire:
        reply = await wire.ask()
        assert (reply.calls[0].args, reply.malformed) == ({}, {})


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (Answer((), raw=[start(), *HELLO, event("error", error={"type": "api_error", "message": "x"})]), Overloaded, "failed (500"),
        (Answer((), raw=[b'event: message\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n']), Overloaded, "overloaded (529"),
        (Answer((), raw=[b"event: error\ndata: x\n\n"]), Overloaded, "x"),
        (Answer((), raw=[b'event: x\ndata: {"error":{"message":"no such thing","code":404}}\n\n']), UnknownModel, "no such thing"),
        (Refusal(200, "rate_limit_error", "slow"), Overloaded, "limits the rate of this key (429"),
        (Refusal(200, "invalid_request_error", "max_tokens: no"), BadRequest, "max_tokens: no"),
    ],
    ids=["after some text", "by its type alone", "no JSON", "by another API's number", "JSON with status 200", "a refusal with status 200"],
)  # fmt: skip
async def test_an_error_is_named_wherever_it_stands(
    answer: Answer | Refusal, error: type[ModelError], told: str
) -> None:
    async with wired(answer, patience=Patience(attempts=1)) as wire:
        with pytest.raises(error) as caught:
            await wire.ask()
        assert told in str(caught.value)


@pytest.mark.parametrize(
    "parts",
    [
        [start(), HELLO[1]],
        [start(), *said(place="x")],
        [start(), *said(place=[0])],
        [HELLO[1], start(), *HELLO],
    ],
    ids=["no beginning of a block", "a number that is none", "a list as number", "a part before the message"],
)
async def test_a_stream_that_makes_no_sense_is_told_in_words_and_asked_for_again(parts: list[bytes]) -> None:
    good = Answer(({"type": "text", "text": "ok"},))
    async with wired([Answer((), raw=[*parts, end(), STOP]), good], patience=QUICK) as wire:
        assert (await wire.ask()).text == "ok"
        assert "block" in wire.kinds("retry")[0].data["reason"]


NEWS = orjson.loads(HELLO[1][len(b"event: content_block_delta\ndata: ") :])
PING: dict[str, Any] = {"type": "ping"}
EMPTY: dict[str, Any] = {**NEWS, "delta": text("")}


async def paced(seconds: float, *events: dict[str, Any]) -> Received:
    """Read events, each so many seconds after the one before, with a patience of a minute for pings."""
    time = 0.0
    client = AsyncAnthropic(api_key="k")
    stream = Stream(cast_to=object, response=httpx2.Response(200), client=client)

    async def come() -> Events:
        nonlocal time
        for one in [{"type": "message_start", "message": MESSAGE}, *events]:
            yield (one,)
            time += seconds

    async with client:
        reader = Reader(lambda _progress: None, lambda: None, frozenset(), lambda: time, 60)
        return await receive(stream, come(), reader)


@pytest.mark.parametrize("nothing", [PING, EMPTY, {"type": "weather"}], ids=["pings", "empty", "unknown"])
async def test_a_stream_that_goes_on_without_a_word_is_given_up(nothing: dict[str, Any]) -> None:
    begin: dict[str, Any] = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    with pytest.raises(TimeoutError):
        await paced(20, begin, *[nothing] * 4)
    with pytest.raises(Garbled, match="ended before"):  # read to its end
        await paced(20, begin, *[nothing, nothing, NEWS] * 4)


async def test_a_stop_reason_that_is_no_text_is_an_unknown_one() -> None:
    async with wired(Answer((), raw=[start(), *HELLO, end(delta={"stop_reason": {"a": 1}}), STOP])) as wire:
        assert next_step(await wire.ask()).action == "say"


GOOD: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "sig"},
    {"type": "redacted_thinking", "data": "abc"},
    {"type": "text", "text": "Look: \u20ac", "citations": None},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "tool_use", "id": "t1", "name": "x", "input": {"a": 'ü\n"', "b": [1, 2.5, None]}},
    {"type": "compaction", "content": "In short.", "encrypted_content": None},
]


def streamed(content: list[dict[str, Any]], size: int) -> list[bytes]:
    """The events of blocks in fragments of so many characters."""
    fragments: dict[str, tuple[str, str]] = {
        "thinking": ("thinking_delta", "thinking"),
        "text": ("text_delta", "text"),
        "server_tool_use": ("input_json_delta", "partial_json"),
        "tool_use": ("input_json_delta", "partial_json"),
    }
    parts = [start(stop_reason=None, stop_sequence=None)]
    for place, one in enumerate(content):
        kind, name = fragments.get(one["type"], ("", ""))
        whole = orjson.dumps(one["input"]).decode() if "input" in one else str(one.get(name, ""))
        empty: dict[str, Any] = {"input": {}} if "input" in one else {name: ""} if name else {}
        begun_with: dict[str, Any] = {**one, **empty}
        deltas: list[Any] = [
            {"type": kind, name: whole[at : at + size]} for at in range(0, len(whole) if kind else 0, size)
        ]
        if one["type"] == "thinking":
            begun_with["signature"] = ""
            deltas.append({"type": "signature_delta", "signature": one["signature"]})
        if one["type"] == "compaction":
            begun_with["content"] = None
            deltas.append({**one, "type": "compaction_delta"})
        if one["type"] == "text":
            deltas.append(
                {"type": "citations_delta", "citation": {"type": "char_location", "cited_text": "c"}}
            )
        parts += block(place, begun_with, *deltas)
    return [*parts, end("tool_use", delta={"stop_reason": "tool_use", "stop_sequence": None}), STOP]


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_good_stream_becomes_what_the_sdk_itself_makes_of_it(size: int) -> None:
    async with wired(Answer((), raw=streamed(GOOD, size))) as wire:
        reply = await wire.ask()
        client = AsyncAnthropic(api_key="k", base_url=wire.api.url, max_retries=0)
        async with (
            client,
            client.beta.messages.stream(
                model="m", max_tokens=10, messages=[{"role": "user", "content": "Go."}]
            ) as stream,
        ):
            theirs = (await stream.get_final_message()).to_dict(warnings=False)
        assert list(reply.content) == theirs["content"]
        assert (reply.id, reply.stop_reason) == (theirs["id"], theirs["stop_reason"])


def test_every_kind_of_fragment_that_the_sdk_knows_is_known_here() -> None:
    """So that an update of the SDK tells what is new in its union of events."""
    members = get_args(get_args(BetaRawContentBlockDelta)[0])
    kinds = {get_args(member.model_fields["type"].annotation)[0] for member in members}
    assert kinds == {*JOINED, *REPLACED, "citations_delta"}

"""Cutting bytes into events: the same as the SDK cuts, in whatever pieces they come, and each as soon as it is whole."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncGenerator, Callable
from itertools import pairwise

import httpx2
import orjson
import pytest
from anthropic import AsyncAnthropic
from anthropic._streaming import SSEDecoder
from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.claude.door import events_of
from decurion.agents.claude.reply import ErrorReply
from decurion.agents.claude.settings import Endpoint
from decurion.agents.claude.sse import BOM, Event, Splitter, value_of
from decurion.agents.claude.stream import Stream

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.sampled_from(["message_start", "content_block_delta", "x", "error"])
EVENTS = st.lists(st.tuples(NAMES, st.lists(TEXT, min_size=1, max_size=3)), max_size=5)
ENDS = ["\n", "\r\n", "\r"]


@st.composite
def rendered(draw: st.DrawFn) -> bytes:
    """A stream of events as a server may write them; a blank line may end otherwise than the line before."""
    parts, end = list[str](), draw(st.sampled_from(ENDS))
    for name, texts in draw(EVENTS):
        space = draw(st.sampled_from(["", " "]))
        data = orjson.dumps(texts, option=draw(st.sampled_from([0, orjson.OPT_INDENT_2]))).decode()
        lines = [*(["retry: 3"] if draw(st.booleans()) else []), f"event:{space}{name}"]
        lines += [": a comment"] if draw(st.booleans()) else []
        lines += [f"data:{space}{line}" for line in data.split("\n")]
        parts += [line + end for line in [*lines, ""]]
    return "".join(parts).encode()


@given(rendered(), st.lists(st.integers(0, 400)), st.booleans())
def test_a_stream_is_cut_as_the_sdk_cuts_it(stream: bytes, cuts: list[int], marked: bool) -> None:
    wanted = [
        (str(event.event).encode(), event.data.encode())
        for event in SSEDecoder().iter_bytes(iter([stream]))
        if event.data
    ]
    stream = BOM * marked + stream
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    splitter = Splitter()
    got: list[Event] = []
    for begin, end in pairwise(places):
        got += splitter.feed(stream[begin:end])
    assert (got, splitter.end()) == (wanted, [])  # each was given when it was whole, none only at the end


@pytest.mark.parametrize(
    "stream", ["data:1\n\rdata:2\r\n\ndata:3\r\r\n", "data:1\r\n\r\ndata:2\n\r\ndata:3\r\n\r"]
)
def test_ends_of_lines_may_be_mixed_in_any_piece(stream: str) -> None:
    splitter = Splitter()
    got = [event for byte in stream.encode() for event in splitter.feed(bytes([byte]))]
    assert got == [(b"", b"1"), (b"", b"2"), (b"", b"3")]


def test_an_event_without_a_type_has_its_name() -> None:
    assert value_of((b"x", b'{"a":1}')) == {"type": "x", "a": 1}
    assert value_of((b"x", b'{"type":"y"}')) == {"type": "y"}


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b'{"error":{"message":"m"}}', {"error": {"message": "m"}}),
        (b"busy \xff", {"error": {"message": "busy \ufffd"}}),
        (b"", {"error": {"message": ""}}),
    ],
)
def test_an_error_is_one_by_its_name_whatever_its_data(data: bytes, body: object) -> None:
    [event] = Splitter().feed(b"event: error\ndata: " + data + b"\n\n")
    with pytest.raises(ErrorReply) as caught:
        value_of(event)
    assert caught.value.body == body


class Pieces(httpx2.AsyncByteStream):
    """A body that comes in pieces of three bytes."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        for at in range(0, len(self.body), 3):
            yield self.body[at : at + 3]


@pytest.mark.anyio
@pytest.mark.parametrize(("coding", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_compressed_stream_is_read(coding: str, packed: Callable[[bytes], bytes]) -> None:
    body = packed(b"data: [1]\n\ndata: [2]\n\n")
    response = httpx2.Response(200, headers={"content-encoding": coding}, stream=Pieces(body))
    async with AsyncAnthropic(api_key="k") as client:
        stream = Stream(cast_to=object, response=response, client=client)
        together = [list(events) async for events in events_of(Endpoint(), stream)]
    assert [one for events in together for one in events] == [[1], [2]]

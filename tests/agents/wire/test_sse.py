"""Cutting bytes into events: the same as the SDK cuts, in whatever pieces they come."""

from __future__ import annotations

from itertools import pairwise

import orjson
from anthropic._streaming import SSEDecoder
from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.claude.sse import BOM, Splitter

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.sampled_from(["message_start", "content_block_delta", "x", "error"])
EVENTS = st.lists(st.tuples(NAMES, st.lists(TEXT, min_size=1, max_size=3)), max_size=5)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def rendered(draw: st.DrawFn) -> bytes:
    """A stream of events as a server may write them."""
    end, parts = draw(ENDS), list[str]()
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
    got = [event for begin, end in pairwise(places) for event in splitter.feed(stream[begin:end])]
    assert got + list(splitter.end()) == wanted

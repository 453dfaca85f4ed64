"""Server-sent events out of bytes.

The format is that of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html). Servers that
are not quite there are read as well: names may be missing, for the data tells its type itself, and so may the blank
line behind the last event.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable

import orjson

from .reply import ErrorReply, object_of

BOM = b"\xef\xbb\xbf"
NOTHING = frozenset({b"", b"[DONE]"})
"""Data that says nothing; the second is how servers of another API end every stream."""

Event = tuple[bytes, bytes]
"""A name, which may be empty, and data."""


async def plain_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Iterable[object]]:
    """Give the values of the events that come together, each parsed when it is asked for, errors raised as such.

    Raises:
        ErrorReply: it is an error.
        ValueError: it is no JSON.
    """
    splitter = Splitter()
    async for chunk in chunks:
        yield map(value_of, splitter.feed(chunk))
    yield map(value_of, splitter.end())


def value_of(event: Event) -> object:
    """Give the value that came with an event; its name is its type where it tells none itself.

    Raises:
        ErrorReply: it is an error.
        ValueError: it is no JSON.
    """
    name, data = event
    if name == b"error":
        raise ErrorReply(_error(data))
    value = _parsed(data)
    if isinstance(value, dict) and "type" not in value:
        return {"type": name.decode(errors="replace"), **object_of(value)}
    return value  # pyright: ignore[reportUnknownVariableType] - JSON


def _error(data: bytes) -> dict[str, object]:
    try:
        value = _parsed(data)
    except ValueError:
        value = data.decode(errors="replace")
    return object_of(value) or {"error": {"message": str(value)}}


def _parsed(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data.decode())  # half surrogates and long integers, which orjson refuses


class Splitter:
    """Cuts bytes into events, in whatever pieces they come. Those that say nothing are left out, pings too."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = b""
        self._data: list[bytes] = []
        self._after_return = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Give the events that are whole with this piece."""
        if self._after_return and chunk:
            chunk = chunk.removeprefix(b"\n")  # the other half of a line's end, which counted already
            self._after_return = False
        if b"\r" in chunk:
            self._after_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        return self._events(lines)

    def end(self) -> list[Event]:
        """Give what is left, if it is an event; the blank line that ought to end it is not missed."""
        return self._events([self._rest, b""])

    def _events(self, lines: list[bytes]) -> list[Event]:
        if lines and not self._begun:
            self._begun, lines[0] = True, lines[0].removeprefix(BOM)
        events: list[Event] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif not line:
                event = self._name, b"\n".join(self._data)
                self._name, self._data = b"", []
                if event[0] == b"error" or (event[0] != b"ping" and event[1] not in NOTHING):
                    events.append(event)
        return events

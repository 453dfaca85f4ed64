"""Server-sent events as plain data: the SDK's stream with a reader of its own.

The format is that of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html). Servers that
are not quite there are read as well: names may be missing, for the data tells its type itself, and so may the blank
line behind the last event. Bedrock frames its events otherwise; there the SDK's own reader is used.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import orjson
from anthropic import AsyncStream

from .reply import ErrorReply, object_of

BOM = b"\xef\xbb\xbf"
NO_DATA = frozenset({b"", b"[DONE]"})
"""What says nothing; the second is how servers of another API end every stream."""


class PlainEvents(AsyncStream[object]):
    """The SDK's stream, giving each event as the plain data it came as."""

    async def __stream__(self) -> AsyncIterator[object]:
        splitter = Splitter()
        try:
            async for chunk in self.response.aiter_bytes():
                for name, data in splitter.feed(chunk):
                    yield value_of(name, data)
            for name, data in splitter.end():
                yield value_of(name, data)
        finally:
            await self.response.aclose()


def value_of(name: bytes, data: bytes) -> object:
    """Give the value that came with an event.

    Raises:
        ErrorReply: it is an error.
        ValueError: it is no JSON.
    """
    if name != b"error":
        return _parsed(data)
    try:
        value = _parsed(data)
    except ValueError:
        value = data.decode(errors="replace")
    raise ErrorReply(object_of(value) or {"error": {"message": str(value)}})


def _parsed(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)  # half surrogates and long integers, which orjson refuses


class Splitter:
    """Cuts a stream of bytes into events, each a name (which may be empty) and its data; in whatever pieces it comes."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = b""
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Give the events that are whole with this piece."""
        lines = (self._rest + chunk).splitlines(keepends=True)
        # A carriage return at the very end may be half of a line's end.
        self._rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
        return self._events(lines)

    def end(self) -> Iterator[tuple[bytes, bytes]]:
        """Give what is left, if it is an event; the blank line that ought to end it is not missed."""
        return self._events([*self._rest.splitlines(), b""])

    def _events(self, lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for ended in lines:
            line = ended.rstrip(b"\r\n")
            if not self._begun:
                self._begun, line = True, line.removeprefix(BOM)
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif not line:
                name, data = self._name, b"\n".join(self._data)
                self._name, self._data = b"", []
                if name != b"ping" and data not in NO_DATA:
                    yield name, data

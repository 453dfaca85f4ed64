"""The little of HTTP/1.1 that a Messages API on loopback needs: keep-alive, lengths, chunks, resets."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping
from http import HTTPStatus

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

MAX_HEAD = 65_536

Head = tuple[str, str, dict[str, str]]


class Connection:
    """One kept-alive connection of one client."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._buffered = BufferedByteReceiveStream(stream)

    async def receive(self) -> tuple[Head, bytes] | None:
        """Read one request as (method, path, headers) and body; None when the client is gone."""
        try:
            head = await self._buffered.receive_until(b"\r\n\r\n", MAX_HEAD)
            method, path, headers = parse_head(head)
            body = await self._receive_body(headers)
        except (
            anyio.EndOfStream,
            anyio.IncompleteRead,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
        ):
            return None
        return (method, path, headers), body

    async def _receive_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            return await self._receive_chunks()
        length = int(headers.get("content-length", "0"))
        return await self._buffered.receive_exactly(length) if length else b""

    async def _receive_chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(await self._buffered.receive_until(b"\r\n", 64), 16):
            parts.append(await self._buffered.receive_exactly(size))
            await self._buffered.receive_exactly(2)
        await self._buffered.receive_until(b"\r\n", 64)
        return b"".join(parts)

    async def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole reply."""
        await self._stream.send(_head(status, {**headers, "content-length": str(len(body))}) + body)

    async def open_stream(self, headers: Mapping[str, str], first: Iterable[bytes] = ()) -> None:
        """Begin a reply in chunks, with the first of them in the same packet."""
        head = _head(200, {**headers, "transfer-encoding": "chunked"})
        await self._stream.send(head + b"".join(map(chunk, first)))

    async def send_chunks(self, parts: Iterable[bytes]) -> None:
        """Go on with a reply in chunks."""
        await self._stream.send(b"".join(map(chunk, parts)))

    async def end_stream(self) -> None:
        """End a reply in chunks properly."""
        await self._stream.send(b"0\r\n\r\n")

    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, for faults."""
        await self._stream.send(data)

    async def reset(self) -> None:
        """Reset the connection, so that the client sees a reset and not an end."""
        raw = self._stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - not Django
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self._stream.aclose()

    async def wait_closed(self) -> None:
        """Wait until the client goes away."""
        try:
            while True:
                await self._stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked reply."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Overloaded"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def parse_head(head: bytes) -> Head:
    """Split a request's head into method, path and headers (names in lower case)."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    return method, path, headers

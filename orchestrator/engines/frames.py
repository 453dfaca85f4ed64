"""What goes over the pipe: two lengths of four bytes, a JSON header, a blob."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Protocol, cast

from .plain import dumps, loads

LENGTHS = struct.Struct(">II")
LARGEST = 256 * 1024 * 1024
"""Bytes of a header or a blob; a greater length is noise, not a frame."""


class Source(Protocol):
    """Gives exactly as many bytes as asked for."""

    async def receive_exactly(self, nbytes: int) -> bytes:
        """Wait for them."""
        ...


class BadFrame(Exception):
    """Raised when what arrives is no frame: the other side is not to be trusted any more."""


def pack(header: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """A frame as bytes."""
    head = dumps(header)
    return LENGTHS.pack(len(head), len(blob)) + head + blob


async def read_frame(source: Source) -> tuple[dict[str, Any], bytes]:
    """The next frame.

    Raises:
        BadFrame: what arrives is no frame.
    """
    head_size, blob_size = LENGTHS.unpack(await source.receive_exactly(LENGTHS.size))
    if max(head_size, blob_size) > LARGEST:
        raise BadFrame(f"a frame of {max(head_size, blob_size)} bytes")
    head = await source.receive_exactly(head_size) if head_size else b""
    blob = await source.receive_exactly(blob_size) if blob_size else b""
    try:
        header: Any = loads(head)
    except ValueError as error:
        raise BadFrame(str(error)) from None
    if not isinstance(header, dict):
        raise BadFrame("a header that is no object")
    return cast("dict[str, Any]", header), blob

"""Which images the API takes, told from their first bytes and not from their names."""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAX_SIDE = 8_000
"""Longest side, in pixels, that the API takes; one image too large would spoil every later request."""


@dataclass(frozen=True, slots=True)
class ImageKind:
    """The media type, and the size in pixels as the file's head states it (0, 0 where the head is broken)."""

    media_type: str
    width: int
    height: int

    @property
    def usable(self) -> bool:
        """True where both sides are stated and not too long."""
        return 0 < self.width <= MAX_SIDE and 0 < self.height <= MAX_SIDE


def image_kind(data: bytes) -> ImageKind | None:
    """Return what kind of image this is, or None if it is none the API takes (PNG, JPEG, GIF, WebP)."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return ImageKind("image/png", *struct.unpack_from(">II", data, 16))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return ImageKind("image/gif", *struct.unpack_from("<HH", data, 6))
        if data.startswith(b"\xff\xd8\xff"):
            return ImageKind("image/jpeg", *_jpeg_size(data))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return ImageKind("image/webp", *_webp_size(data))
    except (struct.error, IndexError):
        return ImageKind("image/broken", 0, 0)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Walk the segments to the frame header (ITU T.81, B.2.2)."""
    at = 2
    while True:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", data, at + 4)
            return width, height
        at += 1 + struct.unpack_from(">H", data, at + 1)[0]


def _webp_size(data: bytes) -> tuple[int, int]:
    """Read the three forms of the head (RFC 9649, 2.5 to 2.7)."""
    form = data[12:16]
    if form == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF

"""What `read_file` shows: numbered lines, images, and clear refusals."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from decurion.agents.tools import Limits, ToolContext, read_file
from decurion.agents.tools.images import image_kind
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, context, text

pytestmark = pytest.mark.anyio


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return context(tmp_path)


def put(ctx: ToolContext, data: bytes, name: str = "f") -> None:
    (ctx.workspace / name).write_bytes(data)


def png(width: int = 2, height: int = 3) -> bytes:
    """Return a whole, valid image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def test_each_line_is_its_number_a_tab_and_the_line(ctx: ToolContext) -> None:
    put(ctx, b"\tone  \n\n  three\n")
    assert await text(read_file, ctx, path="f") == "     1\t\tone  \n     2\t\n     3\t  three"


async def test_a_range_says_how_to_go_on(ctx: ToolContext) -> None:
    put(ctx, "".join(f"line {n}\n" for n in range(1, 11)).encode())
    assert await text(read_file, ctx, path="f", offset=4, limit=2) == (
        "     4\tline 4\n     5\tline 5\n[lines 4 to 5 of 10; go on with offset=6]"
    )
    assert await text(read_file, ctx, path="f", offset=10) == "    10\tline 10"
    with pytest.raises(ToolError, match="past the end; the file has 10 lines"):
        await call(read_file, ctx, path="f", offset=11)


async def test_a_long_file_is_cut_at_a_line(ctx: ToolContext, tmp_path: Path) -> None:
    put(ctx, "".join(f"line {n}\n" for n in range(1, 5001)).encode())
    assert (await text(read_file, ctx, path="f")).endswith(
        "[lines 1 to 2000 of 5000; go on with offset=2001]"
    )
    small = context(tmp_path, limits=Limits(read_chars=100))
    assert (await text(read_file, small, path="f")).endswith("[lines 1 to 7 of 5000; go on with offset=8]")


async def test_a_long_line_is_cut_between_characters(ctx: ToolContext) -> None:
    put(ctx, ("\U0001f600" * 5000).encode())
    shown = await text(read_file, ctx, path="f")
    shown.encode("utf-8")
    assert shown.startswith("     1\t" + "\U0001f600" * 2000 + " [… 3000 more characters in this line]")


async def test_notes_tell_what_lines_cannot_show(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb\n c")
    assert await text(read_file, ctx, path="f") == (
        "     1\ta\n     2\tb\n     3\t c\n"
        "[line endings: mixed, CRLF and LF; edit_file keeps them]\n[no newline at the end of the file]"
    )
    put(ctx, b"a\r\n")
    assert "[line endings: CRLF;" in await text(read_file, ctx, path="f")
    put(ctx, b"caf\xe9\n")
    assert "not UTF-8" in await text(read_file, ctx, path="f")
    put(ctx, "a real \ufffd\n".encode())
    assert "not UTF-8" not in await text(read_file, ctx, path="f")


async def test_an_empty_file_is_told(ctx: ToolContext) -> None:
    put(ctx, b"")
    assert await text(read_file, ctx, path="f") == "[the file is empty]"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x7fELF\0\0", "binary file of 6 bytes"),
        (b"x" * 11_000_000, "11,000,000 bytes, more than the 10,000,000"),
        (png(20_000, 1), "side of more than 8000"),
        (b"\x89PNG\r\n\x1a\nbroken", "broken"),
        (b"\xff\xd8\xff\xe0", "broken"),
    ],
)
async def test_what_cannot_be_shown_is_refused(ctx: ToolContext, data: bytes, told: str) -> None:
    put(ctx, data)
    with pytest.raises(ToolError, match=told):
        await call(read_file, ctx, path="f")


async def test_a_missing_file_is_told(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="nowhere does not exist; use glob"):
        await call(read_file, ctx, path="nowhere")


async def test_an_image_becomes_an_image_block_whatever_its_name(ctx: ToolContext) -> None:
    put(ctx, png(), "picture.txt")
    output = await call(read_file, ctx, path="picture.txt")
    assert output.content == (
        {"type": "text", "text": "picture.txt: image/png, 2 x 3 pixels"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png()).decode()},
        },
    )


async def test_an_image_that_the_api_would_refuse_is_not_sent(ctx: ToolContext, tmp_path: Path) -> None:
    put(ctx, png())
    with pytest.raises(ToolError, match="images of up to 10"):
        await call(read_file, context(tmp_path, limits=Limits(image_bytes=10)), path="f")


JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\0" + b"\0" * 9 + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 3, 2)
WEBP = b"RIFF\0\0\0\0WEBP"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"GIF89a" + struct.pack("<HH", 2, 3), "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP + b"VP8X\0\0\0\0\0\0\0\0" + b"\x01\0\0\x02\0\0", "image/webp"),
        (WEBP + b"VP8L\0\0\0\0\x2f" + struct.pack("<I", 1 | 2 << 14), "image/webp"),
        (WEBP + b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 2, 3), "image/webp"),
    ],
)
def test_kind_and_size_are_read_from_the_head(data: bytes, kind: str) -> None:
    found = image_kind(data)
    assert found is not None
    assert (found.media_type, found.width, found.height, found.usable) == (kind, 2, 3, True)

"""The tool that shows a file: numbered lines of text, or an image."""

from __future__ import annotations

import base64
import stat
from itertools import accumulate
from pathlib import Path
from typing import Annotated

from anyio import to_thread

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

from .containment import Place, inside
from .files import BOM, WIDE_MARKS, read_bytes
from .images import MAX_SIDE, ImageKind, image_kind
from .tool import Limits, Output, ToolContext, markdown, tool

SNIFFED_BYTES = 8_192
"""How far a file is looked at to tell text from binary; what git looks at is about the same."""

SMALL_BYTES = 65_536

CARRIAGE_RETURN = "\r"


@tool(read_only=True, description=markdown("read_file"))
async def read_file(
    ctx: ToolContext,
    path: Annotated[str, "The file, relative to the workspace"],
    offset: Annotated[int, "First line to show, counted from 1", {"minimum": 0}] = 1,
    limit: Annotated[int | None, "How many lines to show", {"minimum": 1}] = None,
) -> Output:
    """Show a file's lines, each with its number and a tab before it, or an image."""
    place = inside(path, ctx.workspace, ctx.scratch)
    small = is_small_file(place.path)
    data = (
        read_bytes(place, ctx.limits.file_bytes)
        if small
        else await to_thread.run_sync(read_bytes, place, ctx.limits.file_bytes)
    )
    kind = image_kind(data)
    if kind is not None:
        return _image(place, data, kind, ctx.limits)
    text, notes = _decoded(place, data)
    return Output(_numbered(text, max(offset, 1), limit or ctx.limits.read_lines, ctx.limits, notes))


def is_small_file(path: Path) -> bool:
    """Tell a plain file that is read quicker than a thread is woken; anything else could keep everybody waiting."""
    try:
        about = path.stat()
    except OSError:
        return True  # reading says what is wrong
    return stat.S_ISREG(about.st_mode) and about.st_size <= SMALL_BYTES


def _image(place: Place, data: bytes, kind: ImageKind, limits: Limits) -> Output:
    if not kind.usable:
        raise ToolError(
            f"{place.shown} is an image that is broken or has a side of more than {MAX_SIDE} pixels"
        )
    if len(data) > limits.image_bytes:
        raise ToolError(
            f"{place.shown} has {counted(len(data), 'byte')}; images of up to {limits.image_bytes:,} are shown"
        )
    source = {"type": "base64", "media_type": kind.media_type, "data": base64.b64encode(data).decode("ascii")}
    caption = f"{place.shown}: {kind.media_type}, {kind.width} x {kind.height} pixels"
    return Output(({"type": "text", "text": caption}, {"type": "image", "source": source}))


def _decoded(place: Place, data: bytes) -> tuple[str, list[str]]:
    """Return a file's text without its byte order mark, and what a reader should know of the bytes behind it."""
    if data.startswith(WIDE_MARKS):
        encoding = "utf-32" if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")) else "utf-16"
        return data.decode(encoding, "replace"), [
            f"the file is {encoding.upper()}; edit_file cannot change it"
        ]
    if b"\0" in data[:SNIFFED_BYTES]:
        raise ToolError(
            f"{place.shown} is a binary file of {counted(len(data), 'byte')}; use bash with file, xxd or strings to look into it"
        )
    text = data.removeprefix(BOM).decode("utf-8", "replace")
    notes: list[str] = []
    if "\N{REPLACEMENT CHARACTER}" in text and not _is_utf8(data):
        notes.append(
            "bytes that are not UTF-8 are shown as \N{REPLACEMENT CHARACTER}; leave those parts out of edits"
        )
    if "\r\n" in text:
        mixed = text.count("\n") > text.count("\r\n")
        notes.append(f"line endings: {'mixed, CRLF and LF' if mixed else 'CRLF'}; edit_file keeps them")
    return text, notes


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _numbered(text: str, offset: int, count: int, limits: Limits, notes: list[str]) -> str:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif text:
        notes.append("no newline at the end of the file")
    if not lines:
        return "[the file is empty]"
    if offset > len(lines):
        raise ToolError(f"offset {offset} is past the end; the file has {counted(len(lines), 'line')}")
    wanted = lines[offset - 1 : offset - 1 + count]
    if CARRIAGE_RETURN in text:
        wanted = [line.removesuffix(CARRIAGE_RETURN) for line in wanted]
    if max(map(len, wanted)) > limits.line_chars:
        wanted = [_cut(line, limits.line_chars) for line in wanted]
    shown = [f"{number:>6}\t{line}" for number, line in enumerate(wanted, start=offset)]
    if sum(map(len, shown)) + len(shown) > limits.read_chars:
        shown = _as_many_as_fit(shown, limits.read_chars)
    last = offset + len(shown) - 1
    if last < len(lines):
        notes.insert(0, f"lines {offset} to {last} of {len(lines)}; go on with offset={last + 1}")
    return "\n".join([*shown, *(f"[{note}]" for note in notes)])


def _as_many_as_fit(lines: list[str], room: int) -> list[str]:
    """Return the first lines that have room together, one at least."""
    ends = accumulate(len(line) + 1 for line in lines)
    return lines[: max(1, sum(end <= room for end in ends))]


def _cut(line: str, limit: int) -> str:
    return (
        line if len(line) <= limit else f"{line[:limit]} [… {len(line) - limit} more characters in this line]"
    )

"""The tool that replaces one piece of a file by another."""

from __future__ import annotations

import re
from typing import Annotated

from anyio import to_thread

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

from .containment import Place, inside
from .edits import Replaced, line_of, replaced
from .files import BOM, WIDE_MARKS, change
from .tool import Output, ToolContext, markdown, tool

MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
SHOWN_PLACES = 3
SHOWN_LINES = 12
SHOWN_CHARS = 300


@tool(description=markdown("edit_file"))
async def edit_file(
    ctx: ToolContext,
    path: Annotated[str, "The file, relative to the workspace"],
    old_string: Annotated[str, "The text to replace, copied exactly; must occur once"],
    new_string: Annotated[str, "The text to put in its place"],
    replace_all: Annotated[bool, "Replace every occurrence"] = False,  # noqa: FBT002 - the model names it
) -> Output:
    """Replace text in a file; every byte outside the changed lines stays as it is."""
    place = inside(path, ctx.workspace)
    results: list[Replaced] = []

    def make(data: bytes) -> bytes:
        mark, result = _edited(place, data, (old_string, new_string), everywhere=replace_all)
        results.append(result)
        return mark + result.text.encode("utf-8", "surrogateescape")

    await to_thread.run_sync(change, place, ctx.limits.file_bytes, make)
    return Output(_told(place, results[0]), {"files_changed": [place.shown]})


def _edited(
    place: Place, data: bytes, strings: tuple[str, str], *, everywhere: bool
) -> tuple[bytes, Replaced]:
    """Return the byte order mark and the edited text; bytes that are no UTF-8 pass through as lone surrogates."""
    if data.startswith(WIDE_MARKS):
        raise ToolError(
            f"{place.shown} is UTF-16 or UTF-32; it can only be edited after iconv -t UTF-8 in bash"
        )
    if b"\0" in data:
        raise ToolError(f"{place.shown} is a binary file; it is not edited as text")
    mark = BOM if data.startswith(BOM) else b""
    old, new = (string.removeprefix(MARK) if mark else string for string in strings)
    text = data.removeprefix(mark).decode("utf-8", "surrogateescape")
    return mark, replaced(text, old, new, everywhere=everywhere)


def _told(place: Place, result: Replaced) -> str:
    """Say how many places changed, and show the first ones as read_file would."""
    told = [f"Changed {counted(len(result.spans), 'place')} in {place.shown}."]
    lines = result.text.split("\n")
    for start, end in result.spans[:SHOWN_PLACES]:
        first = line_of(result.text, start)
        inside_it = end - result.text[start:end].endswith("\n")  # the line after it is as it was
        last = min(line_of(result.text, inside_it), first + SHOWN_LINES - 1)
        told += [f"{number:>6}\t{_shown(lines[number - 1])}" for number in range(first, last + 1)]
    return "\n".join(told)


def _shown(line: str) -> str:
    return HALF_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", line.removesuffix("\r"))[:SHOWN_CHARS]

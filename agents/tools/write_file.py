"""The tool that makes a file or replaces its whole content."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

from .containment import Place, inside
from .files import BOM, WIDE_MARKS, changing, read_head, write_bytes
from .tool import Output, ToolContext, markdown, tool


@tool(description=markdown("write_file"))
async def write_file(
    ctx: ToolContext,
    path: Annotated[str, "The file, relative to the workspace"],
    content: Annotated[str, "The whole content, stored exactly as given"],
) -> Output:
    """Store exactly the text given, as UTF-8; folders on the way are made."""
    place = inside(path, ctx.workspace)
    if path.endswith("/"):
        raise ToolError(f"{path!r} names a folder; add the name of the file")
    data = content.encode("utf-8")
    made = await to_thread.run_sync(_store, place, data)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    told = f"{'Created' if made else 'Replaced'} {place.shown}: {counted(lines, 'line')}"
    return Output(f"{told}, {counted(len(data), 'byte')}.", {"files_changed": [place.shown]})


def _store(place: Place, data: bytes) -> bool:
    """Write the file; True where it is new. A byte order mark that was there stays."""
    with changing:
        head = read_head(place)
        if head is None:
            write_bytes(place, data)
            return True
        if head.startswith(WIDE_MARKS):
            raise ToolError(
                f"{place.shown} is UTF-16 or UTF-32 and would become UTF-8; convert it with iconv in bash, "
                "or delete it first"
            )
        write_bytes(place, BOM + data if head.startswith(BOM) and not data.startswith(BOM) else data)
        return False

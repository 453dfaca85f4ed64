"""The tool that lists files by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Annotated

from .search import scope_of, search
from .tool import Output, ToolContext, markdown, tool


@tool(read_only=True, description=markdown("glob"))
async def glob(
    ctx: ToolContext,
    pattern: Annotated[
        str, "Which files, as src/**/*.py; without a slash it counts in every folder", {"minLength": 1}
    ],
    path: Annotated[str, "Folder to look in, relative to the workspace"] = ".",
    include_ignored: Annotated[bool, "List files that .gitignore leaves out, too"] = False,  # noqa: FBT002 - by name
    limit: Annotated[int | None, "How many files to list", {"minimum": 1}] = None,
) -> Output:
    """List files whose path matches, sorted by path."""
    scope = scope_of(ctx, path, pattern, include_ignored=include_ignored)
    names = Names(limit or ctx.limits.listed_files)
    searched = await search(ctx, scope, ["--files", "--null"], b"\0", names)
    lines = [searched.scope.show(name) for name in names.found] or [searched.nothing(pattern)]
    lines += [f"[{note}]" for note in searched.notes(names.most, "file", ctx.limits.search_seconds)]
    return Output("\n".join(lines), {"hits": len(names.found)})


@dataclass(slots=True)
class Names:
    """Collects names of files, at most so many."""

    most: int
    found: list[str] = field(default_factory=list[str])

    @property
    def empty(self) -> bool:
        """True while nothing was found."""
        return not self.found

    def take(self, record: bytes) -> bool:
        """Take one name; False when there are enough."""
        if len(self.found) >= self.most:
            return False
        self.found.append(os.fsdecode(record))
        return True

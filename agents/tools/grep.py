"""The tool that searches the content of files."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from typing import Annotated, Any

from decurion.hooks import ToolError

from .search import Scope, scope_of, search
from .tool import Output, ToolContext, markdown, tool

LINE_CHARS = 500
MAX_BINARY = 10
LEAD_CHARS = 100
"""How much of a long line is shown before the match."""


@tool(read_only=True, description=markdown("grep"))
async def grep(  # noqa: PLR0913, PLR0917 - the parameters are the tool's schema
    ctx: ToolContext,
    pattern: Annotated[str, "Regular expression", {"minLength": 1}],
    path: Annotated[str, "File or folder to search, relative to the workspace"] = ".",
    glob: Annotated[str, "Which files to search, as *.py"] = "",
    ignore_case: Annotated[bool, "Take upper and lower case as the same"] = False,  # noqa: FBT002 - by name
    literal: Annotated[bool, "Take the pattern as plain text"] = False,  # noqa: FBT002 - by name
    multiline: Annotated[bool, "Let a match go over several lines"] = False,  # noqa: FBT002 - by name
    context: Annotated[int, "Lines to show around each match", {"minimum": 0, "maximum": 50}] = 0,
    files_only: Annotated[bool, "Give only the names of files with a match"] = False,  # noqa: FBT002 - by name
    include_ignored: Annotated[bool, "Search what .gitignore leaves out, too"] = False,  # noqa: FBT002 - by name
    limit: Annotated[int | None, "How many matching lines or files to give", {"minimum": 1}] = None,
) -> Output:
    """Search files for a pattern; one line a match, `path:line:text`, sorted by path."""
    if "\0" in pattern:
        raise ToolError(r"the pattern holds a NUL character; write \x00")
    options = _options(pattern, ignore_case=ignore_case, literal=literal, multiline=multiline)
    options += ["--max-count=1"] if files_only else [f"--context={context}"]
    scope = scope_of(ctx, path, glob, include_ignored=include_ignored)
    hits = Hits(
        scope,
        limit or ctx.limits.search_hits,
        ctx.limits.output_chars,
        files_only=files_only,
        grouped=context > 0,
    )
    searched = await search(ctx, scope, ["--json", "--binary", *options], b"\n", hits)
    lines = hits.lines or [searched.nothing(pattern)]
    what = "file" if files_only else "matching line"
    notes = searched.notes(hits.count, what, ctx.limits.search_seconds)
    if hits.binary:
        notes.append(f"binary, so not shown, but matching: {', '.join(hits.binary[:MAX_BINARY])}")
    return Output("\n".join([*lines, *(f"[{note}]" for note in notes)]), {"hits": hits.count})


def _options(pattern: str, *, ignore_case: bool, literal: bool, multiline: bool) -> list[str]:
    options = [f"--regexp={pattern}"]
    if ignore_case:
        options.append("--ignore-case")
    if literal:
        options.append("--fixed-strings")
    if multiline or "\n" in pattern or (r"\n" in pattern and not literal):
        options += ["--multiline", *([] if literal or not multiline else ["--multiline-dotall"])]
    return options


@dataclass(slots=True)
class Hits:
    """Collects what ripgrep's JSON tells (its form: `rg --help`, --json), up to a number and a size."""

    scope: Scope
    most: int
    room: int
    files_only: bool = False
    grouped: bool = False
    lines: list[str] = field(default_factory=list[str])
    binary: list[str] = field(default_factory=list[str])
    count: int = 0
    _file: list[str] = field(default_factory=list[str])
    _matches: int = 0
    _last: int = 0

    @property
    def empty(self) -> bool:
        """True while nothing was found."""
        return not self.lines and not self.binary

    def take(self, record: bytes) -> bool:
        """Take one message; False when there is no room for more."""
        message: dict[str, Any] = json.loads(record)
        kind, data = message["type"], message["data"]
        if kind == "begin":
            self._file, self._matches, self._last = [], 0, 0
        elif kind in {"match", "context"}:
            return self._line(data, is_match=kind == "match")
        elif kind == "end":
            self._end(data)
        return True

    def _line(self, data: dict[str, Any], *, is_match: bool) -> bool:
        if is_match and self.count + self._matches >= self.most:
            self._keep()
            return False
        self._matches += is_match
        shown = self._shown(data, is_match=is_match)
        self.room -= sum(len(line) + 1 for line in shown)
        if self.room < 0:
            self._matches -= is_match
            self._keep()
            return False
        self._file += shown
        return True

    def _shown(self, data: dict[str, Any], *, is_match: bool) -> list[str]:
        path, text = self.scope.show(os.fsdecode(_bytes(data["path"]))), _bytes(data["lines"])
        if self.files_only:
            return [path]
        first: int = data["line_number"] or 0
        texts = text.decode("utf-8", "replace").removesuffix("\n").split("\n")
        mark = ":" if is_match else "-"
        start = data["submatches"][0]["start"] if is_match and data["submatches"] else 0
        lines = [f"{path}{mark}{first + n}{mark}{_window(line, start)}" for n, line in enumerate(texts)]
        gap = ["--"] if self.grouped and self._last not in {0, first - 1} else []
        self._last = first + len(texts) - 1
        return [*gap, *lines]

    def _end(self, data: dict[str, Any]) -> None:
        if data["binary_offset"] is not None:
            self.binary.append(self.scope.show(os.fsdecode(_bytes(data["path"]))))
        else:
            self._keep()
        self._file, self._matches = [], 0

    def _keep(self) -> None:
        self.lines += self._file
        self.count += self._matches


def _bytes(field_: dict[str, str]) -> bytes:
    """Return the bytes of a field that ripgrep gives as text, or in base64 where it is not UTF-8."""
    return os.fsencode(field_["text"]) if "text" in field_ else base64.b64decode(field_["bytes"])


def _window(line: str, start: int) -> str:
    """Cut a long line to the part around the match."""
    line = line.removesuffix("\r")
    if len(line) <= LINE_CHARS:
        return line
    begin = max(0, min(start - LEAD_CHARS, len(line) - LINE_CHARS))
    end = begin + LINE_CHARS
    return f"{'[…] ' if begin else ''}{line[begin:end]}{' […]' if end < len(line) else ''}"

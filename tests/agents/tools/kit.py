"""What the tests of tools share: a context on folders of their own, and one call the way the dispatcher makes it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from decurion.agents.tools import Limits, Output, Tool, ToolContext, output_of, prepare
from decurion.hooks import RunRef


def context(tmp_path: Path, **changes: Any) -> ToolContext:
    """Return a context whose workspace and scratch folders lie in `tmp_path`."""
    workspace = tmp_path / "proj"
    workspace.mkdir(exist_ok=True)
    fields: dict[str, Any] = {
        "ref": RunRef("session", "agent", "lead"),
        "workspace": workspace,
        "scratch": tmp_path / "scratch",
        "limits": Limits(),
    }
    return ToolContext(**(fields | changes))


async def call(tool: Tool, ctx: ToolContext, **args: Any) -> Output:
    """Prepare and run one call."""
    return output_of(await tool.run(ctx, prepare(tool, args)))


async def text(tool: Tool, ctx: ToolContext, **args: Any) -> str:
    """Run one call and return its text."""
    output = await call(tool, ctx, **args)
    assert isinstance(output.content, str)
    return output.content


def content(path: Path | str) -> str:
    """Read a file; for async tests, which should not call pathlib."""
    return Path(path).read_text(encoding="utf-8")


def mode(path: Path | str) -> int:
    """Return a file's permission bits."""
    return stat.S_IMODE(Path(path).stat().st_mode)


def put(path: bytes, data: bytes) -> None:
    """Write a file whose name may be any bytes."""
    Path(os.fsdecode(path)).write_bytes(data)

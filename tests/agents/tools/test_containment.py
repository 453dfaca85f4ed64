"""BUG-56: one function decides, on resolved paths and whole components, for all file tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.tools import TOOLS, ToolContext
from decurion.agents.tools.containment import inside
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, content, context, put, text

pytestmark = pytest.mark.anyio

SECRET = "the secret text"


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    """A workspace with a sibling of the same beginning, and links that lead there."""
    ctx = context(tmp_path)
    evil = tmp_path / "proj-evil"
    evil.mkdir()
    (evil / "f").write_text(SECRET)
    (ctx.workspace / "a").mkdir()
    (ctx.workspace / "filelink").symlink_to(evil / "f")
    (ctx.workspace / "folderlink").symlink_to(evil)
    (ctx.workspace / "a" / "uplink").symlink_to("../..")
    return ctx


OUTSIDE = (
    "../proj-evil/f",
    "{parent}/proj-evil/f",
    "a/../../proj-evil/f",
    "filelink",
    "folderlink/f",
    "folderlink/new.txt",
    "folderlink/new/deep.txt",
    "a/uplink/proj-evil/f",
    "f\0",
    "..",
    "/etc/passwd",
)
SEARCHES = ("glob", "grep")


def arguments(tool: str, path: str) -> dict[str, Any]:
    return {
        "read_file": {"path": path},
        "write_file": {"path": path, "content": "x"},
        "edit_file": {"path": path, "old_string": "secret", "new_string": "x"},
        "glob": {"pattern": "**/*", "path": path},
        "grep": {"pattern": "secret", "path": path},
    }[tool]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_nothing_outside_is_reached(ctx: ToolContext, path: str) -> None:
    evil = ctx.workspace.parent / "proj-evil"
    for tool in ("read_file", "write_file", "edit_file", *(() if "new" in path else SEARCHES)):
        with pytest.raises(ToolError) as error:
            await call(TOOLS[tool], ctx, **arguments(tool, path.format(parent=ctx.workspace.parent)))
        assert SECRET not in str(error.value)
        assert [entry.name for entry in evil.iterdir()] == ["f"]
        assert content(evil / "f") == SECRET


@pytest.mark.parametrize("path", ["", "  "])
async def test_an_empty_path_is_no_file(ctx: ToolContext, path: str) -> None:
    for tool in ("read_file", "write_file", "edit_file"):
        with pytest.raises(ToolError, match="the path is empty"):
            await call(TOOLS[tool], ctx, **arguments(tool, path))


@pytest.mark.parametrize(
    "pattern", ["../proj-evil/*", "a/../../proj-evil/f", "{{a,..}}/proj-evil/*", "/etc/*"]
)
async def test_a_pattern_does_not_lead_out(ctx: ToolContext, pattern: str) -> None:
    with pytest.raises(ToolError, match=r"workspace|\.\."):
        await call(TOOLS["glob"], ctx, pattern=pattern.replace("{{", "{").replace("}}", "}"))


async def test_a_search_shows_nothing_behind_a_link(ctx: ToolContext) -> None:
    (ctx.workspace / "own").write_text("my secret text")
    found = await text(TOOLS["grep"], ctx, pattern="secret")
    assert "own:1:my secret text" in found
    assert SECRET not in found


async def test_a_new_file_in_a_new_folder_inside_is_made(ctx: ToolContext) -> None:
    await call(TOOLS["write_file"], ctx, path="b/c/new.txt", content="x")
    assert (ctx.workspace / "b/c/new.txt").read_text() == "x"


async def test_the_workspace_may_be_reached_by_a_link(ctx: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(ctx.workspace)
    (ctx.workspace / "a" / "f").write_text("hello")
    linked = context(tmp_path, workspace=tmp_path / "door")
    assert "hello" in await text(TOOLS["read_file"], linked, path="a/f")
    assert "hello" in await text(TOOLS["read_file"], linked, path=str(ctx.workspace / "a" / "f"))
    assert "hello" in await text(TOOLS["read_file"], linked, path=str(tmp_path / "door" / "a" / "f"))


async def test_a_link_that_stays_inside_is_followed(ctx: ToolContext) -> None:
    (ctx.workspace / "real").write_text("hello")
    (ctx.workspace / "near").symlink_to("real")
    assert "hello" in await text(TOOLS["read_file"], ctx, path="near")


async def test_another_letter_case_is_another_folder(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="workspace"):
        inside(str(ctx.workspace.parent / "PROJ" / "f"), ctx.workspace)


async def test_a_loop_of_links_is_an_error_of_the_model(ctx: ToolContext) -> None:
    (ctx.workspace / "one").symlink_to("two")
    (ctx.workspace / "two").symlink_to("one")
    with pytest.raises(ToolError):
        await call(TOOLS["read_file"], ctx, path="one")


async def test_the_scratch_folder_is_readable_and_not_writable(ctx: ToolContext) -> None:
    ctx.scratch.mkdir()
    (ctx.scratch / "out.txt").write_text("long output")
    assert "long output" in await text(TOOLS["read_file"], ctx, path=str(ctx.scratch / "out.txt"))
    with pytest.raises(ToolError, match="workspace"):
        await call(TOOLS["write_file"], ctx, path=str(ctx.scratch / "out.txt"), content="x")


async def test_an_odd_name_is_shown_escaped_and_accepted_in_that_form(ctx: ToolContext) -> None:
    """BUG-31: a name that is not UTF-8 never reaches the wire as a lone surrogate."""
    odd = os.fsencode(ctx.workspace) + b"/odd\xff\n.txt"
    put(odd, b"needle")
    listed = await text(TOOLS["glob"], ctx, pattern="odd*")
    listed.encode("utf-8")
    assert listed.splitlines()[0] == r"odd\xff\x0a.txt"
    assert "needle" in await text(TOOLS["read_file"], ctx, path=r"odd\xff\x0a.txt")
    await call(TOOLS["edit_file"], ctx, path=r"odd\xff\x0a.txt", old_string="needle", new_string="pin")
    assert content(os.fsdecode(odd)) == "pin"
    assert r"odd\xff\x0a.txt:1:pin" in await text(TOOLS["grep"], ctx, pattern="pin")


async def test_a_plain_name_with_a_backslash_means_itself(ctx: ToolContext) -> None:
    await call(TOOLS["write_file"], ctx, path=r"a\x41", content="x")
    assert (ctx.workspace / r"a\x41").exists()

"""What stands on disk after a write or an edit: BUG-38, 39, 41, 42, 44, byte by byte."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from decurion.agents.tools import TOOLS, ToolContext, edit_file, read_file, write_file
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, context, text

pytestmark = pytest.mark.anyio

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return context(tmp_path)


def put(ctx: ToolContext, data: bytes, name: str = "f.txt") -> Path:
    path = ctx.workspace / name
    path.write_bytes(data)
    return path


async def edit(
    ctx: ToolContext, old: str, new: str, name: str = "f.txt", *, everywhere: bool = False
) -> bytes:
    await call(edit_file, ctx, path=name, old_string=old, new_string=new, replace_all=everywhere)
    return (ctx.workspace / name).read_bytes()


# ---- line endings (BUG-38)


@pytest.mark.parametrize("old", ["one\ntwo", "one\r\ntwo"])
@pytest.mark.parametrize("new", ["1\n2\n3", "1\r\n2\r\n3"])
async def test_a_crlf_file_stays_crlf_whatever_the_model_sends(ctx: ToolContext, old: str, new: str) -> None:
    put(ctx, b"zero\r\none\r\ntwo\r\nlast\r\n")
    assert await edit(ctx, old, new) == b"zero\r\n1\r\n2\r\n3\r\nlast\r\n"


async def test_replace_all_in_a_crlf_file(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb\r\nx\r\na\r\nb\r\n")
    assert await edit(ctx, "a\nb\n", "c\n", everywhere=True) == b"c\r\nx\r\nc\r\n"


async def test_lines_that_stay_keep_their_own_ending_in_a_mixed_file(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb\nc\r\nd\n")
    assert await edit(ctx, "a\nb\nc\nd", "a\nB\nnew\nc\nd") == b"a\r\nB\nnew\nc\r\nd\n"


async def test_a_new_line_takes_the_ending_of_its_neighbour(ctx: ToolContext) -> None:
    put(ctx, b"a\nb\r\nc\n")
    assert await edit(ctx, "b", "b\nnew") == b"a\nb\r\nnew\r\nc\n"


async def test_a_lone_carriage_return_is_a_line_ending_and_stays(ctx: ToolContext) -> None:
    put(ctx, b"a\rb\rc")
    assert await edit(ctx, "a\nb", "a\nx\nb") == b"a\rx\rb\rc"


async def test_the_same_visible_text_with_both_endings_is_ambiguous(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb\r\n\na\nb\n")
    with pytest.raises(ToolError, match=r"more than once \(lines 1, 4\)"):
        await edit(ctx, "a\r\nb", "x")


async def test_overlapping_matches_are_ambiguous(ctx: ToolContext) -> None:
    put(ctx, b"aaa")
    with pytest.raises(ToolError, match="more than once"):
        await edit(ctx, "aa", "b")


async def test_crlf_is_never_taken_apart(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb")
    with pytest.raises(ToolError, match="not found"):
        await edit(ctx, "a\n\nb", "x")


async def test_a_change_of_nothing_but_endings_is_refused_with_the_remedy(ctx: ToolContext) -> None:
    put(ctx, b"a\r\nb")
    with pytest.raises(ToolError, match="bash"):
        await edit(ctx, "a\r\nb", "a\nb")


# ---- byte order marks (BUG-39)


@pytest.mark.parametrize("line", ["first", "second"])
async def test_an_edit_keeps_the_byte_order_mark(ctx: ToolContext, line: str) -> None:
    put(ctx, BOM + b"first\nsecond\n")
    assert await edit(ctx, line, "x") == BOM + "first\nsecond\n".replace(line, "x").encode()


async def test_old_text_may_start_at_the_first_visible_character(ctx: ToolContext) -> None:
    put(ctx, BOM + b"first\nsecond\n")
    assert await edit(ctx, "\ufefffirst\nsecond", "\ufeffnew") == BOM + b"new\n"


async def test_the_mark_is_not_shown_and_survives_a_write(ctx: ToolContext) -> None:
    path = put(ctx, BOM + b"first\n")
    assert "\ufeff" not in await text(read_file, ctx, path="f.txt")
    await call(write_file, ctx, path="f.txt", content="other\n")
    assert path.read_bytes() == BOM + b"other\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
async def test_wide_encodings_are_never_rewritten_as_utf_8(ctx: ToolContext, encoding: str) -> None:
    data = ("" if encoding != "utf-16-be" else "\ufeff").encode(encoding) + "text\n".encode(encoding)
    path = put(ctx, data)
    for tool, args in (
        (edit_file, {"old_string": "text", "new_string": "x"}),
        (write_file, {"content": "x"}),
    ):
        with pytest.raises(ToolError, match="iconv"):
            await call(tool, ctx, path="f.txt", **args)
    assert path.read_bytes() == data
    assert "text" in await text(read_file, ctx, path="f.txt")


# ---- exact bytes (BUG-44)

DELICATE = "\tword \u2019\u201c\u00a0 \u00e9 e\u0301  \n\f\n\ttail  \n  end"


async def test_an_edit_changes_the_named_word_and_nothing_else(ctx: ToolContext) -> None:
    put(ctx, DELICATE.encode())
    assert await edit(ctx, "word", "term") == DELICATE.replace("word", "term").encode()


async def test_a_write_stores_exactly_the_string_given(ctx: ToolContext) -> None:
    await call(write_file, ctx, path="f.txt", content=DELICATE)
    assert (ctx.workspace / "f.txt").read_bytes() == DELICATE.encode()
    await call(write_file, ctx, path="f.txt", content="")
    assert (ctx.workspace / "f.txt").read_bytes() == b""


async def test_one_unicode_form_does_not_match_the_other(ctx: ToolContext) -> None:
    put(ctx, "caf\u00e9\n".encode())
    with pytest.raises(ToolError, match="accented letters") as error:
        await edit(ctx, "cafe\u0301", "x")
    assert "caf\u00e9" in str(error.value)


async def test_bytes_that_are_no_utf_8_pass_through(ctx: ToolContext) -> None:
    put(ctx, b"caf\xe9\nword\n")
    assert await edit(ctx, "word", "term") == b"caf\xe9\nterm\n"
    assert "\ufffd" in await text(read_file, ctx, path="f.txt")


# ---- mode (BUG-41)


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
async def test_the_mode_stays(ctx: ToolContext, mode: int) -> None:
    path = put(ctx, b"word")
    path.chmod(mode)
    await edit(ctx, "word", "term")
    await call(write_file, ctx, path="f.txt", content="other")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"other"


async def test_a_read_only_file_is_refused(ctx: ToolContext) -> None:
    path = put(ctx, b"word")
    path.chmod(0o444)
    for tool, args in (
        (edit_file, {"old_string": "word", "new_string": "x"}),
        (write_file, {"content": "x"}),
    ):
        with pytest.raises(ToolError, match="read-only"):
            await call(tool, ctx, path="f.txt", **args)
    assert path.read_bytes() == b"word"


async def test_a_new_file_follows_the_umask(ctx: ToolContext) -> None:
    before = os.umask(0o027)
    try:
        await call(write_file, ctx, path="new.txt", content="x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((ctx.workspace / "new.txt").stat().st_mode) == 0o640


@contextmanager
def small_disk() -> Generator[None]:
    """No file may grow beyond 1000 bytes, which is how a full disk looks to a writer.

    Not a fixture: the limit would also hold while pytest writes its report, perhaps into a file.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("linked", [False, True])
async def test_a_failed_write_leaves_the_old_bytes_and_no_temporary_file(
    ctx: ToolContext, linked: bool
) -> None:
    path = put(ctx, b"old bytes")
    if linked:
        (ctx.workspace / "twin").hardlink_to(path)
    before = sorted(entry.name for entry in ctx.workspace.iterdir())
    with small_disk(), pytest.raises(ToolError, match=r"f\.txt"):
        await call(write_file, ctx, path="f.txt", content="x" * 5000)
    with small_disk(), pytest.raises(ToolError, match=r"new\.txt"):
        await call(write_file, ctx, path="new.txt", content="x" * 5000)
    assert path.read_bytes() == b"old bytes"
    assert sorted(entry.name for entry in ctx.workspace.iterdir()) == before


# ---- links (BUG-42)


async def test_a_link_stays_a_link_and_its_target_gets_the_text(ctx: ToolContext) -> None:
    put(ctx, b"word", "real.txt")
    (ctx.workspace / "middle.txt").symlink_to("real.txt")
    (ctx.workspace / "link.txt").symlink_to("middle.txt")
    await edit(ctx, "word", "term", "link.txt")
    assert (ctx.workspace / "real.txt").read_bytes() == b"term"
    await call(write_file, ctx, path="link.txt", content="other")
    assert (ctx.workspace / "real.txt").read_bytes() == b"other"
    assert (ctx.workspace / "link.txt").is_symlink()
    assert (ctx.workspace / "middle.txt").is_symlink()


@pytest.mark.parametrize("path", ["dangling.txt", "dangling.dir/new.txt"])
async def test_a_dangling_link_is_refused(ctx: ToolContext, path: str) -> None:
    (ctx.workspace / "dangling.txt").symlink_to("nowhere.txt")
    (ctx.workspace / "dangling.dir").symlink_to("nowhere")
    with pytest.raises(ToolError, match="target does not exist"):
        await call(write_file, ctx, path=path, content="x")
    assert sorted(entry.name for entry in ctx.workspace.iterdir()) == ["dangling.dir", "dangling.txt"]


async def test_hard_links_stay_joined(ctx: ToolContext) -> None:
    path = put(ctx, b"a longer word")
    (ctx.workspace / "twin").hardlink_to(path)
    assert await edit(ctx, "longer word", "term") == b"a term"
    await call(write_file, ctx, path="f.txt", content="other")
    assert (ctx.workspace / "twin").read_bytes() == b"other"
    assert path.samefile(ctx.workspace / "twin")


# ---- odd kinds of file


async def test_a_pipe_is_refused_and_never_waited_for(ctx: ToolContext) -> None:
    os.mkfifo(ctx.workspace / "pipe")
    for tool, args in (
        (read_file, {}),
        (write_file, {"content": "x"}),
        (edit_file, {"old_string": "a", "new_string": "b"}),
    ):
        with pytest.raises(ToolError, match="no regular file"):
            await call(tool, ctx, path="pipe", **args)


@pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file"])
async def test_a_folder_is_refused_clearly(ctx: ToolContext, name: str) -> None:
    (ctx.workspace / "folder").mkdir()
    args = {
        "read_file": {},
        "write_file": {"content": "x"},
        "edit_file": {"old_string": "a", "new_string": "b"},
    }[name]
    with pytest.raises(ToolError, match="is a folder"):
        await call(TOOLS[name], ctx, path="folder", **args)


async def test_a_file_is_no_folder_to_write_below(ctx: ToolContext) -> None:
    put(ctx, b"word")
    with pytest.raises(ToolError, match=r"f\.txt"):
        await call(write_file, ctx, path="f.txt/below", content="x")


async def test_an_edit_shows_the_lines_that_changed_and_no_other(ctx: ToolContext) -> None:
    put(ctx, b"one\r\ntwo\r\nthree\r\n")
    output = await call(edit_file, ctx, path="f.txt", old_string="two\nthree\n", new_string="2\n3\n")
    assert output.content == "Changed 1 place in f.txt.\n     2\t2\n     3\t3"


async def test_a_change_is_reported_for_the_log(ctx: ToolContext) -> None:
    output = await call(write_file, ctx, path="./a/../b.txt", content="x\n")
    assert output.meta["files_changed"] == ["b.txt"]


async def test_edits_of_several_agents_at_once_are_all_kept(ctx: ToolContext) -> None:
    put(ctx, b"".join(b"word%02d\n" % number for number in range(20)))
    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(edit, ctx, f"word{number:02}", f"term{number:02}")
    assert (ctx.workspace / "f.txt").read_bytes() == b"".join(b"term%02d\n" % number for number in range(20))

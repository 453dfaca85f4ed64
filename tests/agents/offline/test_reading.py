"""A file's text comes back whole from what the real read tool shows, however many parts that takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.agents.context import bounded
from decurion.agents.offline.conversation import Exchange
from decurion.agents.offline.reading import Reading, read_parts
from decurion.agents.shortening import CLEARED
from decurion.agents.tools import TOOLS, Limits, ToolContext, output_of, prepare
from decurion.hooks import RunRef, ToolError, ToolResult

pytestmark = pytest.mark.anyio


async def read_whole(folder: Path, limits: Limits | None = None, most_chars: int = 0) -> tuple[Reading, int]:
    """Read `folder/f.py` as the script does; give what is known in the end and how many replies it took."""
    context = ToolContext(RunRef("s", "a", "t"), folder, folder / "scratch", limits=limits or Limits())
    exchanges: list[Exchange] = []
    for turn in range(12):
        reading = read_parts(exchanges)
        if reading.complete or reading.problem:
            return reading, turn
        for first, count in reading.wanted:
            args = {"path": "f.py", "offset": first, **({"limit": count} if count else {})}
            try:
                content = output_of(
                    await TOOLS["read_file"].run(context, prepare(TOOLS["read_file"], args))
                ).content
                result, wrong = ToolResult("c", content), False
            except ToolError as error:
                result, wrong = ToolResult("c", str(error)), True
            shown = bounded(result, most_chars) if most_chars else result
            exchanges.append(Exchange("read_file", args, shown.text, wrong, turn))
    raise AssertionError("it never came to an end")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "x = 1",
        "\n\n",
        "a\n\n\tb  \n",
        "1\tx\n[a note]\n",
        "é '\u2028' \x0c\n",
        "[the file is empty]\n",
    ],
)
async def test_small_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.py").write_bytes(text.encode())
    reading, _ = await read_whole(tmp_path)
    assert (reading.text, reading.complete) == (text, True)


async def test_bytes_before_and_line_endings_are_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    reading, _ = await read_whole(tmp_path)
    assert reading.text == "x = 1\ny = 2\n"


async def test_a_long_file_takes_several_parts_and_few_replies(tmp_path: Path) -> None:
    text = "".join(f"name_{n} = {n}\n" for n in range(7_000))
    (tmp_path / "f.py").write_text(text)
    reading, replies = await read_whole(tmp_path)
    assert reading.text == text
    assert replies <= 4


async def test_results_cut_to_fit_the_window_are_asked_for_again(tmp_path: Path) -> None:
    text = "".join(f"name_{n} = {n}\n" for n in range(300))
    (tmp_path / "f.py").write_text(text)
    reading, _ = await read_whole(tmp_path, most_chars=2_500)
    assert reading.text == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = '\xff'\n", "not UTF-8"),
        ("x = 1\n".encode("utf-16"), "UTF-16"),
        (b"\0\1", "binary"),
        (b"x = '" + b"a" * 3000 + b"'\n", "line too long"),
    ],
)
async def test_what_cannot_be_read_whole_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "f.py").write_bytes(data)
    reading, _ = await read_whole(tmp_path)
    assert why in reading.problem


async def test_a_missing_file_says_so(tmp_path: Path) -> None:
    reading, _ = await read_whole(tmp_path)
    assert "does not exist" in reading.problem


def test_a_result_that_was_cleared_is_read_again() -> None:
    cleared = Exchange("read_file", {"path": "f.py"}, CLEARED.format(size=9_999), False, 0)
    assert read_parts([cleared]) == Reading()

"""The cheap path reads exactly what shfmt reads: on the corpus and on generated text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from decurion.hooks.shell.plain import plain
from decurion.hooks.shell.reader import read
from decurion.hooks.shell.shfmt import Unreadable
from tests.effort import effort

CORPUS = Path(__file__).parents[2] / "data" / "guard_cases.jsonl"
PIECES = (
    *(
        "a",
        "rm",
        "-rf",
        "/",
        '"x y"',
        "'q z'",
        "~",
        "~/x",
        "*",
        "[a]",
        "{a,b}",
        "{",
        "}",
        "#",
        "a#b",
        "=",
        "A=1",
        "A+=b",
    ),
    *(
        "a[1]=2",
        'A="x"',
        "A=''",
        "1",
        "2>",
        ">",
        ">>",
        "<",
        "2>&1",
        ">&2",
        "&>",
        "&>>",
        "\t",
        "\n",
        ";",
        "&&",
        "||",
        "|",
    ),
    *(
        "if",
        "then",
        "time",
        "!",
        "export",
        "in",
        '""',
        "-",
        "%",
        "@",
        "^",
        "+",
        "[",
        "]",
        "[[",
        "0",
        "12",
        "\n\n",
        "done",
    ),
    *(" ",) * 12,
)


def _as_shfmt_reads(text: str) -> object:
    try:
        return read(text)
    except Unreadable as error:
        return f"rejected: {error}"


@pytest.mark.unmeasured
def test_corpus_is_read_alike() -> None:
    texts = [json.loads(line)["cmd"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    found = [(text, tree) for text in texts if (tree := plain(text)) is not None]
    assert len(found) > 600, "the cheap path has become useless"
    assert [text for text, tree in found if tree != _as_shfmt_reads(text)] == []


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", range(effort(1, 8)))
def test_generated_text_is_read_alike(seed: int) -> None:
    """2,500 texts for each seed; those that the cheap path leaves to shfmt need no comparison."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 12))) for _ in range(2500)]
    found = [(text, tree) for text in texts if (tree := plain(text)) is not None]
    assert len(found) > 200
    assert [text for text, tree in found if tree != _as_shfmt_reads(text)] == []


@pytest.mark.parametrize(
    "text", ["echo $x", "echo `x`", "a & b", "(a)", "a\\b", "if x; then y; fi", "export A=1", "a <<X\nX"]
)
def test_everything_else_is_left_to_shfmt(text: str) -> None:
    assert plain(text) is None

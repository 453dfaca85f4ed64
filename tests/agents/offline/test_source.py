"""Python text as pieces: nothing lost, f-strings taken apart."""

from __future__ import annotations

import sys

import pytest

from decurion.agents.offline.source import Unreadable, read_source


def since(minor: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(sys.version_info < (3, minor), reason=f"Python 3.{minor} reads it first")


def names(text: str) -> list[str]:
    return [piece.text for piece in read_source(text).pieces if piece.kind == "name"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('f"{a}"', ["a"]),
        ('f"a {b!r:>{c}} {{d}} {e:%Y-%m} f"', ["b", "c", "e"]),
        ("f'{a[\"k\"]}' f'{x != y}'", ["a", "x", "y"]),
        ('f"{a=}"', ["a"]),
        ("rf'{a}\\{b}'", ["a", "b"]),
        ("f'\\N{EM DASH} {a}'", ["a"]),
        ('f"""{\na\n}"""', ["a"]),
        ("f'{(lambda q: q)(1)}'", ["lambda", "q", "q"]),
        ("f'{ {1: a}[1] }'", ["a"]),
        ("'{a}'", []),
        ("f'{f\"{a}\"}'", ["a"]),
        ("f'{a:{b}{c}}'", ["a", "b", "c"]),
        ("F'{a}' fr'{b}' Rf'{c}'", ["a", "b", "c"]),
        ("f'''{\na\n!r}{b != r}{f\"{s!s}\"!a:>{a!r}}'''", ["a", "b", "r", "s", "a"]),
        pytest.param('f"{a["r"]!r:{b:{c}}}"', ["a", "b", "c"], marks=since(12)),
        pytest.param('t"{a!r} b {c}"', ["a", "c"], marks=since(14)),
    ],
)
def test_names_inside_f_strings_are_code(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x = f'ä{a!r:>{width}} {{no}}'  # café\r\ny = 1\r\n",
        "class A:\n\tdef f(self):\n\t\treturn f'''{\nself\n}'''\n",
        "é = 'ü'; ñ = f'{é}é'\n",
        "x = (1,\n  2)\f\ny = x",
    ],
)
def test_every_piece_stands_where_it_says(text: str) -> None:
    pieces = read_source(text).pieces
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)
    covered = {place for piece in pieces for place in range(piece.start, piece.end)}
    assert all(not text[place].strip("\ufeff \t\r\n\f") or place in covered for place in range(len(text)))


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = 1\ry = 2\n", "x = '\n", "\0", "if 1:\nx\n", "print 'x'\n"]
)
def test_what_python_cannot_read_is_named(text: str) -> None:
    with pytest.raises(Unreadable, match=r"\w"):
        read_source(text)

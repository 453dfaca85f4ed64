"""bash itself as the oracle: what it rejects, what its words come to. Only builtins and `cat` run, in an empty folder."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from decurion.hooks.shell import Glob, Hole, Places, Value, read_command
from decurion.hooks.shell.reader import read
from decurion.hooks.shell.shfmt import Unreadable
from tests.effort import effort

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")
CORPUS = Path(__file__).parents[2] / "data" / "guard_cases.jsonl"
PLACES = Places("/w", "/w", "/home/dev", "dev")
SETUP = (
    "x='ab c'; y=ABcd; e=; a=(a1 'b 2' c); n=file.tar.c; p=x; q='\\x41\\n'; s=.c; i=4; declare -A m=([k]=v); unset u; "
    "set -- p1 'p 2' p3; "
)
LITERAL = ("a", "rm", "-f", "x.y", "=", "/", ".", ",", ":", "%", "@", "+")
ESCAPED = tuple("\\" + char for char in "ab$\"'\\ *{~`;|&<>()#!")
SINGLE = (
    "''",
    "'a b'",
    "'$x'",
    "'\\'",
    "'{a,b}'",
    "$'\\x41'",
    "$'\\101\\n'",
    "$'a\\tb'",
    "$'\\u0042'",
    "$'\\''",
)
INSIDE = ("a", "b c", "\\$", '\\"', "\\\\", "$x", "${y}", "${e:-q}", "`echo z`", '$(echo "q r")', "'", "*", "~", "$((1+2))",
          "${a[@]}", "$*", "${n%.*}", "\\\n", "!")  # fmt: skip
SIMPLE = ("$x", "${x}", "$e", "$n", "$1", "$#", "$*", "$@", '"$@"', '"$*"', "${a[1]}", "${a[@]}", '"${a[@]}"', '"${a[*]}"',
          "$u", "${#x}", "${#a[@]}", "${#}")  # fmt: skip
OPERATORS = (
    *(
        "${x:-d e}",
        "${e:-d}",
        "${e-d}",
        "${u-q}",
        '${u:-"v w"}',
        "${x:+alt}",
        "${e:+alt}",
        "${e+alt}",
        "${u+alt}",
        "${u:=set}",
    ),
    *(
        "${n#*.}",
        "${n##*.}",
        "${n%.*}",
        "${n%%.*}",
        "${x/a/b}",
        "${n//./_}",
        "${n/#f/g}",
        "${n/%c/d}",
        "${n/x}",
        "${y:1}",
    ),
    *(
        "${y:1:2}",
        "${y: -2}",
        "${y:0:-1}",
        "${x^}",
        "${x^^}",
        "${y,}",
        "${y,,}",
        "${!p}",
        "${x@Q}",
        "${q@E}",
        "${x@U}",
    ),
    *(
        "${a[@]:1}",
        "${a[@]:0:2}",
        '"${a[@]/b/c}"',
        "${a[@]^^}",
        "${@:1:1}",
        "${@:2}",
        '"${@:1}"',
        '${y#"A"}',
        '${n%"$s"}',
    ),
    *(
        "${x:$((1))}",
        "${x:${#e}}",
        "${m[k]}",
        "${!m[@]}",
        "${n##*[.]}",
        "${n%[a-c]*}",
        "${y//[!A-C]/-}",
        "${x%%[[:space:]]*}",
    ),
    *(
        "$((i+2))",
        "$((7/2))",
        "$((-7%3))",
        "$((2**3))",
        "$((i++))",
        "$((i+=2))",
        "$((1?2:3))",
        "$((0x1f))",
        "$((010))",
    ),
)
BRACES = ("{a,b}", "{a,b}c", "{1..3}", "{a..c}", "{3..1}", "{1..5..2}", "{01..03}", "{a,{b,c}}", "{a}", "{a,}", "{,a}",
          "{$x,b}", '{"a b",c}', "{}", "{a,b", "{1..2}{a,b}", "{-1..1}")  # fmt: skip
OUTPUTS = ("$(echo hi)", "`echo hi`", "$(echo a b)", '"$(echo a b)"', '$(printf "a\\nb")', "$(echo $(echo n))", "$(echo -n z)",
           '$(echo -e "\\x41")', '$(printf "%03d" 7)', '$(printf "%b" "\\101")', '$(printf "%s-" a b)', "$(echo abc | cat)",
           '$(cat <<< "he re")', "$(true)", "$(echo; echo q)")  # fmt: skip
IFS = ("", "", "", "IFS=,; ", "IFS=:; ", "IFS=; ", "IFS=' ,'; ")


def _word(draw: random.Random) -> str:
    return "".join(_piece(draw) for _ in range(draw.randint(1, 3)))


def _piece(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.15:
        return '"' + "".join(draw.choices(INSIDE, k=draw.randint(0, 3))) + '"'
    tables = (LITERAL, ESCAPED, SINGLE, SIMPLE, OPERATORS, OPERATORS, OPERATORS, BRACES, OUTPUTS)
    return draw.choice(draw.choice(tables))


def _in_bash(texts: list[str], folder: Path) -> list[str | None]:
    """What bash prints for each text; None where it refuses it."""
    script = "".join(
        f"( eval {_quoted(text)} ) 2>/dev/null && printf '\\1' || printf '\\2'\n" for text in texts
    )
    (folder / "script").write_text(script, encoding="utf-8")
    empty = folder / "empty"
    empty.mkdir()
    done = subprocess.run(
        [BASH or "bash", "--norc", "--noprofile", "../script"], capture_output=True, check=False, cwd=empty,
        env={"HOME": "/home/dev", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    found: list[str | None] = []
    text = ""
    for char in done.stdout.decode("utf-8", "surrogateescape"):
        if char in "\1\2":
            found.append(text if char == "\1" else None)
            text = ""
        else:
            text += char
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _agrees(text: str, printed: str) -> bool:
    found = read_command(text, PLACES)
    shown = [
        event.argv[1:] for event in found.events if event.name == "printf" and event.words[:1] == ("<%s>",)
    ]
    return found.refusal is None and any(_could_print(words, printed) for words in shown)


def _could_print(words: tuple[Value, ...], printed: str) -> bool:
    parts = tuple(part for word in words for part in _printed(word))
    return Value(parts or ("<>",)).could_be(printed)


def _printed(word: Value) -> tuple[str | Glob | Hole, ...]:
    # An unknown word without quotes may be no word at all (`$u{1,2}` asks for `$u1`, which nobody has set).
    vanishes = word.is_opaque and all(hole.splits for hole in word.holes)
    return word.parts if vanishes else ("<", *word.parts, ">")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(effort(1, 8)))
def test_words_come_to_what_bash_makes_of_them(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    texts = [f"{SETUP}{draw.choice(IFS)}printf '<%s>' {_word(draw)} {_word(draw)}" for _ in range(250)]
    printed = _in_bash(texts, tmp_path)
    assert len(printed) == len(texts)
    assert sum(one is not None for one in printed) > 200
    differ = [
        (text, one)
        for text, one in zip(texts, printed, strict=True)
        if one is not None and not _agrees(text, one)
    ]
    assert differ == []


@pytest.mark.parametrize(
    "text",
    [
        "if true", "for", "( ", "{ a", "a | | b", "a && && b", "'x", '"x', "$(x", "`x", "case x in", "a ;; b", "fi", "}", ")",
        "x() {", "[[ a", "<", "a >", "a;;", "while x; do", "${x", "&& a", "| a", "function", "a=(1", "do x", "then",
    ],
)  # fmt: skip
def test_what_bash_rejects_is_refused(text: str) -> None:
    done = subprocess.run([BASH or "bash", "-n", "-c", text], capture_output=True, check=False)
    assert done.returncode, "bash accepts it after all"
    with pytest.raises(Unreadable):
        read(text)


def test_what_bash_accepts_in_the_corpus_is_read() -> None:
    texts = [json.loads(line)["cmd"] for line in CORPUS.read_text(encoding="utf-8").splitlines()][::6]
    script = "".join(f"{BASH} -n -c {_quoted(text)} 2>/dev/null && echo 1 || echo 0\n" for text in texts)
    done = subprocess.run([BASH or "bash", "-c", script], capture_output=True, check=True, text=True)
    accepted = [text for text, line in zip(texts, done.stdout.split(), strict=True) if line == "1"]
    assert len(accepted) > 140
    for text in accepted:
        read(text)

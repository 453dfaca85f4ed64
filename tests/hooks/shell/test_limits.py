"""What cannot be judged is refused: bytes, size, depth, work, time. Nothing degrades and nothing raises."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decurion.hooks import replace
from decurion.hooks.shell import Places, Reading, read_command
from tests.effort import effort

PLACES = Places("/home/dev/app", "/home/dev/app", "/home/dev", "dev")
GUARDED = frozenset({"rm", "sudo", "git"})
PIECES = (
    *(
        "rm",
        " -rf ",
        "/",
        "'",
        '"',
        "\\",
        "\n",
        "$(",
        ")",
        "(",
        "{",
        "}",
        "`",
        "${x",
        "$x",
        "<<X\n",
        "X\n",
        "|",
        "&",
        ";",
    ),
    *(
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        "[[ ",
        " ]]",
        "((",
        "))",
        "*",
        "?",
        "[",
        "~",
    ),
    *(
        "eval ",
        "bash -c ",
        "xargs ",
        "python3 -c ",
        "find . -exec ",
        "f() ",
        "f ",
        "trap ",
        "cd ",
        "\x00",
        "\udc80",
        "é",
        "\r",
    ),
    *(
        "sed 's/x/",
        "awk '",
        "make -f -",
        "git -c alias.x=!",
        "read x",
        "a=(",
        "declare -n x=x",
        "$((",
        "{1..9}",
        "@(a|b)",
    ),
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rm \0 x", "NUL"),
        ("rm \udcff x", "UTF-8"),
        ("ls\rrm -rf /", "carriage return"),
        ("echo " + "a" * 270_000, "256 KiB"),
        ("é" * 140_000, "256 KiB"),
        ("(" * 1_000_000, "256 KiB"),
        ("(" * 5_000, "nested too deeply"),
        ("$(" * 400 + ")" * 400, "nested too deeply"),
        ("echo {1..99}{1..99}{1..99}", "too many words"),
        ("rm 'x", "syntax"),
        ("bash -c 'if'", "cannot be read"),
        ("".join(f"for v{at} in a b c; do " for at in range(10)) + "ls; " + "done; " * 10, "turn too often"),
    ],
)
def test_is_refused_with_the_reason(text: str, why: str) -> None:
    began = time.process_time()
    found = read_command(text, PLACES, GUARDED)
    assert found.refusal is not None
    assert why in found.refusal
    assert time.process_time() - began < 1


def test_time_is_a_limit() -> None:
    ticks = count()
    text = "; ".join(f"echo {number}" for number in range(200))
    found = read_command(text, PLACES, seconds=3.0, clock=lambda: float(next(ticks)))
    assert found.refusal == "the command takes too long to be judged"


BIG = 100 * 1024
TOO_MUCH = {
    "commands": "rm -rf /\n" * (BIG // 9),
    "a chain": "true && " * (BIG // 8) + "true",
    "a pipe": "cat a" + " | cat" * (BIG // 6),
    "substitutions": "echo " + "$(echo x) " * (BIG // 10),
    "nested substitutions": "echo " + "$(echo " * (BIG // 8) + ")" * (BIG // 8),
    "expansions in quotes": 'echo "' + "a $x " * (BIG // 5) + '"',
    "loops": "for i in 1 2; do echo $i; done\n" * (BIG // 31),
    "arms": "case $x in\n" + "a) echo b;;\n" * (BIG // 12) + "esac",
    "functions": "\n".join(f"f{at}() {{ f{at + 1}; f{at + 2}; }}" for at in range(BIG // 32)) + "\nf0",
    "assignments": "x=$x.\n" * (BIG // 6),
    "code in a here-document": "bash <<'EOF'\n" + "echo a; ls b\n" * (BIG // 13) + "EOF",
    "source of another language": "python3 <<'EOF'\n" + "x = 1\n" * (BIG // 6) + "EOF",
    "a program in an argument": "node -e '" + "let x = 1;\n" * (BIG // 11) + "'",
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_a_long_text_that_does_much_is_refused_at_once(kind: str) -> None:
    began = time.process_time()
    assert read_command(TOO_MUCH[kind], PLACES, GUARDED).refusal is not None
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize(
    "text",
    [
        "cat > a.txt <<'EOF'\n" + "it is $5 (or `so`) | more\n" * (BIG // 26) + "EOF\nls",
        "git apply - <<-\\EOF\n" + "\t+ a = [1, 2]; b(c)\n" * (BIG // 21) + "\tEOF",
        "echo " + "a" * BIG + " | base64 -d > a.bin",
        "echo '" + '{"a": [1, 2]}, ' * (BIG // 15) + "' > a.json",
        'curl localhost -d "' + r"{\"a\": \"b c\", \"d\": 1}, " * (BIG // 31) + '"',
    ],
)
def test_a_long_text_that_is_only_carried_along_is_read_at_once(text: str) -> None:
    began = time.process_time()
    assert read_command(text, PLACES, GUARDED).refusal is None
    assert time.process_time() - began < 0.5


def test_a_file_of_the_project_too_long_to_follow_is_taken_as_unknown() -> None:
    def read_file(_path: str) -> str:
        return "echo a; ls b\n" * 5000

    places = replace(PLACES, read=read_file)
    assert read_command("bash configure", places, GUARDED).refusal is None


@pytest.mark.parametrize(
    "text",
    [
        "case " + "a" * 2000 + " in *a*a*a*a*a*b) ;; esac",
        "x=" + "a" * 5000 + "; echo ${x##*a*a*a*a*b} ${x//a*a*a*b/c}",
        "/bin/" + "*a" * 40 + " x",
        "make -f - <<< $'a=$(a)$(a)\\nx:\\n\\techo $(a)'",
    ],
)
def test_patterns_cannot_stall_the_reader(read: Callable[[str], Reading], text: str) -> None:
    # Processor time: how busy the machine is with other things says nothing about the reader.
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 2


def test_many_possible_values_are_taken_for_unknown_and_nothing_is_missed(
    read: Callable[[str], Reading],
) -> None:
    text = " ".join(f"${{v{number}:-x}}" for number in range(9)) + " ${w:-$(rm -rf /srv)}"
    found = read(f"echo {text}")
    assert found.refusal is None
    assert "rm -rf /srv" in {event.show() for event in found.events}


def test_endless_recursion_ends(read: Callable[[str], Reading]) -> None:
    for text in (
        "f() { f; }; f",
        "alias x=x\nx",
        "eval 'eval \"$0\"'",
        "x='$x'; eval $x",
        "declare -n a=b b=a; $a x",
    ):
        read(text)


@settings(max_examples=effort(120, 4000), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_text_breaks_the_reader_and_the_answer_is_always_the_same(text: str) -> None:
    first = read_command(text, PLACES, GUARDED)
    again = read_command(text, PLACES, GUARDED)
    assert (first.events, first.unknowns, first.refusal, first.fork_bomb) == (
        again.events, again.unknowns, again.refusal, again.fork_bomb,
    )  # fmt: skip
    assert first.refusal is None or "cannot be judged:" not in first.refusal


@settings(max_examples=effort(60, 2000))
@given(st.text(max_size=60))
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    found = read_command(text, PLACES, GUARDED)
    assert found.refusal is None or "cannot be judged:" not in found.refusal

"""A word's language: what literals, globs and holes may turn out to be."""

from __future__ import annotations

import pytest

from decurion.hooks.shell import Glob, Hole, Places, Value, literal
from decurion.hooks.shell.globs import pieces

UNKNOWN = Hole("$x", "x")


def _glob(text: str) -> Value:
    return Value(tuple(pieces(text)))


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("/bin/r?", "/bin/rm", True),
        ("/???/b?n/r[m]", "/usr/bin/rm", True),
        ("/???/b?n/r[m]", "/usr/sbin/rm", False),
        ("*", "a/b", False),
        ("**", "a/b", True),
        ("[!a]b", "cb", True),
        ("[!a]b", "ab", False),
        ("[[:digit:]]", "7", True),
        ("[a-c]x", "dx", False),
        ("[]a]", "]", True),
    ],
)
def test_globs_match_names(pattern: str, text: str, fits: bool) -> None:
    assert _glob(pattern).could_be(text) is fits


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("@(rm|ls)", "rm", True),
        ("?(x)", "", True),
        ("+(ab)", "abab", True),
        ("@(a|b*)", "bcd", True),
        ("@(a|b)", "c", False),
    ],
)
def test_extended_globs_match_names(pattern: str, text: str, fits: bool) -> None:
    assert Value((Glob(pattern),)).could_be(text) is fits


def test_a_hole_may_be_anything_also_nothing() -> None:
    word = Value(("r", UNKNOWN, "m"))
    assert word.could_be("rm")
    assert word.could_be("r/x m")
    assert not word.could_be("ls")
    assert (word.text, word.is_opaque, word.prefix, word.suffix) == (None, False, "r", "m")


def test_a_hole_can_be_bounded() -> None:
    assert not Value((Hole("a number", digits=True),)).could_be("x")
    assert not Value((Hole("$x", filled=True),)).could_be("")


def test_two_words_may_meet() -> None:
    assert _glob("/home/dev/.s?h/id_*").could_match(_glob("/home/*/.ssh/id_rsa"))
    assert not _glob("/home/dev/.s?h/id_*").could_match(_glob("/home/dev/.aws/*"))
    assert Value(("/srv/", UNKNOWN)).could_match(literal("/srv/data"))


def test_a_word_may_start_with() -> None:
    assert _glob("/s*").could_start("/srv")
    assert not _glob("/s*").could_start("/etc")
    assert Value((UNKNOWN, "/x")).could_start("/etc")


def test_a_word_shows_what_is_unknown() -> None:
    assert Value(("a", UNKNOWN, Glob("*"))).show() == "a<$x>*"


def test_the_base_name_is_what_stands_behind_the_last_slash() -> None:
    assert Value((UNKNOWN, "/bin/rm")).base() == literal("rm")
    assert Value(("/bin/", UNKNOWN)).base() == Value((UNKNOWN,))


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("x", "/w/x"),
        ("../x", "/x"),
        ("/a//b/../c/", "/a/c"),
        ("//a", "/a"),
        ("/proc/self/root/etc", "/etc"),
        ("/proc/1/cwd/x", "/w/x"),
    ],
)
def test_paths_are_made_absolute_as_text(path: str, whole: str) -> None:
    assert Places("/w", "/w", "/h").join("/w", path) == whole

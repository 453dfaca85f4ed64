"""Replacing text as a pure function: properties, and the advice that a failed edit gives."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decurion.agents.tools.edits import ENDING, replaced
from decurion.hooks import ToolError

LINES = st.lists(st.text(alphabet="ab \t\u00e9", max_size=4), min_size=1, max_size=6)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text of a few lines, each with an ending of its own."""
    lines = draw(LINES)
    return "".join(line + draw(ENDINGS) for line in lines[:-1]) + lines[-1]


def visible(text: str) -> str:
    return ENDING.sub("\n", text)


@given(texts(), st.integers(0, 30), st.integers(1, 12), st.text(alphabet="xy\n", max_size=6))
def test_only_the_named_part_changes(text: str, start: int, length: int, new: str) -> None:
    before, old, after = text[:start], text[start : start + length], text[start + length :]
    # Where CR and LF meet anew they become one ending; that is no matter of the edit.
    assume(old and not before.endswith("\r") and not after.startswith("\n"))
    try:
        result = replaced(text, old, new, everywhere=False).text
    except ToolError:
        return
    assert result.startswith(before)
    assert result.endswith(after)
    assert visible(result) == visible(before) + new + visible(after)


@given(texts(), st.text(alphabet="ab\n", min_size=1, max_size=4), st.text(alphabet="xy", min_size=1))
def test_replace_all_is_what_plain_replace_does_to_the_visible_text(text: str, old: str, new: str) -> None:
    try:
        result = replaced(text, old, new, everywhere=True)
    except ToolError:
        assert old not in visible(text)
        return
    assert visible(result.text) == visible(text).replace(old, new)
    assert all(result.text[start:end] == new for start, end in result.spans)


@given(texts(), st.sampled_from(["\n", "\r\n"]))
def test_the_endings_of_the_old_text_do_not_matter(text: str, ending: str) -> None:
    assume(text.strip())
    old = visible(text).replace("\n", ending)
    assert replaced(text, old, "new", everywhere=False).text == "new"


@given(texts(), st.integers(0, 5))
def test_lines_that_stay_keep_their_ending(text: str, at: int) -> None:
    """A line put between others, given with all lines around it, changes no byte of theirs."""
    lines = visible(text).split("\n")
    assume(text.strip() and at < len(lines))
    new = "\n".join([*lines[:at], "NEW", *lines[at:]])
    result = replaced(text, visible(text), new, everywhere=False).text
    before, _, after = result.partition("NEW")
    rest = ENDING.sub("", after, count=1)
    assert before + rest == text or visible(before + rest) == visible(text)
    assert text.startswith(before)


PYTHON = "def f(x):\n\treturn \u201cdone\u201d\n\n\ndef g(y):\n    return y + 1\n"


@pytest.mark.parametrize(
    ("old", "advice"),
    [
        ("    return \u201cdone\u201d", "only in white space"),
        ("def f(x):\n    return \u201cdone\u201d\n", "only in white space"),
        ('return "done"', "only in the kind of quotes"),
        ("DEF g(y):", "only in upper and lower case"),
        ("     1\tdef f(x):\n     2\t\treturn", "without the line numbers"),
        ("def g(z):\n    return y + 1", "The nearest place is this"),
        ("nothing of the kind", "Nothing like it"),
        ("\n\n\n\n\n", "was not found"),
    ],
)
def test_a_failed_edit_says_why(old: str, advice: str) -> None:
    with pytest.raises(ToolError, match="old_string was not found") as error:
        replaced(PYTHON, old, "x", everywhere=False)
    assert advice in str(error.value)


def test_the_nearest_place_is_shown_as_read_file_shows_it() -> None:
    with pytest.raises(ToolError) as error:
        replaced(PYTHON, "return y + 2", "x", everywhere=False)
    assert str(error.value).endswith(":\n     6\t    return y + 1")


@pytest.mark.parametrize("old", ["", "x"])
def test_an_empty_or_idle_edit_is_refused(old: str) -> None:
    with pytest.raises(ToolError, match=r"empty|same"):
        replaced("x", old, "x", everywhere=False)


def test_an_ambiguous_edit_names_the_lines() -> None:
    with pytest.raises(ToolError, match=r"lines 1, 3\).*replace_all"):
        replaced("a\nb\na\n", "a", "x", everywhere=False)

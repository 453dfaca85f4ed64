"""Which hooks concern which tools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.hooks import ConfigError
from decurion.hooks.matchers import ECOSYSTEM, from_globs, matches, our_name, spellings, their_name

OURS_AND_THEIRS = [(ours, theirs) for ours, names in ECOSYSTEM.items() for theirs in names]


@pytest.mark.parametrize("matcher", ["", "*", " * "])
def test_an_empty_matcher_or_a_star_means_every_tool(matcher: str) -> None:
    assert matches(matcher, "bash")
    assert matches(matcher, "mcp__db__query")


@pytest.mark.parametrize(("ours", "theirs"), OURS_AND_THEIRS)
def test_both_spellings_of_a_tool_match_each_other(ours: str, theirs: str) -> None:
    assert matches(theirs, ours)
    assert matches(ours, theirs)
    assert matches(theirs, theirs)
    assert our_name(theirs) == ours


@pytest.mark.parametrize(
    ("matcher", "tool", "wanted"),
    [
        ("Edit|Write", "edit_file", True),
        ("Edit|Write", "read_file", False),
        ("Edit, Write", "write_file", True),
        ("Edit , Write|Bash", "bash", True),
        ("Bash", "bash_extra", False),
        ("bash", "Bash", True),
        ("BASH", "bash", False),
        ("mcp__db__.*", "mcp__db__query", True),
        ("mcp__db__.*", "mcp__web__query", False),
        ("mcp__db", "mcp__db__query", False),
        ("Notebook.*", "NotebookEdit", True),
        ("ash$", "bash", True),
        ("^(Edit|Write)$", "write_file", True),
        ("my-tool", "my-tool", True),
    ],
)
def test_names_lists_and_patterns(matcher: str, tool: str, wanted: bool) -> None:
    assert matches(matcher, tool) is wanted


@pytest.mark.parametrize("matcher", ["(", "[a-", "*Bash", "a{2,1}"])
def test_a_matcher_that_cannot_be_read_is_an_error_not_a_gate_less(matcher: str) -> None:
    with pytest.raises(ConfigError, match="not a valid regular expression"):
        matches(matcher, "bash")


@pytest.mark.parametrize(
    ("globs", "tool", "wanted"),
    [
        ("count_*", "count_lines", True),
        ("count_*", "recount_lines", False),
        ("count_*", "count", False),
        ("count_*|bash", "bash", True),
        ("count_*, bash", "Bash", True),
        ("Bash", "bash", True),
        ("*", "anything", True),
        ("read_?ile", "read_file", True),
        ("*_file", "edit_file", True),
        ("*_file", "glob", False),
    ],
)
def test_python_hooks_use_shell_style_patterns(globs: str, tool: str, wanted: bool) -> None:
    assert matches(from_globs(globs), tool) is wanted


def test_the_name_for_hook_programs_is_the_ecosystems() -> None:
    assert [their_name(ours) for ours in ("bash", "edit_file", "task", "mine")] == [
        "Bash",
        "Edit",
        "Task",
        "mine",
    ]
    assert spellings("Agent") == ("Agent", "task", "Task")


@given(st.text("abzAZ09_-", min_size=1))
def test_an_exact_name_matches_itself_and_nothing_longer(name: str) -> None:
    assert matches(name, name)
    assert not matches(name, name + "x")

"""What a person or a definition writes of thinking and effort, and what the API is sent for it."""

from __future__ import annotations

from typing import Any

import pytest

from decurion.agents.thought import read_effort, read_thinking
from decurion.hooks import ConfigError


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        (None, None),
        ("", None),
        ("adaptive", {"type": "adaptive"}),
        ("between-tools", {"type": "between_tools"}),
        ("between_tools", {"type": "between_tools"}),
        ("off", {"type": "disabled"}),
        (False, {"type": "disabled"}),
        ("4_000", {"type": "enabled", "budget_tokens": 4000}),
        (4000, {"type": "enabled", "budget_tokens": 4000}),
    ],
)
def test_each_way_to_think_is_sent_as_the_api_writes_it(said: object, sent: Any) -> None:
    assert read_thinking(said, "here") == sent


@pytest.mark.parametrize("said", [100, "1e4", "on", True, 4000.0, ["off"], "40000"])
def test_anything_else_is_refused_with_what_there_is(said: object) -> None:
    with pytest.raises(ConfigError, match="between-tools"):
        read_thinking(said, "here")


def test_efforts_are_the_apis_or_none() -> None:
    assert [read_effort(said, "here") for said in (None, "", "xhigh")] == ["", "", "xhigh"]
    with pytest.raises(ConfigError, match="low, medium"):
        read_effort("huge", "here")

"""However the canary is spelled, wrapped or nested, it is among the events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from decurion.hooks.shell import Reading

from . import cases

KINDS = ("QUOTING", "NAMES", "VARIABLES", "OUTPUTS", "STRUCTURE", "CODE", "WRAPPERS", "INTERPRETERS")
ALL = [
    pytest.param(text, id=f"{kind.lower()}-{index}")
    for kind in KINDS
    for index, text in enumerate(getattr(cases, kind))
]


@pytest.mark.parametrize("text", ALL)
def test_the_canary_is_seen_in_every_spelling(read: Callable[[str], Reading], text: str) -> None:
    found = read(text)
    assert found.refusal is None
    assert any(event.show().startswith(cases.CANARY) for event in found.events)

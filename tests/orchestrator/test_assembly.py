"""What a session puts together from what it finds: the models that definitions name."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.orchestrator.assembly import find_definitions
from decurion.orchestrator.options import ModelOptions, SessionOptions


@pytest.mark.parametrize(
    ("chosen", "named", "sent"),
    [
        ("", "haiku", "local-small"),
        ("opus", "Sonnet", "claude-sonnet-5-5"),
        ("", "qwen3:8b", "qwen3:8b"),
        ("", "inherit", None),
        ("offline", "haiku", None),
    ],
)
def test_a_tier_in_a_definition_becomes_the_name_that_the_api_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, named: str, sent: str | None
) -> None:
    """`model: haiku` is what agent files of other products say; no API knows a model of that name."""
    monkeypatch.setenv("ANTHROPIC_DEFAULT_HAIKU_MODEL", "local-small")
    monkeypatch.delenv("ANTHROPIC_MODEL", raising=False)
    folder = tmp_path / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(f"---\nname: a\ndescription: d\nmodel: {named}\n---\nWork.\n")
    found = find_definitions(SessionOptions(workspace=tmp_path, model=ModelOptions(chosen))).found
    assert found["a"].model == sent

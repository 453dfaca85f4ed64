"""Skills: where they are found, what is refused, and that none leads out of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.agents.tools import TOOLS, ToolContext, find_skills, load_skill, tools_for
from decurion.hooks import ConfigError, ToolError
from decurion.hooks.front_matter import split_front_matter
from tests.agents.tools.kit import context, text

pytestmark = pytest.mark.anyio

HEAD = "---\nname: {name}\ndescription: When to use {name}\n---\n"


def put(folder: Path, name: str, body: str = "Do it so.\n") -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(HEAD.format(name=name) + body)
    return place


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    ctx = context(tmp_path)
    put(ctx.workspace / ".claude/skills", "review")
    put(ctx.workspace / ".agents/skills", "release")
    put(ctx.workspace / ".decurion/skills", "rename")
    put(tmp_path / "config/skills", "own")
    (ctx.workspace / ".claude/skills/review/list.txt").write_text("one\n")
    return context(tmp_path, skills=find_skills(ctx.workspace, tmp_path / "config").skills)


async def test_skills_of_project_and_person_are_found_and_told_to_the_model(ctx: ToolContext) -> None:
    assert sorted(skill.name for skill in ctx.skills) == ["own", "release", "rename", "review"]
    known = tools_for(ctx.skills)
    assert "- review: When to use review" in known["load_skill"].description
    assert sorted(known) == sorted(TOOLS)
    assert "load_skill" not in tools_for(())


async def test_a_skill_is_returned_without_its_head(ctx: ToolContext) -> None:
    loaded = await text(load_skill, ctx, name="review")
    assert loaded.endswith("\n\nDo it so.")
    assert "---" not in loaded
    assert await text(load_skill, ctx, skill="review", file="list.txt") == "one\n"


@pytest.mark.parametrize("file", ["../release/SKILL.md", "/etc/passwd", "link"])
async def test_a_file_of_a_skill_does_not_lead_out(ctx: ToolContext, file: str) -> None:
    (ctx.workspace / ".claude/skills/review/link").symlink_to("/etc/passwd")
    with pytest.raises(ToolError, match="leads out of the folder of the skill"):
        await text(load_skill, ctx, name="review", file=file)


async def test_an_unknown_skill_names_the_known_ones(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="no skill 'nope'; known: own, release, rename, review"):
        await text(load_skill, ctx, name="nope")


def test_a_projects_skill_hides_the_persons(tmp_path: Path) -> None:
    put(tmp_path / "proj/.claude/skills", "same", "The project's.\n")
    put(tmp_path / "config/skills", "same", "Mine.\n")
    found = find_skills(tmp_path / "proj", tmp_path / "config")
    assert [skill.body for skill in found.skills] == ["The project's."]
    assert "already found elsewhere" in found.refused[0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("---\nname: x\n", "never closed"),
        ("---\nname: [x\n---\nbody\n", "SKILL.md:2: the head is not YAML"),
        ("---\n- a\n---\nbody\n", "must be 'key: value' lines"),
        ("---\nname: a b\ndescription: c\n---\n", "must be letters"),
        ("---\nname: x\n---\n", "needs a 'description'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_aloud(tmp_path: Path, content: str, told: str) -> None:
    place = put(tmp_path / ".claude/skills", "x")
    (place / "SKILL.md").write_text(content)
    found = find_skills(tmp_path)
    assert found.skills == ()
    assert told in found.refused[0]
    assert "SKILL.md" in found.refused[0]


def test_a_checkout_cannot_pass_off_a_file_of_the_person(tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text(HEAD.format(name="x") + "the secret\n")
    place = tmp_path / "proj/.claude/skills/x"
    place.mkdir(parents=True)
    (place / "SKILL.md").symlink_to(tmp_path / "private.md")
    found = find_skills(tmp_path / "proj")
    assert found.skills == ()
    assert "leads out" in found.refused[0]


def test_the_first_paragraph_describes_a_skill_without_a_head(tmp_path: Path) -> None:
    place = put(tmp_path / ".claude/skills", "plain")
    (place / "SKILL.md").write_text("Use it for\nplain things.\n\nMore.\n")
    assert find_skills(tmp_path).skills[0].description == "Use it for plain things."


def test_a_file_without_a_head_has_no_fields() -> None:
    assert split_front_matter("just text") == ({}, "just text")
    assert split_front_matter("---\n---\nbody") == ({}, "body")
    with pytest.raises(ConfigError, match=r"^agent\.md:1: "):
        split_front_matter("---\nname: x", "agent.md")

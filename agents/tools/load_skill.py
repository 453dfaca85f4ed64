"""The tool that reads a skill's instructions, or one of the files beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from anyio import to_thread

from decurion.hooks import ToolError

from .containment import inside
from .files import read_bytes
from .skills import Skill, listing
from .tool import Tool, ToolContext, markdown, tool


@tool(read_only=True, description=markdown("load_skill"))
async def load_skill(
    ctx: ToolContext,
    name: Annotated[str, "The skill's name"],
    file: Annotated[str, "A file of the skill's folder that its instructions mention"] = "",
) -> str:
    """Return a skill's instructions with the place of its folder, or the text of one of its files."""
    skill = next((known for known in ctx.skills if known.name == name), None)
    if skill is None:
        known = ", ".join(sorted(known.name for known in ctx.skills)) or "none"
        raise ToolError(f"there is no skill {name!r}; known: {known}")
    if file:
        return await to_thread.run_sync(_read, skill, file, ctx.limits.output_chars)
    return f"Skill {skill.name}. Its files are read with load_skill's argument file.\n\n{skill.body.strip()}"


def _read(skill: Skill, file: str, limit: int) -> str:
    try:
        place = inside(file, skill.folder)
    except ToolError:
        raise ToolError(f"{file!r} leads out of the folder of the skill {skill.name}") from None
    return read_bytes(place, limit).decode("utf-8", "replace") or "(the file is empty)"


def for_skills(skills: Sequence[Skill]) -> Tool:
    """Return the tool with the skills there are in its description."""
    return replace(load_skill, description=f"{load_skill.description}\n\nSkills:\n{listing(skills)}")

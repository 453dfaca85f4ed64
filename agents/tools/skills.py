"""Skills: folders with a `SKILL.md` that an agent reads when the work calls for it.

The format is Agent Skills' (`name` and `description` in a YAML head, instructions below, other files beside it).
A skill's text is data for the model; nothing in it is run by loading it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decurion.hooks import ConfigError
from decurion.hooks.front_matter import split_front_matter
from decurion.hooks.regular import read_regular

PROJECT_FOLDERS = (".decurion/skills", ".claude/skills", ".agents/skills")
"""Where a project keeps its skills; of two with one name the earlier folder's counts."""
SKILL_FILE = "SKILL.md"
MAX_SKILL_BYTES = 1_000_000
MAX_DESCRIPTION_CHARS = 1_024
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: its name, when to use it, its instructions, and the resolved folder with its other files."""

    name: str
    description: str
    body: str
    folder: Path


@dataclass(frozen=True, slots=True)
class FoundSkills:
    """What a search for skills gave: the usable ones, and for each refused file the reason in one line."""

    skills: tuple[Skill, ...] = ()
    refused: tuple[str, ...] = ()


def find_skills(workspace: Path, config_folder: Path | None = None) -> FoundSkills:
    """Find the skills of a project and of the person; a project's skill hides the person's of the same name.

    Never raises for what a folder holds: a file that cannot be used is listed in `refused`.
    """
    root = workspace.resolve()
    found: dict[str, Skill] = {}
    refused: list[str] = []
    places: list[tuple[Path, Path | None]] = [(root / folder, root) for folder in PROJECT_FOLDERS]
    if config_folder is not None:
        places.append((config_folder / "skills", None))
    for place, limit in places:
        for folder in _subfolders(place):
            try:
                skill = _read_skill(folder, limit)
            except (ConfigError, OSError, UnicodeError) as error:
                refused.append(_reason(error, folder))
                continue
            if found.setdefault(skill.name, skill) is not skill:
                refused.append(f"{folder / SKILL_FILE}: the skill {skill.name!r} was already found elsewhere")
    return FoundSkills(tuple(found.values()), tuple(refused))


def _subfolders(place: Path) -> Iterator[Path]:
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return
    yield from (entry for entry in entries if (entry / SKILL_FILE).is_file())


def _reason(error: Exception, folder: Path) -> str:
    return str(error) if isinstance(error, ConfigError) else f"{folder / SKILL_FILE}: {error}"


def _read_skill(folder: Path, limit: Path | None) -> Skill:
    path = folder / SKILL_FILE
    home = folder.resolve()
    # A checkout must not pass off a file of the person's as its skill by a link.
    allowed = limit or home
    if not path.resolve().is_relative_to(allowed):
        raise ConfigError("is a link that leads out of its place", str(path))
    text = read_regular(path, MAX_SKILL_BYTES).decode("utf-8-sig")
    fields, body = split_front_matter(text, str(path))
    name = _text(fields, "name") or folder.name
    if not NAME.fullmatch(name):
        raise ConfigError(f"the name {name!r} must be letters, digits, '.', '_' or '-'", str(path))
    description = _text(fields, "description") or body.strip().partition("\n\n")[0]
    if not description.strip():
        raise ConfigError("needs a 'description' that tells when to use it", str(path))
    return Skill(name, " ".join(description.split())[:MAX_DESCRIPTION_CHARS], body, home)


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return value.strip() if isinstance(value, str) else ""


def listing(skills: Sequence[Skill]) -> str:
    """Return one line a skill, for the description of `load_skill`."""
    return "\n".join(f"- {skill.name}: {skill.description}" for skill in skills)

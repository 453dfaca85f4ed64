"""Agent definitions: Markdown files with YAML front matter, found in the places people already use.

Format and field names follow Claude Code's agent files; both `maxTurns` and `max_turns` are read, unknown keys
are kept, and a file that cannot be used is refused aloud with the reason instead of being skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from decurion.hooks import ConfigError
from decurion.hooks.files import DEFINITION_FOLDERS, claude_dir, config_dir
from decurion.hooks.front_matter import split_front_matter
from decurion.hooks.matchers import our_name
from decurion.hooks.regular import read_regular

from .thought import read_effort, read_thinking
from .tools import TOOLS

MAX_TURNS = 30
"""No subagent makes more model calls than this, whatever its definition says."""

SUBAGENT_TOOLS = ("bash", "read_file", "write_file", "edit_file", "glob", "grep")
"""The most a subagent gets without asking. Any other tool only by name; `task`, which is none of `TOOLS`, never."""

READ_ONLY_TOOLS = ("read_file", "glob", "grep")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SIZE_LIMIT = 1 << 20
_KNOWN = {
    "name", "description", "tools", "disallowedTools", "disallowed_tools", "model", "maxTurns", "max_turns",
    "isolation", "permissionMode", "permission_mode", "skills", "hooks", "effort", "thinking",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """What an agent is: its prompt, its tools, its limits. `extra` keeps the keys this program does not know."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] = SUBAGENT_TOOLS
    model: str | None = None
    max_turns: int = MAX_TURNS
    isolation: str = "none"
    effort: str = ""
    """How hard its model works; empty: as the session's. `thinking`, as on the wire, likewise."""
    thinking: Mapping[str, Any] | None = None
    hooks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    skills: tuple[str, ...] = ()
    source: str = "built in"
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Refusal:
    """A definition file that cannot be used, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All definitions found, nearest place first, and what was refused or shadowed."""

    found: Mapping[str, AgentDefinition]
    refused: tuple[Refusal, ...] = ()
    shadowed: tuple[AgentDefinition, ...] = ()

    def subagents(self) -> tuple[AgentDefinition, ...]:
        """Every definition that `task` may name."""
        return tuple(d for name, d in sorted(self.found.items()) if name != "lead")


def own_folders() -> tuple[Path, ...]:
    """Give where the person keeps definitions, strongest first; none need exist."""
    return config_dir() / "agents", claude_dir() / "agents"


def load_catalogue(
    workspace: Path,
    *,
    user_folders: Iterable[Path] = (),
    given: str | None = None,
    more_tools: Iterable[str] = (),
) -> Catalogue:
    """Read definitions: those given as JSON, then the project's, the user's, and the ones that ship.

    Args:
        workspace: the project's folder.
        user_folders: where the person keeps definitions: `own_folders()`.
        given: definitions as JSON, by name.
        more_tools: the names of tools beside those that ship, which definitions may list too.

    Raises:
        ConfigError: if `given` is not a JSON object of definitions.
    """
    refused: list[Refusal] = []
    tools = frozenset((*TOOLS, *more_tools)) - {"task"}
    ranked = list(_from_json(given, tools)) if given else []
    for folder in DEFINITION_FOLDERS:
        ranked += _from_folder(workspace / folder, refused, tools, may_be_lead=False)
    for folder in user_folders:
        ranked += _from_folder(folder, refused, tools, may_be_lead=True)
    ranked += _shipped()
    found: dict[str, AgentDefinition] = {}
    shadowed: list[AgentDefinition] = []
    for definition in ranked:
        if definition.name in found:
            shadowed.append(definition)
        else:
            found[definition.name] = definition
    return Catalogue(found, tuple(refused), tuple(shadowed))


def parse_definition(text: str, source: str, tools: Collection[str] = TOOLS) -> AgentDefinition:
    """Read one Markdown definition; `tools` are those it may list.

    Raises:
        ConfigError: naming the file, the line where one is known, and the remedy.
    """
    fields, body = split_front_matter(text, source)
    if not fields:
        raise ConfigError("it must begin with a line `---`, then `name:` and `description:`", source, 1)
    return _build(fields, body.strip(), source, tools)


def _build(fields: Mapping[str, Any], prompt: str, source: str, known: Collection[str]) -> AgentDefinition:
    name = fields.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError("`name` must be letters, digits, `-` and `_`, such as `reviewer`", source)
    description = fields.get("description")
    if not isinstance(description, str) or not description.strip():
        raise ConfigError("`description` is missing: one line that says when to use this agent", source)
    tools, notes = _tools(fields, source, known)
    turns = _turns(fields.get("maxTurns", fields.get("max_turns", MAX_TURNS)), source)
    isolation = fields.get("isolation") or "none"
    if isolation not in ("none", "worktree"):
        raise ConfigError(f"`isolation` is `none` or `worktree`, not {isolation!r}", source)
    hooks = plain_object(fields.get("hooks") or {})
    if hooks is None:
        raise ConfigError("`hooks` must map event names to lists", source)
    model = fields.get("model")
    return AgentDefinition(
        name=name,
        description=" ".join(description.split()),
        prompt=prompt or description,
        tools=tools,
        model=None if model in (None, "inherit") else str(model),
        max_turns=turns,
        isolation=isolation,
        effort=read_effort(fields.get("effort"), source),
        thinking=read_thinking(fields.get("thinking"), source),
        hooks=hooks,
        skills=_names(fields.get("skills"), "skills", source) or (),
        source=source,
        notes=notes,
        extra={key: value for key, value in fields.items() if key not in _KNOWN},
    )


def _tools(
    fields: Mapping[str, Any], source: str, known: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    asked = _names(fields.get("tools"), "tools", source)
    denied = _names(fields.get("disallowedTools", fields.get("disallowed_tools")), "disallowedTools", source)
    wanted = SUBAGENT_TOOLS if asked is None or "*" in asked else tuple(our_name(n) for n in asked)
    if fields.get("permissionMode", fields.get("permission_mode")) == "plan":
        wanted = tuple(name for name in wanted if name in READ_ONLY_TOOLS)
    without = {our_name(name) for name in denied or ()}
    kept = tuple(dict.fromkeys(n for n in wanted if n in known and n not in without))
    dropped = [name for name in wanted if name not in known]
    notes = [
        "a subagent never gets `task`" if name == "task" else f"there is no tool `{name}` here"
        for name in dropped
    ]
    notes += [
        f"`{text}` gives all of `{name}`: narrow it with a rule that has `agents = [{fields['name']!r}]`"
        for text, name in _narrowed(fields.get("tools"))
        if name in kept
    ]
    return kept, tuple(notes)


def _narrowed(value: object) -> list[tuple[str, str]]:
    """Give the listed tools that stand with a pattern, such as `Bash(git:*)`, and our names of them."""
    items = value.split(",") if isinstance(value, str) else cast("list[Any]", value or [])
    texts = [str(item).strip() for item in items if "(" in str(item)]
    return [(text, our_name(text.partition("(")[0])) for text in texts]


def _turns(value: object, source: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"`maxTurns` must be a whole number from 1 to {MAX_TURNS}, not {value!r}", source)
    return min(value, MAX_TURNS)


def _names(value: object, key: str, source: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    items = cast("list[Any]", value.split(",") if isinstance(value, str) else value)
    if not isinstance(value, (str, list)) or not all(isinstance(item, str) for item in items):
        raise ConfigError(f"`{key}` must be a comma list or a YAML list of names", source)
    # `Bash(git *)` narrows a tool by permission; the tool is what is listed here.
    return tuple(item.strip().partition("(")[0] for item in items if item.strip())


def _from_folder(
    folder: Path, refused: list[Refusal], tools: Collection[str], *, may_be_lead: bool
) -> list[AgentDefinition]:
    if not folder.is_dir():
        return []
    found: list[AgentDefinition] = []
    for path in sorted(folder.rglob("*.md")):
        try:
            definition = parse_definition(_read(path), str(path), tools)
        except ConfigError as error:
            place = f" (line {error.line})" if error.line else ""
            refused.append(Refusal(str(path), f"{error.message}{place}"))
            continue
        if definition.name == "lead" and not may_be_lead:
            refused.append(Refusal(str(path), "the lead's own prompt can only be set in your user folder"))
        else:
            found.append(definition)
    return found


def _read(path: Path) -> str:
    try:
        return read_regular(path, _SIZE_LIMIT).decode("utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or "it cannot be read", str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("the file is not UTF-8 text", str(path)) from None


def _from_json(text: str, tools: Collection[str]) -> list[AgentDefinition]:
    source = "--agents"
    try:
        data: object = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"not valid JSON: {error}", source) from None
    given = {name: plain_object(fields) for name, fields in (plain_object(data) or {}).items()}
    if not given or None in given.values():
        raise ConfigError(
            'expected an object such as {"reader": {"description": "…", "prompt": "…"}}', source
        )
    return [_from_fields(name, fields or {}, source, tools) for name, fields in given.items()]


def _from_fields(
    name: str, fields: Mapping[str, Any], source: str, tools: Collection[str]
) -> AgentDefinition:
    rest = {key: value for key, value in fields.items() if key != "prompt"}
    return _build({**rest, "name": name}, str(fields.get("prompt", "")), source, tools)


def plain_object(value: object) -> dict[str, Any] | None:
    """Give a parsed JSON or YAML mapping with its keys as text, or None where the value is something else."""
    if not isinstance(value, dict):
        return None
    return {str(key): inner for key, inner in cast("dict[Any, Any]", value).items()}


@cache
def _shipped() -> tuple[AgentDefinition, ...]:
    folder = files("decurion.agents") / "definitions"
    items = sorted(folder.iterdir(), key=lambda item: item.name)
    texts = [item.read_text(encoding="utf-8") for item in items if item.name.endswith(".md")]
    return tuple(replace(parse_definition(text, "built in"), source="built in") for text in texts)

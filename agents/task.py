"""The `task` tool: how the lead hands a piece of work to a subagent, and what the lead's model reads of it.

Of the arguments models really send, `prompt` is taken as the task too; where both stand, `description` is its title.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from decurion.hooks import ToolError

from .catalogue import Catalogue
from .result import SUMMARY_LIMIT, SubagentResult
from .tools import Output, Tool, ToolContext

_TITLE_CHARS = 60
_ELSEWHERE = {"general-purpose": "general", "explore": "explorer", "code-reviewer": "reviewer"}


@dataclass(frozen=True, slots=True)
class Order:
    """One piece of work as the lead gave it out.

    `paths` are glob patterns of the files it may write (claims); `depends_on` names the `label`s of orders of the
    same reply that must be done first; `isolation` is `worktree` or `none`, or empty for the definition's own.
    """

    prompt: str
    agent_type: str = "general"
    title: str = ""
    label: str = ""
    isolation: str = ""
    paths: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


Spawn = Callable[[ToolContext, Order], Awaitable[SubagentResult]]
"""Runs one order to its result; never raises for anything the child did."""


def task_tool(catalogue: Catalogue, spawn: Spawn) -> Tool:
    """Make the `task` tool for one lead."""

    async def run(context: ToolContext, args: Mapping[str, Any]) -> Output:
        result = await spawn(context, _order(args, catalogue))
        where = _kept_whole(context, result) if len(result.summary) > SUMMARY_LIMIT else ""
        # What an isolated one changed is not in this folder, so nobody may take it for the lead's own.
        changed = () if result.branch else result.files_changed
        meta = {
            "agent_id": result.agent_id,
            "status": result.status,
            "files_changed": [change.path for change in changed],
        }
        return Output(result.as_text(where), meta, is_error=result.status in ("error", "cancelled"))

    return Tool(
        name="task",
        description=_description(catalogue),
        input_schema=_schema(catalogue),
        run=run,
        normalise=lambda args: _normalised(args, catalogue),
        example={
            "description": "In src/app/config.py rename `load` to `read_config` … Report what changed.",
            "subagent_type": "refactorer",
        },
    )


def _kept_whole(context: ToolContext, result: SubagentResult) -> str:
    """Put a report that is too long to hand over where the lead's `read_file` reaches it; give the path."""
    path = context.scratch / f"{result.agent_id}.md"
    context.scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(result.summary, encoding="utf-8", errors="backslashreplace")
    return str(path)


def _description(catalogue: Catalogue) -> str:
    text = files("decurion.agents").joinpath("task.md").read_text(encoding="utf-8").strip()
    listed = "\n".join(f"- `{d.name}` ({', '.join(d.tools)}): {d.description}" for d in catalogue.subagents())
    return f"{text}\n\n{listed}"


def _schema(catalogue: Catalogue) -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "description": {"type": "string", "minLength": 1, "description": "The whole task, for someone who knows nothing else."},
            "subagent_type": {"type": "string", "enum": [d.name for d in catalogue.subagents()], "description": "Default: general."},
            "title": {"type": "string", "description": "A few words for the person who watches."},
            "label": {"type": "string", "description": "A name that other tasks of the same reply can depend on."},
            "depends_on": {**names, "description": "Labels of tasks of this reply that must be done first."},
            "paths": {**names, "description": "Glob patterns of the files this task may write. Overlapping tasks run one after the other."},
            "isolation": {"type": "string", "enum": ["none", "worktree"], "description": "`worktree`: work in an own checkout, merged afterwards."},
        },
        "required": ["description"],
        "additionalProperties": False,
    }  # fmt: skip


def _normalised(args: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Put the ecosystem's spelling into ours; keys of other products that mean nothing here are dropped."""
    known = {key: value for key, value in args.items() if key not in ("model", "run_in_background", "name")}
    if isinstance(kind := known.get("subagent_type"), str):
        known["subagent_type"] = _known_type(kind, catalogue)
    for key in ("paths", "depends_on"):
        if isinstance(one := known.get(key), str):
            known[key] = [one]
    prompt = known.pop("prompt", None)
    if prompt is None:
        return known
    title = known.pop("description", None)
    return {**({"title": title} if isinstance(title, str) and title else {}), **known, "description": prompt}


def _known_type(name: str, catalogue: Catalogue) -> str:
    """Give the type that is meant: other products' names and other letter cases where nothing bears them here."""
    if name in catalogue.found:
        return name
    plain = name.strip().casefold()
    plain = _ELSEWHERE.get(plain, plain)
    return next((known for known in catalogue.found if known.casefold() == plain), name)


def _order(args: Mapping[str, Any], catalogue: Catalogue) -> Order:
    prompt = str(args["description"])
    if not prompt.strip():
        raise ToolError("task: `description` is blank; say what is to be done")
    agent_type = args.get("subagent_type") or ("general" if "general" in catalogue.found else "")
    return Order(
        prompt=prompt,
        agent_type=agent_type or catalogue.subagents()[0].name,
        title=args.get("title") or short_title(prompt),
        label=args.get("label") or "",
        isolation=args.get("isolation") or "",
        paths=tuple(args.get("paths") or ()),
        depends_on=tuple(args.get("depends_on") or ()),
    )


def short_title(prompt: str) -> str:
    """Give the first line of a task, cut to a few words."""
    line = " ".join(prompt.strip().partition("\n")[0].split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"

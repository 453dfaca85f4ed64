"""`decurion agents`: which definitions were found, from where, which were refused or shadowed and why."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from decurion.agents.catalogue import AgentDefinition, Catalogue, load_catalogue, own_folders
from decurion.hooks.counts import counted

from ..given import in_folder
from ..screen import on_a_line

LEADS_OWN = ("todo_write", "task")
"""What a lead has beside what its definition lists."""


@click.command()
@in_folder("The folder to look in.")
@click.option(
    "--agents",
    "agents_json",
    default="",
    metavar="JSON",
    help="Further definitions as JSON, as `run` takes them.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(folder: Path, agents_json: str, *, as_json: bool) -> int:
    """List the agent definitions in reach of a folder, and those refused and why."""
    found = load_catalogue(
        folder,
        user_folders=own_folders(),
        given=agents_json or None,
    )
    click.echo(orjson.dumps(_plain(found), option=orjson.OPT_INDENT_2) if as_json else _told(found))
    return 1 if found.refused else 0


def _told(found: Catalogue) -> str:
    lines: list[str] = []
    for definition in _in_order(found):
        lines.append(f"{click.style(definition.name, bold=True)}  ({definition.source})")
        lines.append(f"  {on_a_line(definition.description)}")
        lines.append(f"  {_limits(definition)}")
        lines += [f"  note: {on_a_line(note)}" for note in definition.notes]
    lines += [f"shadowed: {one.name} from {on_a_line(one.source)}" for one in found.shadowed]
    lines += [
        click.style(f"refused: {on_a_line(f'{one.path}: {one.reason}')}", fg="red") for one in found.refused
    ]
    return "\n".join(lines)


def _in_order(found: Catalogue) -> list[AgentDefinition]:
    """Give the lead first, then the others by name."""
    return [found.found["lead"], *found.subagents()]


def _limits(definition: AgentDefinition) -> str:
    if definition.name == "lead":
        return f"{', '.join((*definition.tools, *LEADS_OWN))}; no cap but `--max-turns`"
    isolated = ", own worktree" if definition.isolation == "worktree" else ""
    model = f", model {definition.model}" if definition.model else ""
    return f"{', '.join(definition.tools) or 'no tools'}; {counted(definition.max_turns, 'turn')}{model}{isolated}"


def _plain(found: Catalogue) -> dict[str, object]:
    return {
        "agents": [
            {
                "name": one.name,
                "description": one.description,
                "tools": [*one.tools, *(LEADS_OWN if one.name == "lead" else ())],
                "model": one.model,
                "max_turns": None if one.name == "lead" else one.max_turns,
                "isolation": one.isolation,
                "source": one.source,
                "notes": one.notes,
            }
            for one in _in_order(found)
        ],
        "shadowed": [{"name": one.name, "source": one.source} for one in found.shadowed],
        "refused": [{"path": one.path, "reason": one.reason} for one in found.refused],
    }

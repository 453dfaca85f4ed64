"""Everything an agent can do with its hands. A new tool: one file, its Markdown beside it, one line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .bash import bash
from .edit_file import edit_file
from .glob import glob
from .grep import grep
from .load_skill import for_skills, load_skill
from .read_file import read_file
from .skills import FoundSkills, Skill, find_skills
from .todo_list import Reminder, TodoItem, TodoStore
from .todo_write import todo_write
from .tool import Limits, Output, Tool, ToolContext, output_of, prepare, tool
from .write_file import write_file

TOOLS: Mapping[str, Tool] = {
    known.name: known
    for known in (
        bash,
        read_file,
        write_file,
        edit_file,
        glob,
        grep,
        load_skill,
        todo_write,
    )
}  # fmt: skip


def tools_for(skills: Sequence[Skill]) -> Mapping[str, Tool]:
    """Return all tools; `load_skill` tells of the skills there are, and is absent where there are none."""
    known = {name: known for name, known in TOOLS.items() if known is not load_skill}
    return known | ({load_skill.name: for_skills(skills)} if skills else {})


__all__ = (
    "TOOLS",
    "FoundSkills",
    "Limits",
    "Output",
    "Reminder",
    "Skill",
    "TodoItem",
    "TodoStore",
    "Tool",
    "ToolContext",
    "bash",
    "edit_file",
    "find_skills",
    "glob",
    "grep",
    "load_skill",
    "output_of",
    "prepare",
    "read_file",
    "todo_write",
    "tool",
    "tools_for",
    "write_file",
)

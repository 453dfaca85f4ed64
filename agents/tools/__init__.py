"""Everything an agent can do with its hands. A new tool: one file, its Markdown beside it, one line here."""

from __future__ import annotations

from collections.abc import Mapping

from .front_matter import split_front_matter
from .skills import FoundSkills, Skill, find_skills
from .todo_list import Reminder, TodoItem, TodoStore
from .todo_write import todo_write
from .tool import Limits, Output, Tool, ToolContext, output_of, prepare, tool, validate

TOOLS: Mapping[str, Tool] = {
    known.name: known
    for known in (
        todo_write,
    )
}  # fmt: skip

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
    "find_skills",
    "output_of",
    "prepare",
    "split_front_matter",
    "todo_write",
    "tool",
    "validate",
)

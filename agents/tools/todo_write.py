"""The tool by which an agent keeps its plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from .todo_list import MAX_ITEMS, STATUSES, read_items
from .tool import Args, Output, ToolContext, markdown, tool

ITEM_SCHEMA: dict[str, Any] = {
    "maxItems": MAX_ITEMS,
    "items": {
        "type": "object",
        "properties": {
            "content": {"type": "string", "description": "What is to be done, as an order", "minLength": 1},
            "status": {"enum": list(STATUSES)},
            "activeForm": {"type": "string", "description": "The same as something under way"},
            "id": {"type": "string"},
        },
        "required": ["content", "status"],
    },
}


def _canonical(args: Args) -> Args:
    """Bring whatever was sent into the schema's form, so that hooks and the log see a plain list."""
    items = read_items(args)
    return {
        "todos": [
            {"content": item.content, "status": item.status, "id": item.id}
            | ({"activeForm": item.active_form} if item.active_form else {})
            for item in items
        ]
    }


@tool(description=markdown("todo_write"), normalise=_canonical)
async def todo_write(
    ctx: ToolContext, todos: Annotated[list[dict[str, Any]], "The whole list, in order", ITEM_SCHEMA]
) -> Output:
    """Replace the list; the result is the list as stored."""
    items = read_items({"todos": todos})
    ctx.todo.replace(items)
    return Output(ctx.todo.render(), {"todos": [asdict(item) for item in items]})

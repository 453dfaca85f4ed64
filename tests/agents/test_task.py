"""What a model may write in a `task` call, and how it is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decurion.agents.catalogue import load_catalogue
from decurion.agents.result import SubagentResult
from decurion.agents.task import Order, task_tool
from decurion.agents.tools import ToolContext, output_of, prepare
from decurion.hooks import RunRef, ToolError

pytestmark = pytest.mark.anyio


async def ordered(args: dict[str, Any], workspace: Path) -> Order:
    """Give the order that a call comes down to."""
    orders: list[Order] = []

    async def spawn(_context: ToolContext, order: Order) -> SubagentResult:
        orders.append(order)
        return SubagentResult("a", order.agent_type, "completed", "done")

    tool = task_tool(load_catalogue(workspace), spawn)
    context = ToolContext(RunRef("s", "lead", "lead"), workspace, workspace)
    output = output_of(await tool.run(context, prepare(tool, args)))
    assert output.content == "done"
    return orders[0]


@pytest.mark.parametrize(
    ("args", "order"),
    [
        ({"description": "Do it."}, Order("Do it.", title="Do it.")),
        ({"prompt": "Do it.", "description": "A title"}, Order("Do it.", title="A title")),
        (
            {"prompt": "Do it.", "name": "x", "model": "opus", "run_in_background": True},
            Order("Do it.", title="Do it."),
        ),
        ({"prompt": "x", "subagent_type": "general-purpose"}, Order("x", title="x")),
        ({"prompt": "x", "subagent_type": "Explore"}, Order("x", "explorer", title="x")),
        ({"prompt": "x", "subagent_type": "Tester "}, Order("x", "tester", title="x")),
        ({"prompt": "x", "paths": "src/a.py"}, Order("x", title="x", paths=("src/a.py",))),
    ],
)
async def test_what_models_really_send_is_understood(
    tmp_path: Path, args: dict[str, Any], order: Order
) -> None:
    assert await ordered(args, tmp_path) == order


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "description"),
        ({"description": "  "}, "blank"),
        ({"description": "x", "subagent_type": "lead"}, "subagent_type"),
        ({"description": "x", "subagent_type": "nobody"}, "nobody"),
        ({"description": "x", "isolation": "vm"}, "isolation"),
        ({"description": ["x"]}, "description"),
    ],
)
async def test_what_cannot_be_meant_is_told_with_the_field(
    tmp_path: Path, args: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        await ordered(args, tmp_path)


async def test_an_own_definition_of_a_foreign_name_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "general-purpose.md").write_text("---\nname: general-purpose\ndescription: d\n---\nWork.\n")
    assert (
        await ordered({"prompt": "x", "subagent_type": "general-purpose"}, tmp_path)
    ).agent_type == "general-purpose"

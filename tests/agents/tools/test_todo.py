"""The todo list: BUG-35 (what models send) and BUG-37 (the reminder)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.tools import Reminder, TodoItem, TodoStore, ToolContext, prepare, todo_write
from decurion.agents.tools.todo_list import MAX_ITEMS, STATUSES, read_items
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, context, text

pytestmark = pytest.mark.anyio

ITEMS = [
    {"content": "Find the uses", "status": "completed"},
    {"content": "Rename them", "status": "in_progress", "activeForm": "Renaming them"},
    {"content": "Run the tests", "status": "pending"},
]
RENDERED = "[x] Find the uses\n[>] Rename them <- Renaming them\n[ ] Run the tests\n\n(1/3 completed)"


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return context(tmp_path)


SPELLINGS: dict[str, dict[str, Any]] = {
    "list": {"todos": ITEMS},
    "items": {"items": ITEMS},
    "json text": {"todos": json.dumps(ITEMS)},
    "json text twice": {"todos": json.dumps(json.dumps(ITEMS))},
    "python text": {"todos": repr(ITEMS)},
    "python tuple": {"todos": repr(tuple(ITEMS))},
    "texts in a list": {"todos": [json.dumps(item) for item in ITEMS]},
    "python texts in a list": {"todos": [repr(item) for item in ITEMS]},
    "wrapped once more": {"todos": {"todos": ITEMS}},
    "wrapped in a text": {"todos": json.dumps({"items": ITEMS})},
    "text for content": {
        "todos": [
            {"text": item["content"], **{k: v for k, v in item.items() if k != "content"}} for item in ITEMS
        ]
    },
    "unknown keys": {"todos": [{**item, "priority": "high", "owner": None} for item in ITEMS], "note": "x"},
    "ids": {"todos": [{**item, "id": number} for number, item in enumerate(ITEMS, start=7)]},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_what_models_send_is_taken_as_the_list_it_means(ctx: ToolContext, spelling: str) -> None:
    assert await text(todo_write, ctx, **SPELLINGS[spelling]) == RENDERED
    assert [(item.content, item.status) for item in ctx.todo.items] == [
        (i["content"], i["status"]) for i in ITEMS
    ]


async def test_a_single_object_is_a_list_of_one(ctx: ToolContext) -> None:
    for value in (ITEMS[0], json.dumps(ITEMS[0]), repr(ITEMS[0])):
        assert await text(todo_write, ctx, todos=value) == "[x] Find the uses\n\n(1/1 completed)"


async def test_ids_are_kept_or_given(ctx: ToolContext) -> None:
    item = {"content": "x", "status": "pending"}
    await call(todo_write, ctx, todos=[item, {**item, "id": "1"}, {**item, "id": 7}, {**item, "id": "1"}])
    assert [item.id for item in ctx.todo.items] == ["2", "1", "7", "3"]


async def test_an_empty_list_clears(ctx: ToolContext) -> None:
    await call(todo_write, ctx, todos=ITEMS)
    assert await text(todo_write, ctx, todos=[]) == "The todo list is empty.\n\n(0/0 completed)"


ITEM = {"content": "x", "status": "pending"}
REFUSED: dict[str, tuple[Any, str]] = {
    "no status": ([{"content": "x"}], "item 1 has no status"),
    "unknown status": ([{"content": "x", "status": "done"}], "unknown status 'done'"),
    "odd status": ([{"content": "x", "status": ["pending"]}], "unknown status"),
    "two in progress": ([{"content": "x", "status": "in_progress"}] * 2, "2 items are in_progress, only one"),
    "too many": ([ITEM] * 500, "500 items, at most 20"),
    "one too many": ([ITEM] * 21, "21 items, at most 20"),
    "blank": ([{"content": "  \n", "status": "pending"}], "item 1 has no text"),
    "no content": ([{"status": "pending"}], "item 1 has no text"),
    "content of a wrong type": ([{"content": 5, "status": "pending"}], "item 1 has no text"),
    "a call": ("__import__('os').system('touch ran')", "neither JSON nor a list"),
    "a call inside": ("[{'content': open('ran', 'w'), 'status': 'pending'}]", "neither JSON nor a list"),
    "prose": ("first this, then that", "neither JSON nor a list"),
    "prose in a list": (["first this"], "item 1 is a text that is neither"),
    "a number": (5, "is a int"),
    "a set": ("{1, 2}", "is a set"),
    "an empty text": ("", "neither"),
    "nothing": (None, "missing 'todos'"),
    "very deep": ("[" * 50_000, "neither"),
    "very deep, python": ("(" * 50_000, "neither"),
    "very negative": ("-" * 90_000 + "1", "neither"),
    "very long": ("[" + "1," * 100_000 + "]", "a text of 200002 characters"),
    "a nul": ("\0", "neither"),
    "a bad escape": (r"'\x'", "neither"),
    "an active form of a wrong type": ([{**ITEM, "activeForm": 5}], "'activeForm' must be a text"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_anything_else_is_refused_with_the_right_form_and_changes_nothing(
    ctx: ToolContext, case: str
) -> None:
    await call(todo_write, ctx, todos=ITEMS)
    before, updates = ctx.todo.items, ctx.todo.updates
    value, told = REFUSED[case]
    with pytest.raises(ToolError) as error:
        await call(todo_write, ctx, todos=value)
    assert told in str(error.value)
    assert '"status": "in_progress"' in str(error.value)
    assert "The list is unchanged." in str(error.value)
    assert (ctx.todo.items, ctx.todo.updates) == (before, updates)
    assert list(ctx.workspace.iterdir()) == []


async def test_each_agents_list_is_its_own(ctx: ToolContext, tmp_path: Path) -> None:
    other = context(tmp_path)
    await call(todo_write, ctx, todos=ITEMS)
    assert other.todo.items == ()


async def test_hooks_and_the_log_see_the_canonical_list() -> None:
    assert prepare(todo_write, {"items": "[{'text': 'x', 'status': 'pending', 'owner': 1}]"}) == {
        "todos": [{"content": "x", "status": "pending", "id": "1"}]
    }


async def test_a_line_break_in_an_item_does_not_break_the_list(ctx: ToolContext) -> None:
    shown = await text(todo_write, ctx, todos=[{"content": "one\n[x] two", "status": "pending"}])
    assert shown == "[ ] one [x] two\n\n(0/1 completed)"


# ---- properties

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
LISTS = st.lists(
    st.fixed_dictionaries(
        {
            "content": st.text(min_size=1).filter(str.strip),
            "status": st.sampled_from(["pending", "completed"]),
        },
        optional={"activeForm": st.text(), "id": st.text() | st.integers()},
    ),
    max_size=MAX_ITEMS,
)


@given(VALUES | st.text())
def test_whatever_comes_is_a_list_or_an_error_of_the_model(value: Any) -> None:
    try:
        items = read_items({"todos": value})
    except ToolError:
        return
    assert len(items) <= MAX_ITEMS
    assert all(item.content.strip() and item.status in STATUSES for item in items)
    assert len({item.id for item in items}) == len(items)


@given(LISTS)
def test_every_spelling_of_a_good_list_means_the_same(items: list[dict[str, Any]]) -> None:
    plain = read_items({"todos": items})
    assert [(item.content, item.status) for item in plain] == [
        (i["content"].strip(), i["status"]) for i in items
    ]
    for spelling in (json.dumps(items), repr(items), [json.dumps(item) for item in items]):
        assert read_items({"todos": spelling}) == plain
    assert prepare(todo_write, {"todos": items}) == prepare(todo_write, prepare(todo_write, {"todos": items}))


# ---- the reminder


def run(reminder: Reminder, rounds: list[tuple[bool, int]]) -> list[int]:
    """Return the numbers (from 1) of the rounds after which there is a reminder."""
    told: list[int] = []
    for number, (updated, open_items) in enumerate(rounds, start=1):
        reminder, said = reminder.after_round(updated=updated, open_items=open_items)
        if said:
            assert said.startswith("<reminder>")
            assert said.endswith("</reminder>")
            told.append(number)
    return told


STALE = (False, 2)


def test_one_reminder_in_each_interval_while_items_are_open() -> None:
    assert run(Reminder(3), [STALE] * 12) == [3, 6, 9, 12]
    assert run(Reminder(10), [STALE] * 12) == [10]
    assert run(Reminder(0), [STALE] * 12) == []


def test_an_update_restarts_the_count() -> None:
    assert run(Reminder(3), [STALE, STALE, (True, 2), STALE, STALE, STALE]) == [6]


def test_no_reminder_without_open_items() -> None:
    assert run(Reminder(3), [(False, 0)] * 12) == []
    assert run(Reminder(3), [STALE, STALE, (False, 0), STALE, STALE]) == []


async def test_a_refused_update_does_not_count(ctx: ToolContext) -> None:
    with pytest.raises(ToolError):
        await call(todo_write, ctx, todos="nonsense")
    assert ctx.todo.updates == 0
    await call(todo_write, ctx, todos=ITEMS)
    assert (ctx.todo.updates, ctx.todo.open_items) == (1, 2)


def test_a_list_can_be_made_again_from_its_items() -> None:
    item = TodoItem("x", "pending", "1")
    assert TodoStore([item]).render() == "[ ] x\n\n(0/1 completed)"

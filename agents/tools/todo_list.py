"""The todo list: what models really send is read generously, what is stored is strict.

The list, its rendering and the reminder follow shareAI-lab/learn-claude-code (s03); the tool is `todo_write`.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

Status = Literal["pending", "in_progress", "completed"]

STATUSES: tuple[str, ...] = get_args(Status)
MARKS: Mapping[str, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
MAX_ITEMS = 20
MAX_TEXT_CHARS = 100_000
"""Longest text that is parsed into a list; 20 items need a fraction, and parsing is not free."""
MAX_UNWRAPPING = 3
"""How often a text inside a text is unpacked; models encode twice at most."""
RIGHT_FORM = (
    '{"todos": [{"content": "Rename the module", "status": "in_progress", "activeForm": "Renaming the module"},'
    ' {"content": "Run the tests", "status": "pending"}]}'
)


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One thing to do. `active_form` says it as something under way ("Running the tests")."""

    content: str
    status: Status
    id: str
    active_form: str | None = None


class TodoStore:
    """One agent's list. Replaced whole or not at all."""

    def __init__(self, items: Sequence[TodoItem] = ()) -> None:
        self.items: tuple[TodoItem, ...] = tuple(items)
        self.updates = 0
        """How often the list was replaced; tells a round with a successful update from one without."""

    def replace(self, items: Sequence[TodoItem]) -> None:
        """Put a new list in the place of the old one."""
        self.items = tuple(items)
        self.updates += 1

    @property
    def open_items(self) -> int:
        """How many items are not completed."""
        return sum(item.status != "completed" for item in self.items)

    def render(self) -> str:
        """Return the list as a person and a model read it."""
        return render(self.items)


@dataclass(frozen=True, slots=True)
class Reminder:
    """Counts rounds without an update. `every` 0 switches it off. Pure: each round gives the next counter."""

    every: int = 3
    rounds: int = 0

    def after_round(self, *, updated: bool, open_items: int) -> tuple[Reminder, str | None]:
        """Return the counter after one round of tool calls, and the text to put after their results, if any."""
        if updated or not open_items or self.every <= 0:
            return replace(self, rounds=0), None
        rounds = self.rounds + 1
        if rounds < self.every:
            return replace(self, rounds=rounds), None
        text = (
            f"<reminder>The todo list was not updated for {counted(rounds, 'round')} and "
            f"{counted(open_items, 'item is', 'items are')} still open. "
            "Call todo_write with the whole list as it stands now.</reminder>"
        )
        return replace(self, rounds=0), text


def render(items: Sequence[TodoItem]) -> str:
    """Return one line an item and the count; never empty."""
    done = sum(item.status == "completed" for item in items)
    lines = [_line(item) for item in items] or ["The todo list is empty."]
    return "\n".join([*lines, "", f"({done}/{len(items)} completed)"])


def _line(item: TodoItem) -> str:
    line = f"{MARKS[item.status]} {_one_line(item.content)}"
    if item.status == "in_progress" and item.active_form:
        line += f" <- {_one_line(item.active_form)}"
    return line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def read_items(args: Mapping[str, Any]) -> tuple[TodoItem, ...]:
    """Read a list from the arguments of a call.

    Accepts `todos` or `items`; a list, a single object, or a text that holds one as JSON or as a Python literal
    (never evaluated); the same for each item; `content` or `text`. Unknown keys are ignored.

    Raises:
        ToolError: says what is wrong and shows the right form.
    """
    raw = _as_list(_given(args))
    if len(raw) > MAX_ITEMS:
        raise _wrong(f"{len(raw)} items, at most {MAX_ITEMS} are allowed; merge small steps")
    items = _with_ids([_read_item(entry, place) for place, entry in enumerate(raw, start=1)])
    active = [item.content for item in items if item.status == "in_progress"]
    if len(active) > 1:
        raise _wrong(f"{len(active)} items are in_progress, only one may be; the others are pending")
    return items


def _given(args: Mapping[str, Any]) -> Any:
    for key in ("todos", "items"):
        if args.get(key) is not None:
            return args[key]
    raise _wrong("missing 'todos', the whole list")


def _as_list(value: Any) -> list[Any]:
    value = _unpacked(value, "todos")
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, Any]", value)
        return _as_list(_given(inner)) if "todos" in inner or "items" in inner else [inner]
    if isinstance(value, (list, tuple)):
        return list(cast("Sequence[Any]", value))
    raise _wrong(f"'todos' is a {type(value).__name__}, it must be a list")


def _unpacked(value: Any, place: str) -> Any:
    """Turn a text into the value it writes down; any other value is returned as it is."""
    for _ in range(MAX_UNWRAPPING):
        if not isinstance(value, str):
            break
        if len(value) > MAX_TEXT_CHARS:
            raise _wrong(f"{place} is a text of {len(value)} characters; send a list")
        value = _parsed(value, place)
    return value


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        with warnings.catch_warnings():
            # A backslash in somebody's text is no reason to warn the person at the terminal.
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise _wrong(f"{place} is a text that is neither JSON nor a list; send a list of objects") from None


def _read_item(entry: Any, place: int) -> TodoItem:
    entry = _unpacked(entry, f"item {place}")
    if not isinstance(entry, Mapping):
        raise _wrong(
            f"item {place} is a {type(entry).__name__}, it must be an object with content and status"
        )
    fields = cast("Mapping[Any, Any]", entry)
    return TodoItem(
        content=_content(fields, place),
        status=_status(fields, place),
        id=_id(fields),
        active_form=_active_form(fields, place),
    )


def _content(fields: Mapping[Any, Any], place: int) -> str:
    content = fields.get("content", fields.get("text"))
    if not isinstance(content, str) or not content.strip():
        raise _wrong(f"item {place} has no text; 'content' must say what is to be done")
    return content.strip()


def _status(fields: Mapping[Any, Any], place: int) -> Status:
    status = fields.get("status")
    if status not in STATUSES:
        said = "no status" if status is None else f"the unknown status {str(status)[:40]!r}"
        raise _wrong(f"item {place} has {said}; it must be one of {', '.join(STATUSES)}")
    return cast("Status", status)


def _active_form(fields: Mapping[Any, Any], place: int) -> str | None:
    form = fields.get("activeForm", fields.get("active_form"))
    if form is not None and not isinstance(form, str):
        raise _wrong(f"item {place}: 'activeForm' must be a text")
    return form.strip() or None if form else None


def _id(fields: Mapping[Any, Any]) -> str:
    given = fields.get("id")
    return str(given).strip() if isinstance(given, (str, int)) and not isinstance(given, bool) else ""


def _with_ids(items: Sequence[TodoItem]) -> tuple[TodoItem, ...]:
    """Give an id to each item that has none or repeats an earlier one: the smallest free number."""
    taken = {item.id for item in items}
    free = (str(number) for number in range(1, 2 * MAX_ITEMS + 2) if str(number) not in taken)
    seen: set[str] = set()
    done: list[TodoItem] = []
    for item in items:
        named = item if item.id and item.id not in seen else replace(item, id=next(free))
        seen.add(named.id)
        done.append(named)
    return tuple(done)


def _wrong(what: str) -> ToolError:
    return ToolError(f"todo_write: {what}. The list is unchanged. Right form: {RIGHT_FORM}")

"""The lead's side of the script: find, plan, have it looked at, hand out, check, report.

Which stage a conversation is in follows from what its calls brought back so far; nothing is remembered elsewhere.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from decurion.hooks.counts import counted

from ..messages_api import Answer, Request
from .conversation import Conversation, Exchange
from .looking import files_found, look_for, names_of_project, search_problems, within
from .parts import Part, read_part, write_part
from .rename import KINDS
from .replies import Call, reply
from .reporting import HELP, final_report
from .wording import Order, read_order

AT_ONCE = 8  # tasks in one reply
MOST_FILES = 60  # of one part: 30 turns at four files a turn leave room for a second try
TODO_LIMIT = 20
TRIES = 2  # how often a part is handed out
CHECK_SECONDS = 600
_KIND = re.compile(r"`(\w+)` is ((?:\w+ \(line \d+\)(?:, )?)+)")


def answer_lead(request: Request, talk: Conversation) -> Answer:
    """Give the lead's next reply."""
    order = read_order(talk.task)
    if isinstance(order, str):
        return reply(request, f"{order}\n\n{HELP}")
    if talk.silenced:
        return reply(request, _Lead(request, talk, order).report("Not finished: no turn was left."))
    if "grep" not in talk.tools:
        return reply(
            request, "I could not start: I find files with `grep`, and that tool is not offered to me."
        )
    if files_found(talk, order) is None:
        names = ", ".join(f"`{change.old}`" for change in order.changes)
        return reply(
            request, f"I look for the files that hold {names} as a whole word.", look_for(order, talk)
        )
    return _Lead(request, talk, order).answer()


class _Lead:
    def __init__(self, request: Request, talk: Conversation, order: Order) -> None:
        self.request, self.talk, self.order = request, talk, order
        self.files = files_found(talk, order) or ()
        self.inside = tuple(path for path in self.files if within(path, order.places))
        handed = [(one, part) for one in talk.of("task") if isinstance(part := _part_of(one), Part)]
        self.looked = [(one, part) for one, part in handed if part.look]
        self.worked = [(one, part) for one, part in handed if not part.look]
        renames = any(change.verb == "rename" for change in order.changes)
        self.look_parts = self._parts(self.files, look=True) if renames and self.inside else ()
        self.work_parts = self._parts(self.inside, look=False)

    def answer(self) -> Answer:
        """Give the next reply of a task that was understood."""
        if not self.inside:
            return reply(self.request, self.report())
        if parts := _open_parts(self.look_parts, self.looked):
            text = f"{counted(len(self.files), 'file')} to look at before anything changes."
            return self._hand_out(text, parts)
        if parts := _open_parts(self._ready(), self.worked):
            return self._hand_out("Now the changes, each part by a subagent of its own.", parts)
        if self._must_check():
            call: Call = ("bash", {"command": self.order.check, "timeout": CHECK_SECONDS})
            return self._go_on("All parts are back; the check is next.", self._todos("check"), [call])
        return self._go_on("The work is done.", self._todos("done"), [])

    def report(self, problem: str = "") -> str:
        """Say what was done so far."""
        return final_report(
            self.talk,
            self.order,
            [(one.result, one.is_error) for one, _ in _newest(self.worked)],
            outside=[path for path in self.files if path not in self.inside],
            missing=[part.title for part in _missing(self.work_parts, self.worked)],
            problem=problem or "; ".join(search_problems(self.talk, self.order)),
        )

    # ---- parts ----

    def _parts(self, files: Sequence[str], *, look: bool) -> tuple[Part, ...]:
        groups = _groups(files)
        project = names_of_project(self.talk, self.files)
        return tuple(
            Part(self.order, group, number, len(groups), look, None, project)
            for number, group in enumerate(groups, start=1)
        )

    def _ready(self) -> list[Part]:
        """The parts to be changed, with what was found out about the names."""
        kinds = {
            change.old: self._kinds(change.old) for change in self.order.changes if change.verb == "rename"
        }
        return [replace(part, kinds=kinds) for part in self.work_parts]

    def _kinds(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        complete = not _missing(self.look_parts, self.looked)
        for one, _ in _newest(self.looked):
            for seen, kinds in _KIND.findall(one.result):
                found.update(re.findall(r"(\w+) \(line", kinds) if seen == name else ())
        return frozenset(found & set(KINDS)) if complete else frozenset({*found, *KINDS[:3]})

    def _hand_out(self, text: str, parts: Sequence[Part]) -> Answer:
        stage = "look" if parts[0].look else "work"
        return self._go_on(text, self._todos(stage, parts), [self._task(part) for part in parts[:AT_ONCE]])

    def _go_on(self, text: str, todos: Sequence[Call], calls: Sequence[Call]) -> Answer:
        """Bring the plan up to date, so that people see it before the work; then work, or report."""
        written = [one.args.get("todos") for one in self.talk.of("todo_write")]
        if any(call[1]["todos"] not in written for call in todos):
            return reply(self.request, text, todos)
        return reply(self.request, "" if calls else self.report(), calls)

    def _task(self, part: Part) -> Call:
        args: dict[str, Any] = {"description": write_part(part), "title": part.title}
        wanted = ("explorer", "refactorer") if part.look else ("refactorer",)
        schema = self.talk.tools["task"].get("properties", {})
        kinds = schema.get("subagent_type", {}).get("enum", ())
        if kind := next((kind for kind in (*wanted, "general") if kind in kinds), ""):
            args["subagent_type"] = kind
        if not part.look:
            args["paths"] = [glob.escape(path) for path in part.files]
            if self.order.worktree:
                args["isolation"] = "worktree"
        return "task", {key: value for key, value in args.items() if key in {"description", *schema}}

    # ---- the check ----

    def _must_check(self) -> bool:
        if not self.order.check or self.order.worktree or "bash" not in self.talk.tools:
            return False
        return not any(one.args.get("command") == self.order.check for one in self.talk.of("bash"))

    # ---- the plan ----

    def _todos(self, stage: str, handed: Sequence[Part] = ()) -> list[Call]:
        """The whole list as it stands when a stage begins; nothing where there is no such tool."""
        if "todo_write" not in self.talk.tools:
            return []
        items = [(f"Find the files ({len(self.inside)} found)", "completed")]
        if self.look_parts:
            items.append(("Have them looked at", "in_progress" if stage == "look" else "completed"))
        open_parts = {part.number for part in _open_parts(self.work_parts, self.worked)}
        active = min((part.number for part in handed), default=0) if stage == "work" else 0
        items += self._work_items(open_parts, active, begun=stage != "look")
        if self.order.check and not self.order.worktree:
            status = "in_progress" if stage == "check" else "completed" if stage == "done" else "pending"
            items.append((f"Run the check: {self.order.check}", status))
        items.append(("Report", "completed" if stage == "done" else "pending"))
        todos = [
            {
                "content": text,
                "status": status,
                **({"activeForm": _active(text)} if status == "in_progress" else {}),
            }
            for text, status in items
        ]
        return [("todo_write", {"todos": todos})]

    def _work_items(self, open_parts: set[int], active: int, *, begun: bool) -> list[tuple[str, str]]:
        """One item for each part, or for several where a list of twenty would not hold them."""
        step = 1 + len(self.work_parts) // (TODO_LIMIT - 5)
        items: list[tuple[str, str]] = []
        for first in range(0, len(self.work_parts), step):
            group = self.work_parts[first : first + step]
            numbers = {part.number for part in group}
            status = "pending" if not begun or numbers & open_parts else "completed"
            text = group[0].title if step == 1 else f"parts {min(numbers)} to {max(numbers)}"
            items.append((text[0].upper() + text[1:], "in_progress" if active in numbers else status))
        return items


def _part_of(one: Exchange) -> Part | str:
    return read_part(str(one.args.get("description", "")))


def _is_complete(one: Exchange) -> bool:
    return not one.is_error and not one.result.startswith("[subagent ")


def _open_parts(parts: Sequence[Part], handed: Sequence[tuple[Exchange, Part]]) -> list[Part]:
    """The parts that no subagent has done and that may be handed out (again)."""
    open_parts: list[Part] = []
    for part in parts:
        tries = [one for one, given in handed if given.number == part.number]
        if (
            any(_is_complete(one) for one in tries)
            or len(tries) >= TRIES
            or any(one.refused for one in tries)
        ):
            continue
        open_parts.append(replace(part, attempt=len(tries) + 1))
    return open_parts


def _missing(parts: Sequence[Part], handed: Sequence[tuple[Exchange, Part]]) -> list[Part]:
    """The parts that no subagent has brought to an end."""
    done = {part.number for one, part in handed if _is_complete(one)}
    return [part for part in parts if part.number not in done]


def _newest(handed: Sequence[tuple[Exchange, Part]]) -> list[tuple[Exchange, Part]]:
    """The last try of each part, in the order of the parts."""
    by_number = {part.number: (one, part) for one, part in handed}
    return [by_number[number] for number in sorted(by_number)]


def _groups(files: Sequence[str]) -> list[tuple[str, ...]]:
    """Split files into parts of about the same size, files of a folder together: three to eight, more for very many."""
    count = min(len(files), max(3, min(8, len(files) // 4), -(-len(files) // MOST_FILES)))
    edges = [round(index * len(files) / count) for index in range(count + 1)] if count else []
    return [tuple(files[start:end]) for start, end in pairwise(edges)]


def _active(text: str) -> str:
    """Say an item as something under way."""
    forms = {
        "Have them looked at": "Having them looked at",
        "Run the check": "Running the check",
        "Part": "Changing part",
    }
    for start, form in forms.items():
        if text.startswith(start):
            return form + text[len(start) :]
    return text

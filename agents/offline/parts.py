"""The part of a change that the lead hands to a subagent: written as a task in plain English, and read back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .rename import KINDS
from .wording import Change, Order, read_order

LOOK = "Look, change nothing"
_PLACE = re.compile(r"\bpart (\d+) of (\d+)\b", re.IGNORECASE)
_FILE = re.compile(r"^- `(.+)`$", re.MULTILINE)
_FACT = re.compile(r"^What `(\w+)` is in this project: (.+)$", re.MULTILINE)
_ATTEMPT = re.compile(r"^Attempt (\d+):", re.MULTILINE)
_PROJECT = re.compile(r"^The project's own names: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """One group of files of a change.

    `kinds` maps each name to be renamed to what it is in the whole project; None where nobody found out.
    """

    order: Order
    files: tuple[str, ...]
    number: int = 1
    of: int = 1
    look: bool = False
    kinds: Mapping[str, frozenset[str]] | None = None
    project: frozenset[str] = frozenset()
    attempt: int = 1
    others: tuple[str, ...] = ()
    """Files outside of the places asked for that hold the names, too: read to learn what a name is, never changed."""

    @property
    def title(self) -> str:
        """A few words for the person who watches."""
        first = self.files[0]
        files = first if len(self.files) == 1 else f"{len(self.files)} files from {first}"
        return f"{'look at ' if self.look else ''}part {self.number}/{self.of}: {files}"


def write_part(part: Part) -> str:
    """Say a part as a task that stands alone."""
    lines = [_heading(part), *(f"Change: {change}" for change in part.order.changes)]
    if part.look:
        names = ", ".join(f"`{change.old}`" for change in part.order.changes)
        lines.append(
            f"Find out what {names} is in each file: a name of a module, a member of a class, a local name."
        )
    else:
        lines += _rules(part)
    lines += ["Files:", *(f"- `{path}`" for path in part.files)]
    if part.attempt > 1:
        lines.append(
            f"Attempt {part.attempt}: the one before did not finish; some files may be done already."
        )
    lines.append(
        "Report one line for each file, what you left alone and why, and every call that was refused."
    )
    return "\n".join(lines)


def _heading(part: Part) -> str:
    doing = f"{LOOK}: this is" if part.look else "This is"
    return f"{doing} part {part.number} of {part.of} of a larger change. Work on the files listed here and no others."


def _rules(part: Part) -> list[str]:
    lines = [
        f"What `{name}` is in this project: {', '.join(sorted(kinds)) or 'nothing of its own'}"
        for name, kinds in (part.kinds or {}).items()
    ]
    if part.project:
        lines.append(f"The project's own names: {', '.join(sorted(part.project))}")
    for what, wanted in (("strings", part.order.strings), ("comments", part.order.comments)):
        lines.append(f"Also change whole words in {what}." if wanted else f"Leave {what} as they are.")
    lines.append(
        "Whole identifiers only; names that belong to other modules stay. Check that every file still parses."
    )
    return lines


def read_part(text: str) -> Part | str:
    """Read a task back; one that a person or another agent wrote is read as an order without files."""
    order = read_order(text)
    if isinstance(order, str):
        return order
    place = _PLACE.search(text)
    listed = text.partition("\nFiles:\n")[2]
    own = _PROJECT.search(text)
    return Part(
        order=order,
        files=tuple(_FILE.findall(listed)),
        number=int(place[1]) if place else 1,
        of=int(place[2]) if place else 1,
        look=text.startswith(LOOK),
        kinds=_kinds(text, order.changes) if place else None,
        project=frozenset(own[1].split(", ")) if own else frozenset(),
        attempt=int(attempt[1]) if (attempt := _ATTEMPT.search(text)) else 1,
    )


def _kinds(text: str, changes: tuple[Change, ...]) -> dict[str, frozenset[str]] | None:
    found = {name: frozenset(kinds.split(", ")) & set(KINDS) for name, kinds in _FACT.findall(text)}
    return found if found or all(change.verb == "replace" for change in changes) else None

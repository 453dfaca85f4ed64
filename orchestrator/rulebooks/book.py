"""What is taken over from another product's list, and how it is written as TOML."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """One rule to write: `fields` in order, as they stand in TOML; `origin` is the text it came from."""

    id: str
    fields: tuple[tuple[str, Value], ...]
    origin: str


@dataclass(slots=True)
class Book:
    """Everything read from one list. `left_out` pairs a text with the reason why it cannot be expressed."""

    entries: dict[str, list[str]] = field(default_factory=lambda: {"deny": [], "ask": []})
    drafts: list[Draft] = field(default_factory=list["Draft"])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])

    def add_entry(self, decision: str, entry: str) -> None:
        """Take over a one-line entry, once."""
        if entry not in self.entries[decision]:
            self.entries[decision].append(entry)

    def add_draft(self, prefix: str, origin: str, fields: dict[str, Value]) -> None:
        """Take over a rule; it gets a numbered id."""
        given = tuple((key, value) for key, value in fields.items() if value)
        self.drafts.append(Draft(f"{prefix}-{len(self.drafts) + 1}", given, origin))

    def leave_out(self, origin: str, reason: str) -> None:
        """Report something that cannot be expressed."""
        self.left_out.append((origin, reason))

    @property
    def count(self) -> int:
        """How many rules were taken over."""
        return sum(map(len, self.entries.values())) + len(self.drafts)


def to_toml(book: Book, source: str) -> str:
    """Write a book as a rule file."""
    lines = [f"# Taken over from {_comment(source)} by `decurion rules import`; read it before you trust it."]
    for decision, entries in book.entries.items():
        if entries:
            lines += ["", f"{decision} = ["]
            lines += [f"    {_quoted(entry)}," for entry in entries]
            lines += ["]"]
    for draft in book.drafts:
        lines += ["", f"# {_comment(draft.origin)}", "[[rule]]", f"id = {_quoted(draft.id)}"]
        lines += [f"{key} = {_value(value)}" for key, value in draft.fields]
    return "\n".join(lines) + "\n"


def _value(value: Value) -> str:
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(_quoted(one) for one in value)}]"


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)

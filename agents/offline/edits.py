"""From a plan to `edit_file` calls: texts that occur exactly once when their turn comes, or all at once where safe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .plans import Plan, Span

MOST_EDITS = 100  # of one file in one reply; places are put together beyond


@dataclass(frozen=True, slots=True)
class Edit:
    """One call of `edit_file` for a file."""

    old: str
    new: str
    everywhere: bool = False

    def apply(self, text: str) -> str:
        """Give a text as the edit leaves it."""
        return text.replace(self.old, self.new, -1 if self.everywhere else 1)

    def args(self, path: str) -> dict[str, Any]:
        """Give the arguments of the call."""
        args: dict[str, Any] = {"path": path, "old_string": self.old, "new_string": self.new}
        return {**args, "replace_all": True} if self.everywhere else args


def edits_of(text: str, plan: Plan) -> Iterator[Edit]:
    """Give the edits that turn `text` into `plan.apply(text)`, each fit for the text the ones before it leave."""
    if not plan.spans:
        return
    if everywhere := _everywhere(text, plan.spans):
        yield everywhere
        return
    shift = 0
    groups = list(_groups(text, plan.spans))
    together = -(-len(groups) // MOST_EDITS)
    for first in range(0, len(groups), together):
        group = [span for one in groups[first : first + together] for span in one]
        moved = [Span(span.start + shift, span.end + shift, span.new) for span in group]
        start, end = _unique(text, *_lines_around(text, moved[0].start, moved[-1].end))
        inner = Plan(tuple(Span(span.start - start, span.end - start, span.new) for span in moved))
        old = text[start:end]
        new = inner.apply(old)
        yield Edit(old, new)
        text = text[:start] + new + text[end:]
        shift += len(new) - len(old)


def _everywhere(text: str, spans: Sequence[Span]) -> Edit | None:
    """One edit for all, where every occurrence of the old text in the file, inside longer words too, is meant."""
    old, new = {text[span.start : span.end] for span in spans}, {span.new for span in spans}
    if len(spans) < 2 or len(old) > 1 or len(new) > 1 or not (word := old.pop()):
        return None
    return Edit(word, new.pop(), everywhere=True) if text.count(word) == len(spans) else None


def _groups(text: str, spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Put together what stands on the same line or the next, so that one edit shows it together."""
    group = [spans[0]]
    for span in spans[1:]:
        if text.count("\n", group[-1].end, span.start) > 1:
            yield group
            group = []
        group.append(span)
    yield group


def _lines_around(text: str, start: int, end: int) -> tuple[int, int]:
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def _unique(text: str, start: int, end: int) -> tuple[int, int]:
    """Add lines before and after until the text occurs once; the whole text always does."""
    before = True
    while not _once(text, start, end):
        if (before and start) or end == len(text):
            start = text.rfind("\n", 0, start - 1) + 1
        else:
            stop = text.find("\n", end + 1)
            end = len(text) if stop < 0 else stop
        before = not before
    return start, end


def _once(text: str, start: int, end: int) -> bool:
    if start == end:
        return start == 0 and end == len(text)  # nothing to hold on to: an empty line needs its neighbours
    found = text.find(text[start:end])
    return found == start and text.find(text[start:end], start + 1) < 0

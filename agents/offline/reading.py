"""A file's text put together from what `read_file` showed of it, part by part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .conversation import Exchange

NUMBERED = re.compile(r"\s*(\d+)\t(.*)")
GO_ON = re.compile(r"\[lines (\d+) to (\d+) of (\d+); go on with offset=\d+\]")
CUT_LINE = re.compile(r" \[… \d+ more characters in this line\]$")
CUT_RESULT = "characters left out: too long for the context window"
CLEARED = "[This result was cleared to make room"
OPEN_END = "[no newline at the end of the file]"
MAX_PARTS = 8  # parts of one file asked for at once


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a file. `wanted` are the parts still to be asked for: first line, and how many (0: all)."""

    text: str = ""
    wanted: tuple[tuple[int, int], ...] = ((1, 0),)
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Whether `text` is the whole file."""
        return not self.wanted and not self.problem


def read_parts(results: Sequence[Exchange]) -> Reading:
    """Put together what was read of one file since it last changed."""
    lines: dict[int, str] = {}
    total, step, tail = 0, 0, ""
    for one in results:
        if one.is_error:
            return Reading(problem=one.result.removeprefix("Refused: "), wanted=())
        if one.result.startswith(CLEARED):
            continue
        shown, notes = _split(one.result)
        if problem := _problem(shown, notes):
            return Reading(problem=problem, wanted=())
        lines |= shown
        more = GO_ON.search(notes)
        total = max(total, int(more[3]) if more else max(shown, default=0))
        if CUT_RESULT in one.result:
            step = len(shown) // 2  # about what fits
        elif more and not step:
            step = int(more[2]) - int(more[1]) + 1
        tail = tail or (OPEN_END if OPEN_END in notes else "")
        if "[the file is empty]" in notes:
            return Reading(wanted=())
    if not lines:
        return Reading()
    if missing := _missing(lines, total):
        return Reading(wanted=tuple(_parts(missing, max(1, step))))
    text = "\n".join(lines[number] for number in range(1, total + 1))
    return Reading(text if tail else text + "\n", wanted=())


@lru_cache(maxsize=256)
def _split(result: str) -> tuple[Mapping[int, str], str]:
    """Tell the numbered lines of a result from the notes around them; a line that was cut in two is neither.

    Every request of an agent shows its results again, so each is taken apart once.
    """
    shown: dict[int, str] = {}
    rows = result.split("\n")
    cut = {place for place, row in enumerate(rows) if CUT_RESULT in row}
    notes: list[str] = []
    last = 0
    for place, row in enumerate(rows):
        if place + 1 in cut or place - 1 in cut:
            continue
        found = NUMBERED.fullmatch(row)
        if found and (not shown or cut or int(found[1]) == last + 1):
            last = int(found[1])
            shown[last] = found[2]
        else:
            notes.append(row)
    return shown, "\n".join(notes)


def _problem(shown: Mapping[int, str], notes: str) -> str:
    if "not UTF-8" in notes:
        return "it is not UTF-8"
    if "edit_file cannot change it" in notes:
        return "it is UTF-16 or UTF-32"
    if any(CUT_LINE.search(line) for line in shown.values()):
        return "it has a line too long to be read whole"
    if not shown and "[the file is empty]" not in notes:
        return "it is no text"
    return ""


def _missing(lines: dict[int, str], total: int) -> list[tuple[int, int]]:
    """The runs of lines not seen yet, each as its first and last number."""
    runs: list[tuple[int, int]] = []
    for number in range(1, total + 1):
        if number in lines:
            continue
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _parts(runs: Sequence[tuple[int, int]], step: int) -> list[tuple[int, int]]:
    parts = [
        (first, min(step, last - first + 1)) for start, last in runs for first in range(start, last + 1, step)
    ]
    return parts[:MAX_PARTS]

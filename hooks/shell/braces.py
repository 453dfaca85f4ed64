"""Brace expansion (`{a,b}`, `{1..9..2}`), done on word parts before anything else, as bash does."""

from __future__ import annotations

import re

from .rows import MANY
from .tree import Param, Part, Text, Word

MAX_WORDS = 2000
"""Words one brace word may make before it is refused."""

Item = str | Part
"""One unquoted character, or a part that braces do not look into."""


class TooMany(Exception):
    """A brace word makes too many words."""


def expand(word: Word) -> list[Word]:
    """All words a brace word stands for; the word itself if there are none."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in word):
        return [word]
    items: list[Item] = []
    for part in word:
        if isinstance(part, Text) and not part.quoted:
            items.extend(part.text)
        else:
            items.append(part)
    return [_word(found) for found in _expand(items)]


def _expand(items: list[Item]) -> list[list[Item]]:
    for start, item in enumerate(items):
        if item != "{":
            continue
        end, commas = _closing(items, start)
        if end < 0:
            continue
        choices = _choices(items, start, end, commas)
        if choices is None:
            continue
        tails = _expand(items[end + 1 :])
        found = [items[:start] + choice + tail for choice in choices for tail in tails]
        if len(found) > MAX_WORDS:
            raise TooMany
        return found
    return [items]


def _closing(items: list[Item], start: int) -> tuple[int, list[int]]:
    depth, commas = 0, [start]
    for index in range(start, len(items)):
        item = items[index]
        if item == "{":
            depth += 1
        elif item == "}":
            depth -= 1
            if not depth:
                return index, commas
        elif item == "," and depth == 1:
            commas.append(index)
    return -1, commas


def _choices(items: list[Item], start: int, end: int, commas: list[int]) -> list[list[Item]] | None:
    if len(commas) > 1:
        stops = [*commas[1:], end]
        pieces = [items[at + 1 : stop] for at, stop in zip(commas, stops, strict=True)]
        return [choice for piece in pieces for choice in _expand(piece)]
    body = items[start + 1 : end]
    if not all(isinstance(item, str) for item in body):
        return None
    return _sequence("".join(item for item in body if isinstance(item, str)))


def _sequence(body: str) -> list[list[Item]] | None:
    found = re.fullmatch(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?", body)
    if not found:
        return None
    first, last, step = found[1], found[2], abs(int(found[3] or 1)) or 1
    if first.isalpha() != last.isalpha():
        return None
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    numbers = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    if len(numbers) > MAX_WORDS:
        if first.isalpha():
            raise TooMany
        # So many numbers cannot be told apart in time: keep as many as show that they are many, and the last.
        numbers = [*numbers[: MANY + 1], numbers[-1]]
    width = max(len(first), len(last)) if re.match(r"-?0\d", first) or re.match(r"-?0\d", last) else 0
    return [list(chr(number) if first.isalpha() else str(number).zfill(width)) for number in numbers]


def _word(items: list[Item]) -> Word:
    parts: list[Part] = []
    for item in items:
        last = parts[-1] if parts else None
        if not isinstance(item, str):
            parts.append(item)
        elif isinstance(last, Param) and last.short and not last.quoted and _continues(last.name, item):
            # Braces come before parameters: `$x{,a}` is `$x $xa`.
            parts[-1] = Param(last.name + item, short=True)
        elif isinstance(last, Text) and not last.quoted:
            parts[-1] = Text(last.text + item)
        else:
            parts.append(Text(item))
    return tuple(parts)


def _continues(name: str, char: str) -> bool:
    return name.isidentifier() and char.isascii() and (char.isalnum() or char == "_")

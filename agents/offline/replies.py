"""The replies of the scripted model: texts and calls whose ids follow from the request, so that a repeat is the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from ..messages_api import Answer, Request, calls, say
from .conversation import Exchange

Call = tuple[str, Mapping[str, Any]]

SHOWN_REASON = 300  # characters of a refusal that a report repeats
_PLACES = re.compile(r"^([\d,]+) places? changed")


def reply(request: Request, text: str, wanted: Sequence[Call] = ()) -> Answer:
    """Make a reply: with calls it goes on, without it is the end."""
    if not wanted:
        return say(text)
    seed = blake2b(orjson.dumps(request.messages), digest_size=9)
    ids = [f"toolu_{seed.hexdigest()}{number:02d}" for number in range(len(wanted))]
    return calls(*wanted, text=text, ids=ids)


def refusals(exchanges: Sequence[Exchange]) -> list[str]:
    """One line for each call that the law refused, as a report says it."""
    lines: list[str] = []
    for one in exchanges:
        if one.refused:
            what = one.args.get("command") or one.path or one.name
            reason = " ".join(one.result.removeprefix("Refused:").split())
            lines.append(f"Refused: `{_short(str(what), 120)}` ({_short(reason, SHOWN_REASON)})")
    return list(dict.fromkeys(lines))


def places_changed(note: str) -> int:
    """Read from a note on a file how many places of it were changed."""
    found = _PLACES.match(note)
    return int(found[1].replace(",", "")) if found else 0


def lines_of(numbers: Sequence[int], most: int = 8) -> str:
    """Say line numbers, a long list cut."""
    unique = sorted(set(numbers))
    shown = ", ".join(map(str, unique[:most])) + (", …" if len(unique) > most else "")
    return f"line {shown}" if len(unique) == 1 else f"lines {shown}"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""How much work a text will be, from a look at it alone, so that what could not be judged in time is refused at once.

The parser, the evaluator and the rules each take some microseconds for every command, word and expansion; text that is
only carried along (quoted words, here-documents) takes next to none. The estimate is in microseconds of an ordinary
machine. Where it is wrong, the limits of the evaluator still hold.
"""

from __future__ import annotations

import re

MAX_WEIGHT = 100_000
"""Past this a text is refused: judging it would take longer than anyone waits for a decision."""
_COMMAND, _EXPANSION, _WORD, _GLOB = 60, 60, 40, 20

_HERE = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.-]+))")
_QUOTED = re.compile(r"""'[^']*+(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z)|\\.""", re.DOTALL)
"""Quotes that are not closed go to the end: whatever the text, it is gone through once."""
_COMMANDS = re.compile(r"[;&|(\n]")
_EXPANSIONS = re.compile(r"[$`]")
_BLANKS = re.compile(r"[ \t]+")
_GLOBS = re.compile(r"[*?\[{]")


def weigh(text: str) -> int:
    """Give the estimate for shell text."""
    code, expansions = _without_documents(text)
    expansions += sum(len(_EXPANSIONS.findall(one)) for one in _QUOTED.findall(code) if one[0] == '"')
    code = _QUOTED.sub("w", code)
    expansions += len(_EXPANSIONS.findall(code))
    return (
        _COMMAND * len(_COMMANDS.findall(code))
        + _EXPANSION * expansions
        + _WORD * len(_BLANKS.findall(code))
        + _GLOB * len(_GLOBS.findall(code))
    )


def _without_documents(text: str) -> tuple[str, int]:
    """Cut out here-documents; also give the number of expansions in those that have any."""
    pieces: list[str] = []
    expansions = at = 0
    for found in _HERE.finditer(text):
        if found.start() < at:
            continue
        start = text.find("\n", found.end()) + 1
        end = _end(text, start, found[2] or found[3] or found[4], tabs=bool(found[1])) if start else -1
        if end < 0:
            continue
        pieces.append(text[at:start])
        if found[4]:
            expansions += len(_EXPANSIONS.findall(text, start, end))
        at = end
    return "".join((*pieces, text[at:])), expansions


def _end(text: str, start: int, word: str, *, tabs: bool) -> int:
    """Where the here-document that starts here ends; -1 if it does not."""
    ends = re.compile(rf"^{chr(9) + '*' if tabs else ''}{re.escape(word)}$", re.MULTILINE).search(text, start)
    return ends.start() if ends else -1

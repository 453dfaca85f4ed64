"""Replacing one piece of text by another, exactly, whatever the line endings.

Everything here is a pure function on text that was decoded without loss (`surrogateescape`). Old text matches
whether its lines end in LF, CRLF or CR; nothing else is forgiven. Lines that an edit does not change keep their own
ending, new ones take their neighbour's.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from decurion.hooks import ToolError

ENDING = re.compile("\r\n?|\n")
ANY_ENDING = "(?:\r\n?+|(?<!\r)\n)"
"""Possessive and looking back, so that CRLF is never taken apart into two line endings."""
NEAR_LINES = 5_000
"""How many lines are searched for what a text that was not found resembles; the search takes time."""
NEAR_RATIO = 0.6
SHOWN_LINES = 12
LINE_NUMBER = re.compile(r"\s*\d+\t")
PLAIN_PUNCTUATION = str.maketrans("\u2018\u2019\u201c\u201d\u2010\u2011\u2013\u2014\u00a0", "''\"\"---- ")


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, and where in it each replacement stands (start and end)."""

    text: str
    spans: tuple[tuple[int, int], ...]


def replaced(text: str, old: str, new: str, *, everywhere: bool) -> Replaced:
    """Replace `old` by `new`.

    Raises:
        ToolError: when `old` is empty, equals `new`, is not found, or is found more than once and not `everywhere`.
    """
    if not old:
        raise ToolError("old_string is empty; give the text to replace, or use write_file to make a file")
    pattern = re.compile(ANY_ENDING.join(re.escape(part) for part in ENDING.split(old)))
    matches = list(pattern.finditer(text))
    if not matches:
        raise ToolError(_not_found(text, old))
    if not everywhere and (more := pattern.search(text, matches[0].start() + 1)):
        raise ToolError(_ambiguous(text, [matches[0], more, *matches[1:]]))
    result = _joined(text, new, matches)
    if result.text == text:
        raise ToolError(
            "old_string and new_string are the same, so nothing would change (line endings are kept as they are; "
            "to change those use bash)"
        )
    return result


def _joined(text: str, new: str, matches: Sequence[re.Match[str]]) -> Replaced:
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    done = length = 0
    for match in matches:
        kept = text[done : match.start()]
        put = _with_endings(match[0], new, _ending_near(text, match.end()))
        pieces += [kept, put]
        spans.append((length + len(kept), length + len(kept) + len(put)))
        done, length = match.end(), spans[-1][1]
    return Replaced("".join([*pieces, text[done:]]), tuple(spans))


def _ending_near(text: str, at: int) -> str:
    """Return the ending of the line that holds a position, else of the line before it, else LF."""
    after = ENDING.search(text, at)
    if after is not None:
        return after[0]
    before = text.rfind("\n", 0, at)
    if before < 0:
        return "\r" if "\r" in text[:at] else "\n"
    return "\r\n" if text[before - 1 : before] == "\r" else "\n"


def _with_endings(matched: str, new: str, otherwise: str) -> str:
    """Give each line of the new text the ending of the line it stands for in the old, extra ones the one before."""
    new_lines = new.replace("\r\n", "\n").split("\n")
    if len(new_lines) == 1:
        return new_lines[0]
    old_lines, old_endings = ENDING.split(matched), ENDING.findall(matched)
    known = _aligned(old_lines, new_lines, old_endings)
    ending = old_endings[0] if old_endings else otherwise
    pieces: list[str] = []
    for number, line in enumerate(new_lines[:-1]):
        wanted = known.get(number, ending)
        # An empty line in LF after a line in CR would make one CRLF of two endings.
        merges = not line and bool(pieces) and (ending, wanted) == ("\r", "\n")
        ending = ending if merges else wanted
        pieces += [line, ending]
    return "".join([*pieces, new_lines[-1]])


def _aligned(old: Sequence[str], new: Sequence[str], endings: Sequence[str]) -> dict[int, str]:
    """Map numbers of new lines to the endings of the old lines they repeat or replace.

    Lines that are the same at the start and at the end are paired first: among equal lines, blank ones above all, a
    general comparison may pair others.
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    pairs = [(number, number) for number in range(head)]
    pairs += [(len(old) - number, len(new) - number) for number in range(1, tail + 1)]
    middle = difflib.SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    for _, old_from, old_to, new_from, new_to in middle.get_opcodes():
        steps = range(min(old_to - old_from, new_to - new_from))
        pairs += [(head + old_from + step, head + new_from + step) for step in steps]
    return {mine: endings[theirs] for theirs, mine in pairs if theirs < len(endings)}


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at the start."""
    return next(
        (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _ambiguous(text: str, matches: Sequence[re.Match[str]]) -> str:
    places = sorted({line_of(text, match.start()) for match in matches[:SHOWN_LINES]})
    lines = ", ".join(map(str, places)) + (", …" if len(matches) > SHOWN_LINES else "")
    where = f"lines {lines}" if len(places) > 1 else f"line {lines}"
    return (
        f"old_string is found more than once ({where}); add lines around it until only one place is meant, "
        "or set replace_all to change every one"
    )


def line_of(text: str, at: int) -> int:
    """Return the number, from 1, of the line that holds a position."""
    return text.count("\n", 0, at) + 1


def _not_found(text: str, old: str) -> str:
    told = "old_string was not found; it must be copied exactly"
    if all(LINE_NUMBER.match(line) for line in old.splitlines() if line.strip()):
        return f"{told}, without the line numbers and tabs that read_file puts before each line"
    lines, wanted = ENDING.split(text), ENDING.split(old.strip("\r\n"))
    if len(lines) > NEAR_LINES or len(wanted) > NEAR_LINES:
        return f"{told}. Read the place again with read_file"
    reason, start = _nearest(lines, wanted)
    if start is None:
        return f"{told}. Nothing like it is in the file; read it again with read_file"
    here = lines[start : start + min(len(wanted), SHOWN_LINES)]
    shown = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(here, start=start + 1))
    return f"{told}. {reason}:\n{shown}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> tuple[str, int | None]:
    """Return why the text was not found and the number of the line (from 0) where what it resembles begins."""
    for reason, loosen in LOOSER:
        start = _window(list(map(loosen, lines)), list(map(loosen, wanted)))
        if start is not None:
            return f"It differs from this place only in {reason}", start
    anchor = max(wanted, key=lambda line: len(line.strip()))
    close = (
        difflib.get_close_matches(anchor, dict.fromkeys(lines), n=1, cutoff=NEAR_RATIO)
        if anchor.strip()
        else []
    )
    if not close:
        return "", None
    return "The nearest place is this", max(0, lines.index(close[0]) - wanted.index(anchor))


def _window(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Find the first place where the wanted lines stand: whole ones inside, the end of one before, the start after."""
    first, *middle = wanted
    for at, line in enumerate(lines):
        if not middle:
            if first in line:
                return at
        elif line.endswith(first) and _goes_on(lines[at + 1 : at + len(wanted)], middle):
            return at
    return None


def _goes_on(lines: Sequence[str], middle: Sequence[str]) -> bool:
    return len(lines) == len(middle) and lines[-1].startswith(middle[-1]) and lines[:-1] == list(middle[:-1])


def _squeezed(line: str) -> str:
    return " ".join(line.split())


def _plain(line: str) -> str:
    return line.translate(PLAIN_PUNCTUATION)


def _composed(line: str) -> str:
    return unicodedata.normalize("NFC", line)


def _loosest(line: str) -> str:
    return _squeezed(_plain(_composed(line))).casefold()


LOOSER: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space (tabs, spaces, trailing blanks)", _squeezed),
    ("the kind of quotes, dashes or spaces", _plain),
    ("the Unicode form of accented letters", _composed),
    ("upper and lower case", str.casefold),
    ("white space, quotes, accents and case", _loosest),
)
"""Ways in which a copied text goes wrong, and how to look past each; used for advice only, never to match."""

"""A word as a language: which texts a sequence of literals, glob pieces and holes may turn out to be.

Parts are matched with backtracking over a small automaton: every part becomes a list of steps (one character set, or
a loop over one), so overlap of two words is a walk over the product of two step lists.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .events import Glob, Hole

    Part = str | Glob | Hole

Step = tuple[str, bool]
"""A regular expression for one character, and whether it may repeat (also zero times)."""

ANY = r"[\s\S]"
NAME = r"[^/]"


def matches(parts: tuple[Part, ...], text: str) -> bool:
    """True if the parts may expand to exactly `text`."""
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0] == text
    if not parts:
        return not text
    loops = sum(not isinstance(part, str) for part in parts)
    if affordable(loops, text):
        return regex(parts).fullmatch(text) is not None
    return _walk(parts, text)


def affordable(loops: int, text: str) -> bool:
    """True if a backtracking match of so many loops against the text ends soon, whatever they are."""
    return len(text) ** min(loops, 8) <= 10_000_000


def _walk(parts: tuple[Part, ...], text: str) -> bool:
    """Match without backtracking: all positions in the pattern that the text so far may have reached."""
    steps = _steps(parts)
    reached = _through_loops(steps, {0})
    for char in text:
        after: set[int] = set()
        for at in reached:
            if at < len(steps) and _compile(steps[at][0]).fullmatch(char):
                after.add(at if steps[at][1] else at + 1)
        reached = _through_loops(steps, after)
        if not reached:
            return False
    return len(steps) in reached


def _through_loops(steps: list[Step], reached: set[int]) -> set[int]:
    todo = list(reached)
    while todo:
        at = todo.pop()
        if at < len(steps) and steps[at][1] and at + 1 not in reached:
            reached.add(at + 1)
            todo.append(at + 1)
    return reached


def starts(parts: tuple[Part, ...], prefix: str) -> bool:
    """True if the parts may expand to a text that starts with `prefix`."""
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0].startswith(prefix)
    return overlaps(parts, (*((prefix,) if prefix else ()), _Rest()))


def overlaps(one: tuple[Part, ...], other: tuple[Part | _Rest, ...]) -> bool:
    """True if some text is in both languages."""
    left, right = _steps(one), _steps(other)
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        i, j = at
        if i == len(left) and j == len(right):
            return True
        todo.extend(_moves(left, right, i, j))
    return False


def regex(parts: tuple[Part, ...]) -> re.Pattern[str]:
    """A compiled pattern for the parts."""
    return _compile("".join(_pattern(part) for part in parts))


_patterns: dict[str, re.Pattern[str]] = {}


def _compile(source: str) -> re.Pattern[str]:
    found = _patterns.get(source)
    if found is None:
        if len(_patterns) > 512:
            _patterns.clear()
        found = _patterns[source] = re.compile(source, re.DOTALL)
    return found


def _pattern(part: Part | _Rest) -> str:
    if isinstance(part, str):
        return re.escape(part)
    pattern = getattr(part, "pattern", None)
    if pattern is not None:
        return glob_regex(pattern)
    if getattr(part, "digits", False):
        return "[0-9]*"
    return ".+" if getattr(part, "filled", False) else ".*"


def glob_regex(pattern: str) -> str:
    """Translate one glob piece (`*`, `?`, `[…]`, extglob) to a regular expression that never matches a slash."""
    if pattern in {"*", "**"}:
        return f"{NAME}*" if pattern == "*" else ".*"
    if pattern == "?":
        return NAME
    if pattern.startswith("["):
        return bracket_regex(pattern)
    return _extglob_regex(pattern)


_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
    "word": r"\w",
    "print": " -~",
    "graph": "!-~",
    "cntrl": r"\x00-\x1f",
}


def bracket_regex(pattern: str) -> str:
    """Translate `[a-z]`, `[!a]`, `[[:digit:]]`; an unfit one means any one character."""
    body = pattern[1:-1]
    negated = body[:1] in {"!", "^"}
    body = body[1:] if negated else body
    body = re.sub(r"\[:(\w+):\]", lambda found: f"\0{found[1]}\0", body)
    pieces = body.split("\0")
    inside = "".join(
        _CLASSES.get(piece, "") if index % 2 else re.sub(r"([\\\[\]^&~|])", r"\\\1", piece)
        for index, piece in enumerate(pieces)
    )
    source = f"[{'^/' if negated else ''}{inside}]"
    try:
        re.compile(source)
    except re.error:
        return NAME
    return source


def _extglob_regex(pattern: str) -> str:
    operator, body = pattern[0], pattern[2:-1]
    if operator == "!":
        return f"{NAME}*"
    choices = "|".join(_loose(choice) for choice in _split_choices(body))
    return f"(?:{choices}){ {'@': '', '?': '?', '*': '*', '+': '+'}.get(operator, '') }"


def _split_choices(body: str) -> list[str]:
    choices, depth = [""], 0
    for char in body:
        depth += (char == "(") - (char == ")")
        if char == "|" and not depth:
            choices.append("")
        else:
            choices[-1] += char
    return choices


def _loose(choice: str) -> str:
    pieces = re.findall(r"[@?*+!]\([^()]*\)|\[[^\]]+\]|\\.|.", choice, re.DOTALL)
    return "".join(_loose_piece(piece) for piece in pieces)


def _loose_piece(piece: str) -> str:
    if len(piece) == 2 and piece[0] == "\\":
        return re.escape(piece[1])
    if piece in {"*", "?"} or (len(piece) > 2 and piece[0] in "[@?*+!"):
        return glob_regex(piece)
    return re.escape(piece)


class _Rest:
    """Any text at all; stands behind a prefix."""


def _steps(parts: tuple[Part | _Rest, ...]) -> list[Step]:
    steps: list[Step] = []
    for part in parts:
        if isinstance(part, str):
            steps.extend((re.escape(char), False) for char in part)
            continue
        steps.append(_step(_pattern(part)))
    return steps


def _step(pattern: str) -> Step:
    if pattern in {".*", ".+"}:
        return ANY, True
    if pattern.endswith("]*"):
        return pattern[:-1], True
    # A bracket or `?` is one character; an extended glob is widened to any name.
    return (pattern, False) if pattern.startswith("[") else (NAME, True)


def _moves(left: list[Step], right: list[Step], i: int, j: int) -> list[tuple[int, int]]:
    moves: list[tuple[int, int]] = []
    one = left[i] if i < len(left) else None
    two = right[j] if j < len(right) else None
    if one and one[1]:
        moves.append((i + 1, j))
    if two and two[1]:
        moves.append((i, j + 1))
    if one and two and not (one[1] and two[1]) and _meet(one[0], two[0]):
        moves.append((i if one[1] else i + 1, j if two[1] else j + 1))
    return moves


_SAMPLE = "".join(chr(code) for code in range(32, 127)) + "\n\t\u00e9"


def _meet(one: str, two: str) -> bool:
    if ANY in {one, two}:
        return True
    if not one.startswith("["):
        return _compile(two).fullmatch(re.sub(r"\\(.)", r"\1", one, flags=re.DOTALL)) is not None
    if not two.startswith("["):
        return _meet(two, one)
    first, second = _compile(one), _compile(two)
    return any(first.fullmatch(char) and second.fullmatch(char) for char in _SAMPLE)

"""What `test`, `[` and `[[` come to, where all they look at is known."""

from __future__ import annotations

from .arith import text_number
from .events import Value
from .machine import Frame, Machine, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda x, y: x == y,
    "-ne": lambda x, y: x != y,
    "-lt": lambda x, y: x < y,
    "-le": lambda x, y: x <= y,
    "-gt": lambda x, y: x > y,
    "-ge": lambda x, y: x >= y,
}
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda x, y: x == y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
}


def compare(m: Machine, st: State, fr: Frame, op: str, values: list[Value]) -> bool | None:
    """One comparison. Numbers are arithmetic texts, so code in their indexes runs."""
    if op in _NUMBERS and len(values) == 2:
        left, right = (text_number(m, st, fr, value) for value in values)
        return None if left is None or right is None else _NUMBERS[op](left, right)
    if op in {"-v", "-R"}:
        text = values[0].text or ""
        if "[" in text:
            text_number(m, st, fr, Value((text.partition("[")[2].rstrip("]"),)))
        return None
    texts = [value.text for value in values]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts):
        return None
    if op in _TEXTS and len(known) == 2:
        return _TEXTS[op](known[0], known[1])
    if op in {"-z", "-n"} and len(known) == 1:
        return bool(known[0]) == (op == "-n")
    return None


def test_words(m: Machine, st: State, fr: Frame, words: list[Value]) -> bool | None:
    """`test` with its words; compound ones (`-a`, `-o`, parentheses) are evaluated but give no certain answer."""
    if words and words[0].text == "!":
        found = test_words(m, st, fr, words[1:])
        return None if found is None else not found
    if len(words) == 1:
        text = words[0].text
        return None if text is None else bool(text)
    if len(words) == 2:
        return compare(m, st, fr, words[0].text or "", words[1:])
    if len(words) == 3:
        return compare(m, st, fr, words[1].text or "", [words[0], words[2]])
    for index in range(1, len(words) - 1):
        if words[index].text in _NUMBERS:
            compare(m, st, fr, words[index].text or "", [words[index - 1], words[index + 1]])
    for index in range(len(words) - 1):
        if words[index].text in {"-v", "-R"}:
            compare(m, st, fr, "-v", [words[index + 1]])
    return None

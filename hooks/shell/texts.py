"""The operators of `${x…}` on one text."""

from __future__ import annotations

import re

from .events import Value, literal
from .globs import pattern_regex
from .values import blur, of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def trim_text(value: Value, op: str, pattern: Value) -> Value:
    """`${x#pattern}`, `${x%pattern}` and their greedy forms."""
    source = pattern_regex(pattern, value.text, greedy=len(op) == 2)
    text = value.text
    if source is None or (text is None and pattern.text is None):
        return blur(value, "a trimmed text")
    if text is None:
        return _trim_known(value, op, pattern.text or "")
    if op[0] == "#":
        found = re.match(source, text, re.DOTALL)
        return literal(text[found.end() :]) if found else value
    starts = range(len(text) + 1) if len(op) == 2 else range(len(text), -1, -1)
    whole = re.compile(source, re.DOTALL)
    return next((literal(text[:at]) for at in starts if whole.fullmatch(text, at)), value)


def _trim_known(value: Value, op: str, text: str) -> Value:
    """Take a literal text off a value whose end is known; otherwise it may or may not be there."""
    if op[0] == "#" and value.prefix.startswith(text):
        return of((value.prefix[len(text) :], *value.parts[1:]))
    if op[0] == "%" and value.suffix.endswith(text) and value.suffix:
        return of((*value.parts[:-1], value.suffix[: len(value.suffix) - len(text)]))
    return value


def replace_text(value: Value, op: str, pattern: Value, with_: Value) -> Value:
    """`${x/pattern/text}`, `//`, and the anchored forms."""
    text = value.text
    anchor = ""
    first = pattern.parts[0] if pattern.parts else ""
    if isinstance(first, str) and first[:1] in {"#", "%"} and op == "/":
        anchor, pattern = first[0], of((first[1:], *pattern.parts[1:]))
    source = pattern_regex(pattern, value.text)
    if text is None or source is None or with_.text is None:
        return blur(of((*value.parts, *with_.parts)), "a text with replacements")
    if not source:
        return literal(with_.text + text if anchor == "#" else text + with_.text if anchor == "%" else text)
    source = f"\\A(?:{source})" if anchor == "#" else f"(?:{source})\\Z" if anchor == "%" else source
    new = with_.text
    return literal(re.sub(source, lambda _found: new, text, count=0 if op == "//" else 1, flags=re.DOTALL))


def slice_text(value: Value, start: int | None, length: int | None, *, has_length: bool) -> Value:
    """`${x:start:length}`."""
    if start is None or (has_length and length is None):
        return blur(value, "a part of a text")
    text = value.text
    if text is None:
        known = value.prefix
        if start >= 0 and length is not None and 0 <= start + length <= len(known) and length >= 0:
            return literal(known[start : start + length])
        return blur(value, "a part of a text")
    start = max(len(text) + start, 0) if start < 0 else start
    stop = len(text) if length is None else start + length if length >= 0 else len(text) + length
    return literal(text[start:stop])


CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda text: text[:1].upper() + text[1:],
    ",": lambda text: text[:1].lower() + text[1:],
}


def change_case(value: Value, op: str) -> Value:
    """`${x^}`, `${x^^}`, `${x,}`, `${x,,}`."""
    change = CASES[op]
    if len(op) == 1:
        return of((change(value.prefix), *value.parts[1:])) if value.prefix else value
    return of(change(part) if isinstance(part, str) else part for part in value.parts)

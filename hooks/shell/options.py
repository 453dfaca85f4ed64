"""Reading option lists: how many words of an argument list are options, and what values they take."""

from __future__ import annotations

from .events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def skip(
    words: Sequence[Value], short: str = "", long: frozenset[str] = frozenset(), *, dash: bool = False
) -> int:
    """The index of the first operand. `short` and `long` name the options that take a value as the next word.

    With `dash` a lone `-` is an option too (`su -`).
    """
    index = 0
    while index < len(words):
        text = words[index].text
        if text is None:
            prefix = words[index].prefix
            if not (prefix.startswith("-") and len(prefix) > 1):
                return index
            index += 1
            continue
        if text == "--":
            return index + 1
        if not text.startswith("-") or (text == "-" and not dash):
            return index
        index += 1 + _takes_next(text, short, long)
    return min(index, len(words))


def _takes_next(text: str, short: str, long: frozenset[str]) -> int:
    if text.startswith("--"):
        return int("=" not in text and text[2:] in long)
    for position, letter in enumerate(text[1:], 1):
        if letter in short:
            return int(position == len(text) - 1)
    return int(text[1:] in long)


def values_of(words: Sequence[Value], short: str = "", *long: str) -> Iterator[Value]:
    """The values given to an option: `-cX`, `-c X`, `-xc X`, `--long X`, `--long=X`."""
    for index, word in enumerate(words):
        text = word.prefix if word.text is None else word.text
        if not text.startswith("-"):
            continue
        following = words[index + 1] if index + 1 < len(words) else None
        found = _value_in(word, text, short, long, following)
        if found is not None:
            yield found


def _value_in(
    word: Value, text: str, short: str, long: tuple[str, ...], following: Value | None
) -> Value | None:
    for name in long:
        for dashes in ("--", "-"):
            if text == dashes + name:
                return following
            if text.startswith(f"{dashes}{name}="):
                return after(word, len(dashes + name) + 1)
    if not short or text.startswith("--"):
        return None
    at = text.find(short, 1)
    if at < 0 or (not text[1:at].isalpha() and at > 1):
        return None
    if at + len(short) == len(text) and word.text is not None:
        return following
    return after(word, at + len(short))


def after(word: Value, length: int) -> Value:
    """A word without its first characters, which are literal."""
    first = word.parts[0] if word.parts else ""
    rest = first[length:] if isinstance(first, str) else ""
    return Value(((rest,) if rest else ()) + word.parts[1:])


def has(words: Sequence[Value], short: str = "", *long: str) -> bool:
    """True if an option without value is given."""
    for word in words:
        text = word.text or ""
        if text == "--":
            return False
        if text.startswith("--"):
            if text[2:] in long:
                return True
        elif text.startswith("-") and short and any(letter in text[1:] for letter in short):
            return True
    return False


def operands(words: Sequence[Value], short: str = "", long: frozenset[str] = frozenset()) -> list[Value]:
    """All words that are neither options nor their values."""
    found: list[Value] = []
    rest = list(words)
    while rest:
        at = skip(rest, short, long)
        if at and rest[at - 1].text == "--":
            return found + rest[at:]
        if at < len(rest):
            found.append(rest[at])
        rest = rest[at + 1 :]
    return found

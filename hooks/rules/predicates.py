"""What one word must be: predicates over text, places and origin, as rules write them."""

from __future__ import annotations

from .glob import longest, text_fits
from .paths import BUILT_IN
from .pathset import one_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..shell.events import Value
    from .scene import Scene

    Predicate = Callable[[Value, Scene], bool]

TARGETS = "but-first "
"""Before a predicate over operands: the first one, which says what to do with the others, does not count."""
SOURCES = "but-last "
"""Before a predicate over operands: the last one, where things go to, does not count."""
LAST = "last "
"""Before a predicate over operands: only the last one counts, where things go to."""
BUT = " but "
"""Between a path predicate and a path set: the place satisfies the one and is surely not in the other."""
_BUT = BUT.lstrip()


def program_fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a program's name is one of the patterns."""
    return any(name == pattern or ("*" in pattern and text_fits(name, pattern)) for pattern in patterns)


def value_holds(predicate: str, value: Value, scene: Scene) -> bool:
    """Tell whether one predicate may hold for one word.

    `=TEXT` is a shell-style pattern over the word, `NAME= PREDICATE` looks behind a key (`of= device`), `path PATTERN`
    is a path pattern, `PREDICATE but SET` spares the places of a set, `from A|B` asks whose output it is, `secret-variable` and `unknown` ask about holes, anything
    else is a path predicate or path set.
    """
    return predicate_of(predicate)(value, scene)


def predicate_of(predicate: str) -> Predicate:
    """Give a predicate as `value_holds` reads it, made ready once: rules are few."""
    found = _ready.get(predicate)
    if found is None:
        found = _ready[predicate] = _made_ready(predicate)
    return found


def _made_ready(predicate: str) -> Predicate:
    if predicate.startswith("="):
        pattern, piece = predicate[1:], longest(predicate[1:])
        return lambda value, _: (
            (value.text is None or piece in value.text.lower()) and _text_is(value, pattern)
        )
    word, _, rest = predicate.partition(" ")
    if not rest:
        test = _PLAIN.get(word)
        return (lambda value, _: test(value)) if test else (lambda value, scene: scene.holds(word, value))
    if word.endswith("="):
        inner = predicate_of(rest)
        return lambda value, scene: value.prefix.startswith(word) and inner(_behind(value, len(word)), scene)
    if word == "path":
        return lambda value, scene: scene.in_set(one_pattern(rest), value)
    if rest.startswith(_BUT):
        return lambda value, scene: scene.holds_but(word, rest[len(_BUT) :], value)
    names = tuple(rest.split("|"))
    return lambda value, _: _comes_from(value, names)


_ready: dict[str, Predicate] = {}


def operand_of(predicate: str) -> tuple[slice, Predicate]:
    """Give which of the operands a predicate over them is about, and the predicate itself."""
    found = _operands.get(predicate)
    if found is None:
        head = next((one for one in (TARGETS, LAST, SOURCES) if predicate.startswith(one)), "")
        which = {TARGETS: slice(1, None), LAST: slice(-1, None), SOURCES: slice(None, -1)}.get(
            head, slice(None)
        )
        found = _operands[predicate] = which, predicate_of(predicate.removeprefix(head))
    return found


_operands: dict[str, tuple[slice, Predicate]] = {}
COUNTED = {"several": 1, "crowd": 20}
"""Predicates over how many operands there are."""


def _comes_from(value: Value, names: tuple[str, ...]) -> bool:
    return any(event.name and program_fits(event.name, names) for event in value.sources)


def _is_unknown(value: Value) -> bool:
    return value.is_opaque and not all(hole.digits for hole in value.holes)


def _holds_secret(value: Value) -> bool:
    return any(is_secret_name(hole.variable) for hole in value.holes)


def _behind(value: Value, count: int) -> Value:
    head = value.prefix[count:]
    return type(value)((*((head,) if head else ()), *value.parts[1:]))


def _text_is(value: Value, pattern: str) -> bool:
    text = value.text
    if text is not None:
        return text == pattern or text_fits(text, pattern)
    shown = "".join(
        part if isinstance(part, str) else getattr(part, "pattern", _HOLE) for part in value.parts
    )
    return text_fits(shown, pattern) or (value.has_glob and value.could_be(pattern))


_HOLE = "\N{REPLACEMENT CHARACTER}"
"""What an unknown piece reads as: one character, and none that a pattern names."""


def _is_own_process(value: Value) -> bool:
    """Tell whether a word is the id of a process that the command knows by a variable: `$$`, `$!`, `$SERVER_PID`."""
    names = {hole.variable for hole in value.holes}
    return value.is_opaque and not value.sources and names.isdisjoint({"", "PPID"})


_PLAIN: dict[str, Callable[[Value], bool]] = {
    "unknown": _is_unknown,
    "secret-variable": _holds_secret,
    "own-process": _is_own_process,
}
"""Predicates over a word that are not about places."""

_SECRET_WORDS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
    "DATABASE_URL",
    "CONNECTION_STRING",
)


def is_secret_name(variable: str) -> bool:
    """Tell whether a variable's name says that it holds a secret."""
    name = variable.upper()
    return any(word in name for word in _SECRET_WORDS)


OPERAND_WORDS = frozenset({*BUILT_IN, *_PLAIN, "none", *COUNTED})
"""Predicates that need no path set."""

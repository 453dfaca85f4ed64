"""The fields of a condition as written in TOML: their names, their types, their vocabulary."""

from __future__ import annotations

from typing import cast

from ..errors import ConfigError
from .model import CONDITION_FIELDS, FINDINGS, Condition
from .predicates import BUT, LAST, OPERAND_WORDS, SOURCES, TARGETS
from .sql import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .load import Source

_SELF_EXPLAINING = ("=", "path ", "from ")
_STDIN = ("empty", "known", "unknown")


def check_keys(source: Source, table: Any, known: tuple[str, ...], where: str) -> None:
    """Refuse a table with a key that nobody reads, or something that is no table.

    Raises:
        ConfigError: with the nearest known key.
    """
    if not isinstance(table, dict):
        raise _error(source, f"{where} must be a table, not {type(table).__name__}", where)
    keys: list[str] = list(table)  # pyright: ignore[reportUnknownArgumentType] - TOML's keys are texts
    for key in keys:
        if key not in known:
            raise _error(source, f"unknown key {key!r} in {where}{nearest(key, known)}", key)


def nearest(name: str, known: tuple[str, ...]) -> str:
    """Give a hint that ends a sentence: the known name that looks most like this one."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"


def strings(source: Source, table: dict[str, Any], key: str) -> tuple[str, ...]:
    """Give a list of texts, or one text as a list of one.

    Raises:
        ConfigError: it is something else.
    """
    value: object = table.get(key, ())
    given = (value,) if isinstance(value, str) else as_list(value)
    if given is None or not all(isinstance(one, str) for one in given):
        raise _error(source, f"`{key}` must be a text or a list of texts", key)
    return tuple(str(one) for one in given)


def as_list(value: object) -> list[object] | None:
    """Give a list as one of unknown things, or None where the value is no list."""
    return list(cast("Iterable[object]", value)) if isinstance(value, (list, tuple)) else None


def build_condition(
    source: Source, table: Any, rule: str, sets: frozenset[str], also: tuple[str, ...]
) -> Condition:
    """Read the fields of a condition out of a table; `also` are keys that others read.

    Raises:
        ConfigError: an unknown key, predicate, kind or direction.
    """
    check_keys(source, table, (*CONDITION_FIELDS, "pipeline", *also), f"rule {rule!r}")
    given = {name: strings(source, table, name) for name in CONDITION_FIELDS if name in table}
    if "pipeline" in table:
        pipeline = table["pipeline"]
        check_keys(source, pipeline, ("from", "to"), f"`pipeline` of rule {rule!r}")
        given["upstream"] = strings(source, pipeline, "from")
        given["program"] = (*given.get("program", ()), *strings(source, pipeline, "to"))
    condition = Condition(**given)
    _check_words(source, rule, condition, sets)
    return condition


def _check_words(source: Source, rule: str, condition: Condition, sets: frozenset[str]) -> None:
    plain = (
        condition.operands,
        condition.all_operands,
        condition.arguments,
        condition.writes,
        condition.replaces,
        condition.first,
    )
    for predicate in (one for held in (*plain, condition.upstream_reads) for one in held):
        _check_predicate(source, rule, predicate, sets)
    for option in condition.options:
        choices, _, predicate = option.partition(" ")
        if not choices.startswith("-"):
            raise _error(source, f"rule {rule!r}: an option is written '-d|--data PREDICATE'", option)
        _check_predicate(source, rule, predicate, sets)
    for redirect in condition.redirect:
        direction, _, predicate = redirect.partition(" ")
        if direction not in {"<", ">"}:
            raise _error(
                source, f"rule {rule!r}: a redirect is written '> PREDICATE' or '< PREDICATE'", redirect
            )
        _check_predicate(source, rule, predicate, sets)
    vocabularies = ((condition.sql, KINDS), (condition.stdin, _STDIN), (condition.finding, FINDINGS))
    for held, known in vocabularies:
        for word in held:
            if word not in known:
                raise _error(source, f"rule {rule!r}: {word!r} is not known{nearest(word, known)}", word)


def _check_predicate(source: Source, rule: str, predicate: str, sets: frozenset[str]) -> None:
    if predicate.startswith(_SELF_EXPLAINING):
        return
    predicate = predicate.removeprefix(SOURCES).removeprefix(TARGETS).removeprefix(LAST)
    name, but, spared = (predicate.partition("= ")[2] or predicate).partition(BUT)
    if but and spared not in sets:
        raise _error(
            source, f"rule {rule!r}: no path set {spared!r}{nearest(spared, tuple(sets))}", predicate
        )
    if name.startswith(_SELF_EXPLAINING):
        return
    known = (*sorted(OPERAND_WORDS), *sorted(sets))
    if name not in known:
        raise _error(
            source, f"rule {rule!r}: no predicate or path set {name!r}{nearest(name, known)}", predicate
        )


def _error(source: Source, message: str, needle: str) -> ConfigError:
    from .load import located

    return located(source, message, needle)

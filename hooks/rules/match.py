"""One condition against one event: every field that asks for something must find it."""

from __future__ import annotations

from . import sql
from .arguments import asks_for_help, exact_flag, has_flag, rests_after
from .glob import fits_any, longest, text_fits
from .predicates import COUNTED, operand_of, predicate_of, program_fits, value_holds
from .scene import ELSEWHERE, FED, REDIRECTS, SETS, WRITES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..shell.events import Redirect
    from .arguments import Word
    from .model import Condition, Rule
    from .scene import Scene

    Test = Callable[[Any, Scene], bool]
    Tests = tuple[tuple[Test, Any], ...]

FEW = 2
"""How many things beside the program a rule must ask for to be held against a program nobody knows."""


class Matcher:
    """One rule made ready: only the tests that its conditions ask for, cheap ones first."""

    __slots__ = ("_asks_words", "_tests", "_unless", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._asks_words = bool(
            rule.when.subcommand or rule.when.flags or rule.when.operands or rule.when.all_operands
        )
        self._tests = _tests(rule.when)
        self._unless: tuple[tuple[Condition, Tests], ...] | None = None

    def applies(self, scene: Scene) -> bool:
        """Tell whether the rule applies to an event: its condition holds and none of its exceptions does.

        The program of the condition is taken to fit already, except where it is unknown, and so is what `needs_of` and
        `firsts_of` give: the caller's index sees to it.
        """
        event, rule = scene.event, self.rule
        if not event.name and (event.speculative or not (scene.finding or _fits_unknown(rule.when))):
            return False
        if event.speculative and not rule.speculative:
            return False
        for test, asked in self._tests:
            if not test(asked, scene):
                return False
        if self._asks_words and not _fits_words(rule.when, scene, has_flag):
            return False
        if not rule.entry and asks_for_help(scene.arguments):
            return False
        if self._unless is None:
            self._unless = tuple((condition, _tests(condition)) for condition in rule.unless)
        return not any(_excuses(condition, tests, scene) for condition, tests in self._unless)


def _fits_unknown(condition: Condition) -> bool:
    return not condition.program or condition.strength >= FEW


_NEEDS = {
    "writes": WRITES,
    "replaces": WRITES,
    "env": SETS,
    "redirect": REDIRECTS,
    "upstream": FED,
    "upstream_reads": FED,
    "remote": ELSEWHERE,
}


def needs_of(fields: Iterable[str]) -> int:
    """Give what an event must have for a condition with these fields to hold: bits of `Scene.given`."""
    needs = 0
    for field in fields:
        needs |= _NEEDS.get(field, 0)
    return needs


def firsts_of(subcommands: Iterable[str]) -> frozenset[str]:
    """Give the words that a subcommand must start with; empty where there is none or any would do."""
    words = [word for wanted in subcommands for word in wanted.split(None, 1)[0].split("|")]
    return frozenset() if any("*" in word for word in words) else frozenset(words)


class _Sought:
    """Patterns over texts, each with the piece that must be there for it to fit."""

    __slots__ = ("_pairs", "_patterns")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns
        self._pairs: tuple[tuple[str, str], ...] | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        if self._pairs is None:
            self._pairs = tuple([(longest(pattern), pattern) for pattern in self._patterns])
        return self._pairs


def _tests(condition: Condition) -> Tests:
    asked: tuple[tuple[Test, Any], ...] = (
        (_found, condition.finding),
        (_fed_by, condition.upstream),
        (_sets, condition.env),
        (_writes, condition.writes),
        (_replaces, condition.replaces),
        (_redirects, condition.redirect),
        (_reads, condition.stdin),
        (_runs_at, condition.remote),
        (_given, tuple(_option(one) for one in condition.options)),
        (_upstream_reads, condition.upstream_reads),
        (_says, _Sought(condition.text) if condition.text else None),
        (_queries, condition.sql),
        (_starts_with, condition.first),
        (_names_path, condition.arguments),
    )
    return tuple((test, words) for test, words in asked if words)


def _option(wanted: str) -> tuple[frozenset[str], str]:
    choices, _, predicate = wanted.partition(" ")
    return frozenset(choices.split("|")), predicate


def _excuses(condition: Condition, tests: Tests, scene: Scene) -> bool:
    """Tell whether an exception surely holds: what is unknown excuses nothing."""
    name = scene.event.name
    if condition.program and not (name and program_fits(name, condition.program)):
        return False
    if condition.flags and any(value.is_opaque for value in scene.event.argv if value.text is None):
        return False
    fits = _fits_words(condition, scene, exact_flag, sure=True)
    return fits and all(test(asked, scene) for test, asked in tests)


def _found(kinds: tuple[str, ...], scene: Scene) -> bool:
    return scene.finding in kinds


def _fits_words(condition: Condition, scene: Scene, flag: Callable[..., bool], *, sure: bool = False) -> bool:
    if not (condition.subcommand or condition.flags or condition.operands or condition.all_operands):
        return True
    arguments = scene.arguments.of_subcommand if condition.subcommand else scene.arguments
    for choices in condition.flags:
        if not flag(arguments, choices):
            return False
    if not condition.subcommand:
        return _fits_operands(condition, arguments.words, scene)
    for rest in rests_after(arguments.words, condition.subcommand, sure=sure):
        if _fits_operands(condition, rest, scene):
            return True
    return False


def _fits_operands(condition: Condition, words: tuple[Word, ...], scene: Scene) -> bool:
    if condition.operands and not any(_operand(predicate, words, scene) for predicate in condition.operands):
        return False
    return all(_operand(predicate, words, scene) for predicate in condition.all_operands)


def _operand(predicate: str, words: tuple[Word, ...], scene: Scene) -> bool:
    if predicate == "none":
        return all(word.maybe for word in words)
    if predicate in COUNTED:
        return len(words) > COUNTED[predicate]
    which, holds = operand_of(predicate)
    return any(holds(word.value, scene) for word in words[which])


def _starts_with(predicates: tuple[str, ...], scene: Scene) -> bool:
    first = scene.event.argv[:1]
    return any(value_holds(predicate, value, scene) for value in first for predicate in predicates)


def _fed_by(names: tuple[str, ...], scene: Scene) -> bool:
    return any(program_fits(name, names) for name in scene.upstream)


def _sets(names: tuple[str, ...], scene: Scene) -> bool:
    return any(program_fits(name, names) for name, _value in scene.event.env)


def _reads(kinds: tuple[str, ...], scene: Scene) -> bool:
    stdin = scene.event.stdin
    if stdin.kind == "null" or (stdin.text is not None and stdin.text.text is not None):
        known = "" if stdin.text is None else (stdin.text.text or "")
        return "known" in kinds or ("empty" in kinds and not known.strip())
    if any(r.fd == 0 and r.target.text == "/dev/null" for r in scene.event.redirects):
        return "empty" in kinds
    return "unknown" in kinds and stdin.kind != "inherit"


def _redirects(wanted: tuple[str, ...], scene: Scene) -> bool:
    return any(_redirect_is(redirect, one, scene) for redirect in scene.event.redirects for one in wanted)


def _redirect_is(redirect: Redirect, wanted: str, scene: Scene) -> bool:
    direction, _, predicate = wanted.partition(" ")
    if (direction == ">" and not redirect.writes) or (direction == "<" and "<" not in redirect.op):
        return False
    return value_holds(predicate, redirect.target, scene)


def _runs_at(patterns: tuple[str, ...], scene: Scene) -> bool:
    where = scene.event.remote
    return bool(where) and any(
        text_fits(where, pattern.removeprefix("!")) != pattern.startswith("!") for pattern in patterns
    )


def _names_path(predicates: tuple[str, ...], scene: Scene) -> bool:
    for predicate in predicates:
        if scene.spares_all(predicate):
            continue
        holds = predicate_of(predicate)
        for value in scene.pieces:
            if holds(value, scene):
                return True
    return False


def _given(wanted: tuple[tuple[frozenset[str], str], ...], scene: Scene) -> bool:
    if not scene.has_options:
        return False
    for choices, predicate in wanted:
        for option in scene.arguments.options:
            if option.value is None or option.name not in choices:
                continue
            if any(value_holds(predicate, piece, scene) for piece in scene.pieces_of(option.value)):
                return True
    return False


def _upstream_reads(predicates: tuple[str, ...], scene: Scene) -> bool:
    own = [r.target for r in scene.event.redirects if "<" in r.op]
    own += [scene.event.stdin.text] if scene.event.stdin.text is not None else []
    if any(value_holds(predicate, value, scene) for value in own for predicate in predicates):
        return True
    for event in scene.upstream_events:
        values = [*event.argv, *(r.target for r in event.redirects if "<" in r.op)]
        other = scene.of(event)
        pieces = [piece for value in values for piece in other.pieces_of(value)]
        if any(value_holds(predicate, piece, other) for piece in pieces for predicate in predicates):
            return True
    return False


def _writes(predicates: tuple[str, ...], scene: Scene) -> bool:
    return any(value_holds(predicate, path, scene) for path in scene.written for predicate in predicates)


def _replaces(predicates: tuple[str, ...], scene: Scene) -> bool:
    return any(value_holds(predicate, path, scene) for path in scene.replaced for predicate in predicates)


def _says(sought: _Sought, scene: Scene) -> bool:
    whole, texts = scene.flat_texts
    wanted = sought.pairs
    if not [piece for piece, _ in wanted if piece in whole]:
        return False
    for flat, lowered in texts:
        patterns = tuple([pattern for piece, pattern in wanted if piece in lowered])
        if patterns and fits_any(flat, patterns):
            return True
    return False


def _queries(kinds: tuple[str, ...], scene: Scene) -> bool:
    return any(sql.throws_away(text) in kinds for text in scene.texts)

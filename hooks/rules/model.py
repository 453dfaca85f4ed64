"""What a rule is, once loaded: typed conditions on one `ExecEvent`, a decision, a message."""

from __future__ import annotations

from ..frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FINDINGS = ("fork-bomb", "unchecked-program", "unchecked-code", "environment")
"""A process bomb; an unknowable program; unknowable code; a variable that swaps the program for another."""


@frozen
class Source:
    """One file of rules. `level` is `default`, `user` or `project`; a project can only tighten.

    `agents` narrows all its rules to these agent types.
    """

    path: str
    text: str
    level: str = "user"
    agents: tuple[str, ...] = ()


@frozen
class Condition:
    """Everything here must hold for an event; an empty field asks for nothing.

    `program`: base names or shell-style patterns, one must fit. `subcommand`: leading non-option words, each choice
    like `stash drop|clear`. `flags`: all must be there, each a choice like `-f|--force` or `--prune=now`.
    `operands`: one predicate must hold for one operand. `arguments`: the same for any argument, option values and
    what stands behind `=`, `@` or `:` in them included. `redirect`: `> PREDICATE` or `< PREDICATE`. `env`: names set
    on the command line. `upstream`: programs whose output is read or expanded into the arguments. `text`: patterns
    over any argument and the known input. `sql`: kinds of statement. `stdin`: `empty`, `known` or `unknown`.
    `writes`: predicates over files written, `replaces` over those among them whose content is lost. `remote`: patterns over where it would run, behind `!` over where it would not. `all_operands`: each predicate
    must hold for some operand. `finding`: what reading the text itself brought up (see `FINDINGS`). `options`:
    `-d|--data PREDICATE` over an option's value. `upstream_reads`: predicates over what the upstream programs are given.
    `first`: one predicate must hold for the very first argument, an option too.
    """

    program: tuple[str, ...] = ()
    subcommand: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    redirect: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    sql: tuple[str, ...] = ()
    stdin: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()
    all_operands: tuple[str, ...] = ()
    finding: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    upstream_reads: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    def asked(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Give the fields that ask for something, with what they ask for."""
        pairs = ((name, getattr(self, name)) for name in CONDITION_FIELDS)
        return tuple((name, held) for name, held in pairs if held)

    @property
    def strength(self) -> int:
        """How many kinds of thing it asks for beside the program: what an unknown program is held against."""
        return sum(name != "program" for name, _ in self.asked())


CONDITION_FIELDS: tuple[str, ...] = Condition.__match_args__
"""The names of a condition's fields, which are also their names in TOML."""


@frozen
class Rule:
    """One rule in force. `source` says where it was written; `entry` is the one-line entry it came from, if any.

    `agents` are patterns over agent types. `speculative` is False for a rule whose program's name is an everyday
    word: then it does not count where the name is only an argument of a program nobody knows.
    """

    id: str
    when: Condition
    decision: str = "deny"
    message: str = ""
    unless: tuple[Condition, ...] = ()
    agents: tuple[str, ...] = ()
    speculative: bool = True
    source: str = ""
    entry: str = ""
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


@frozen
class Grammar:
    """How a program reads its arguments.

    `values` are the options that take the next word, `maybe` those that do so in some places; both lists are complete
    if `known`. `attached` are letters that take what follows in their own word, never the next one. `single_dash`:
    `-force` is one option, not a cluster. `aliases` are groups of spellings of one option, like `-f|--force`.
    """

    values: frozenset[str] = frozenset()
    known: bool = False
    single_dash: bool = False
    aliases: tuple[str, ...] = ()
    maybe: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()


@frozen
class RuleSet:
    """All rules, grammars and path sets in force, in the order of their sources."""

    rules: tuple[Rule, ...] = ()
    grammars: tuple[tuple[str, Grammar], ...] = ()
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()


def pack(rules: RuleSet) -> dict[str, Any]:
    """Turn a rule set into plain JSON data: what it decides, without examples and places of origin."""
    return {
        "rules": [_pack_rule(rule) for rule in rules.rules],
        "grammars": {
            name: [
                sorted(grammar.values),
                grammar.known,
                grammar.single_dash,
                sorted(grammar.maybe),
                sorted(grammar.attached),
            ]
            for name, grammar in rules.grammars
        },
        "paths": {name: list(patterns) for name, patterns in rules.paths},
    }


def unpack(data: dict[str, Any]) -> RuleSet:
    """Turn data from `pack` back into a rule set, which decides the same.

    Raises:
        LookupError, TypeError, ValueError: the data is not what `pack` makes.
    """
    return RuleSet(tuple(unpack_rule(rule) for rule in data["rules"]), *unpack_tables(data))


def unpack_tables(
    data: dict[str, Any],
) -> tuple[tuple[tuple[str, Grammar], ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Turn the grammars and path sets of `pack`'s data back; raises as `unpack`."""
    grammars = (
        (name, Grammar(frozenset(values), known, single, (), frozenset(maybe), frozenset(attached)))
        for name, (values, known, single, maybe, attached) in data["grammars"].items()
    )
    return tuple(grammars), tuple((name, tuple(patterns)) for name, patterns in data["paths"].items())


_PLAIN = ("id", "decision", "message", "speculative", "entry")


def _pack_rule(rule: Rule) -> dict[str, Any]:
    packed: dict[str, Any] = {name: getattr(rule, name) for name in _PLAIN}
    packed["agents"] = list(rule.agents)
    packed["when"] = _pack_condition(rule.when)
    packed["unless"] = [_pack_condition(condition) for condition in rule.unless]
    return packed


def _pack_condition(condition: Condition) -> dict[str, list[str]]:
    return {name: list(held) for name, held in condition.asked()}


def unpack_rule(data: dict[str, Any]) -> Rule:
    """Turn one rule of `pack`'s data back; raises as `unpack`."""
    plain: dict[str, Any] = {name: data[name] for name in _PLAIN}
    unless = tuple(_unpack_condition(condition) for condition in data["unless"])
    return Rule(when=_unpack_condition(data["when"]), unless=unless, agents=tuple(data["agents"]), **plain)


def _unpack_condition(data: dict[str, list[str]]) -> Condition:
    return Condition(**{name: tuple(held) for name, held in data.items()})

"""TOML in, rules out. Whatever is wrong is told with file, line and remedy, and nothing loads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import cast

from ..errors import ConfigError
from ..frozen import replace
from .fields import as_list, build_condition, check_keys, nearest, strings
from .model import Condition, Grammar, Rule, RuleSet, Source
from .oneline import compile_entry, split_cluster, with_aliases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DECISIONS = ("deny", "ask", "log")
_TOP = (*DECISIONS, "rule", "programs", "paths", "disable")
_RULE_TEXTS = ("id", "decision", "message")
_RULE_LISTS = ("agents", "deny", "allow")
_USER_ONLY = ("disable", "programs")
_SHIPPED: dict[tuple[Source, frozenset[tuple[str, Grammar]], frozenset[str]], list[Rule]] = {}


def compile_sources(sources: tuple[Source, ...]) -> RuleSet:
    """Compile rule files, the shipped ones first, into one set.

    Raises:
        ConfigError: a file is not valid; the text names file, line and remedy.
    """
    drafts = [_parse(source) for source in sources]
    paths = _merged_paths(sources, drafts)
    grammars = _merged_grammars(sources, drafts)
    rules: dict[str, Rule] = {}
    for source, data in zip(sources, drafts, strict=True):
        _disable(source, data, rules)
        compiled = _shipped_rules if source.level == "default" else _rules
        for rule in compiled(source, data, grammars, frozenset(paths)):
            _add(source, rule, rules)
    return RuleSet(tuple(rules.values()), tuple(grammars.items()), tuple(paths.items()))


def _add(source: Source, rule: Rule, rules: dict[str, Rule]) -> None:
    first = rules.get(rule.id)
    if first is None:
        rules[rule.id] = rule
    elif not (first.entry and rule.entry):
        raise located(
            source, f"the id {rule.id!r} is taken by a rule of {first.source}; give this one another", rule.id
        )
    elif first.agents and first.agents != rule.agents:
        # The same entry for other agents; for the same ones, or for all already, it says nothing new.
        name = f"{rule.id} ({', '.join(rule.agents) or 'all'})"
        rules.setdefault(name, replace(rule, id=name))


def located(source: Source, message: str, needle: str = "") -> ConfigError:
    """Make an error that points at the line where `needle` stands quoted, or else as a word."""
    lines = source.text.splitlines()
    quoted = (f'"{needle}"', f"'{needle}'")
    spots = [i for i, line in enumerate(lines, 1) if needle and any(q in line for q in quoted)]
    spots = spots or [
        i for i, line in enumerate(lines, 1) if needle and re.search(rf"\b{re.escape(needle)}\b", line)
    ]
    return ConfigError(message, source.path, spots[-1] if spots else 0)


@lru_cache(maxsize=32)
def _loaded(text: str) -> dict[str, Any]:
    """Read TOML once: the shipped files are half of the work of every law of a process. Nobody changes what it gives."""
    import tomllib

    return tomllib.loads(text)


def _parse(source: Source) -> dict[str, Any]:
    import tomllib

    try:
        data = _loaded(source.text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else source.text.count("\n") + 1
        raise ConfigError(f"this is not valid TOML: {error}; mend the line", source.path, line) from None
    check_keys(source, data, _TOP, "a rule file")
    forbidden = [key for key in _USER_ONLY if source.level == "project" and key in data]
    if forbidden:
        raise located(
            source,
            f"a project can only tighten the law, so `{forbidden[0]}` counts only in your own rules.toml; remove it here",
            forbidden[0],
        )
    return data


def _disable(source: Source, data: dict[str, Any], rules: dict[str, Rule]) -> None:
    for name in strings(source, data, "disable"):
        if name not in rules:
            hint = nearest(name, tuple(rules))
            raise located(source, f"`disable` names {name!r}, but there is no such rule{hint}", name)
        del rules[name]


def _shipped_rules(
    source: Source, data: dict[str, Any], grammars: dict[str, Grammar], sets: frozenset[str]
) -> list[Rule]:
    """Compile a shipped file once a process for the same grammars and sets: each law of each agent type holds them."""
    key = (source, frozenset(grammars.items()), sets)
    if key not in _SHIPPED:
        _SHIPPED[key] = _rules(source, data, grammars, sets)
    return _SHIPPED[key]


def _rules(
    source: Source, data: dict[str, Any], grammars: dict[str, Grammar], sets: frozenset[str]
) -> list[Rule]:
    rules = [
        _entry_rule(source, entry, decision, grammars)
        for decision in DECISIONS
        for entry in dict.fromkeys(strings(source, data, decision))
    ]
    tables = as_list(data.get("rule", []))
    if tables is None:
        raise located(source, "`rule` must be a list of tables: write [[rule]], not [rule]", "rule")
    rules.extend(_rule(source, table, grammars, sets) for table in tables)
    return [replace(rule, agents=source.agents) for rule in rules] if source.agents else rules


def _entry_rule(source: Source, entry: str, decision: str, grammars: dict[str, Grammar]) -> Rule:
    try:
        return compile_entry(entry, decision, grammars, source.path)
    except ConfigError as error:
        raise located(source, error.message, entry) from None


def _rule(source: Source, given: object, grammars: dict[str, Grammar], sets: frozenset[str]) -> Rule:
    table = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    name = table.get("id")
    if not isinstance(name, str) or not name:
        raise located(source, 'a rule has no `id`; give it a name, like id = "no-deploys"', "rule")
    texts = {key: _text(source, table, key) for key in _RULE_TEXTS if key in table}
    decision = texts.get("decision", "deny")
    if decision not in DECISIONS:
        raise located(
            source,
            f"rule {name!r}: `decision` is {decision!r}; it is one of {', '.join(DECISIONS)}",
            decision,
        )
    when = build_condition(source, table, name, sets, (*_RULE_TEXTS, *_RULE_LISTS, "unless", "speculative"))
    if not when.strength and not when.program:
        raise located(
            source, f"rule {name!r} has no condition and would hit everything; name a `program`", name
        )
    groups = _groups(when.program, when.subcommand, grammars)
    return Rule(
        name,
        replace(when, flags=_spelled(when, groups, grammars)),
        decision,
        texts.get("message", ""),
        _exceptions(source, table, name, sets),
        agents=strings(source, table, "agents"),
        speculative=table.get("speculative", True) is not False,
        source=source.path,
        deny=strings(source, table, "deny"),
        allow=strings(source, table, "allow"),
    )


def _exceptions(
    source: Source, table: dict[str, Any], name: str, sets: frozenset[str]
) -> tuple[Condition, ...]:
    value: object = table.get("unless", [])
    tables = as_list(value)
    return tuple(
        build_condition(source, one, name, sets, ()) for one in ([value] if tables is None else tables)
    )


def _spelled(when: Condition, groups: list[str], grammars: dict[str, Grammar]) -> tuple[str, ...]:
    """Give flags with all their spellings; `-rf` is two flags where the program reads clusters."""
    clusters = not any(name in grammars and grammars[name].single_dash for name in when.program)
    flags = [one for flag in when.flags for one in (split_cluster(flag) if clusters else [flag])]
    return tuple(with_aliases(flag, groups) for flag in flags)


def _groups(
    programs: tuple[str, ...], subcommands: tuple[str, ...], grammars: dict[str, Grammar]
) -> list[str]:
    names = [*programs]
    for program in programs:
        for words in subcommands:
            names.extend(f"{program} {first}" for first in words.split()[0].split("|"))
    return [group for name in names if name in grammars for group in grammars[name].aliases]


def _text(source: Source, table: dict[str, Any], key: str) -> str:
    value = table[key]
    if not isinstance(value, str):
        raise located(source, f"`{key}` must be a text, not {type(value).__name__}", key)
    return value


def _merged_grammars(sources: tuple[Source, ...], drafts: list[dict[str, Any]]) -> dict[str, Grammar]:
    merged: dict[str, Grammar] = {}
    for source, data in zip(sources, drafts, strict=True):
        for name, table in data.get("programs", {}).items():
            check_keys(
                source,
                table,
                ("values", "maybe", "attached", "single_dash", "aliases", "same_as"),
                f"[programs.{name}]",
            )
            base = merged.get(name) or merged.get(str(table.get("same_as", "")), Grammar())
            merged[name] = Grammar(
                base.values | frozenset(strings(source, table, "values")),
                known=True,
                single_dash=bool(table.get("single_dash", base.single_dash)),
                aliases=(*base.aliases, *strings(source, table, "aliases")),
                maybe=base.maybe | frozenset(strings(source, table, "maybe")),
                attached=base.attached | frozenset(strings(source, table, "attached")),
            )
    return merged


def _merged_paths(sources: tuple[Source, ...], drafts: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    merged: dict[str, tuple[str, ...]] = {}
    for source, data in zip(sources, drafts, strict=True):
        for name in data.get("paths", {}):
            patterns = strings(source, data["paths"], name)
            loosened = [
                pattern for pattern in patterns if pattern.startswith("!") and source.level == "project"
            ]
            if loosened:
                raise located(
                    source,
                    f"a project cannot take {loosened[0]!r} out of a path set; remove it here",
                    loosened[0],
                )
            merged[name] = (*merged.get(name, ()), *patterns)
    return merged

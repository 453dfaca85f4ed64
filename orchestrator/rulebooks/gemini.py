"""Gemini CLI's policy engine (TOML): `[[rule]]` with `toolName`, `commandPrefix`, `decision`, `denyMessage`.

Format: google-gemini/gemini-cli, `docs/reference/policy-engine.md`.
"""

from __future__ import annotations

from typing import Any, cast

from decurion.hooks import ConfigError

from .book import Book, Value

_DECISIONS = {"deny": "deny", "ask_user": "ask", "ask": "ask", "allow": "allow"}
_BEYOND = ("commandRegex", "argsPattern", "mcpName", "toolAnnotations", "interactive", "allowRedirection")


def read_gemini(text: str, path: str) -> Book:
    """Read a policy file.

    Raises:
        ConfigError: it is not TOML, or holds no list of rules.
    """
    from .reader import load_toml

    data = load_toml(text, path)
    rules = data.get("rule", [])
    tables = cast("list[object]", rules) if isinstance(rules, list) else None
    if tables is None or not all(isinstance(rule, dict) for rule in tables):
        raise ConfigError("`rule` must be a list of tables ([[rule]]); is this a Gemini policy?", path)
    book = Book()
    for rule in tables:
        _take(book, cast("dict[str, Any]", rule))
    return book


def _take(book: Book, rule: dict[str, Any]) -> None:
    origin = ", ".join(f"{key} = {value!r}" for key, value in rule.items())
    decision = _DECISIONS.get(str(rule.get("decision", "")), "")
    tools = _texts(rule.get("toolName", "run_shell_command"))
    prefixes = _texts(rule.get("commandPrefix", ()))
    beyond = [key for key in _BEYOND if key in rule]
    if decision == "allow":
        book.leave_out(
            origin, "what no rule forbids is allowed; a deny beats it here whatever the priorities"
        )
    elif not decision:
        book.leave_out(origin, "no decision that is known here")
    elif beyond:
        book.leave_out(origin, f"{beyond[0]} has no counterpart: rules look at what would run, not at text")
    elif "run_shell_command" not in tools or not prefixes:
        book.leave_out(origin, "only rules for run_shell_command with a commandPrefix can be taken over")
    else:
        _take_prefixes(book, decision, rule, prefixes, origin)
    if decision in {"deny", "ask"} and "modes" in rule:
        book.notes.append(f"`modes` of a rule is dropped, it holds always here: {origin}")


def _take_prefixes(
    book: Book, decision: str, rule: dict[str, Any], prefixes: tuple[str, ...], origin: str
) -> None:
    agents = _texts(rule.get("subagent", ()))
    message = str(rule.get("denyMessage", ""))
    for prefix in prefixes:
        words = prefix.split()
        if not words or words[0].startswith("-") or set("|&;<>()") & set(prefix):
            book.leave_out(f"{decision} {prefix}", "not one plain command")
        elif agents or message:
            book.add_draft("gemini", origin, _fields(words, decision, message, agents))
        else:
            book.add_entry(decision, " ".join(words))


def _fields(words: list[str], decision: str, message: str, agents: tuple[str, ...]) -> dict[str, Value]:
    return {
        "program": words[0],
        "subcommand": " ".join(word for word in words[1:] if not word.startswith("-")),
        "flags": tuple(word for word in words[1:] if word.startswith("-")),
        "agents": agents,
        "decision": decision,
        "message": message,
    }


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    items = cast("list[object]", value) if isinstance(value, (list, tuple)) else []
    return tuple(str(item) for item in items)

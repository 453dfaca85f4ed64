"""Permission lists in Claude Code's syntax (`Bash(npm publish:*)`, `Read(./.env)`, `WebFetch`) as parts of the law.

What names a whole tool becomes a gate here; what has a specifier becomes rules, through the importer of the rules.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase

from decurion.agents.dispatch import Approve
from decurion.hooks import ConfigError, Decision, Event, PreToolUse, ToolCall, UsageError, ask, deny
from decurion.hooks.chain import Hook
from decurion.hooks.matchers import ECOSYSTEM, our_name
from decurion.hooks.rules import Source

from .options import LawOptions, PermissionMode

_CHAINING = (";", "&", "|", "`", "$(", "\n", ">", "<")
_EVERYTHING = ("", "*", "**", ":*", "./**", "/**", "//**")
_WRITING = ("bash", "write_file", "edit_file")


def split_rules(text: str) -> list[str]:
    """Split a comma list of rules; commas inside parentheses belong to the rule.

    >>> split_rules("Bash(git log:*, -p), Read")
    ['Bash(git log:*, -p)', 'Read']

    Raises:
        UsageError: parentheses do not match; half a rule could mean the whole tool.
    """
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    if depth:
        raise UsageError(f"The parentheses of `{text}` do not match; write rules such as 'Bash(git push:*)'.")
    return [part.strip() for part in parts if part.strip()]


def strangers(rules: Sequence[str]) -> list[str]:
    """Give the tools that rules name and nobody here has, as they were written."""
    named = [(rule.partition("(")[0].strip(), parse_rule(rule)[0]) for rule in rules]
    return list(dict.fromkeys(written for written, tool in named if tool not in ECOSYSTEM))


def whole_tools(rules: Sequence[str]) -> frozenset[str]:
    """Give our names of the tools that rules name as a whole: `Edit`, `Bash(*)`."""
    parsed = [parse_rule(rule) for rule in rules]
    return frozenset(tool for tool, pattern in parsed if pattern in _EVERYTHING)


def permission_sources(denied: Sequence[str], asked: Sequence[str]) -> list[Source]:
    """Give rule sources for every rule with a specifier of a tool that exists here.

    Raises:
        ConfigError: a rule cannot be expressed; what may hold a refusal is never passed over.
    """
    from .rulebooks import to_toml
    from .rulebooks.claude import read_claude

    specific = {"deny": _specific(denied), "ask": _specific(asked)}
    if not any(specific.values()):
        return []
    book = read_claude(json.dumps({"permissions": specific}), "permissions")
    if book.left_out:
        told = "; ".join(f"{origin}: {reason}" for origin, reason in book.left_out)
        raise ConfigError(f"cannot be put in force as a rule: {told}", "permissions")
    return [Source("permissions", to_toml(book, "permissions"), "project")]


def _specific(rules: Sequence[str]) -> list[str]:
    """Give the rules that need reading; those of tools that do not exist here can never be broken."""
    parsed = [(rule, *parse_rule(rule)) for rule in rules]
    return [rule for rule, tool, pattern in parsed if pattern not in _EVERYTHING and tool in ECOSYSTEM]


def permission_hooks(denied: Sequence[str], asked: Sequence[str]) -> list[Hook]:
    """Give the gate for rules that name whole tools; none where there are none."""
    refused, questioned = whole_tools(denied), whole_tools(asked)
    if not refused and not questioned:
        return []

    def run(event: Event) -> Decision | None:
        name = event.call.name if isinstance(event, PreToolUse) else ""
        if name in refused:
            return deny(f"the tool {name} is switched off here", f"permission:{name}")
        return (
            ask(f"the tool {name} needs a person's yes", f"permission:{name}") if name in questioned else None
        )

    return [Hook("permissions", frozenset({"PreToolUse"}), run)]


def mode_hook(mode: PermissionMode) -> list[Hook]:
    """Give the gate of `plan` mode: looking is allowed, changing is not."""
    if mode != "plan":
        return []

    def run(event: Event) -> Decision | None:
        if isinstance(event, PreToolUse) and event.call.name in _WRITING:
            return deny("plan mode: read and search only, then report the plan", "permission-mode")
        return None

    return [Hook("permission-mode", frozenset({"PreToolUse"}), run)]


def approver(law: LawOptions, allowed: Sequence[str], person: Approve) -> Approve:
    """Give what answers `ask` verdicts: yes for what was allowed beforehand, else what the person says."""
    yes = [parse_rule(rule) for rule in (*allowed, *law.allowed)]

    async def approve(call: ToolCall, decision: Decision) -> bool:
        if law.permission_mode == "bypassPermissions":
            return True
        if any(covers(tool, pattern, call) for tool, pattern in yes):
            return True
        return law.permission_mode != "dontAsk" and await person(call, decision)

    return approve


def parse_rule(rule: str) -> tuple[str, str]:
    """Split a permission rule into our tool's name and its specifier, empty for the whole tool.

    >>> parse_rule("Bash(git push:*)")
    ('bash', 'git push:*')

    Raises:
        ConfigError: it opens a parenthesis and does not end with one; half a rule could mean the whole tool.
    """
    name, opened, rest = rule.strip().partition("(")
    if opened and not rest.endswith(")"):
        raise ConfigError(f"`{rule}` is no rule: write it as `Bash(git push:*)`", "permissions")
    return our_name(name.strip()), rest.removesuffix(")").strip()


def covers(tool: str, pattern: str, call: ToolCall) -> bool:
    """Tell whether an allowance covers a call. A command must be plain: a prefix says nothing of what is chained on."""
    if tool != call.name:
        return False
    if pattern in ("", "*"):
        return True
    if tool != "bash":
        return fnmatchcase(str(call.args.get("path", "")), pattern.removeprefix("./"))
    command = str(call.args.get("command", "")).strip()
    if any(sign in command for sign in _CHAINING):
        return False
    if pattern.endswith(":*"):
        prefix = pattern.removesuffix(":*")
        return command == prefix or command.startswith(prefix + " ")
    return fnmatchcase(command, pattern)

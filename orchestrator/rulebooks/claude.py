"""Claude Code's `permissions` (settings.json): `Bash(npm publish:*)`, `Read(./.env)`, `Edit(…)`.

Format: code.claude.com/docs/en/permissions. Path patterns are gitignore's: `//` absolute, `~/` home, `/` relative to
the settings file, anything else at any depth.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from decurion.hooks import ConfigError

from .book import Book

_RULE = re.compile(r"\s*([\w*]+)(?:\((.*)\))?\s*\Z", re.DOTALL)
_READERS = frozenset({"Read", "Grep", "Glob", "NotebookRead"})
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_NO_ALLOW = "what no rule forbids is allowed, so there is nothing to allow"


def read_claude(text: str, path: str) -> Book:
    """Read a settings file.

    Raises:
        ConfigError: it is not JSON, or `permissions` has the wrong shape.
    """
    try:
        data: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"this is not valid JSON: {error.msg}; mend the line", path, error.lineno) from None
    permissions = cast("dict[str, Any]", data).get("permissions", data) if isinstance(data, dict) else None
    if not isinstance(permissions, dict):
        raise ConfigError("no `permissions` object here; is this a Claude Code settings file?", path)
    lists = cast("dict[str, Any]", permissions)
    book = Book()
    for decision in ("deny", "ask", "allow"):
        for rule in _texts(lists.get(decision, []), decision, path):
            _take(book, decision, rule)
    for key in ("defaultMode", "additionalDirectories", "disableBypassPermissionsMode"):
        if key in lists:
            book.leave_out(key, "a setting of the other product, not a rule")
    return book


def _texts(value: object, key: str, path: str) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise ConfigError(f"`permissions.{key}` must be a list of texts", path)
    return [str(item) for item in items]


def _take(book: Book, decision: str, rule: str) -> None:
    found = _RULE.match(rule)
    if decision == "allow":
        book.leave_out(f"allow {rule}", _NO_ALLOW)
    elif found is None:
        book.leave_out(f"{decision} {rule}", "not of the form Tool or Tool(specifier)")
    elif found[1] == "Bash":
        _take_command(book, decision, rule, (found[2] or "").strip())
    elif found[1] in _READERS | _WRITERS:
        _take_path(book, decision, rule, found[1], (found[2] or "").strip())
    else:
        book.leave_out(f"{decision} {rule}", f"{found[1]} is no tool that our rules judge")


def _take_command(book: Book, decision: str, rule: str, pattern: str) -> None:
    words = re.sub(r"(:\*|\s*\*)\Z", "", pattern).split()
    if not words:
        book.leave_out(
            f"{decision} {rule}", "this means every command; take the bash tool from the agent instead"
        )
    elif "*" in words[0]:
        book.leave_out(f"{decision} {rule}", "a rule needs the program's name; its start here is a wildcard")
    elif any("*" in word for word in words):
        _take_pattern(book, decision, rule, words)
    elif set("|&;<>()") & set(pattern):
        book.leave_out(f"{decision} {rule}", "shell signs; each command of a line is judged by itself here")
    else:
        book.add_entry(decision, " ".join(words))


def _take_pattern(book: Book, decision: str, rule: str, words: list[str]) -> None:
    flags = tuple(word for word in words[1:] if word.startswith("-"))
    plain = [word for word in words[1:] if not word.startswith("-")]
    leading = [word for word in plain if word != "*"] if plain[:1] != ["*"] else []
    later = tuple(f"={word}" for word in plain if word != "*") if plain[:1] == ["*"] else ()
    if not (flags or leading or later):
        book.leave_out(f"{decision} {rule}", "nothing but wildcards after the program")
        return
    book.add_draft(
        "claude",
        f"{decision} {rule}",
        {
            "program": words[0],
            "subcommand": " ".join(leading),
            "flags": flags,
            "all_operands": later,
            "decision": decision,
            "message": f"Taken over from Claude Code's rule {rule}.",
        },
    )


def _take_path(book: Book, decision: str, rule: str, tool: str, pattern: str) -> None:
    path = our_path(pattern)
    if not path:
        book.leave_out(
            f"{decision} {rule}", f"this means every file; take the {tool} tool from the agent instead"
        )
        return
    names = tuple(f"path {one}" for one in path)
    condition: dict[str, str | tuple[str, ...]] = (
        {"writes": names} if tool in _WRITERS else {"program": "*", "arguments": names}
    )
    message = f"Taken over from Claude Code's rule {rule}."
    book.add_draft("claude", f"{decision} {rule}", {**condition, "decision": decision, "message": message})
    if tool not in _WRITERS:
        redirects = tuple(f"< {name}" for name in names)
        book.add_draft(
            "claude", f"{decision} {rule}", {"redirect": redirects, "decision": decision, "message": message}
        )


def our_path(pattern: str) -> tuple[str, ...]:
    """Turn a gitignore-style pattern into ours; empty where it means everything."""
    bare = pattern.rstrip("/")
    if bare in {"", "*", "**", ".", "./**", "/**"}:
        return ()
    if bare.startswith("//"):
        start = bare[1:]
    elif bare.startswith("~/"):
        start = bare
    elif bare.startswith(("./", "/")):
        start = f"./{bare.lstrip('./')}" if not bare.startswith("./.") else bare
    else:
        start = (
            f"./{bare}" if "/" in bare and not bare.startswith("**/") else f"./**/{bare.removeprefix('**/')}"
        )
    return (start,) if start.endswith("/**") else (start, f"{start}/**")

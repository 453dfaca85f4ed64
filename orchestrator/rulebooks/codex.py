"""Codex's exec policy (`*.rules`): `prefix_rule(pattern = […], decision = "forbidden", match = […])`.

Format: openai/codex, `codex-rs/execpolicy/README.md`. The file is Starlark; it is parsed as Python and never run, so
anything but calls with literal arguments is reported.
"""

from __future__ import annotations

import ast
import shlex
from typing import Any, cast

from decurion.hooks import ConfigError

from .book import Book, Value

_DECISIONS = {"forbidden": "deny", "prompt": "ask", "allow": "allow"}


def read_codex(text: str, path: str) -> Book:
    """Read a rules file.

    Raises:
        ConfigError: it does not parse.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0) or 0
        raise ConfigError(
            "this is not a Codex rules file: it does not parse; mend the line", path, line
        ) from None
    book = Book()
    for statement in tree.body:
        origin = ast.unparse(statement)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            book.leave_out(
                origin, f"line {statement.lineno}: only plain calls are taken over, code is not run"
            )
        elif call.func.id != "prefix_rule":
            book.leave_out(origin, f"line {statement.lineno}: {call.func.id} has no counterpart here")
        else:
            _take(book, call, origin)
    return book


def _take(book: Book, call: ast.Call, origin: str) -> None:
    try:
        given: dict[str, Any] = {word.arg or "": ast.literal_eval(word.value) for word in call.keywords}
        given.update(zip(("pattern", "decision"), (ast.literal_eval(a) for a in call.args), strict=False))
    except (ValueError, TypeError, SyntaxError):
        book.leave_out(origin, f"line {call.lineno}: an argument is not a literal, and code is not run")
        return
    decision = _DECISIONS.get(str(given.get("decision", "allow")), "")
    if decision == "allow":
        book.leave_out(origin, "what no rule forbids is allowed, so there is nothing to allow")
        return
    fields = _fields(given.get("pattern"))
    if not decision or fields is None:
        book.leave_out(origin, f"line {call.lineno}: `pattern` must start with a program's name")
        return
    examples = {"deny": _examples(given.get("match")), "allow": _examples(given.get("not_match"))}
    message = str(given.get("justification") or "Taken over from a Codex prefix_rule.")
    kept: dict[str, Value] = {**fields, "decision": decision, "message": message, **examples}
    book.add_draft("codex", origin.replace("\n", " "), kept)


def _fields(pattern: object) -> dict[str, Value] | None:
    """Turn a prefix into our fields: words stay in order, options may stand anywhere and in any spelling."""
    if not isinstance(pattern, (list, tuple)) or not pattern:
        return None
    choices = [_choices(part) for part in cast("list[object]", pattern)]
    if not all(choices) or any(name.startswith("-") for name in choices[0]):
        return None
    leading: list[str] = []
    flags: list[str] = []
    later: list[str] = []
    for names in choices[1:]:
        if all(name.startswith("-") for name in names):
            flags.append("|".join(names))
        elif flags or any(set(name) & set("|* ") for name in names):
            later.extend(f"={name}" for name in names[:1])
        else:
            leading.append("|".join(names))
    return {
        "program": tuple(name.rpartition("/")[2] for name in choices[0]),
        "subcommand": " ".join(leading),
        "flags": tuple(flags),
        "all_operands": tuple(later),
    }


def _choices(part: object) -> list[str]:
    if isinstance(part, str):
        return [part] if part else []
    items = cast("list[object]", part) if isinstance(part, (list, tuple)) else []
    return [str(item) for item in items if isinstance(item, str) and item]


def _examples(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, (list, tuple)) else []
    return tuple(
        item if isinstance(item, str) else shlex.join(str(word) for word in cast("list[object]", item))
        for item in items
        if isinstance(item, (str, list, tuple))
    )

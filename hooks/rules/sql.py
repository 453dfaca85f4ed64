"""Just enough SQL to tell a statement that throws data away from one that mentions it.

Text is cut into statements; comments vanish, strings and quoted names become one token, and only the words at the
head of a statement decide.
"""

from __future__ import annotations

import re

from ..patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("drop", "truncate", "delete-all")

_TOKEN = lazy(
    r"""--[^\n]*|\#[^\n]*|/\*!\d*|\*/|/\*.*?(?:\*/|\Z)|\s+   # comments; MySQL runs what stands in /*! */
    |'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|`[^`]*`?|\[[^\]\n]*\]
    |\$(\w*)\$.*?(?:\$\1\$|\Z)
    |;|[A-Za-z_]\w*|\d+|.""",
    re.DOTALL | re.VERBOSE,
)
_SKIPPED = ("--", "#", "/*", "*/")
_THINGS = frozenset(
    "TABLE DATABASE SCHEMA USER ROLE TABLESPACE OWNED KEYSPACE COLLECTION MATERIALIZED COLUMN FOREIGN".split()
    + ["STREAM", "TYPE", "DOMAIN", "SEQUENCE", "EXTENSION", "SERVER", "PARTITION", "MEASUREMENT", "SERIES"]
)
_ALWAYS_TRUE = ({"1", "=", "1"}, {"TRUE"}, {"1"}, {"'1'", "=", "'1'"})


def throws_away(text: str) -> str | None:
    """Give the kind (see `KINDS`) of the first statement that throws data away, or None."""
    for tokens in _statements(text):
        kind = _kind(tokens)
        if kind is not None:
            return kind
    return None


def _statements(text: str) -> Iterator[list[str]]:
    tokens: list[str] = []
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token.isspace() or token.startswith(_SKIPPED):
            continue
        if token == ";" or (token == "\\" and tokens):
            yield tokens
            tokens = []
        elif token.startswith("$") and len(token) > 1:
            tag = len(found[1] or "") + 2
            yield from _statements(token[tag : -tag if token.endswith("$") else None])
        else:
            tokens.append(token if token[0] in "'\"`" else token.upper())
    yield tokens


def _kind(tokens: list[str]) -> str | None:
    tokens = _body(tokens)
    if not tokens:
        return None
    head = tokens[0]
    if head == "DROP":
        return "drop" if any(word in _THINGS for word in tokens[1:4]) else None
    if head == "TRUNCATE":
        return "truncate" if len(tokens) > 1 and tokens[1] != "(" else None
    if head == "DELETE":
        return "delete-all" if _unbounded(tokens) else None
    if head == "ALTER":
        pairs = zip(tokens, tokens[1:], strict=False)
        return "drop" if any(one == "DROP" and two in _THINGS for one, two in pairs) else None
    return None


def _body(tokens: list[str]) -> list[str]:
    """Step over what may stand before the verb: `BEGIN`, `EXPLAIN ANALYZE`, `WITH x AS (…)`, `EXECUTE '…'`."""
    while tokens and tokens[0] in {"BEGIN", "ANALYZE", "THEN", "LOOP", "ELSE", "DO", "(", "{"}:
        tokens = tokens[1:]
    if tokens[:1] == ["EXPLAIN"]:
        return _body(tokens[1:]) if "ANALYZE" in tokens[1:4] else []
    if tokens[:1] == ["WITH"]:
        return _after_with(tokens)
    if tokens[:1] in (["EXECUTE"], ["PREPARE"]):
        quoted = [token for token in tokens if token[0] in "'\""]
        return next(_statements(quoted[0][1:-1]), []) if quoted else []
    return tokens


def _after_with(tokens: list[str]) -> list[str]:
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if token in {"DELETE", "TRUNCATE", "DROP"} and (depth == 0 or tokens[index - 1] == "("):
            return tokens[index:]
    return []


def _unbounded(tokens: list[str]) -> bool:
    if len(tokens) < 2:
        return False
    if "WHERE" not in tokens:
        return "LIMIT" not in tokens and "USING" not in tokens and "FROM" in tokens
    condition = tokens[tokens.index("WHERE") + 1 :]
    if set(condition) in _ALWAYS_TRUE:
        return True
    return len(condition) == 3 and condition[1] == "=" and condition[0] == condition[2]

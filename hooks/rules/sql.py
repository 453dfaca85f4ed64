"""Just enough SQL to tell a statement that throws data away from one that mentions it.

Text is cut into statements; comments vanish, strings and quoted names become one piece, and only the words at the
head of a statement decide.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("drop", "truncate", "delete-all")

_PIECE = lazy(
    r"""(?P<client>^[ \t]*\\[A-Za-z?!][^\n\\]*|^[ \t]*\.[A-Za-z][^\n]*$|^[ \t]*(?:use|source|delimiter)\b[^\n;]*$
        |^[ \t]*go[ \t]*$|\\[A-Za-z?!+]*)   # what the client itself carries out ends a statement
    |--[^\n]*|\#[^\n]*|/\*!\d*|\*/|/\*.*?(?:\*/|\Z)|\s+   # comments; MySQL runs what stands in /*! */
    |'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|`[^`]*`?|\[[^\]\n]*\]
    |\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)
    |;|[A-Za-z_]\w*|\d+|.""",
    re.DOTALL | re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_VERB = lazy(r"drop|truncate|delete|alter", re.IGNORECASE)
_SKIPPED = ("--", "#", "/*", "*/")
_THINGS = frozenset(
    {
        *(
            "TABLE",
            "DATABASE",
            "SCHEMA",
            "USER",
            "ROLE",
            "TABLESPACE",
            "OWNED",
            "KEYSPACE",
            "COLLECTION",
            "MATERIALIZED",
        ),
        *(
            "COLUMN",
            "FOREIGN",
            "STREAM",
            "TYPE",
            "DOMAIN",
            "SEQUENCE",
            "EXTENSION",
            "SERVER",
            "PARTITION",
            "MEASUREMENT",
        ),
        "SERIES",
    }
)
"""What it is a loss to drop; an index, a view or a constraint is made again from what is left."""

_ALWAYS_TRUE = ({"TRUE"}, {"1"}, {"1", "="}, {"'1'", "="})


def throws_away(text: str) -> str | None:
    """Give the kind (see `KINDS`) of the first statement that throws data away, or None."""
    if not _VERB.search(text):
        return None
    for pieces in _statements(text):
        kind = _kind(pieces)
        if kind is not None:
            return kind
    return None


def _statements(text: str) -> Iterator[list[str]]:
    pieces: list[str] = []
    for found in _PIECE.finditer(text):
        piece = found[0]
        if piece.isspace() or piece.startswith(_SKIPPED):
            continue
        if piece == ";" or found["client"]:
            yield pieces
            pieces = []
        elif piece.startswith("$") and len(piece) > 1:
            tag = len(found["tag"] or "") + 2
            yield from _statements(piece[tag : -tag if piece.endswith("$") else None])
        else:
            pieces.append(piece if piece[0] in "'\"`" else piece.upper())
    yield pieces


def _kind(pieces: list[str]) -> str | None:
    pieces = _body(pieces)
    if not pieces:
        return None
    head = pieces[0]
    if head == "DROP":
        return "drop" if any(word in _THINGS for word in pieces[1:4]) else None
    if head == "TRUNCATE":
        return "truncate" if len(pieces) > 1 and pieces[1] != "(" else None
    if head == "DELETE":
        return "delete-all" if _unbounded(pieces) else None
    return _altered(pieces) if head == "ALTER" else None


def _altered(pieces: list[str]) -> str | None:
    if "DELETE" in pieces and _unbounded(pieces[pieces.index("DELETE") :]):
        return "delete-all"
    return "drop" if any(one == "DROP" and two in _THINGS for one, two in pairwise(pieces)) else None


def _body(pieces: list[str]) -> list[str]:
    """Step over what may stand before the verb: `BEGIN`, `EXPLAIN ANALYZE`, `WITH x AS (…)`, `EXECUTE '…'`."""
    while pieces and pieces[0] in {"BEGIN", "ANALYZE", "THEN", "LOOP", "ELSE", "DO", "(", "{"}:
        pieces = pieces[1:]
    if pieces[:1] == ["EXPLAIN"]:
        return _body(pieces[1:]) if "ANALYZE" in pieces[1:4] else []
    if pieces[:1] == ["WITH"]:
        return _after_with(pieces)
    if pieces[:1] in (["EXECUTE"], ["PREPARE"]):
        quoted = [piece for piece in pieces if piece[0] in "'\""]
        none: list[str] = []
        return next(_statements(quoted[0][1:-1]), none) if quoted else none
    return pieces


def _after_with(pieces: list[str]) -> list[str]:
    depth = 0
    for index, piece in enumerate(pieces):
        depth += (piece == "(") - (piece == ")")
        if piece in {"DELETE", "TRUNCATE", "DROP"} and (depth == 0 or pieces[index - 1] == "("):
            return pieces[index:]
    return []


def _unbounded(pieces: list[str]) -> bool:
    if len(pieces) < 2:
        return False
    if "WHERE" not in pieces:
        return "LIMIT" not in pieces and "USING" not in pieces and "FROM" in pieces
    condition = pieces[pieces.index("WHERE") + 1 :]
    if set(condition) in _ALWAYS_TRUE:
        return True
    return len(condition) == 3 and condition[1] == "=" and condition[0] == condition[2]

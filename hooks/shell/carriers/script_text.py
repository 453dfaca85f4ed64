"""Source text made plainer before it is scanned: homes written out, joined literals joined, escapes resolved."""

from __future__ import annotations

import re

from .script_patterns import (
    CALLED,
    ESCAPE,
    EXPANDED,
    HELD,
    HOMES,
    INDEXED,
    JOINED,
    RENAMED,
    RUST_JOIN,
    SENT,
    STRING,
)

_STATEMENT = re.compile(rf"(?:{STRING}|[^;\n}}])*")


_HERE = re.compile(
    r"\b__dirname\b|\bimport\.meta\.dir(?:name)?\b|(?<![\w.])process\.cwd\(\)|\bDir\.pwd\b|(?<![\w.$>])getcwd\(\)"
)
"""The folder that a script works in."""
_TAKEN_JOIN = re.compile(
    r"\{[^{}]*\b(?:join|resolve)\b[^{}]*\}\s*(?:=\s*require\(|from)\s*['\"](?:node:)?path\b"
)
_BARE_JOIN = re.compile(r"(?<![\w.])(join|resolve)\(")
"""`const {join} = require('path')`: from then on it goes by its bare name."""
_SYSOPEN = re.compile(rf"\bsysopen\s*\(?\s*((?:my\s+)?[$\w]+)\s*,\s*({STRING})\s*,\s*([\w\s|:+&]*)")
_PATH_METHOD = re.compile(
    rf"\bpath\(\s*({STRING})\s*\)\s*->\s*(slurp|lines|openr|spew|append|openw|opena|touch|remove_tree|remove)\w*"
)
_METHODS = {
    "slurp": "slurp",
    "lines": "slurp",
    "openr": "slurp",
    "remove": "unlink",
    "remove_tree": "remove_tree",
}


def _opened(found: re.Match[str]) -> str:
    """Perl's `sysopen` as `open`."""
    flags = found[3]
    writes = re.search(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)|\d", flags)
    mode = ">>" if "APPEND" in flags else ">" if writes else "<"
    return f"open({found[1]}, '{mode}', {found[2]}"


def homes(source: str, home: str) -> str:
    """Write the home and the current folder for what gives them, and join the pieces of a path."""
    quoted = f"'{home}'"
    source = _HERE.sub("'.'", source)
    if _TAKEN_JOIN.search(source):
        source = _BARE_JOIN.sub(r"path.\1(", source)
    source = RUST_JOIN.sub(r'"\1/\2"', source)
    source = re.sub(r"\$ENV\{['\"]?HOME['\"]?\}(?=/)", home, source)
    inside = re.sub(r"([$#]\{)\s*(?:" + HOMES.pattern + r")\s*\}", home, source)
    source = HOMES.sub(quoted, inside)
    for found in reversed(list(EXPANDED.finditer(source))):
        if "join" in found[0].lower() or "resolve" in found[0]:
            head, tail = source[: found.end()], source[found.end() :]
            end = tail.find(")")
            source = head + _one_path(tail[:end]) + tail[end:]
    return EXPANDED.sub("(", source).replace('"~/', f'"{home}/').replace("'~/", f"'{home}/")


_PIECE = re.compile(rf"({STRING}|[\w.$\[\]]+)\s*(?:,\s*|$)")


def _one_path(pieces: str) -> str:
    """The pieces of a path as one literal, or, where names are among them, put together with `+`."""
    words = _PIECE.findall(pieces)
    if len(words) < 2 or _PIECE.sub("", pieces).strip():
        return re.sub(r"(['\"])\s*,\s*\1", "/", pieces)
    whole = " + '/' + ".join(words)
    return re.sub(r"(['\"])\s*\+\s*'/'\s*\+\s*\1", "/", whole)


def unescape(text: str) -> str:
    """The text that a quoted literal stands for."""
    return ESCAPE.sub(_one_escape, text) if "\\" in text else text


def _one_escape(found: re.Match[str]) -> str:
    hexa, unicode_, octal, other = found.groups()
    if hexa or unicode_:
        return chr(int(hexa or unicode_, 16))
    if octal:
        return chr(int(octal, 8) & 0xFF)
    return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(other, other)


def joined(source: str) -> str:
    """Join literals that are concatenated, and write `x['name']` as `x.name`."""
    before = None
    while before != source:
        before = source
        source = JOINED.sub(lambda found: "" if found[1] == found[2] else found[0], source)
    source = CALLED.sub(lambda found: f"{found[2] or found[3]}(", source)
    source = _SYSOPEN.sub(_opened, source)
    source = _PATH_METHOD.sub(lambda found: f"{_METHODS.get(found[2], 'write_file')}({found[1]})", source)
    source = SENT.sub("system(", HELD.sub(r"\1", source))
    source = INDEXED.sub(lambda found: f".{found[2]}", source)
    for found in RENAMED.finditer(source):
        # `const {execSync: e} = require(…)`: the new name is read as the old one.
        source = re.sub(rf"(?<![\w.]){found[2]}\s*\(", f"{found[1]}(", source)
    return source


def call_text(source: str, at: int) -> str:
    """The text of a call's arguments: up to the bracket that closes it, else to the end of the statement."""
    start = at + len(source[at : at + 8]) - len(source[at : at + 8].lstrip())
    if source[start : start + 1] != "(":
        found = _STATEMENT.match(source, at, at + 500)
        return found[0] if found else ""
    depth = 0
    for index in range(start, min(len(source), start + 500)):
        depth += {"(": 1, ")": -1}.get(source[index], 0)
        if not depth:
            return source[start:index]
    return source[start : start + 500]

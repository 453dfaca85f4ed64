"""Loops of a source text that start processes without end, in any of the languages that are scanned."""

from __future__ import annotations

import re

from .script_patterns import STRING

FORKING = frozenset(
    "perl ruby jruby php node nodejs bun deno gcc g++ cc c++ clang clang++ tcc lua luajit go rust rustc cargo julia".split()
)
"""Languages in whose text such a loop is looked for."""
_HEAD = re.compile(
    r"(?<![\w.$])(?:while\s*\(?\s*(?:1|true|:)\b\s*\)?|until\s*\(?\s*(?:0|false|nil)\b\s*\)?|for\s*\(\s*;\s*;[^)]*\)"
    r"|for\s*(?=\{)|loop\b\s*(?:do\b)?|setInterval\s*\((?:[^{};]*=>)?)\s*"
)
"""The head of a loop without an end, up to its body."""
_TAIL = re.compile(r"([^;{}\n]*)\b(?:while\s*\(?\s*(?:1|true)\b|until\s*\(?\s*(?:0|false)\b)")
"""`STATEMENT while 1`."""
_LABEL = re.compile(r"\{([^{}]*)\bredo\b|\b(\w+)\s*:(?!:)([^{}]*)\bgoto\s+\2\b")
"""A block that is gone through again: `{ …; redo }`, `x: …; goto x`."""
_AGAIN = re.compile(
    r"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:\([^()]*\)|\w+)\s*=>\s*\{([^{}]*)\}|\b(?:function|def|sub)\s+(\w+)\s*(?:\([^()]*\))?\s*[{;\n]([^{}]*?)(?:\}|\bend\b)"
)
"""A small function with its body, which may call itself."""
_STARTS = re.compile(
    r"(?<![\w$])(?:pcntl_fork|Process\.(?:fork|spawn)|fork|spawn|popen2?|IO\.popen|io\.popen|proc_open|execFile"
    r"|(?<=child_process['\"]\)\.)exec|Thread::new)\b(?!\s*[:=])|\.Start\(\)|\.spawn\(\)|Bun\.spawn\b"
)
"""Calls that start a process and do not wait for it."""
_BACKGROUND = re.compile(
    r"(?:system|exec|spawn|os\.execute|shell_exec|passthru|`)\w*\s*\(?\s*['\"]?[^'\"`\n]*[^&'\"`\s]\s*&\s*['\"`]"
)
"""A shell command left in the background."""
_PAUSES = re.compile(
    r"\b(?:accept|wait(?:pid|2)?|Wait|listen|poll|select|epoll|sleep|Sleep|usleep|gets|getline|readline|read|recv|break|last|return|exit|await|join|die)\w*\b"
    r"|<STDIN>|<>"
)
"""What a loop of a server or a supervisor waits for, or leaves by."""
_FORKED_TEST = re.compile(
    r"\bwhile\s*\(?[^;{}]*\bfork\b|\bfork\b[^;{}]*\b(?:while|until)\b|\bfork\s+for\b|\bloop\b[^;]*\bfork\b|\bfork\s+until\b"
)
"""A fork as the test of its loop."""
_SPAWNS_ITSELF = re.compile(
    r"(?:spawn|fork|execFile|exec)\w*\(\s*(?:(?:process\.(?:execPath|argv0|argv\[0\])|['\"]node['\"])\s*,\s*\[?\s*)?"
    r"(?:__filename|process\.argv(?:\[1\]|\.slice\(1\))|import\.meta\.filename)\s*\]?\s*[,)]"
)
"""Node starts the very file it is in, without a word that tells the child that it is one."""
_REPEATS = re.compile(r"\b(?:setImmediate|setInterval|nextTick|while|for)\s*\(|\.forEach\(|\.map\(")
_GUARDED = re.compile(
    r"\bis(?:Master|Primary|MainThread)\b|process\.(?:send|connected|env\.\w+)|\bargv\[2\]|\bargv\.length"
)
"""What tells a child from its parent."""
_STATEMENT = re.compile(rf"(?:{STRING}|[^;\n'\"`])*")
_CHILD = re.compile(r"\bfork\s*\{[^{}]*\}")
"""A fork with all that its child does."""
_LONGEST = 2000
"""Characters of a body that are looked at."""


def multiplies(source: str, language: str) -> bool:
    """Tell whether processes are started without end."""
    if language not in FORKING:
        return False
    own = len(_SPAWNS_ITSELF.findall(source))
    if own and (own > 1 or _REPEATS.search(source)) and not _GUARDED.search(source):
        return True
    if not (_STARTS.search(source) or _BACKGROUND.search(source)):
        return False
    if _FORKED_TEST.search(source) and not _PAUSES.search(source):
        return True
    return any(_starts_without_end(body) for body in _bodies(source))


def _starts_without_end(body: str) -> bool:
    body = _CHILD.sub("fork", body)
    if _BACKGROUND.search(body) and not re.search(r"\b(?:break|last|return|exit)\b", body):
        return not _PAUSES.search(re.sub(STRING, "", body))
    if _PAUSES.search(re.sub(STRING, "''", body)):
        return False
    return _STARTS.search(body) is not None


def _bodies(source: str) -> list[str]:
    """The text of every loop without an end."""
    found = [_body(source, head.end()) for head in _HEAD.finditer(source)]
    found += [tail[1] for tail in _TAIL.finditer(source)]
    found += [label[1] or label[3] or "" for label in _LABEL.finditer(source)]
    for again in _AGAIN.finditer(source):
        name, body = again[1] or again[3], again[2] or again[4] or ""
        if re.search(rf"(?<![\w$]){name}\s*\(", body):
            found.append(body)
    return found


def _body(source: str, at: int) -> str:
    """A body: up to the bracket or the `end` that closes it, else its one statement."""
    text = source[at : at + _LONGEST]
    if text[:1] not in {"{", "("}:
        block = re.match(r"[\s;]*(?:do\b)?([\s\S]*?)\bend\b", text) if re.search(r"\bend\b", text) else None
        found = _STATEMENT.match(text)
        return block[1] if block else found[0] if found else ""
    depth = 0
    for index, char in enumerate(text):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(char, 0)
        if not depth:
            return text[1:index]
    return text

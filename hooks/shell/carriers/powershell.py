"""PowerShell: its names for deleting are read as `rm`, so that one set of rules judges both."""

from __future__ import annotations

import re

from ..code import note_unknown_code, run_shell
from ..events import ExecEvent, Value
from ..machine import Frame, Machine, Outcome, State
from ..options import skip
from ..redirects import content_of
from ..values import join, unknown

VALUED = frozenset(
    "ExecutionPolicy ep ex InputFormat OutputFormat WorkingDirectory wd Version WindowStyle w".split()
)
NAMES = (
    (r"(?i)(?<![\w-])(?:Remove-Item|ri|rd|del|erase|rmdir)(?![\w-])", "rm"),
    (r"(?i)(?<![\w-])(?:Stop-Process\s+-Name|spps\s+-Name)(?![\w-])", "killall"),
    (r"(?i)(?<![\w-])(?:Get-Content|gc|type)(?![\w-])", "cat"),
    (r"(?i)(?<=\s)-(?:Recurse|Rec\w*|r)(?![\w-])", "-r"),
    (r"(?i)(?<=\s)-(?:Force|Fo\w*)(?![\w-])", "-f"),
    (
        r"(?i)(?<=\s)-(?:Path|LiteralPath|Confirm(?::\$false)?|Verbose|ErrorAction\s+\w+|EA\s+\w+)(?![\w-])",
        "",
    ),
    (r"(?i)\$env:HOME\b|\$HOME\b", "~"),
)


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`pwsh -c code`, `pwsh -File x.ps1`, `pwsh -Command -`."""
    words = event.argv
    inner = fr.within(event.name or "")
    code = _code(m, st, words)
    if code is None and fr.stdin.kind not in {"inherit", "null"}:
        code = fr.stdin.text if fr.stdin.text is not None else unknown("standard input", fr.stdin.upstream)
    if code is None:
        return None
    if code.is_opaque:
        note_unknown_code(m, inner, code, event.name or "")
        return None
    text = m.hide(code)
    for pattern, plain in NAMES:
        text = re.sub(pattern, plain, text)
    for statement in re.split(r"[;\n|{}]+", text):
        plain = statement.strip().lstrip("& ")
        if plain.partition(" ")[0].rpartition("/")[2] in m.guarded:
            run_shell(m, st, inner, m.value(plain), event.name or "")
    return None


def _code(m: Machine, st: State, words: tuple[Value, ...]) -> Value | None:
    for index, value in enumerate(words):
        option = (value.text or "").lower()
        rest = words[index + 1 :]
        if option in {"-c", "-command", "-co", "-com"} and rest:
            return join(rest, " ") if rest[0].text != "-" else None
        if option in {"-f", "-file"} and rest:
            return content_of(m, st, rest[0])
    at = skip(words, "", VALUED)
    return content_of(m, st, words[at]) if at < len(words) else None


__all__ = ("run",)

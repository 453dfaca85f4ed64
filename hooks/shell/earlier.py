"""Scripts that an earlier program of the same command may have written: what it held as text is what they may hold.

Where an interpreter or an editor names a file that runs later, what exactly it wrote there is not worked out; every
literal and line it was given, and that starts a guarded program, counts as if it were in the file.
"""

from __future__ import annotations

import posixpath

from ..patterns import lazy
from .events import Value, literal
from .machine import Machine
from .shfmt import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .events import ExecEvent

_INTERPRETERS = frozenset(
    "perl ruby jruby lua luajit php node nodejs bun deno python python2 python3 tclsh expect guile R Rscript julia groovy"
    " pwsh octave".split()
)
"""Programs that only run what they are given as a word of its own."""
WRITERS = _INTERPRETERS | frozenset(
    "awk gawk mawk nawk sed gsed ed red ex vi vim nvim view emacs emacsclient sqlite3 sqlite duckdb psql mysql mariadb"
    " split gsplit csplit sort gsort uniq shuf sponge m4 xmlstarlet xmllint yq dasel gnuplot bc dc".split()
)
_SPLITTERS = frozenset({"split", "gsplit", "csplit"})
_LITERAL = lazy(r"'((?:[^'\\]|\\[\s\S])*)'|\"((?:[^\"\\]|\\[\s\S])*)\"|\[\[([\s\S]*?)\]\]")
_EDITOR_WORD = lazy(r"^\s*(?:\d+|\$)?[aic]\s*[|\\]?\s*|\[\[|\]\]")
_LINES = lazy(r"\\n|[\r\n|;]+")
_FIRST = lazy(r"\s*(?:[\w./-]*/)?([\w.+-]+)")
_MOST = 60
"""Pieces of text that are looked at."""


def told_before(m: Machine, script: Value, language: str = "sh") -> Value | None:
    """The code that a script may hold for what the command did before; None if nothing tells of any."""
    name = posixpath.basename(script.text or "")
    if not name or not any(event.name in WRITERS for event in m.trace):
        return None
    texts = [text for event in m.trace if event.name in WRITERS for text in _texts(m, event, name)]
    pieces = [piece for text in texts for piece in _pieces(text)]
    if language != "sh":
        told = max(pieces, key=len, default="")
    else:
        told = "\n".join(line for line in dict.fromkeys(pieces[:_MOST]) if _is_telling(m, line))
    return literal(told) if told else None


def _texts(m: Machine, event: ExecEvent, name: str) -> list[str]:
    """What an event was given as text, if it names the file."""
    values = [*event.argv, *([event.stdin.text] if event.stdin.text is not None else [])]
    texts = [m.hide(value) for value in values]
    if event.name in _SPLITTERS:
        prefixes = [text for text in texts if text and name.startswith(text)]
        return texts if prefixes or name.startswith("x") else []
    alone = event.name in _INTERPRETERS
    return texts if any(name in text and not (alone and " " not in text) for text in texts) else []


def _pieces(text: str) -> list[str]:
    quoted = [next(group for group in found if group) for found in _LITERAL.findall(text) if any(found)]
    return [*_lines(text), *quoted, *(line for one in quoted for line in _lines(one))]


def _lines(text: str) -> list[str]:
    return [_EDITOR_WORD.sub("", line).strip() for line in _LINES.split(text)]


def _is_telling(m: Machine, line: str) -> bool:
    """Tell whether a line of text is shell code that begins with a guarded program."""
    found = _FIRST.match(line)
    if not found or found[1] not in m.guarded:
        return False
    try:
        return bool(m.parse(line))
    except Unreadable:
        return False

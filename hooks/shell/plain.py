"""A cheap exact path for simple text, so that most commands need no parser process.

Only plain words, quotes without expansions in them, assignments, simple redirections and `&& || ; |` and newlines are
read here; at the first sign of anything else the text is left to shfmt. A differential test holds both equal.
"""

from __future__ import annotations

import re

from ..patterns import lazy
from .tree import AndOr, Assign, Call, Pipe, Redir, Stmt, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Part, Word

_TOKEN = lazy(
    r"""(?P<blank>[ \t]+)
    |(?P<joint>&&(?!&)|\|\|(?!&)|\|(?!&)|;(?!&)|\n)
    |(?P<redirect>(?:\d+(?=[<>]))?(?:>>|>&(?=[12](?:[ \t;|\n]|$))|>(?![>&|(])|<(?![<>&(]))|&>>|&>(?!>))
    |(?P<bare>[A-Za-z0-9_./:,@%+=^~*?\[\]{}\-][A-Za-z0-9_./:,@%+=^~*?\[\]{}#\-]*)
    |'(?P<single>[^'\r\0]*)'
    |"(?P<double>[^"$`\\\r\0]*)"
    """,
    re.VERBOSE,
)
_ASSIGN = lazy(r"([A-Za-z_]\w*)(\+?)=")
_SPECIAL = frozenset(
    {
        "!", "{", "}", "[[", "]]", "case", "coproc", "declare", "do", "done", "elif", "else", "esac", "export", "fi",
        "for", "function", "if", "in", "let", "local", "nameref", "readonly", "select", "then", "time", "typeset",
        "until", "while", "@test",
    }
)  # fmt: skip
_MAX = 4096
_QUICK = re.compile(
    r"""[ \t]*(?:(&&|\|\||[|;])
    |([A-Za-z0-9_./:,@%+=^\-]+|'[^'\r\n\0]*'|"[^"$`\\\r\n\0]*")(?=[ \t;|&]|\Z))""",
    re.VERBOSE,
)
"""A joint, or a word in one piece that is nothing but itself."""


class _Other(Exception):
    """The text is not simple."""


def plain(text: str) -> tuple[Stmt, ...] | None:
    """Parse, or None where shfmt must be asked."""
    if len(text) > _MAX:
        return None
    found = _quick(text)
    if found is not None:
        return found
    try:
        return _Parser(text).program()
    except _Other:
        return None


def _quick(text: str) -> tuple[Stmt, ...] | None:
    """Parse what most commands are, words and joints alone; None for everything else, also where it may be plain."""
    stmts: list[Stmt] = []
    stages: list[Stmt] = []
    words: list[Word] = []
    left, operator = None, ""
    at = end = start = pipe_start = list_start = 0
    size = len(text.rstrip(" \t"))
    while at < size or words:
        found = _QUICK.match(text, at) if at < size else None
        if found is not None and found.lastindex == 2:
            if not words:
                start = found.start(2)
                pipe_start = pipe_start if stages else start
                list_start = list_start if left is not None else pipe_start
            words.append(_quick_word(found[2]))
            at = end = found.end()
            continue
        if not words or (at < size and found is None) or not _is_call(words[0][0]):
            return None
        stages.append(Stmt(Call((), tuple(words)), (), text[start:end]))
        words = []
        joint = found[1] if found is not None else ";"
        at = found.end() if found is not None else size
        if joint == "|":
            continue
        stage = stages[0] if len(stages) == 1 else Stmt(Pipe(tuple(stages)), (), text[pipe_start:end])
        stages = []
        left = stage if left is None else Stmt(AndOr(operator, left, stage), (), text[list_start:end])
        operator = joint
        if joint == ";":
            stmts.append(left)
            left = None
    return None if stages or left is not None else tuple(stmts)


def _is_call(part: Part) -> bool:
    """Tell whether a first word is a program's name: no keyword and no assignment."""
    return isinstance(part, Text) and (part.quoted or not ("=" in part.text or part.text in _SPECIAL))


def _quick_word(text: str) -> Word:
    found = _words.get(text)
    if found is None:
        quoted = text[0] in "'\""
        found = (Text(text[1:-1] if quoted else text, quoted),)
        if len(text) <= _SHORT:
            if len(_words) >= _KEPT:
                _words.clear()
            _words[text] = found
    return found


_words: dict[str, Word] = {}
_SHORT, _KEPT = 80, 2048


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.end = 0
        self.kind: str | None = None
        self.found: re.Match[str] | None = None
        self._next()

    def _next(self) -> None:
        while True:
            if self.at >= len(self.text):
                self.kind, self.found = None, None
                return
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                raise _Other
            if found.lastgroup == "redirect" and found[0][0].isdigit() and found.start() == self.end > 0:
                raise _Other  # `"x"2>f`: the digit belongs to the word
            self.at = found.end()
            if found.lastgroup != "blank":
                self.kind, self.found = found.lastgroup, found
                return

    @property
    def _joint(self) -> str:
        return self.found[0] if self.kind == "joint" and self.found else ""

    def program(self) -> tuple[Stmt, ...]:
        """Statements up to the end."""
        stmts: list[Stmt] = []
        self._newlines()
        while self.kind is not None:
            stmts.append(self._and_or())
            if self._joint in {";", "\n"}:
                self._next()
                self._newlines()
            elif self.found is not None:
                raise _Other
        return tuple(stmts)

    def _newlines(self) -> None:
        while self._joint == "\n":
            self._next()

    def _start(self) -> int:
        return self.found.start() if self.found else len(self.text)

    def _and_or(self) -> Stmt:
        start = self._start()
        left = self._pipe()
        while self._joint in {"&&", "||"}:
            operator = self._joint
            self._next()
            self._newlines()
            right = self._pipe()
            left = Stmt(AndOr(operator, left, right), segment=self._segment(start))
        return left

    def _pipe(self) -> Stmt:
        start = self._start()
        stages = [self._simple()]
        while self._joint == "|":
            self._next()
            self._newlines()
            stages.append(self._simple())
        if len(stages) == 1:
            return stages[0]
        return Stmt(Pipe(tuple(stages)), segment=self._segment(start))

    def _segment(self, start: int) -> str:
        return self.text[start : self.end].rstrip(" \t\n;&")

    def _simple(self) -> Stmt:
        start = self._start()
        assigns: list[Assign] = []
        words: list[Word] = []
        redirects: list[Redir] = []
        while self.kind not in {None, "joint"}:
            if self.kind == "redirect":
                redirects.append(self._redirect())
                continue
            word = self._word(first=not words)
            assign = self._assign(word) if not words else None
            if assign is not None:
                assigns.append(assign)
            else:
                words.append(word)
        if not (assigns or words or redirects):
            raise _Other
        command = Call(tuple(assigns), tuple(words)) if assigns or words else None
        return Stmt(command, tuple(redirects), self._segment(start))

    def _redirect(self) -> Redir:
        assert self.found is not None
        number = re.match(r"\d+", self.found[0])
        operator = self.found[0][number.end() :] if number else self.found[0]
        self._next()
        if self.kind in {None, "joint", "redirect"}:
            raise _Other
        return Redir(operator, self._word(first=False), int(number[0]) if number else -1)

    def _word(self, *, first: bool) -> Word:
        parts: list[Part] = []
        while self.found is not None and self.kind in {"bare", "single", "double"}:
            quoted = self.kind != "bare"
            text = self.found[self.kind]
            if parts and isinstance(parts[-1], Text) and parts[-1].quoted == quoted:
                parts[-1] = Text(parts[-1].text + text, quoted)
            else:
                parts.append(Text(text, quoted))
            self.end = self.at
            if self.at >= len(self.text) or self.text[self.at] in " \t\n;|&<>":
                self._next()
                break
            self._next()
        if self.kind is not None and self.text[self.end : self.end + 1] == "#":
            raise _Other
        lead = parts[0] if first and isinstance(parts[0], Text) and not parts[0].quoted else None
        if lead is not None and (lead.text in _SPECIAL or ("[" in lead.text and lead.text != "[")):
            raise _Other
        return tuple(parts)

    def _assign(self, word: Word) -> Assign | None:
        part = word[0]
        if not isinstance(part, Text) or part.quoted or "=" not in part.text:
            return None
        found = _ASSIGN.match(part.text)
        if found is None:
            return None
        rest = part.text[found.end() :]
        if found[2] and not rest and len(word) == 1:
            raise _Other  # shfmt ends the segment of `x+=` one character early
        value = ((Text(rest),) if rest else ()) + word[1:]
        return Assign(found[1], value or None, append=bool(found[2]))

"""The words of a source text: literals, lists of them, what is put into and behind them, names that stand for one."""

from __future__ import annotations

import re

from ..events import Glob, Value, literal
from ..machine import Frame, Machine, State
from ..values import join, unknown
from .script_patterns import (
    BETWEEN,
    DECODED,
    EACH_NAMED,
    EACH_OF,
    FUNCTION,
    JOIN,
    LISTS,
    NAMED,
    PIECES,
    PLUS,
    STRING,
    TEMPLATE,
)
from .script_text import unescape

MAX_EACH = 8
"""Names of one list that are tried each in turn."""


class Words:
    """Reads the literals of one source text, with what is known about its names."""

    def __init__(self, m: Machine, st: State, fr: Frame, language: str, args: tuple[Value, ...]) -> None:
        self.m, self.st, self.fr, self.language, self.args = m, st, fr, language, args
        self.names: dict[str, Value] = {}
        self._each: tuple[str, list[str]] = ("", [])
        self._named_lists: dict[str, list[str]] = {}

    def _parameters(self, source: str) -> None:
        """A parameter stands for what the function is called with; of several, for what lies farthest away.

        A function that nothing in the text calls runs on nothing.
        """
        for found in FUNCTION.finditer(source):
            name, listed = next(
                (one, two) for one, two in zip(*[iter(found.groups())] * 2, strict=True) if one
            )
            uses = re.finditer(rf"(?<![\w$]){name}(?![\w$])", source)
            places = [one for one in uses if not found.start() <= one.start() < found.end()]
            calls = [one for one in places if source[one.end() :].lstrip().startswith("(")]
            given = [self._arguments(source, one.end()) for one in calls]
            for at, parameter in enumerate(word.strip() for word in (listed or "").split(",")):
                values = [words[at].text if known and at < len(words) else None for words, known in given]
                texts = [text for text in values if text is not None]
                if parameter and len(texts) == len(places) == len(values):
                    self.names[parameter] = (
                        literal(max(texts, key=_distance)) if texts else literal(parameter)
                    )

    def _lists(self, source: str) -> None:
        """Names that stand for each of some literals: for the one that lies farthest away."""
        for found in EACH_OF.finditer(source):
            one, first, two, second, third, three, fourth, four = found.groups()
            name, body = (one or two or three or four), str(first or second or third or fourth or "")
            strings: list[str] = re.findall(STRING, body)
            words = [text[1:-1] for text in strings] or (body.split() if fourth else [])
            if name and words:
                self._stands_for(name, words)
        for found in EACH_NAMED.finditer(source) if self._named_lists else ():
            groups = found.groups()
            name = found["name"] or groups[0] or groups[2] or groups[4]
            listed = found["list"] or groups[1] or groups[3] or groups[5]
            if name and listed in self._named_lists:
                self._stands_for(name, self._named_lists[listed])

    def _stands_for(self, name: str, words: list[str]) -> None:
        self.names[name] = self.m.value(max(words, key=lambda word: word.startswith(("/", "~", ".."))))
        self._each = name, words[:MAX_EACH]

    def _changed(self, source: str, at: int) -> bool:
        """True if what follows a literal makes another text of it."""
        rest = source[at : at + 200]
        return rest.lstrip().startswith(".") and DECODED.search(re.split(r"[;\n]", rest)[0]) is not None

    def _arguments(self, source: str, at: int) -> tuple[list[Value], bool]:
        """Literal words from here to the end of the argument list; False if one of them is not literal."""
        words: list[Value] = []
        while at < len(source) and len(words) < 30:
            blank = BETWEEN.match(source, at)
            if blank:
                at = blank.end()
                continue
            value, end = self._literal(source, at)
            if value is None:
                return self._with_unknown(source, at, words)
            words.append(value)
            at = end
        return words, bool(words)

    def _with_unknown(self, source: str, at: int, words: list[Value]) -> tuple[list[Value], bool]:
        known = bool(words)
        if not words or source[at : at + 1] in {"$", "@"}:
            name = NAMED.match(source, at)
            if name:
                words = [*words, self._named(name[0])]
        return words, known

    def _named(self, text: str) -> Value:
        return unknown(f"{self.language} {text}", self.fr.stdin.upstream)

    def _quoted(self, text: str) -> Value:
        """A quoted literal; what is put into it is a known name's value or unknown."""
        body = text[1:-1]
        if text[0] == "'":
            return self.m.value(body.replace("\\'", "'"))
        return self._filled(body, TEMPLATE if text[0] == "`" else PIECES.get(self.language))

    def _filled(self, body: str, inner: re.Pattern[str] | None) -> Value:
        if inner is None or not inner.search(body):
            return self.m.value(unescape(body))
        parts: list[Value] = []
        at = 0
        for found in inner.finditer(body):
            parts.append(self.m.value(unescape(body[at : found.start()])))
            name = found[0].strip("$#{}()@ ")
            parts.append(self.names.get(name) or self._named(found[0]))
            at = found.end()
        return join([*parts, self.m.value(unescape(body[at:]))])

    def _literal(self, source: str, at: int) -> tuple[Value | None, int]:
        """A literal or known name here, with what is put behind it by an operator; None if there is none."""
        value, end = self._piece(source, at)
        while value is not None and value.parts:
            operator = JOIN.get(self.language, PLUS).match(source, end)
            if not operator:
                break
            more, after_ = self._piece(source, operator.end())
            if more is None:
                name = NAMED.match(source, operator.end())
                if not name:
                    break
                more, after_ = self._named(name[0]), name.end()
            value, end = join([value, more]), after_
        return value, end

    def _piece(self, source: str, at: int) -> tuple[Value | None, int]:
        found = re.compile(STRING).match(source, at)
        if found:
            return self._quoted(found[0]), found.end()
        found = LISTS.match(source, at)
        if found:
            body = next((group for group in found.groups()[:4] if group is not None), found[6] or "")
            return self.m.value(body), found.end()
        found = re.compile(r"[$@]?([A-Za-z_]\w*)(?![\w(.\[])").match(source, at)
        if found and found[1] in self.names:
            return self.names[found[1]], found.end()
        number = re.compile(r"-?0?[xo]?\d+").match(source, at)
        return (literal(number[0]), number.end()) if number else (None, at)


def _distance(text: str) -> bool:
    return text.startswith(("/", "~", ".."))


def spread(word: Value) -> Value:
    """A word for everything here, as `glob("*")` finds it."""
    return Value((Glob("*"),)) if word.text in {"*", "./*", "**", "**/*", "./**/*"} else word

"""What the offline model understands of a task, and nothing more: renames and replacements, said in plain English.

    rename function get_user to fetch_user, and class User to Account, in src/
    replace module json by vendor.fastjson and verify with python -m unittest
    replace call requests.get with http.fetch, also in strings and comments

Everything else is not guessed at: `read_order` then returns a sentence that says why.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import Literal

Verb = Literal["rename", "replace"]

_QUOTE = "[`'\"\u201c\u201d\u2018\u2019]?"
_NAME = rf"{_QUOTE}(?P<%s>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(\))?{_QUOTE}"
_KINDS = (
    "function|func|method|class|variable|var|constant|const|symbol|name|identifier|attribute|field|property|"
    "parameter|param|argument|arg|module|package|call|type|exception|decorator|helper|import|use|usage"
)
_LEAD_IN = rf"(?:(?:all|every|each|any|the|our)\s+)*(?:(?P<kind>{_KINDS})(?:e?s)?\s+(?:(?:to|of|named|called)\s+)?)?(?:the\s+)?"
_TO = r"(?:\s+(?:to|as|into)\s+|\s*(?:->|=>|→)\s*)"
_BY = r"\s+(?:by|with)\s+"
_END = (
    r"(?=\s*(?:$|[.,;:!)\n—-]|(?:in|and|across|everywhere|throughout|then|also|within|under|inside|below|for|"
    r"including|but|without|so|please|leaving|keeping|only|using|while|wherever|plus|project-wide)\b))"
)
_JOIN = r"\s*(?:,|;|\band\b|\bplus\b|\bas well as\b)(?:\s*and\b)?\s*"
_FLAGS = re.IGNORECASE | re.MULTILINE

_PAIRS = {
    "rename": rf"{_LEAD_IN}{_NAME % 'old'}{_TO}{_NAME % 'new'}{_END}",
    "replace": rf"{_LEAD_IN}{_NAME % 'old'}{_BY}(?:(?:the\s+)?(?:{_KINDS})\s+)?{_NAME % 'new'}{_END}",
}
_FIRST = {verb: re.compile(rf"\b{verb}\s+{pair}", _FLAGS) for verb, pair in _PAIRS.items()}
_NEXT = {verb: re.compile(rf"{_JOIN}{pair}", _FLAGS) for verb, pair in _PAIRS.items()}

_CHECK_LINE = re.compile(r"^\s*check command:\s*(\S.*)$", _FLAGS)
_CHECK_INLINE = re.compile(
    r"(?:[,;.]|\band\b|\bthen\b|^)\s*(?:then\s+|finally\s+)?"
    r"(?:(?:verify|check|test)(?:\s+(?:it|this|that|everything|the\s+result))?\s+(?:with|using|by\s+running|by)|run)\s*:?\s+(\S.*)$",
    _FLAGS,
)
_ISOLATION = re.compile(r"^\s*isolation:\s*worktree\s*$", _FLAGS)
_PATH = rf"{_QUOTE}((?:\.{{0,2}}/)?[\w.-]+(?:/[\w.*-]+)*/?){_QUOTE}"
_PLACE = re.compile(
    rf"\b(?:in|under|inside|within|below|each of:)\s+(?:the\s+)?(?:(?:folder|directory|package|files?|path)s?\s+)?{_PATH}",
    _FLAGS,
)
_MORE_PLACES = re.compile(rf"\s*(?:,|\band\b)\s*{_PATH}", _FLAGS)
_NO_PLACES = re.compile(
    r"(?:the|this|that|these|all|every|each|our|my|your|any|both|an?|it|there|here|general|one|python|strings?|"
    r"comments?|docstrings?|code|files?|project|repo|repository|codebase|workspace|place|favou?r|order)\.?",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|except|leave|leaving|without|don't|never|but|keep|keeping|no)\b", re.IGNORECASE)
_STRINGS = re.compile(r"\b(?:strings?|docstrings?|literals?)\b", re.IGNORECASE)
_COMMENTS = re.compile(r"\bcomments?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """One change: `kind` is the word that stood before the name (`function`, `class`, …), empty if none did."""

    verb: Verb
    old: str
    new: str
    kind: str = ""

    def __str__(self) -> str:
        kind = f"{self.kind} " if self.kind else ""
        return f"{self.verb} {kind}`{self.old}` {'to' if self.verb == 'rename' else 'by'} `{self.new}`"


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for. `places` are folders or files; empty means the whole workspace."""

    changes: tuple[Change, ...]
    places: tuple[str, ...] = ()
    strings: bool = False
    comments: bool = False
    check: str = ""
    worktree: bool = False


def read_order(text: str) -> Order | str:
    """Read a task; a sentence that says what was not understood if it is none of the known forms."""
    text, check = _without_check(text)
    changes = tuple(dict.fromkeys(_changes(text)))
    if not changes:
        return "It names no change of a form that I know."
    for change in changes:
        if problem := _problem(change):
            return problem
    clauses = [part for part in re.split(r"[,;.\n]|\bbut\b", text) if not _NOT.search(part)]
    return Order(
        changes=changes,
        places=_places(text),
        strings=any(_STRINGS.search(clause) for clause in clauses),
        comments=any(_COMMENTS.search(clause) for clause in clauses),
        check=check,
        worktree=bool(_ISOLATION.search(text)),
    )


def _without_check(text: str) -> tuple[str, str]:
    """Take the check command out of a task, so that its words are not read as part of the change."""
    for pattern in (_CHECK_LINE, _CHECK_INLINE):
        for found in pattern.finditer(text):
            command = _bare(found[1], sentence=pattern is _CHECK_INLINE)
            if command and not re.match(r"(?:the|all|its?|your|our|tests?)\b", command, re.IGNORECASE):
                return text[: found.start()] + "\n" + text[found.end() :], command
    return text, ""


def _bare(command: str, *, sentence: bool) -> str:
    """Take off what is no part of a command: backquotes around it, and of a sentence other quotes and the full stop."""
    quoted = re.match(r"([`\"'])(.+?)\1\s*\.?\s*$" if sentence else r"(`)([^`]+)`\s*$", command)
    if quoted:
        return quoted[2].strip()
    # A dot of its own, or after another one, is a folder.
    return re.sub(r"(?<=[\w)])\.$", "", command.strip()) if sentence else command.strip()


def _changes(text: str) -> list[Change]:
    found: list[tuple[int, Change]] = []
    for verb, first in _FIRST.items():
        for match in first.finditer(text):
            taken: re.Match[str] | None = match
            while taken:
                found.append((taken.start(), _change(verb, taken)))
                taken = _NEXT[verb].match(text, taken.end())
    return [change for _, change in sorted(found, key=lambda pair: pair[0])]


def _change(verb: str, match: re.Match[str]) -> Change:
    kind = (match["kind"] or "").lower()
    short = {
        "func": "function",
        "var": "variable",
        "const": "constant",
        "param": "parameter",
        "arg": "argument",
    }
    return Change(
        "rename" if verb == "rename" else "replace", match["old"], match["new"], short.get(kind, kind)
    )


def _problem(change: Change) -> str:
    words = [*change.old.split("."), *change.new.split(".")]
    if reserved := [word for word in words if keyword.iskeyword(word)]:
        return f"`{reserved[0]}` is a word of the Python language itself and cannot be a name."
    if change.old == change.new:
        return f"`{change.old}` already has that name."
    if change.verb == "rename" and "." in change.old + change.new:
        return (
            f"A rename takes plain names, and `{change.old}` or `{change.new}` has a dot: "
            f"say `replace call {change.old} by {change.new}` to change its uses."
        )
    if change.verb == "rename" and change.kind in {"module", "package"}:
        return (
            f"Renaming a {change.kind} means moving files, which I cannot do: move it yourself, "
            f"then say `replace module {change.old} by {change.new}` for its uses."
        )
    return ""


def _places(text: str) -> tuple[str, ...]:
    places: list[str] = []
    for match in _PLACE.finditer(text):
        if _NO_PLACES.fullmatch(match[1]):
            continue
        places.append(match[1])
        end = match.end()
        while (more := _MORE_PLACES.match(text, end)) and ("/" in more[1] or more[1].endswith(".py")):
            places.append(more[1])
            end = more.end()
    cleaned = (place.rstrip(".").removeprefix("./").rstrip("/") or "." for place in places)
    return tuple(dict.fromkeys(place for place in cleaned if place != "."))

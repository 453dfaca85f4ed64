"""Words that come out of a program listing files: where those files are, though their names are not known."""

from __future__ import annotations

from itertools import pairwise

from ..shell.events import Glob, Hole, Value
from .glob import STRANGE_NAME, pattern_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..shell.events import ExecEvent

_FILTERS = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-newer", "-empty"}
)
_THROUGH = frozenset({"xargs", "sort", "head", "tail", "grep", "egrep", "uniq", "tr", "parallel", "gxargs"})
_EVERYTHING = frozenset({"*", "**", "?*", "*?", "", "./*", ".*"})


def listed_by(value: Value) -> list[tuple[ExecEvent, Value]]:
    """Give what a word stands for if it is the output of `find` or `ls` and nothing else.

    Pairs of the listing command, from whose working folder to look, and a path under one of its roots; empty where the
    word is anything else.
    """
    holes = value.holes
    if not holes or not isinstance(value.parts[0], Hole) or len(holes) != 1:
        return []
    sources = _once(event for event in holes[0].source if event.name not in _THROUGH or _lists(event))
    if len(sources) != 1:
        return []
    source, tail = sources[0], value.parts[1:]
    return [(source, _join(word, tail)) for word in _found(source)]


def _once(events: Iterable[ExecEvent]) -> list[ExecEvent]:
    found: list[ExecEvent] = []
    for event in events:
        if event not in found:
            found.append(event)
    return found


def _lists(event: ExecEvent) -> bool:
    """Tell whether a search prints the files' names only."""
    return event.name in _SEARCHES and bool(_FILES_ONLY & set(event.words))


def _found(source: ExecEvent) -> list[Value]:
    name = source.name or ""
    if name == "git" and source.words[:1] != ("ls-files",):
        return []
    if name in _SEARCHES and not _lists(source):
        return []
    found = _FOUND_BY.get(name)
    return found(source) if found is not None else []


_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack"})
_FILES_ONLY = frozenset(
    {"-l", "-rl", "-lr", "-Rl", "-rlZ", "-lZ", "-L", "--files-with-matches", "-ril", "-rli"}
)


def _searched(event: ExecEvent) -> list[Value]:
    """Give where `grep -l` looks: its words behind the pattern."""
    plain = [value for value in event.argv if not (value.text or "").startswith("-")]
    return plain[1:] or [Value((".",))]


def _join(word: Value, tail: tuple[str | Glob | Hole, ...]) -> Value:
    return Value((*word.parts, *tail)) if tail else word


def _found_by_find(event: ExecEvent) -> list[Value]:
    roots: list[Value] = []
    for value in event.argv:
        text = value.text
        if text is not None and text.startswith(("-", "(", "!", ")")):
            if text in {"-L", "-H", "-P"} and not roots:
                continue
            break
        roots.append(value)
    roots = roots or [Value((".",))]
    names = _names(event.words)
    return [_below(root, name) for root in roots for name in names] if names else roots


def _names(words: tuple[str | None, ...]) -> list[str]:
    """Give the name patterns that narrow what `find` finds; none if it may find anything."""
    before = (None, *words)
    pairs = [
        (word, given or "?")
        for (word, given), last in zip(pairwise(words), before, strict=False)
        if word in _FILTERS and last not in {"!", "-not"}
    ]
    if any(given in _EVERYTHING for _, given in pairs):
        return []
    return [given if word in {"-name", "-iname"} else STRANGE_NAME for word, given in pairs]


def _found_by_fd(event: ExecEvent) -> list[Value]:
    plain = [value for value in event.argv if not (value.text or "").startswith("-")]
    pattern = plain[0].text if plain else "."
    roots = plain[1:] or [Value((".",))]
    return roots if pattern in {".", "", ".*"} else [_below(root, STRANGE_NAME) for root in roots]


def _listed_by_ls(event: ExecEvent) -> list[Value]:
    """Give what `ls` prints as paths: everything here, or the patterns given; names inside a folder are not paths."""
    given = [value for value in event.argv if not (value.text or "").startswith("-")]
    if not given:
        return [Value((Glob("*"),))]
    return given if all(value.has_glob for value in given) else []


def _listed_by_git(event: ExecEvent) -> list[Value]:
    given = [value.text for value in event.argv[1:] if value.text and not value.text.startswith("-")]
    return [Value(pattern_parts(text)) for text in given] or [Value((Glob("*"),))]


def _below(root: Value, name: str) -> Value:
    return Value((*root.parts, "/", *pattern_parts(name)))


def _anywhere(event: ExecEvent) -> list[Value]:
    del event
    return [Value(("/", Glob("**"), STRANGE_NAME))]


def _below_searched(event: ExecEvent) -> list[Value]:
    return [_below(root, STRANGE_NAME) for root in _searched(event)]


_FOUND_BY: dict[str, Callable[[ExecEvent], list[Value]]] = {
    **dict.fromkeys(("find", "gfind", "bfs"), _found_by_find),
    **dict.fromkeys(("fd", "fdfind"), _found_by_fd),
    **dict.fromkeys(("locate", "plocate", "mlocate"), _anywhere),
    **dict.fromkeys(_SEARCHES, _below_searched),
    "git": _listed_by_git,
    "ls": _listed_by_ls,
}

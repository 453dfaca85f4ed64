"""Finding the files that a change is about: what to ask of `grep`, and what its answers say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from .conversation import Conversation, Exchange
from .imports import project_names
from .parts import Part
from .replies import Call
from .wording import Order

GLOB = "*.{py,pyi,ipynb,pyx,pxd,md,rst}"
"""Python, and files with Python code in them or words about it, which the report names and nobody changes."""
INITIALS = ("_", "A-Z0-9", "a-b", "c-d", "e-h", "i-m", "n-r", "s-t", "u-z", "!A-Za-z0-9_")
"""How a search that was cut is parted: by the first character of the file's name."""
LIMIT = 5_000
OTHERS = 24
"""Files that are only read, at most: an agent has turns for its own, too."""
PACKAGES = "__init__.py"
INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__", "venv"})
_PATH = re.compile(r"^(?!\[)(.+\.pyi?)$", re.MULTILINE)
_OTHER = re.compile(r"^(?!\[)(.+\.(?:ipynb|pyx|pxd|md|rst))$", re.MULTILINE)
_CUT = re.compile(r"^\[(?:only the first|partial:)", re.MULTILINE)
_CUT_TO_FIT = "characters left out: too long"


def look_for(order: Order, talk: Conversation) -> list[Call]:
    """The searches still to be made; none when every file is known.

    Each use of a dotted name ends in its last word. A search whose answer was cut is made again in parts.
    """
    words = dict.fromkeys(change.old.rpartition(".")[2] for change in order.changes)
    calls: list[Call] = []
    if "glob" in talk.tools and not talk.of("glob"):
        calls.append(("glob", {"pattern": PACKAGES, "limit": LIMIT}))
    for word in words:
        made = _searches(talk, word)
        if not made:
            calls.append(_search(word, GLOB))
        elif len(made) == 1 and _is_cut(made[0]):
            calls += [_search(word, f"[{initials}]{GLOB}") for initials in INITIALS]
    return calls


def files_found(talk: Conversation, order: Order) -> tuple[str, ...] | None:
    """The files that the searches named, in order; None as long as a search is missing.

    A search that failed counts as one that found nothing; `search_problems` names it.
    """
    if look_for(order, talk):
        return None
    return tuple(sorted(_paths(_PATH, _all_searches(talk, order))))


def files_beside(talk: Conversation, order: Order) -> tuple[str, ...]:
    """The files that the searches named and that are not read as Python, in order."""
    return tuple(sorted(_paths(_OTHER, _all_searches(talk, order))))


def names_of_project(talk: Conversation, files: Sequence[str]) -> frozenset[str]:
    """The names under which the project's own modules can be imported: those of the files and of every package."""
    return project_names([*files, *_paths(_PATH, talk.of("glob"))])


def with_files(part: Part, found: Sequence[str], talk: Conversation) -> Part:
    """The part with those of the files found that its order is about, and some others that say what a name is."""
    inside = tuple(path for path in found if within(path, part.order.places))
    asks = inside and any(change.verb == "rename" for change in part.order.changes)
    others = tuple(path for path in found if path not in inside)[:OTHERS] if asks else ()
    return replace(part, files=inside, others=others, project=names_of_project(talk, found))


def search_problems(talk: Conversation, order: Order) -> list[str]:
    """What went wrong with the searches, if anything did."""
    searches = _all_searches(talk, order)
    problems = [" ".join(one.result.split())[:300] for one in searches if one.is_error]
    if any(_is_cut(one) and one.args.get("glob") != GLOB for one in searches):
        problems.append("there are more files than the searches show: give the same task again for the rest")
    return problems


def within(path: str, places: Sequence[str]) -> bool:
    """Whether a file lies in one of the folders or files named; no name at all is everywhere."""
    return not places or any(
        path == place or path.startswith(place + "/") or fnmatchcase(path, place) for place in places
    )


def _paths(pattern: re.Pattern[str], searches: Iterable[Exchange]) -> set[str]:
    """The project's own files of a kind that searches found."""
    found = {path for one in searches if not one.is_error for path in pattern.findall(one.result)}
    return {path for path in found if not _is_installed(path)}


def _is_installed(path: str) -> bool:
    """Whether a file belongs to an environment or to something installed, not to the project."""
    return any(part.startswith(".") or part in INSTALLED for part in path.split("/")[:-1])


def _search(word: str, pattern: str) -> Call:
    return "grep", {"pattern": rf"\b{word}\b", "glob": pattern, "files_only": True, "limit": LIMIT}


def _is_cut(one: Exchange) -> bool:
    return not one.is_error and (bool(_CUT.search(one.result)) or _CUT_TO_FIT in one.result)


def _searches(talk: Conversation, word: str) -> list[Exchange]:
    return [one for one in talk.of("grep") if one.args.get("pattern") == rf"\b{word}\b"]


def _all_searches(talk: Conversation, order: Order) -> list[Exchange]:
    words = dict.fromkeys(change.old.rpartition(".")[2] for change in order.changes)
    return [one for word in words for one in _searches(talk, word)]

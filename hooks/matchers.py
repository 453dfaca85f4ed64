"""Which hooks a tool call concerns: names, lists, patterns, and the ecosystem's spellings of our tools.

The rules are Claude Code's: an empty matcher or `*` means every tool; a text made only of name characters,
spaces, commas and `|` is one exact name or a list of them; anything else is an unanchored regular expression.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .errors import ConfigError
from .patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Test = Callable[[str], bool]

ECOSYSTEM: dict[str, tuple[str, ...]] = {
    "bash": ("Bash",),
    "read_file": ("Read",),
    "write_file": ("Write",),
    "edit_file": ("Edit", "MultiEdit"),
    "glob": ("Glob",),
    "grep": ("Grep",),
    "todo_write": ("TodoWrite",),
    "task": ("Task", "Agent"),
    "load_skill": ("Skill",),
}
"""Our tools' names, and what other products call them; the first is the one sent to hook programs."""

_OURS = {theirs: ours for ours, names in ECOSYSTEM.items() for theirs in names}
_PLAIN = lazy(r"[\w\-\s,|]+\Z")
_GLOB_SIGNS = frozenset("*?[")


def our_name(tool_name: str) -> str:
    """Give our name of a tool that another product calls differently; any other name stays as it is."""
    return _OURS.get(tool_name, tool_name)


def their_name(tool_name: str) -> str:
    """Give the ecosystem's name of one of our tools; any other name stays as it is."""
    return ECOSYSTEM.get(tool_name, (tool_name,))[0]


def spellings(tool_name: str) -> tuple[str, ...]:
    """Give every name under which hooks may know this tool, the given one first."""
    ours = our_name(tool_name)
    return tuple(dict.fromkeys((tool_name, ours, *ECOSYSTEM.get(ours, ()))))


def matches(matcher: str, tool_name: str) -> bool:
    """Tell whether a hook with this matcher concerns a tool, under any of the tool's spellings.

    Raises:
        ConfigError: the matcher is not a valid regular expression.
    """
    test = compiled(matcher)
    return any(test(name) for name in spellings(tool_name))


@lru_cache(maxsize=512)
def compiled(matcher: str) -> Test:
    """Turn a matcher into a test of one name.

    Raises:
        ConfigError: the matcher is not a valid regular expression. A matcher that cannot be read must never
            mean "concerns nothing": the gate behind it would silently be gone.
    """
    text = matcher.strip()
    if text in {"", "*"}:
        return lambda _name: True
    if _PLAIN.match(text):
        return frozenset(name for part in re.split(r"[,|]", text) if (name := part.strip())).__contains__
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ConfigError(f"the matcher {matcher!r} is not a valid regular expression: {error}") from None
    return lambda name: pattern.search(name) is not None


def from_globs(globs: str) -> str:
    """Turn a list of shell-style patterns (`count_*|bash`) into a matcher."""
    from fnmatch import translate

    parts = [part.strip() for part in re.split(r"[,|]", globs) if part.strip()]
    if not any(_GLOB_SIGNS & set(part) for part in parts) or parts == ["*"]:
        return "|".join(parts)
    return "|".join(f"^{translate(part)}" for part in parts)

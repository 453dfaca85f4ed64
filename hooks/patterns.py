"""Regular expressions that are compiled when first used: most hook calls need few of them, and each costs up to 1 ms."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("lazy",)


class _Lazy:
    """Stands in for a compiled pattern, and makes it on the first use of any of its methods."""

    __slots__ = ("__dict__", "_flags", "_made", "_source")

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags
        self._made: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = re.compile(self._source, self._flags)
        found = getattr(self._made, name)
        setattr(
            self, name, found
        )  # from now on it is found without asking here, which takes longer than most matches
        return found


def lazy(source: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Give what behaves like `re.compile(source, flags)`; a mistake in it shows only when it is used."""
    passes_for_one: Any = _Lazy(source, int(flags))
    return passes_for_one

"""Which recipes of a makefile or justfile are made: those asked for, with all that they need."""

from __future__ import annotations

import re

_HEAD = re.compile(r"^([^\s#=:][^:=#]*?)\s*::?(?!=)\s*([^;#]*)")
_AGAIN = re.compile(r"\$[({]MAKE[)}]\s+([\w./-]+)|\bjust\s+([\w-]+)")


def only(text: str, targets: list[str]) -> str:
    """Leave out the recipes that are not made for these targets; for none, those that are not made for the first one."""
    before, blocks = _blocks(re.sub(r"\\\n[ \t]*", " ", text))
    wanted = set(targets) or next(
        ({*names} for names, _, _ in blocks if not names[0].startswith(".")), set[str]()
    )
    while True:
        needed = {name for names, deps, _ in blocks if wanted.intersection(names) for name in deps}
        if needed <= wanted:
            break
        wanted |= needed
    kept = [
        lines
        for names, _, lines in blocks
        if wanted.intersection(names) or any("%" in name for name in names)
    ]
    return "\n".join([*before, *(line for lines in kept for line in lines)])


def _blocks(text: str) -> tuple[list[str], list[tuple[list[str], list[str], list[str]]]]:
    """What stands outside of recipes, and each recipe: its names, what it needs, its lines."""
    before: list[str] = []
    blocks: list[tuple[list[str], list[str], list[str]]] = []
    inside = False
    for line in text.split("\n"):
        head = _HEAD.match(line)
        if head and head[1].split():
            blocks.append((head[1].lstrip("@").split(), head[2].split(), [line]))
            inside = True
        elif inside and (not line.strip() or line[:1] in {"\t", " "}):
            _, needs, lines = blocks[-1]
            lines.append(line)
            needs.extend(one or other for one, other in _AGAIN.findall(line))
        else:
            before.append(line)
            inside = False
    return before, blocks

"""Sets of path patterns (`~/.ssh/**`, `/proc/*/environ`) as tries, asked for paths that may have unknown pieces.

A trie is walked once a path, whatever the number of patterns: a decision asks several sets of two hundred patterns
about every word of a command.
"""

from __future__ import annotations

import re

from .glob import component_fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..shell.events import Places, Value

    Component = str | Value
    Path = tuple[Component, ...]


class _Wild:
    """Several patterns, asked about a plain name at once: most say how a name starts or how it ends."""

    __slots__ = ("_ends", "_others", "_starts")

    def __init__(self, patterns: Iterable[str]) -> None:
        heads_and_tails = [
            (re.match(r"[^*?[]*", one), re.search(r"[^*?\]]*\Z", one), one) for one in patterns
        ]
        starts: list[str] = []
        ends: list[str] = []
        others: list[str] = []
        for head, tail, pattern in heads_and_tails:
            if head is not None and head[0]:
                starts.append(head[0])
            elif tail is not None and tail[0]:
                ends.append(tail[0])
            else:
                others.append(pattern)
        self._starts, self._ends, self._others = tuple(starts), tuple(ends), tuple(others)

    def may_fit(self, name: str) -> bool:
        """Tell quickly that none of the patterns fits, for then it is False; else they must be asked one by one."""
        return name.startswith(self._starts) or name.endswith(self._ends) or bool(self._others)


def _is_wild(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern or "[" in pattern


class _Node:
    """One place in a trie. `deep` is the node of a `**` that follows; such a node (`loops`) stays on any component."""

    __slots__ = ("_patterns", "below_deep", "deep", "ends", "literal", "loops", "wild")

    def __init__(self, *, loops: bool = False, below_deep: bool = False) -> None:
        self.literal: dict[str, _Node] = {}
        self.wild: dict[str, _Node] = {}
        self.deep: _Node | None = None
        self.ends = False
        self.loops = loops
        self.below_deep = below_deep or loops
        self._patterns: _Wild | None = None

    @property
    def patterns(self) -> _Wild:
        """All of `wild`, once the node is complete."""
        if self._patterns is None:
            self._patterns = _Wild(self.wild)
        return self._patterns

    def child(self, pattern: str) -> _Node:
        if pattern == "**":
            self.deep = self.deep or _Node(loops=True)
            return self.deep
        kind = self.wild if _is_wild(pattern) else self.literal
        return kind.setdefault(pattern, _Node(below_deep=self.below_deep))


if TYPE_CHECKING:
    Words = tuple[frozenset[str] | None, _Wild | None]
    Tries = tuple[_Node, _Node, tuple[str, ...], list[_Node], *Words]
    """What is wanted, what is not, the workspace, where the walk stands that has come to it, and what is next there."""


class PathSet:
    """A set of path patterns; those that start with `!` take paths out again."""

    __slots__ = ("_tries", "patterns")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns
        self._tries: dict[tuple[str, str], Tries] = {}

    def holds(self, path: Path, places: Places) -> bool:
        """Tell whether a path may match one of the patterns and surely none that takes it out."""
        wanted, unwanted, workspace, inside, _, _ = self._of(places)
        depth = len(workspace)
        # Most paths of a session lie in the workspace: the walk down to it is done once.
        hit = _ends(inside, path[depth:]) if path[:depth] == workspace else _ends(_closed([wanted]), path)
        return hit and not _ends(_closed([unwanted]), _certain(path))

    def ignores(self, inside: list[str], places: Places) -> bool:
        """Tell quickly that a path of these plain components below the workspace is not in the set.

        It is not if no pattern speaks of any of its components, and none takes in all that lies below the workspace.
        """
        _, _, _, _, words, wild = self._of(places)
        if words is None:
            return False
        return words.isdisjoint(inside) and not (wild and [piece for piece in inside if wild.may_fit(piece)])

    def _of(self, places: Places) -> Tries:
        key = (places.home, places.workspace)
        tries = self._tries.get(key)
        if tries is None:
            if len(self._tries) >= _KEPT:
                self._tries.clear()
            tries = self._tries[key] = self._build(places)
        return tries

    def _build(self, places: Places) -> Tries:
        wanted, unwanted = _Node(), _Node()
        workspace = tuple(split_pattern(places.workspace, places))
        for pattern in self.patterns:
            if pattern.startswith("!./") and len(workspace) < _DEEP_ENOUGH:
                continue
            if pattern.startswith("!~/") and not places.home.strip("/"):
                continue
            node = unwanted if pattern.startswith("!") else wanted
            for piece in split_pattern(pattern.removeprefix("!"), places):
                node = node.child(piece)
            node.ends = True
        inside = _walk(_closed([wanted]), workspace)
        return wanted, unwanted, workspace, inside, *_next_words(inside)


def _next_words(nodes: list[_Node]) -> Words:
    """Give the words and the patterns that may come next; None where any way on may lead to an end."""
    if any(
        node.loops and (node.ends or (node.deep is not None and node.deep not in nodes)) for node in nodes
    ):
        return None, None
    words = frozenset(word for node in nodes for word in node.literal)
    patterns = [pattern for node in nodes for pattern in node.wild]
    return words, _Wild(patterns) if patterns else None


_DEEP_ENOUGH = 2
"""A workspace of `/`, `/etc` or `/home` takes nothing out of a set: it is what the sets protect."""

_KEPT = 64
"""For how many pairs of home and workspace tries are kept."""

_single: dict[str, PathSet] = {}


def one_pattern(pattern: str) -> PathSet:
    """Give the set of a single pattern, made once."""
    found = _single.get(pattern)
    if found is None:
        if len(_single) >= _KEPT * 16:
            _single.clear()
        found = _single[pattern] = PathSet((pattern,))
    return found


def split_pattern(pattern: str, places: Places) -> list[str]:
    """Split a pattern into components; `~` is the home, `.` the workspace."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = places.home + pattern[1:]
    elif pattern == "." or pattern.startswith("./"):
        pattern = places.workspace + pattern[1:]
    return [piece for piece in pattern.split("/") if piece]


def _certain(path: Path) -> Path:
    """Take globs as if they were names: `*.pub` is surely a public key."""
    return tuple(piece if isinstance(piece, str) else piece.show() for piece in path)


def _ends(states: list[_Node], path: Path) -> bool:
    return any(node.ends for node in _walk(states, path))


def _walk(states: list[_Node], path: Path) -> list[_Node]:
    for piece in path:
        if not states:
            break
        following: list[_Node] = []
        for node in states:
            _step(node, piece, following)
        states = _closed(following)
    return states


def _closed(nodes: list[_Node]) -> list[_Node]:
    """Add the nodes of every `**` that may stand for nothing."""
    for node in nodes:
        if node.deep is not None and node.deep not in nodes:
            return [*nodes, *(node.deep for node in nodes if node.deep is not None)]
    return nodes


def _step(node: _Node, piece: Component, following: list[_Node]) -> None:
    if node.loops:
        following.append(node)
    if isinstance(piece, str):
        child = node.literal.get(piece)
        if child is not None:
            following.append(child)
        if not node.wild or not node.patterns.may_fit(piece):
            return
    else:
        following.extend(
            c for name, c in node.literal.items() if component_fits(piece, name, deep=node.below_deep)
        )
    following.extend(c for name, c in node.wild.items() if component_fits(piece, name, deep=node.below_deep))

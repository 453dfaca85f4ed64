"""Which finished works conflict with which, known before the first is merged, and the order that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations

import anyio

from decurion.agents.groups import task_group

from .hub import Hub
from .run import Git
from .work import Work

SIDE_BY_SIDE = 4
"""Merges computed at once; more processes than cores only wait."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge that git computed without any checkout. `files` are those in conflict; `tree` then holds markers."""

    tree: str
    files: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether the merge needs nobody."""
        return not self.files


@dataclass(frozen=True, slots=True)
class Matrix:
    """The pairs of agents whose works conflict, each with the files."""

    pairs: Mapping[tuple[str, str], tuple[str, ...]]

    def degree(self, agent_id: str) -> int:
        """With how many others an agent's work conflicts."""
        return sum(agent_id in pair for pair in self.pairs)

    def among(self, works: Sequence[Work]) -> Matrix:
        """The part that concerns only these works."""
        names = {work.agent_id for work in works}
        return Matrix({pair: files for pair, files in self.pairs.items() if names.issuperset(pair)})


async def merge_trees(git: Git, ours: str, theirs: str) -> Merged:
    """Merge two commits in the object store.

    Raises:
        GitError: git failed; a conflict is an answer, not a failure.
    """
    how = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
    done = await git.run(*how, ours, theirs, ok=(0, 1))
    tree, *files = done.names
    return Merged(tree, tuple(dict.fromkeys(files)) or (() if done.code == 0 else ("(unknown)",)))


@dataclass(frozen=True, slots=True)
class Merges:
    """Merges in a hub, each computed once: what two commits come to does not change."""

    hub: Hub
    _trees: dict[tuple[str, str], Merged] = field(default_factory=dict[tuple[str, str], Merged])
    _commits: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])

    async def trees(self, ours: str, theirs: str) -> Merged:
        """Merge two commits as `merge_trees` does."""
        if (ours, theirs) not in self._trees:
            self._trees[ours, theirs] = await merge_trees(self.hub.git, ours, theirs)
        return self._trees[ours, theirs]

    async def commit(self, tree: str, ours: str, theirs: str, message: str) -> str:
        """Commit a merge; the same one again where it was made already. No ref points at it yet."""
        key = (tree, ours, theirs, message)
        if key not in self._commits:
            self._commits[key] = await self.hub.commit(tree, (ours, theirs), message)
        return self._commits[key]


async def conflict_matrix(merges: Merges, works: Sequence[Work]) -> Matrix:
    """Merge every pair that may conflict. For sixteen works these are 120 merges, about half a second."""
    pairs: dict[tuple[str, str], tuple[str, ...]] = {}
    limit = anyio.CapacityLimiter(SIDE_BY_SIDE)

    async def try_pair(one: Work, other: Work) -> None:
        async with limit:
            merged = await merges.trees(one.commit, other.commit)
        if not merged.clean:
            pairs[one.agent_id, other.agent_id] = merged.files

    async with task_group() as group:
        for one, other in combinations(works, 2):
            if may_conflict(one, other):
                group.start_soon(try_pair, one, other)
    return Matrix(dict(sorted(pairs.items())))


def may_conflict(one: Work, other: Work) -> bool:
    """Whether a pair needs a look.

    Works that share no path cannot conflict, unless one of them deletes or renames (a new file of the other's may lie
    in the renamed folder) or makes a file where the other has a folder.
    """
    if any(change.status == "deleted" for work in (one, other) for change in work.changed):
        return True
    mine, theirs = set(one.files), set(other.files)
    return bool(mine & theirs or _folders(mine) & theirs or mine & _folders(theirs))


def _folders(paths: Iterable[str]) -> set[str]:
    return {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}


def in_order(works: Sequence[Work], matrix: Matrix) -> list[Work]:
    """Dependencies first; among the free ones least conflicts, then fewest files, then the order given.

    A dependency on a work that is not here is taken as met; a circle is broken at its least conflicting member.
    """
    rank = {
        work.agent_id: (matrix.degree(work.agent_id), len(work.changed), n) for n, work in enumerate(works)
    }
    waiting = {work.agent_id: work for work in works}
    ordered: list[Work] = []
    while waiting:
        free = [work for work in waiting.values() if not any(name in waiting for name in work.depends_on)]
        chosen = min(free or waiting.values(), key=lambda work: rank[work.agent_id])
        ordered.append(waiting.pop(chosen.agent_id))
    return ordered


def conflicts_of_claims(
    claims: Mapping[str, Sequence[str]], files: Sequence[str] = ()
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Which tasks claim the same files: by the files there are, and by the patterns where these name new ones.

    Tasks without claims are not compared: nothing is known of them.
    """
    held = {
        task: frozenset(name for name in files if matches(name, patterns))
        for task, patterns in claims.items()
    }
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for one, other in combinations(claims, 2):
        shared = {*(held[one] & held[other]), *(set(claims[one]) & set(claims[other]))}
        shared |= {name for name in claims[one] if matches(name, claims[other])}
        shared |= {name for name in claims[other] if matches(name, claims[one])}
        if shared:
            found.append((one, other, tuple(sorted(shared))))
    return tuple(found)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path is meant by one of some patterns; a folder means all below it, `**/` also means nothing."""
    return any(
        fnmatchcase(path, form) or path.startswith(f"{form.rstrip('/')}/")
        for pattern in patterns
        for form in {pattern, pattern.replace("**/", "")}
    )

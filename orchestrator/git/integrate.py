"""Merge finished works one after the other, in the hub, never in a checkout; checked; conflicts handed to a resolver."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from .commands import Ran
from .matrix import Matrix, Merged, Merges, conflict_matrix, in_order
from .preflight import case_clashes
from .run import shown
from .work import Work, differences
from .workbench import Conflict, Gate, Resolve, Workbench

ATTEMPTS = 2
"""How often a resolver is asked for one work before it is left to a person."""


@dataclass(frozen=True, slots=True)
class Left:
    """A work that was not merged: why, the files in conflict, and the command line for a person."""

    work: Work
    reason: str
    files: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class Integrated:
    """What became of some works. `head` is the merged state; `verified` None where nothing was checked.

    `check_output` is what the check wrote about the merged state.
    """

    head: str
    merged: tuple[Work, ...]
    left: tuple[Left, ...]
    verified: bool | None
    matrix: Matrix
    notices: tuple[str, ...] = ()
    check_output: str = ""


class Integration:
    """One run of merging. Each accepted merge is written at once, so a crash loses at most the one in progress."""

    def __init__(
        self, merges: Merges, base: str, head: str, gate: Gate, bench: Callable[[], Awaitable[Workbench]]
    ) -> None:
        self.merges, self.base, self.head, self.gate = merges, base, head, gate
        self.hub = merges.hub
        self._make_bench, self._bench = bench, None
        self.merged: list[Work] = []
        self.left: list[Left] = []
        self.notices: list[str] = []
        self._gated = gate.command is not None
        self._start: str | None = head

    async def run(self, works: Sequence[Work], resolve: Resolve | None) -> Integrated:
        """Merge all that can be merged: whatever is clean first, then, one at a time, what needs a resolver."""
        queue = await self._new_ones(works)
        matrix = await conflict_matrix(self.merges, queue)
        while queue:
            chain, put_off = await self._chain(in_order(queue, matrix.among(queue)))
            red, rest = await self._settle(chain)
            queue = [*rest, *put_off]
            if red is not None:
                await self._mend(red[0], "check", red[1], resolve)
            elif put_off:
                await self._mend(queue.pop(0), "merge", "", resolve)
            queue = self._without_orphans(queue)
        ran = await (await self.bench()).check(self.head) if self.gate.command is not None else None
        verified, output = (ran.ok, ran.output) if ran else (None, "")
        merged, left, notices = tuple(self.merged), tuple(self.left), tuple(self.notices)
        return Integrated(self.head, merged, left, verified, matrix, notices, output)

    async def rehearse(self, works: Sequence[Work]) -> None:
        """Compute the merges that `run` will ask for if nothing is added by then. No ref moves, nothing is checked."""
        queue = await self._new_ones(works)
        await self._chain(in_order(queue, await conflict_matrix(self.merges, queue)))

    async def _new_ones(self, works: Sequence[Work]) -> list[Work]:
        """Leave out what is empty, and what an earlier run has merged already."""
        there: set[str] = set()
        if self.head != self.base:
            there.update((await self.hub.git.line("rev-list", self.head, f"^{self.base}")).splitlines())
        self.merged += [work for work in works if not work.empty and work.commit in there]
        return [work for work in works if not work.empty and work.commit not in there]

    async def _check(self, commit: str) -> Ran:
        """Check a merged state; where the check is red before anything was merged, it says nothing about single works."""
        if not self._gated:
            return Ran(0, "")
        ran = await (await self.bench()).check(commit)
        if not ran.ok and self._start is not None:
            start, self._start = (
                self._start,
                None,
            )  # looked at only now: mostly all is well, and checks are slow
            if not (await (await self.bench()).check(start)).ok:
                self._gated = False
                self.notices.append(
                    f"`{self.gate.command}` fails before any merge, so single works are not held to it."
                )
        return ran if self._gated else Ran(0, "")

    async def bench(self) -> Workbench:
        """The worktree for checks, made when it is first needed."""
        if self._bench is None:
            self._bench = await self._make_bench()
        return self._bench

    async def _chain(self, works: Sequence[Work]) -> tuple[list[tuple[Work, str]], list[Work]]:
        """Merge tentatively those that need nobody; gives them, and the conflicting ones with what depends on them."""
        put_off: list[Work] = []
        chain: list[tuple[Work, str]] = []
        merge = self._try if await self._may_clash(works) else self._merge
        for work in works:
            tip = chain[-1][1] if chain else self.head
            waits = any(name in {other.agent_id for other in put_off} for name in work.depends_on)
            merged = None if waits else await merge(tip, work)
            if merged is not None and merged.clean:
                chain.append((work, await self._commit(merged.tree, tip, work)))
            else:
                put_off.append(work)
        return chain, put_off

    async def _settle(self, chain: Sequence[tuple[Work, str]]) -> tuple[tuple[Work, str] | None, list[Work]]:
        """Accept tentative merges as far as the check is green; gives the first red work with its log, and the rest."""
        good = await self._green_prefix([commit for _, commit in chain])
        if good:
            await self._accept(chain[good - 1][1], *(work for work, _ in chain[:good]))
        if good == len(chain):
            return None, []
        ran = await self._check(chain[good][1])
        return (chain[good][0], ran.tail), [work for work, _ in chain[good + 1 :]]

    def _without_orphans(self, works: Sequence[Work]) -> list[Work]:
        """Leave what depends on a work that was left: it was made for a state that does not come about."""
        kept: list[Work] = []
        missing = {left.work.agent_id for left in self.left}
        for work in works:
            lost = missing.intersection(work.depends_on)
            if lost:
                self._leave(work, f"it depends on {', '.join(sorted(lost))}, which was not merged", ())
                missing.add(work.agent_id)
            else:
                kept.append(work)
        return kept

    def _leave(self, work: Work, reason: str, files: tuple[str, ...]) -> None:
        command = f"git fetch {quote(str(self.hub.path))} {work.ref} && git merge FETCH_HEAD"
        self.left.append(Left(work, reason, files, command))

    async def _green_prefix(self, commits: Sequence[str]) -> int:
        """How many commits of a chain pass: one by one, or by bisection, the last first, for mostly all is well."""
        if not self._gated or not commits:
            return len(commits)
        if self.gate.mode == "bisect" and (await self._check(commits[-1])).ok:
            return len(commits)
        low, high = 0, len(commits) - (self.gate.mode == "bisect")
        while low < high:  # the first `low` are green; the one at `high` is red, or behind the last
            middle = (low + high) // 2 if self.gate.mode == "bisect" else low
            if (await self._check(commits[middle])).ok:
                low = middle + 1
            else:
                high = middle
        return low

    async def _mend(
        self, work: Work, kind: Literal["merge", "check"], log: str, resolve: Resolve | None
    ) -> None:
        """Let a resolver try; accept what stands the judgement; else leave the work to a person."""
        automatic = await self._try(self.head, work)
        files = automatic.files if kind == "merge" else await self._touched_by_both(work)
        why = "nobody is there to resolve it" if resolve is None else ""
        for attempt in range(1, ATTEMPTS + 1) if resolve else ():
            check = self.gate.command if self._gated else None
            conflict = Conflict(kind, work, files, log, why, attempt, tuple(self.merged), check)
            commit, why = await self._attempt(conflict, automatic.tree, resolve)
            if commit:
                await self._accept(commit, work)
                return
        reason = (
            "it conflicts with what is merged"
            if kind == "merge"
            else f"the check fails with it: {log[-400:]}"
        )
        self._leave(work, f"{reason} ({why})" if why else reason, files)

    async def _attempt(self, conflict: Conflict, automatic: str, resolve: Resolve | None) -> tuple[str, str]:
        bench = await self.bench()
        ours, theirs = self.head, conflict.work.commit
        needed = await bench.lay_out(ours, theirs)
        if resolve is not None and (needed or conflict.kind == "check" or conflict.attempt > 1):
            await resolve(conflict, bench.tree)
        tree = await bench.harvest()
        if why := await bench.objections(conflict, automatic, tree, (ours, theirs)):
            return "", why
        await bench.remember()
        commit = await self._commit(tree, ours, conflict.work)
        ran = await self._check(commit)
        return (commit, "") if ran.ok else ("", f"the check fails: {ran.tail}")

    async def _may_clash(self, works: Sequence[Work]) -> bool:
        """Whether any merge of these may bring two names that differ only by letter case: asked once for all of them.

        Where a file is deleted, git may see a rename and put others under names that nobody gave.
        """
        changes = [change for work in works for change in work.changed]
        added = {change.path for change in changes if change.status == "added"}
        if not added or any(change.status == "deleted" for change in changes):
            return bool(added)
        names = await self.hub.git.names("ls-tree", "-r", "-z", "--name-only", self.head)
        return bool(case_clashes({*names, *added}))

    async def _merge(self, tip: str, work: Work) -> Merged:
        return await self.merges.trees(tip, work.commit)

    async def _try(self, tip: str, work: Work) -> Merged:
        """Merge, and take for a conflict what would be one file where letter case does not count."""
        merged = await self._merge(tip, work)
        if not merged.clean or all(change.status != "added" for change in work.changed):
            return merged
        names = await self.hub.git.names("ls-tree", "-r", "-z", "--name-only", merged.tree)
        added = {change.path for change in work.changed if change.status == "added"}
        clashes = [
            name for name in case_clashes(names) if name.casefold() in {path.casefold() for path in added}
        ]
        if not clashes:
            return merged
        already = set(await self.hub.git.names("ls-tree", "-r", "-z", "--name-only", work.commit))
        # One work may hold both spellings on purpose; two works that each bring one did not mean to.
        return Merged(merged.tree, tuple(clashes)) if not set(clashes) <= already else merged

    async def _touched_by_both(self, work: Work) -> tuple[str, ...]:
        start = await self.hub.git.line("merge-base", self.head, work.commit)
        ours = {found.path for found in await differences(self.hub.git, start, self.head)}
        return tuple(sorted(ours | set(work.files)))

    async def _commit(self, tree: str, ours: str, work: Work) -> str:
        subject = (work.message.strip().splitlines() or ["work"])[0]
        text = f"Merge {shown(work.agent_id)}: {subject}\n"
        return await self.merges.commit(tree, ours, work.commit, text)

    async def _accept(self, commit: str, *works: Work) -> None:
        async with self.hub.lock.held():
            await self.hub.write(commit, "merged", old=self.head)
        self.head = commit
        self.merged += works

"""Isolated subagents in a session: a checkout each while they work, merged when the lead is done.

The mechanics are `decurion.orchestrator.git`; this file ties them to orders, results and the log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

import anyio
from anyio.abc import TaskGroup

from decurion.agents.groups import task_group
from decurion.agents.moments import Notice
from decurion.agents.result import FileChange
from decurion.agents.shared import Bench, Work, transcript_path
from decurion.agents.task import Order
from decurion.hooks import DecurionError, RunRef

from .naming import program
from .session import Finished, Session

if TYPE_CHECKING:  # most sessions isolate nobody
    from .git import Conflict, Handed, Integrated, Isolation, Left, Worktree
    from .git import Work as GitWork

_SHOWN_LINES = 30
"""Of a failed check's output; all of it is in the result."""

RESOLVER = "refactorer"
"""The kind of subagent that resolves conflicts and mends red checks."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A worktree as an agent's workplace, the rest of which somebody else looks after: a campaign after its check."""

    tree: Worktree

    @property
    def path(self) -> Path:
        """Where the agent's tools are rooted."""
        return self.tree.path

    @property
    def goes_back(self) -> bool:
        """It is made again at the newest checkpoint."""
        return True

    async def ready(self) -> Mapping[str, str]:
        """Give what commands need in it; it is there already."""
        return self.tree.env

    async def checkpoint(self, turn: int) -> None:
        """Save the state after a turn."""
        await self.tree.checkpoint(turn)

    async def finish(self, message: str) -> Work | None:  # noqa: ARG002 - the seam's argument
        """Leave it to who made the worktree."""
        return None


@dataclass(frozen=True, slots=True)
class MergeDesk(Desk):
    """The merge tree as a resolver's workplace: the merge itself looks at what is there in the end."""

    async def checkpoint(self, turn: int) -> None:
        """Keep nothing."""


@dataclass(slots=True)
class Checkout:
    """One subagent's checkout, as the agents' layer sees it: made while its model is asked for the first time."""

    owner: Checkouts
    ref: RunRef
    order: Order
    path: Path
    _made: anyio.Event = field(default_factory=anyio.Event)
    _tree: Worktree | None = None
    _failure: DecurionError | None = None

    @property
    def goes_back(self) -> bool:
        """It is made again at the newest checkpoint."""
        return True

    async def make(self) -> None:
        """Make it; what goes wrong is for whoever needs it."""
        try:
            self._tree = await self.owner.make(self.ref)
        except DecurionError as error:
            self._failure = error
        finally:
            self._made.set()

    async def tree(self) -> Worktree:
        """Wait until it is made.

        Raises:
            DecurionError: it could not be.
        """
        await self._made.wait()
        if self._tree is None:
            raise self._failure or DecurionError("the session ended before")
        return self._tree

    async def settled(self) -> None:
        """Wait until it is made or could not be."""
        await self._made.wait()

    async def ready(self) -> Mapping[str, str]:
        """Wait until it is made; gives what commands need in it."""
        return (await self.tree()).env

    async def checkpoint(self, turn: int) -> None:
        """Save the state after a turn."""
        await (await self.tree()).checkpoint(turn)

    async def finish(self, message: str) -> Work | None:
        """Commit what is there and queue it for the merge; None where it never was there."""
        try:
            tree = await self.tree()
        except DecurionError:
            return None
        work = await self.owner.finish(tree, self.order, message)
        for notice in work.notices:
            self.owner.tell(self.ref, notice)
        changed = tuple(FileChange(change.path, change.sha256) for change in work.changed)
        commit, ref = ("", "") if work.empty else (work.commit, work.ref)
        return Work(ref, commit, changed, work.notices)


@dataclass(slots=True)
class Checkouts:
    """All checkouts of a session, and what came of them. Git is asked when the first one is needed."""

    session: Session
    _makers: TaskGroup
    works: dict[str, GitWork] = field(default_factory=dict[str, "GitWork"])
    _isolation: Isolation | None = None
    _opened: dict[str, Checkout] = field(default_factory=dict[str, "Checkout"])
    _queue: anyio.Lock = field(default_factory=anyio.Lock)
    _at_work: set[str] = field(default_factory=set[str])
    _labels: dict[str, str] = field(default_factory=dict[str, str])
    _merging: anyio.Lock = field(default_factory=anyio.Lock)

    async def prepare(self) -> Isolation:
        """Take the snapshot from which all start, or take up that of an interrupted session.

        Raises:
            NotIsolatable: the folder cannot give checkouts, with the reason and the remedy.
        """
        from .git import Isolation, Options

        async with self._queue:
            if self._isolation is None:
                options = self.session.options
                self._isolation = await Isolation.prepare(
                    options.workspace,
                    self.session.folder,
                    self.session.id,
                    Options(setup=options.work.setup or None),
                )
                self.works = {work.agent_id: work for work in self._isolation.finished_works()}
                for notice in self._isolation.notices:
                    self.session.listen(Notice(notice))
        return self._isolation

    async def open(self, ref: RunRef, order: Order) -> Bench:
        """Begin to make the checkout of one agent; what it depends on is merged first.

        That of an agent which was begun before is made again at once: its history is mended by what the files are.

        Raises:
            DecurionError: git refused, or this place cannot be isolated.
        """
        isolation = await self.prepare()
        if earlier := self._opened.get(ref.agent_id):  # by a worker that was lost
            await earlier.settled()
        if order.label:
            self._labels[order.label] = ref.agent_id
        if order.depends_on and self.works:
            await self._integrate(isolation)
        checkout = Checkout(self, ref, order, isolation.folder(ref.agent_id))
        self._opened[ref.agent_id] = checkout
        self._at_work.add(ref.agent_id)
        self.session.shared.workplaces[ref.agent_id] = checkout.path
        if transcript_path(self.session.folder, ref.agent_id).exists():
            await checkout.make()
            await checkout.ready()
        else:
            self._makers.start_soon(checkout.make)
        return checkout

    async def make(self, ref: RunRef) -> Worktree:
        """Make a worktree, or after a crash bring it back to where its agent's history ends."""
        isolation = await self.prepare()
        tree = await isolation.reopen(ref.agent_id, self.session.team.settled_turns(ref.agent_id))
        for notice in tree.notices:
            self.tell(ref, notice)
        return tree

    async def finish(self, tree: Worktree, order: Order, message: str) -> GitWork:
        """Commit what a checkout holds and queue it for the merge."""
        depends = tuple(filter(None, (self._labels.get(label, "") for label in order.depends_on)))
        isolation = await self.prepare()
        work = await isolation.settle(tree, message, paths=order.paths, depends_on=depends)
        self._makers.start_soon(isolation.sweep)
        self.works.pop(
            work.agent_id, None
        )  # of an earlier life, which a crash cut off before its result was kept
        if not work.empty:
            self.works[work.agent_id] = work
        self._at_work.discard(work.agent_id)
        if not self._at_work:
            self._makers.start_soon(self._rehearse)
        return work

    async def _rehearse(self) -> None:
        """Compute the merges while the lead thinks: most often all the work is there by then."""
        isolation = await self.prepare()
        async with self._merging:
            with suppress(DecurionError):  # it is said when it is done in earnest
                await isolation.rehearse(tuple(self.works.values()))

    def tell(self, ref: RunRef, text: str, level: Literal["info", "warning"] = "info") -> None:
        """Show and record one line; a warning is shown however little else is."""
        self.session.log.write(ref, "note", reason=text)
        self.session.listen(Notice(text, level))

    @property
    def used(self) -> bool:
        """Whether there is anything to bring home."""
        return bool(self.works)

    async def bring_home(self, finished: Finished) -> Finished:
        """Merge everything, check it, and hand it back as one branch (and into the checkout, if asked for)."""
        ref = RunRef(self.session.id, "lead", "lead")
        isolation = await self.prepare()
        if own := [change.path for change in finished.lead.files_changed]:
            await self._adopt(ref, isolation, own)
        done = await self._integrate(isolation)
        handed = await isolation.hand_back()
        self.session.log.write(
            ref, "merge", branch=handed.branch, commit=handed.commit, merged=len(done.merged), left=len(done.left)
        )  # fmt: skip
        lost = (left_in_words(left, handed.command_for(left)) for left in done.left)
        for notice in (*done.notices, *handed.notices, *lost):
            self.tell(ref, notice, "warning")
        if handed.branch:
            self.tell(ref, f"merged into branch {handed.branch} ({len(done.merged)} of {len(self.works)})")
        self._tell_check(ref, done)
        applied = self.session.options.work.apply and await self._apply(ref, isolation, done, handed)
        if handed.branch and not applied:
            self.tell(ref, how_to_take(self.session.id))
        return replace(finished, verified=done.verified, check_output=done.check_output, branch=handed.branch)

    async def _adopt(self, ref: RunRef, isolation: Isolation, own: Sequence[str]) -> None:
        """Take in what the lead changed itself, in the checkout: without its part the branch is half of the work."""
        try:
            work = await isolation.adopt("lead", own, "What the lead changed itself")
        except DecurionError as error:
            self.tell(
                ref,
                f"what the lead changed itself is in your checkout, but not in the branch: {error}",
                "warning",
            )
            return
        self.works.update({} if work.empty else {work.agent_id: work})

    def _tell_check(self, ref: RunRef, done: Integrated) -> None:
        if done.verified is None:
            return
        told = f"check `{self.session.options.work.verify}`"
        if done.verified:
            self.tell(ref, f"{told}: passed")
            return
        shown = "\n".join(done.check_output.splitlines()[-_SHOWN_LINES:])
        self.session.log.write(ref, "note", reason=f"{told}: FAILED")
        self.session.listen(Notice(f"{told}: FAILED\n{shown}"))

    async def _apply(self, ref: RunRef, isolation: Isolation, done: Integrated, handed: Handed) -> bool:
        """Put the result into the checkout; whether it is there now."""
        where = f"{'the branch' if handed.branch else 'the hub of the session'} has the work"
        if done.verified is False:
            self.tell(ref, f"not applied, for the check fails; {where}", "warning")
            return False
        try:
            applied = await isolation.apply()
        except DecurionError as error:
            self.tell(ref, f"not applied; {where}. {error}", "warning")
            return False
        self.tell(ref, applied.in_words)
        return True

    async def _integrate(self, isolation: Isolation) -> Integrated:
        verify = self.session.options.work.verify or None
        async with self._merging:
            return await isolation.integrate(tuple(self.works.values()), verify=verify, resolve=self.resolve)

    async def resolve(self, conflict: Conflict, tree: Worktree) -> None:
        """Let a subagent resolve a conflict or mend a red check; whether it worked is judged by the merge."""
        order = Order(conflict.brief, RESOLVER, f"resolve a {conflict.kind} of {conflict.work.agent_id}")
        # A fresh id: after a crash the same conflict is another piece of work, in a tree that was laid out again.
        await self.session.team.run_at(order, MergeDesk(tree), f"resolver-{token_hex(4)}", takes_slot=False)

    async def aclose(self) -> None:
        """Let go of the session's hub."""
        if self._isolation is not None:
            with anyio.CancelScope(shield=True):
                await self._isolation.aclose()


def how_to_take(session_id: str) -> str:
    """What a person can do with a branch that may hold files which lie uncommitted in their checkout."""
    name = program()
    return f"put it into this checkout: {name} apply {session_id} (taken back with {name} undo)"


def left_in_words(left: Left, command: str) -> str:
    """What a person is told of a work that was not merged."""
    files = f" in {', '.join(left.files[:5])}" if left.files else ""
    return f"{left.work.agent_id} was not merged{files}: {left.reason}\nMerge it by hand: {command}"


@asynccontextmanager
async def isolated(session: Session) -> AsyncGenerator[Checkouts]:
    """Give a session its checkouts; where all subagents are to be isolated, the place is examined at once.

    Raises:
        NotIsolatable: the folder cannot give checkouts, with the reason and the remedy.
    """
    async with task_group() as makers:
        checkouts = Checkouts(session, makers)
        try:
            if session.options.work.isolation == "worktree":
                await checkouts.prepare()
            yield checkouts
        finally:
            makers.cancel_scope.cancel()
            await checkouts.aclose()

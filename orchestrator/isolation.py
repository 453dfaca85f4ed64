"""Isolated subagents in a session: a checkout each while they work, merged when the lead is done.

The mechanics are `decurion.orchestrator.git`; this file ties them to orders, results and the log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from decurion.agents.moments import Notice
from decurion.agents.result import FileChange
from decurion.agents.shared import Bench, Work
from decurion.agents.task import Order
from decurion.hooks import RunRef

from .git import Conflict, Integrated, Isolation, Options, Worktree
from .git import Work as GitWork
from .session import Finished, Session

RESOLVER = "refactorer"
"""The kind of subagent that resolves conflicts and mends red checks."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """One subagent's checkout, as the agents' layer sees it."""

    owner: Checkouts
    ref: RunRef
    order: Order
    tree: Worktree

    @property
    def path(self) -> Path:
        """Where the agent's tools are rooted."""
        return self.tree.path

    @property
    def environ(self) -> Mapping[str, str]:
        """What its commands need beside the session's environment."""
        return self.tree.env

    async def checkpoint(self, turn: int) -> None:
        """Save the state after a turn."""
        await self.tree.checkpoint(turn)

    async def finish(self, message: str) -> Work | None:
        """Commit what is there and queue it for the merge."""
        depends = tuple(self.owner.agent_of_label(label) for label in self.order.depends_on)
        work = await self.owner.isolation.finish(
            self.tree, message, paths=self.order.paths, depends_on=tuple(filter(None, depends))
        )
        for notice in work.notices:
            self.owner.tell(self.ref, notice)
        if work.empty:
            return None
        self.owner.works.append(work)
        changed = tuple(FileChange(change.path, change.sha256) for change in work.changed)
        return Work(work.ref, work.commit, changed, work.notices)


@dataclass(frozen=True, slots=True)
class Workplace:
    """The merge tree as a resolver's workplace: what becomes of its work is not for it to say."""

    tree: Worktree

    @property
    def path(self) -> Path:
        """Where the resolver's tools are rooted."""
        return self.tree.path

    @property
    def environ(self) -> Mapping[str, str]:
        """What its commands need beside the session's environment."""
        return self.tree.env

    async def checkpoint(self, turn: int) -> None:
        """Keep nothing: the merge itself looks at the tree."""

    async def finish(self, message: str) -> Work | None:  # noqa: ARG002 - the seam's argument
        """Commit nothing: the merge itself looks at the tree."""
        return None


@dataclass(slots=True)
class Checkouts:
    """All checkouts of a session, and what came of them."""

    session: Session
    isolation: Isolation
    works: list[GitWork] = field(default_factory=list[GitWork])
    _labels: dict[str, str] = field(default_factory=dict[str, str])
    _resolvers: int = 0

    async def open(self, ref: RunRef, order: Order) -> Bench:
        """Make, or after a crash reopen, the checkout of one agent; what it depends on is merged first.

        Raises:
            DecurionError: git refused.
        """
        if order.label:
            self._labels[order.label] = ref.agent_id
        if order.depends_on and self.works:
            await self._integrate()
        resumed = (self.session.folder / "subagents" / f"{ref.agent_id}.jsonl").exists()
        tree = await (self.isolation.reopen(ref.agent_id) if resumed else self.isolation.open(ref.agent_id))
        self.session.shared.workplaces[ref.agent_id] = tree.path
        for notice in tree.notices:
            self.tell(ref, notice)
        return Checkout(self, ref, order, tree)

    def agent_of_label(self, label: str) -> str:
        """Give the id of the agent that got the order with this label."""
        return self._labels.get(label, "")

    def tell(self, ref: RunRef, text: str) -> None:
        """Show and record one line."""
        self.session.log.write(ref, "note", reason=text)
        self.session.listen(Notice(text, "info"))

    async def bring_home(self, finished: Finished) -> Finished:
        """Merge everything, check it, and hand it back as one branch (and into the checkout, if asked for)."""
        ref = RunRef(self.session.id, "lead", "lead")
        if not self.works:
            return finished
        done = await self._integrate()
        handed = await self.isolation.hand_back()
        self.session.log.write(
            ref,
            "merge",
            branch=handed.branch,
            commit=handed.commit,
            merged=len(done.merged),
            left=len(done.left),
        )
        for notice in (*done.notices, *handed.notices):
            self.tell(ref, notice)
        for left in done.left:
            self.tell(ref, str(left))
        self.tell(ref, f"merged into branch {handed.branch} ({len(done.merged)} of {len(self.works)})")
        if self.session.options.work.apply and done.verified is not False:
            applied = await self.isolation.apply()
            self.tell(
                ref, f"applied {len(applied.files)} files to this checkout; take it back with `decurion undo`"
            )
        return replace(finished, verified=done.verified, branch=handed.branch)

    async def _integrate(self) -> Integrated:
        return await self.isolation.integrate(
            self.works, verify=self.session.options.work.verify or None, resolve=self._resolve
        )

    async def _resolve(self, conflict: Conflict, tree: Worktree) -> None:
        """Let a subagent resolve a conflict or mend a red check; whether it worked is judged by the merge."""
        order = Order(conflict.brief, RESOLVER, f"resolve a {conflict.kind} of {conflict.work.agent_id}")
        self._resolvers += 1
        await self.session.team.run_at(order, Workplace(tree), f"resolver-{self._resolvers}")


@asynccontextmanager
async def isolated(session: Session) -> AsyncGenerator[Checkouts]:
    """Prepare isolation for a session.

    Raises:
        NotIsolatable: the folder cannot give checkouts, with the reason and the remedy.
    """
    isolation = await Isolation.prepare(
        session.options.workspace,
        session.folder,
        session.id,
        options=Options(setup=session.options.work.setup or None),
    )
    try:
        for notice in isolation.notices:
            session.listen(Notice(notice))
        yield Checkouts(session, isolation)
    finally:
        await isolation.aclose()

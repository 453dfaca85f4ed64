"""Run a campaign: side by side, within a budget, canaries first, failures tried again; stopped and resumed at will."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import anyio

from decurion.agents.groups import task_group
from decurion.hooks import DecurionError
from decurion.hooks.counts import counted

from ..git import Isolation, Left, Resolve, Work, Worktree
from ..git.commands import run_shell
from ..git.run import shown
from .ledger import Entry, Ledger
from .plan import filled, places
from .targets import project_files, tests_of

CHECK_SECONDS = 600.0
SPENT = "the budget"
LOG_SHOWN = 3_000
"""Characters of a failed check that the next attempt is shown."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """One attempt at one group: what a subagent is told, and who it is."""

    agent_id: str
    prompt: str
    title: str
    agent_type: str
    targets: tuple[str, ...]
    attempt: int


@dataclass(frozen=True, slots=True)
class SubtaskResult:
    """What came of an attempt.

    `status` is that of the result contract; `usd` None where a price is unknown; `refused` the reasons for which calls
    were refused.
    """

    status: str
    summary: str
    usd: float | None = 0.0
    refused: tuple[str, ...] = ()


class Runner(Protocol):
    """Runs one subagent in a worktree. The real one is a session's team."""

    def settled_turns(self, agent_id: str) -> int:
        """The newest turn that an interrupted subagent knows of: its files are taken back to that."""
        ...

    async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
        """Run to the end, with a checkpoint per turn; an interrupted one of the same id goes on.

        Raises:
            DecurionError: the law or the log failed; the campaign ends.
        """
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """How a campaign ended. `stopped` says why it ended before all targets were through; `branch` holds the result."""

    entries: tuple[Entry, ...]
    branch: str
    verified: bool | None
    stopped: str = ""
    notices: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all is done and the merged whole passes."""
        return (
            not self.stopped and self.verified is not False and all(e.state != "failed" for e in self.entries)
        )

    @property
    def is_spent(self) -> bool:
        """Whether it ended because its budget did."""
        return self.stopped.startswith(SPENT)

    @property
    def problem(self) -> str:
        """What is not well, in a few words; empty where all is."""
        failed = sum(entry.state == "failed" for entry in self.entries)
        if self.ok or self.stopped:
            return self.stopped
        return f"{counted(failed, 'target')} failed" if failed else "the check of the whole failed"


class Campaign:
    """One campaign in one repository. `changed` is told of each entry that moves on."""

    def __init__(
        self,
        ledger: Ledger,
        isolation: Isolation,
        runner: Runner,
        *,
        resolve: Resolve | None = None,
        changed: Callable[[Entry], None] = lambda _: None,
    ) -> None:
        self.ledger, self.isolation, self.runner = ledger, isolation, runner
        self._resolve, self._changed = resolve, changed
        self._files: list[str] = []
        self._stopped = ""

    @property
    def workspace(self) -> Path:
        """The folder the campaign is about."""
        return self.isolation.place.top / self.isolation.place.prefix

    async def run(self) -> Report:
        """Work through all that is not through, merge, and hand back one branch.

        Raises:
            DecurionError: git, the law or the log failed. What was done is in the ledger.
        """
        self._files = await project_files(self.workspace)
        plan = self.ledger.plan
        canaries = list(self.ledger.entries.values())[: plan.canary]
        await self._work_through([entry for entry in canaries if not entry.final])
        if plan.canary and (failed := [e for e in self._now(canaries) if e.state == "failed"]):
            self._stopped = f"{len(failed)} of the first {len(canaries)} failed, so the rest was not started"
        if not self._stopped:
            await self._work_through(self.ledger.open_entries())
        return await self._bring_home()

    def _now(self, entries: Sequence[Entry]) -> list[Entry]:
        return [self.ledger.entries[entry.id] for entry in entries]

    async def _work_through(self, entries: Sequence[Entry]) -> None:
        limit = anyio.CapacityLimiter(self.ledger.plan.parallel)

        async def one(entry: Entry) -> None:
            async with limit:
                if not self._out_of_money():
                    await self._settle(entry)

        async with task_group() as group:
            for entry in entries:
                group.start_soon(one, entry)

    def _out_of_money(self) -> bool:
        budget, spent = self.ledger.plan.budget_usd, self.ledger.usd
        if budget is not None and spent is not None and spent >= budget:
            self._stopped = f"{SPENT} of ${budget:.2f} is spent"
        return bool(self._stopped)

    async def _settle(self, entry: Entry) -> None:
        """Bring one group to its end: attempts until one is green or none is left."""
        if nameless := [shown(target) for target in entry.targets if not _is_text(target)]:
            reason = f"no subagent can be told a name that is no text: {', '.join(nameless)}"
            self._mark(replace(entry, state="skipped", reason=reason))
            return
        if entry.state == "planned":
            entry = replace(entry, attempt=1)
        while not entry.final:
            entry = await self._attempt(entry)
            if (
                entry.state == "failed"
                and entry.attempt <= self.ledger.plan.retries
                and not self._out_of_money()
            ):
                entry = replace(entry, state="planned", attempt=entry.attempt + 1)
            self._mark(entry)

    async def _attempt(self, entry: Entry) -> Entry:
        """One attempt, or what an interrupted one left of it; a finished subagent is not run again."""
        began = time.monotonic()
        work = await self.isolation.finished(entry.agent_id)
        if work is None:
            through = entry.state == "checked"
            if not through:
                entry = self._mark(replace(entry, state="running"))
            try:
                turn = None if through else self.runner.settled_turns(entry.agent_id)
                tree = await self.isolation.reopen(entry.agent_id, turn)
            except DecurionError as error:
                return replace(entry, state="failed", reason=str(error))
            if not through:
                entry = await self._run_and_check(entry, tree, began)
            work = await self.isolation.finish(tree, self._message(entry))
        return self._concluded(entry, work)

    async def _run_and_check(self, entry: Entry, tree: Worktree, began: float) -> Entry:
        plan = self.ledger.plan
        tests = tests_of(plan, entry.targets, self._files)
        result = await self.runner.run_subtask(self._subtask(entry, tests), tree)
        reason = "" if result.status == "completed" else f"{result.status}: {result.summary}"
        if not reason and result.refused and await tree.unchanged():
            reason = f"nothing was changed, and {counted(len(result.refused), 'call was', 'calls were')} refused: {result.refused[0]}"
        if not reason and plan.verify:
            command = filled(plan.verify, places(entry.targets, tests, quoted=True))
            ran = await run_shell(command, tree.path, tree.command_environment(), CHECK_SECONDS)
            reason = "" if ran.ok else f"`{command}` failed:\n{ran.tail[-LOG_SHOWN:]}"
            await tree.checkpoint(tree.turn + 1)  # what the check changed is part of the work
        usd = None if entry.usd is None or result.usd is None else entry.usd + result.usd
        seconds = entry.seconds + time.monotonic() - began
        return self._mark(replace(entry, state="checked", reason=reason, usd=usd, seconds=seconds))

    def _subtask(self, entry: Entry, tests: Sequence[str]) -> Subtask:
        plan = self.ledger.plan
        prompt = filled(plan.task, places(entry.targets, tests))
        several = len(entry.targets) > 1
        if several and "{paths}" not in plan.task:
            prompt += f"\n\nDo this for each of: {', '.join(entry.targets)}"
        if entry.attempt > 1:
            told = f"An earlier attempt, which you do not see, was not accepted:\n{entry.reason}"
            prompt += f"\n\n<context>\n{told}\n</context>"
        title = entry.targets[0] + (" …" if several else "")
        return Subtask(entry.agent_id, prompt, title, plan.agent, entry.targets, entry.attempt)

    def _message(self, entry: Entry) -> str:
        task = filled(self.ledger.plan.task, places(entry.targets)).strip().partition("\n")[0]
        return task if not entry.reason else f"{task} (not accepted)"

    @staticmethod
    def _concluded(entry: Entry, work: Work) -> Entry:
        if entry.reason and entry.state == "checked":
            return replace(entry, state="failed", files=work.files)
        if work.empty:
            return replace(entry, state="skipped", reason="nothing had to be changed", files=())
        return replace(entry, state="done", reason="", files=work.files)

    def _mark(self, entry: Entry) -> Entry:
        self.ledger.mark(entry)
        self._changed(entry)
        return entry

    async def _bring_home(self) -> Report:
        """Merge the green works; one that cannot be merged counts as failed, with the command line for a person."""
        through = [entry for entry in self.ledger.entries.values() if entry.state == "done"]
        found = [await self.isolation.finished(entry.agent_id) for entry in through]
        works = [work for work in found if work is not None]
        done = await self.isolation.integrate(works, self.ledger.plan.last_check or None, self._resolve)
        handed = await self.isolation.hand_back()
        for left in done.left:
            self._mark(self._left(left, handed.command_for(left)))
        notices = (*done.notices, *handed.notices)
        return Report(
            tuple(self.ledger.entries.values()), handed.branch, done.verified, self._stopped, notices
        )

    def _left(self, left: Left, command: str) -> Entry:
        entry = next(e for e in self.ledger.entries.values() if e.agent_id == left.work.agent_id)
        return replace(entry, state="failed", reason=f"not merged: {left.reason}\n{command}")


def _is_text(name: str) -> bool:
    """Whether a file's name can go to a model; bytes that are no text stand as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)

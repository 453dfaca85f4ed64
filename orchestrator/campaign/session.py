"""A campaign inside a session: its subagents pass the same law and write the same log as any others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from decurion.agents.moments import Listener, ignore
from decurion.agents.result import SubagentResult
from decurion.agents.task import Order
from decurion.hooks import DecurionError, RunRef, UsageError
from decurion.hooks.counts import counted

from ..git import Worktree
from ..isolation import Desk
from ..options import SessionOptions
from ..session import Finished, Session, check_place, open_session
from ..sessions import LEDGER
from .ledger import Entry, Ledger
from .plan import Plan
from .running import Campaign, Report, Subtask, SubtaskResult
from .targets import find_targets, in_groups


@dataclass(frozen=True, slots=True)
class TeamRunner:
    """Runs subtasks by a session's team."""

    session: Session

    def settled_turns(self, agent_id: str) -> int:
        """The newest turn whose results its transcript holds."""
        return self.session.team.settled_turns(agent_id)

    async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
        """Run one subagent to its end."""
        order = Order(subtask.prompt, subtask.agent_type, subtask.title)
        result = await self.session.team.run_at(order, Desk(tree), subtask.agent_id)
        refused = tuple(call.reason for call in result.denied)
        return SubtaskResult(result.status, result.summary, result.cost_usd, refused)


async def run_campaign(
    options: SessionOptions,
    plan: Plan,
    shows: Callable[[Ledger], Callable[[Entry], None]],
    listen: Listener = ignore,
) -> tuple[str, Report]:
    """Begin a campaign, or go on with the one that `options.resume` names; gives the session's id and the report.

    Raises:
        UsageError: there are no targets, the agent type is unknown, or the place cannot be isolated.
        DecurionError: the session could not start, or git, the law or the log failed.
    """
    await check_place(options.workspace)  # before anything is looked for in it
    targets = () if options.resume else await find_targets(plan, options.workspace)
    async with open_session(options, listen) as session:
        assert session.isolation is not None
        session.go_on = "campaign resume"
        if plan.agent not in {definition.name for definition in session.shared.catalogue.subagents()}:
            known = ", ".join(definition.name for definition in session.shared.catalogue.subagents())
            raise UsageError(f"There is no subagent {plan.agent!r}; known are {known}.")
        isolation = await session.isolation.prepare()
        ledger = _ledger(session, plan, targets)
        runner = TeamRunner(session)
        changed = shows(ledger)
        campaign = Campaign(ledger, isolation, runner, resolve=session.isolation.resolve, changed=changed)
        report = await campaign.run()
        report = await _apply(session, report)
        ref = RunRef(session.id, "lead", "lead")
        session.log.write(
            ref, "merge", branch=report.branch, merged=ledger.count("done"), left=ledger.count("failed")
        )
        session.finish(_finished(session, report))
        return session.id, report


def _finished(session: Session, report: Report) -> Finished:
    """Say how the campaign ended in the words of any session: its lead is whoever started it."""
    error = report.problem
    status = "completed" if report.ok else "budget" if report.is_spent else "error"
    done = sum(entry.state == "done" for entry in report.entries)
    summary = (
        f"Campaign: {done} of {counted(len(report.entries), 'target')} done{f', {error}' if error else ''}."
    )
    lead = SubagentResult("lead", "lead", status, summary, partial=not report.ok, error=error)
    results = tuple(session.team.results)
    return Finished(session.id, lead, results, report.verified, branch=report.branch or "")


def _ledger(session: Session, plan: Plan, targets: tuple[str, ...]) -> Ledger:
    path = session.folder / LEDGER
    if path.exists():
        ledger = Ledger.read(path)
        ledger.plan = plan
        return ledger
    return Ledger.create(path, plan, in_groups(targets, plan.group))


async def _apply(session: Session, report: Report) -> Report:
    if not session.options.work.apply or not report.branch:
        return report
    if not report.ok:
        return replace(
            report, notices=(*report.notices, "not applied, for not all is well; the branch has the work.")
        )
    assert session.isolation is not None
    try:
        applied = await (await session.isolation.prepare()).apply()
    except DecurionError as error:
        return replace(report, notices=(*report.notices, f"not applied; the branch has the work. {error}"))
    return replace(report, notices=(*report.notices, applied.in_words))


def reopen_failed(folder: Path) -> int:
    """Let a campaign's failed groups run again; gives how many."""
    ledger = Ledger.read(folder / LEDGER)
    failed = [entry for entry in ledger.entries.values() if entry.state == "failed"]
    for entry in failed:
        ledger.mark(replace(entry, state="running", attempt=entry.attempt + 1))
    return len(failed)


def campaign_folders(folders: list[Path]) -> list[Path]:
    """Those of some sessions' folders that hold a campaign."""
    found: list[Path] = []
    for folder in folders:
        with suppress(OSError):
            if (folder / LEDGER).is_file():
                found.append(folder)
    return found

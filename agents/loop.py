"""The agent loop: ask, run the calls, again. Everything it needs is in an `Agent`; all it leaves is an `Ending`.

Every accepted reply counts as one turn. The last permitted turn is asked with the tools switched off, for the
report, so that a cap loses no work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from typing import Any

from decurion.hooks import AuditError, DecurionError, RunRef, Stop, SubagentStop, ToolCall, Verdict, replace
from decurion.hooks.chain import MAX_STOP_REFUSALS

from .context import ContextKeeper
from .dispatch import TASK, Dispatcher, Results
from .errors import ContextOverflow, ModelError, RefusedImages, StaleBlocks
from .groups import task_group
from .history import History, result_block
from .model import Message, Model, ModelRequest, Progress, Reply, Usage
from .moments import Listener, Moment, Replied, ResultsReady, TextArrived, TurnStarted, Waiting
from .money import Lease
from .result import Status
from .stop_reasons import WINDOW_EXCEEDED, Step, next_step
from .tally import Tally
from .tools import Reminder, ToolContext
from .transcript import COMPACTED, UNBOUND, Transcript

LAST_TURN = (
    "<reminder>This is your last turn and your tools are switched off. Write your report now: what you did or "
    "found, which files changed, what you checked, and what is left undone.</reminder>"
)
INTERRUPTED = "interrupted"
"""The transcript's note of a turn that was cut short: the results known then, those of calls never started too."""

KEEP_WORKING = "<reminder>You cannot stop yet: {reason}</reminder>"


@dataclass(frozen=True, slots=True)
class Agent:
    """Everything one run of one agent needs. `request` is the template of its requests: system, tools, limits."""

    ref: RunRef
    model: Model
    request: ModelRequest
    history: History
    dispatcher: Dispatcher
    context: ToolContext
    transcript: Transcript
    keeper: ContextKeeper
    lease: Lease
    listen: Listener
    max_turns: int | None = None
    tally: Tally = field(default_factory=Tally)
    """What it has done so far; grows as it goes, so that a run cut short still has everything it did."""
    reminder: Reminder = field(default_factory=Reminder)
    workplace: Callable[[], Awaitable[Mapping[str, str]]] | None = None
    """Awaited once, behind the first reply: an isolated agent's folder is made while the model is asked.

    Gives what its commands need beside all else.
    """
    after_turn: Callable[[int], Awaitable[None]] | None = None
    """Awaited before a turn's results are written, while the model thinks already: the checkpoint of an isolated agent.

    A resume takes the files back to the newest checkpoint, so a result on disk must be in one. A turn that only read
    has nothing to keep.
    """
    goes_back: bool = False
    """Whether it does: then no call of a turn that was cut short has had its effect."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. `report` is the agent's own final text, empty where it never wrote one."""

    status: Status
    report: str = ""
    error: str = ""


class Conversation:
    """One agent at work."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.tally = agent.tally
        self._context: ToolContext | None = None
        self._reminder = agent.reminder
        self._stop_refusals = 0
        self._grown = False
        self._nudged = 0
        self._unsettled: tuple[RunRef, Message, Mapping[str, Any]] | None = None
        """The newest turn's results with their effects, until the checkpoint has them, too."""

    async def run(self) -> Ending:
        """Talk until the agent is done, capped, refused or out of means.

        Raises:
            DecurionError: the log or the law failed. Model errors become endings.
        """
        agent = self.agent
        if agent.max_turns is not None and self.tally.turns >= agent.max_turns:
            return Ending("max_turns", error="the last turn was used up before the interruption")
        try:
            while True:
                ref = replace(agent.ref, turn=self.tally.turns + 1)
                if ending := await self._turn(ref):
                    return ending
        except ModelError as error:
            await self._settle()
            return Ending(error.status, error=str(error))

    async def _turn(self, ref: RunRef) -> Ending | None:
        last = ref.turn == self.agent.max_turns
        if last and ref.turn > 1:
            await self._settle()
            self._keep(ref, self.agent.history.add_user(LAST_TURN))
        reply = await self._ask(ref, last=last)
        self._take(ref, reply)
        if failed := await self._come_to_work():
            return failed
        step = next_step(reply, grown=self._grown, nudged=self._nudged)
        self._nudged = self._nudged + 1 if step.action in ("say", "answer") else 0
        if last:
            return self._capped(ref, reply, step)
        if step.action == "finish":
            return await self._finish(ref, reply, step)
        self._grown = self._grown or step.larger
        if step.action == "say":
            self._keep(ref, self.agent.history.add_user(step.text))
            return None
        return await self._answer(ref, reply, step)

    async def _come_to_work(self) -> Ending | None:
        """See that the agent's folder is there before anything runs in it."""
        agent = self.agent
        if self._context is not None:
            return None
        try:
            more: Mapping[str, str] = await agent.workplace() if agent.workplace else {}
        except AuditError:
            raise
        except DecurionError as error:
            return Ending("error", error=f"Its checkout could not be made: {error}")
        self._context = dc_replace(agent.context, environ={**agent.context.environ, **more})
        return None

    async def _ask(self, ref: RunRef, *, last: bool) -> Reply:
        agent = self.agent
        agent.listen(TurnStarted(ref))
        too_long = False
        while True:
            request = self._request(ref, last=last)
            agent.lease.check()
            if await self._make_room(request, forced=too_long):
                agent.lease.check()  # a summary costs, too
            try:
                return await self._complete(request)
            except (StaleBlocks, RefusedImages) as error:
                await self._do_without(ref, error)
            except ContextOverflow:
                if too_long:
                    raise
                too_long = True

    async def _do_without(self, ref: RunRef, error: StaleBlocks | RefusedImages) -> None:
        """Take out what the API refuses, after a resume under another prompt, say; all the rest is still there.

        Raises:
            BadRequest: there is nothing of the kind.
        """
        history, stale = self.agent.history, isinstance(error, StaleBlocks)
        if not (history.unbind() if stale else history.take_out_images()):
            raise error
        await self._note_history(ref, UNBOUND)  # or each resume would be refused again
        what = "thinking" if stale else "images"
        self.agent.dispatcher.log.write(ref, "note", reason=f"sent again without {what}: {error}")

    async def _complete(self, request: ModelRequest) -> Reply:
        """Ask the model and meanwhile settle the turn before; a model that fails does not break that off."""
        complete, report = self.agent.model.complete, reporter(self.agent.listen, request.ref)
        if self._unsettled is None:
            return await complete(request, report)
        async with task_group() as group:
            group.start_soon(self._settle)
            try:
                return await complete(request, report)
            except ModelError as error:
                failed = error
        raise failed

    async def _settle(self) -> None:
        """Bring the newest turn's results to the disk, behind the checkpoint of what its calls did."""
        if self._unsettled is None or self.agent.after_turn is None:
            return
        ref, message, effects = self._unsettled
        await self.agent.after_turn(ref.turn)
        self._keep(ref, message, effects=effects)
        self._unsettled = None

    async def _make_room(self, request: ModelRequest, *, forced: bool) -> bool:
        """Compact the history where the window is nearly full, and write down what it became; whether it was done."""
        agent, ref = self.agent, request.ref
        keep = agent.context.todo.render() if agent.context.todo.items else ""
        done = await agent.keeper.before_request(request, keep=keep, forced=forced)
        if done is None:
            return False
        if done.usage != Usage():
            self.tally.usage += done.usage
            agent.lease.charge(done.model, done.usage, agent.lease.prices.cost(done.model, done.usage))
        told = {"how": done.how, "before": done.before, "after": done.after}
        await self._note_history(ref, COMPACTED, **told)
        agent.dispatcher.log.write(ref, "compaction", **told)
        return True

    async def _note_history(self, ref: RunRef, kind: str, **told: object) -> None:
        """Write down what the history became, in one line: it stands for all lines before it."""
        await self._settle()
        self.agent.transcript.note(ref, kind, **told, messages=[*self.agent.history])

    def _request(self, ref: RunRef, *, last: bool) -> ModelRequest:
        template = self.agent.request
        return dc_replace(
            template,
            ref=ref,
            messages=self.agent.history,
            tool_choice="none" if last else "auto",
            max_tokens=template.max_tokens * (2 if self._grown else 1),
        )

    def _take(self, ref: RunRef, reply: Reply) -> None:
        """Count, keep and show one accepted reply."""
        self.tally.count_reply(reply)
        self.agent.lease.spend(reply.model or self.agent.request.model, reply.usage)
        if message := self.agent.history.add_reply(reply):
            self._keep(ref, message, usage=reply.usage, stop_reason=reply.stop_reason, reply_id=reply.id)
        if reply.stop_reason == WINDOW_EXCEEDED:  # the window may be smaller than the tables say
            self.agent.keeper.learn(self.agent.request.model, self.agent.history.tokens)
        self.agent.listen(Replied(ref, reply, self.tally.usage))

    async def _answer(self, ref: RunRef, reply: Reply, step: Step) -> Ending | None:
        """Bring every call of the reply to a result, run or not, and put the results into the history."""
        agent, calls, results = self.agent, reply.calls, Results()
        updates = agent.context.todo.updates
        try:
            if step.action == "run":
                context = dc_replace(self._context or agent.context, ref=ref)
                await agent.dispatcher.run(context, calls, reply.malformed, results)
            else:
                agent.dispatcher.not_run(ref, calls, step.text, results)
        except BaseException:
            self._interrupted(ref, calls, results)
            raise
        self._close(ref, calls, results, updates)
        if not results.halted:
            return None
        await self._settle()
        return Ending("blocked", error=results.halted)

    def _close(self, ref: RunRef, calls: tuple[ToolCall, ...], results: Results, updates: int) -> None:
        """Put one result for each call into the history, and what is to be said after them."""
        agent, todo = self.agent, self.agent.context.todo
        updated = todo.updates > updates
        self._reminder, reminder = self._reminder.after_round(updated=updated, open_items=todo.open_items)
        said = tuple(dict.fromkeys(filter(None, [*results.contexts, reminder])))
        in_order = agent.keeper.bounded(results.in_order(calls))
        effects = self.tally.count_results(calls, results)
        message = agent.history.add_results(in_order, said)
        if agent.after_turn and not agent.dispatcher.only_read(calls):
            self._unsettled = (ref, message, effects)
        else:
            self._keep(ref, message, effects=effects)
        agent.listen(ResultsReady(ref, tuple(in_order), said))

    def _interrupted(self, ref: RunRef, calls: tuple[ToolCall, ...], results: Results) -> None:
        """Leave a turn that was cut short so that it can be gone on with; nothing here waits.

        On disk the calls stay open, with what is known of them noted beside them: a resume then goes on with
        interrupted subagents instead of finding them given up. Where the files go back to a checkpoint, nothing of
        this turn is known: no call of it has its effect any more.
        """
        effects = self.tally.count_results(calls, results)
        rolled_back = self.agent.goes_back
        settled = [c for c in calls if not rolled_back and (c.name != TASK or c.id in results.done)]
        known = self.agent.keeper.bounded(results.in_order(settled))
        blocks = [result_block(result) for result in known]
        self.agent.transcript.note(ref, INTERRUPTED, results=blocks, effects={} if rolled_back else effects)

    async def _finish(self, ref: RunRef, reply: Reply, step: Step) -> Ending | None:
        """End, unless a hook on the stop event wants the agent to go on."""
        if step.status == "completed" and (reason := await self._kept_working(ref, reply.text)):
            self._stop_refusals += 1
            self._keep(ref, self.agent.history.add_user(KEEP_WORKING.format(reason=reason)))
            return None
        return Ending(step.status, reply.text.strip() if step.status == "completed" else "", step.text)

    async def _kept_working(self, ref: RunRef, summary: str) -> str:
        if self._stop_refusals >= MAX_STOP_REFUSALS:
            return ""
        again = self._stop_refusals > 0
        event = (
            SubagentStop(ref, "completed", summary, str(self.agent.transcript.path), again)
            if ref.depth
            else Stop(ref, summary, again)
        )
        decision = await self.agent.dispatcher.court.ask(event)
        return decision.reason if decision.verdict == Verdict.DENY else ""

    def _capped(self, ref: RunRef, reply: Reply, step: Step) -> Ending:
        """End at the cap. Calls that came in spite of switched-off tools are answered as not run."""
        if calls := reply.calls:
            results = Results()
            self.agent.dispatcher.not_run(
                ref, calls, "The turn limit was reached; this was not run.", results
            )
            self._keep(ref, self.agent.history.add_results(results.in_order(calls)))
        if step.status == "refused":
            return Ending("refused", error=step.text)
        finished = step.action == "finish" and step.status == "completed"
        return Ending("max_turns", reply.text.strip() if finished else "")

    def _keep(self, ref: RunRef, message: Message, **extra: object) -> None:
        self.agent.transcript.add(ref, message, **extra)


def reporter(listen: Listener, ref: RunRef) -> Callable[[Progress], None]:
    """Give what shows the progress of an agent's request."""

    def report(progress: Progress) -> None:
        moment: Moment | None = None
        if progress.kind == "text":
            moment = TextArrived(ref, progress.text)
        elif progress.kind in ("retry", "slowdown"):
            moment = Waiting(ref, progress.seconds, progress.text)
        if moment:
            listen(moment)

    return report

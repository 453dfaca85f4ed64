"""A session's agents: one lead, many subagents, and all that they share. Builds agents and runs orders to results."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace as dc_replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio
import orjson

from decurion.hooks import AuditError, DecurionError, RunRef, SubagentStart, SubagentStop

from .build import arrived, begin, build_agent, open_calls, restored, settled_turns
from .claims import Claims
from .dispatch import TASK, Results
from .loop import Agent
from .moments import AgentFinished, Notice
from .result import SubagentResult, result_from_json
from .shared import Assignment, Bench, Shared, transcript_path, write_private
from .subagent import announce, not_started, run_assignment, saved_history, to_result
from .task import Order, task_tool
from .tools import ToolContext
from .transcript import Transcript, read_transcript


class Team:
    """The lead and its subagents. One for each session."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.results: list[SubagentResult] = []
        """Of the subagents that ended, in the order of their ends."""
        self.cut_short: dict[str, SubagentResult] = {}
        """By agent id: what agents had done that were interrupted, the lead among them."""
        self._slots = anyio.CapacityLimiter(shared.settings.running_at_once)
        self._claims = Claims()

    # ---- the lead ----

    async def run_lead(self, prompt: str) -> SubagentResult:
        """Give the lead a prompt and run it to its end; an interrupted history is mended and gone on with.

        Raises:
            DecurionError: the log or the law failed.
        """
        shared = self.shared
        ref = RunRef(shared.session_id, "lead", "lead")
        definition = shared.catalogue.found["lead"]
        tools = {**shared.tools, "task": task_tool(shared.catalogue, self.spawn)}
        transcript = Transcript(shared.folder / "transcript.jsonl")
        agent = build_agent(shared, ref, definition, tools, transcript)
        agent, resumed = await self._recover(agent)
        if not prompt and not resumed:
            raise DecurionError("There is nothing to go on with: the session has no message.")
        begin(agent, prompt)
        shared.log.write(ref, "agent_start", resumed=resumed, model=agent.request.model)
        announce(agent, prompt)
        return self._ended(ref, await to_result(shared, agent, None, partial(self._cut_short, ref)))

    async def _recover(self, lead: Agent) -> tuple[Agent, bool]:
        """Load what an earlier run left and give each of its open calls exactly one result."""
        saved = saved_history(self.shared, lead)
        if not saved.messages:
            return lead, False
        # Only `task` is safe to ask again: a subagent that ended is not run twice, one that had not goes on.
        known = {result.call_id for result in arrived(saved)}
        calls = open_calls(saved.messages)
        tasks = [call for call in calls if call.name == TASK and call.id not in known]
        results = Results()
        await lead.dispatcher.run(lead.context, tasks, {}, results)
        lead = restored(lead, saved, results.in_order(tasks))
        # The lead's cap is one of each prompt, a subagent's is one of its life.
        return dc_replace(lead, max_turns=lead.max_turns and lead.max_turns + lead.tally.turns), True

    def settled_turns(self, agent_id: str) -> int:
        """Give the newest turn of a subagent whose results are kept, 0 before it began: its files must fit it."""
        path = transcript_path(self.shared.folder, agent_id)
        return settled_turns(read_transcript(path)) if path.is_file() else 0

    # ---- subagents ----

    async def spawn(self, context: ToolContext, order: Order) -> SubagentResult:
        """Run one order to its result. Nothing the child does raises here.

        Raises:
            DecurionError: the log or the law failed; the whole session ends then.
        """
        ref = self._child_ref(context, order)
        if (before := self._finished_before(ref)) is not None:
            return before
        for other in self._claims.overlapping(order):
            text = f"{order.title!r} and {other.title!r} claim the same files and run one after the other"
            self.shared.log.write(ref, "note", reason=text)
            self.shared.listen(Notice(text, "info"))
        async with self._claims.turn_of(order):
            decision = await self.shared.court.ask(SubagentStart(ref, order.prompt, order.title))
            if decision.blocks:
                return self._not_started(ref, order, decision.reason, decision.rule, decision.by)
            prompt = str((decision.updated_args or {}).get("prompt", order.prompt))
            async with self._slots:
                return await self._run_child(ref, dc_replace(order, prompt=prompt), decision.context)

    def _child_ref(self, context: ToolContext, order: Order) -> RunRef:
        parent = context.ref
        # The id follows from the call, so that a resumed session finds the child of an open call again.
        digest = sha256(f"{parent.session_id}\0{parent.agent_id}\0{context.call_id}".encode()).hexdigest()
        return RunRef(
            parent.session_id,
            f"{order.agent_type}-{digest[:10]}",
            order.agent_type,
            parent.agent_id,
            parent.depth + 1,
            0,
            context.call_id,
        )

    async def _run_child(
        self, ref: RunRef, order: Order, extra: str, given: Bench | None = None
    ) -> SubagentResult:
        self.shared.log.write(ref, "agent_start", input={"prompt": order.prompt}, reason=order.title)
        try:
            bench = given or await self._bench(ref, order)
        except AuditError:
            raise
        except DecurionError as error:
            return self._ended(ref, not_started(ref, str(error)))
        text = order.prompt + (f"\n\n<context>\n{extra}\n</context>" if extra else "")
        assignment = Assignment(ref, order, text, bench, ours=given is None)
        cut_short = partial(self._cut_short, ref)
        result = await (self.shared.runner or run_assignment)(self.shared, assignment, cut_short)
        if result.status != "completed":  # before the others' end the gates were asked
            told = SubagentStop(ref, result.status, result.summary, result.transcript_path)
            await self.shared.court.tell(told)
        return self._ended(ref, result)

    async def _bench(self, ref: RunRef, order: Order) -> Bench | None:
        definition = self.shared.catalogue.found[order.agent_type]
        wanted = order.isolation or (
            definition.isolation if definition.isolation != "none" else self.shared.settings.isolation
        )
        if wanted != "worktree":
            return None
        if self.shared.workshop is None:
            raise DecurionError("it needs a checkout of its own, and this folder cannot give one")
        return await self.shared.workshop.open(ref, order)

    async def run_at(
        self, order: Order, bench: Bench, agent_id: str, *, takes_slot: bool = True
    ) -> SubagentResult:
        """Run one order in a workplace that the caller made, outside any lead's turn: a resolver, a campaign's target.

        A resolver takes no slot: whoever waits for it may hold the last one.

        Raises:
            DecurionError: the log or the law failed.
        """
        ref = RunRef(self.shared.session_id, agent_id, order.agent_type, "lead", 1)
        self.shared.workplaces[agent_id] = bench.path
        if (before := self._finished_before(ref)) is not None:
            return before
        async with self._slots if takes_slot else nullcontext():
            return await self._run_child(ref, order, "", bench)

    # ---- both ----

    def _cut_short(self, ref: RunRef, result: SubagentResult) -> None:
        """Record and tell an end from outside. Nothing is saved, so that a resume goes on."""
        self.cut_short[ref.agent_id] = self._ended(ref, result, final=False)

    def _ended(self, ref: RunRef, result: SubagentResult, *, final: bool = True) -> SubagentResult:
        """Record and tell the end; a result that is not final is not saved, so that a resume goes on."""
        self.shared.log.write(
            ref,
            "agent_end",
            status=result.status,
            turns=result.turns,
            usage=result.as_json()["usage"],
            cost_usd=result.cost_usd,
            output=result.summary,
            files_changed=[change.path for change in result.files_changed],
        )
        if final and ref.depth:
            self._save(ref, result)
            self.results.append(result)
        self.shared.listen(AgentFinished(ref, result))
        return result

    def _not_started(
        self, ref: RunRef, order: Order, reason: str, rule: str | None, by: str
    ) -> SubagentResult:
        self.shared.log.write(
            ref, "refused", tool_name="task", input={"prompt": order.prompt}, reason=reason, rule=rule, by=by,
            decision="deny",
        )  # fmt: skip
        return SubagentResult(
            ref.agent_id, ref.agent_type, "blocked", f"The subagent was not started: {reason}", partial=True
        )

    def _save(self, ref: RunRef, result: SubagentResult) -> None:
        write_private(self._result_path(ref), orjson.dumps(result.as_json(), option=orjson.OPT_INDENT_2))

    def _finished_before(self, ref: RunRef) -> SubagentResult | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return result_from_json(orjson.loads(self._result_path(ref).read_bytes()))
        return None

    def _result_path(self, ref: RunRef) -> Path:
        return self.shared.folder / "subagents" / f"{ref.agent_id}.result.json"

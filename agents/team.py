"""A session's agents: one lead, many subagents, and all that they share. Builds agents and runs orders to results."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace as dc_replace
from hashlib import sha256
from pathlib import Path

import anyio
import orjson

from decurion.hooks import AuditError, DecurionError, RunRef, SubagentStart, SubagentStop

from .build import arrived, begin, build_agent, open_calls, restored, settled_turns
from .catalogue import AgentDefinition
from .claims import Claims
from .dispatch import TASK, Results
from .evidence import not_borne_out
from .loop import Agent, Conversation, Ending
from .moments import AgentFinished, AgentStarted, Notice, TodosChanged
from .result import SubagentResult, result_from_json
from .shared import Bench, Shared, Work, write_private
from .task import Order, task_tool
from .tools import ToolContext
from .transcript import ReadTranscript, Transcript, read_transcript


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
        self._announce(agent, prompt)
        return await self._to_result(agent, "")

    async def _recover(self, lead: Agent) -> tuple[Agent, bool]:
        """Load what an earlier run left and give each of its open calls exactly one result."""
        saved = self._saved(lead.transcript.path)
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

    def _saved(self, path: Path) -> ReadTranscript:
        """Read a transcript, and say so where some of it is lost."""
        saved = read_transcript(path)
        if saved.skipped:
            text = f"{saved.skipped} lines of {path} cannot be read (first: line {saved.first_bad})"
            self.shared.listen(Notice(f"{text}; the history goes on without them"))
        return saved

    def settled_turns(self, agent_id: str) -> int:
        """Give the newest turn of a subagent whose results are kept, 0 before it began: its files must fit it."""
        path = self._transcript_path(agent_id)
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
        shared, definition = self.shared, self.shared.catalogue.found[order.agent_type]
        shared.log.write(ref, "agent_start", input={"prompt": order.prompt}, reason=order.title)
        try:
            bench = given or await self._bench(ref, order, definition)
            agent = self._child(ref, order, definition, bench)
        except AuditError:
            raise
        except DecurionError as error:
            result = SubagentResult(
                ref.agent_id, ref.agent_type, "error", f"The subagent was not started: {error}", partial=True
            )
            return self._ended(ref, result)
        text = order.prompt + (f"\n\n<context>\n{extra}\n</context>" if extra else "")
        begin(agent, "" if len(agent.history) else text)
        self._announce(agent, order.title)
        return await self._to_result(agent, order.title, bench)

    async def _bench(self, ref: RunRef, order: Order, definition: AgentDefinition) -> Bench | None:
        wanted = order.isolation or (
            definition.isolation if definition.isolation != "none" else self.shared.settings.isolation
        )
        if wanted != "worktree":
            return None
        if self.shared.workshop is None:
            raise DecurionError("it needs a checkout of its own, and this folder cannot give one")
        return await self.shared.workshop.open(ref, order)

    def _child(self, ref: RunRef, order: Order, definition: AgentDefinition, bench: Bench | None) -> Agent:
        shared = self.shared
        tools = {name: tool for name in definition.tools if (tool := shared.tools.get(name))}
        path = self._transcript_path(ref.agent_id)
        agent = build_agent(shared, ref, definition, tools, Transcript(path), bench)
        saved = self._saved(path)
        if saved.messages:
            return restored(agent, saved)
        agent.transcript.note(ref, "task_started", order=order.prompt, parent_call_id=ref.parent_call_id)
        return agent

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

    def _announce(self, agent: Agent, title: str) -> None:
        """Show that an agent begins, and the list it goes on with."""
        listen, items = self.shared.listen, agent.context.todo.items
        listen(AgentStarted(agent.ref, title, agent.max_turns, agent.request.model))
        if items:
            listen(TodosChanged(agent.ref, items))

    async def _to_result(self, agent: Agent, title: str, bench: Bench | None = None) -> SubagentResult:
        """Run an agent, whatever happens, to a result that is on disk, in the log and told."""
        try:
            ending = await self._within_time(agent)
        except anyio.get_cancelled_exc_class():
            self._cut_short(agent, Ending("cancelled", error="interrupted"))
            raise
        except Exception as error:
            ending = Ending("error", error=f"{type(error).__name__}: {error}")
            if isinstance(error, DecurionError) or not agent.ref.depth:
                self._cut_short(agent, ending)
                raise
        work = await self._work(agent, title, bench)
        result = conclude(agent, ending, work)
        agent.transcript.close()
        if result.status != "completed" and agent.ref.depth:  # before the others' end the gates were asked
            told = SubagentStop(agent.ref, result.status, result.summary, result.transcript_path)
            await self.shared.court.tell(told)
        return self._ended(agent.ref, result)

    def _cut_short(self, agent: Agent, ending: Ending) -> None:
        """Record and tell an end from outside. Nothing is saved and nothing waits, so that a resume goes on."""
        agent.transcript.close()
        result = conclude(agent, ending, None)
        self.cut_short[agent.ref.agent_id] = self._ended(agent.ref, result, final=False)

    async def _within_time(self, agent: Agent) -> Ending:
        seconds = self.shared.settings.subagent_seconds if agent.ref.depth else None
        with anyio.move_on_after(seconds):
            return await Conversation(agent).run()
        return Ending("timeout", error=f"it ran longer than {seconds:g} seconds")

    async def _work(self, agent: Agent, title: str, bench: Bench | None) -> Work | None:
        if bench is None:
            return None
        try:
            return await bench.finish(title)
        except DecurionError as error:
            self.shared.log.write(agent.ref, "note", reason=f"the work could not be committed: {error}")
            return Work("", "", notices=(f"not committed, still in {bench.path}: {error}",))

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

    def _transcript_path(self, agent_id: str) -> Path:
        return self.shared.folder / "subagents" / f"{agent_id}.jsonl"

    def _result_path(self, ref: RunRef) -> Path:
        return self.shared.folder / "subagents" / f"{ref.agent_id}.result.json"


def conclude(agent: Agent, ending: Ending, work: Work | None) -> SubagentResult:
    """Put an ending and everything that was done into the result contract. The summary is never empty."""
    tally = agent.tally
    summary = ending.report or tally.newest_text or tally.digest()
    notices = "".join(f"\n[{notice}]" for notice in (work.notices if work else ()))
    changed = work.changed if work else tally.files_changed(agent.context.workspace)
    claims = (
        not_borne_out(ending.report, [change.path for change in changed], tally.runs)
        if agent.ref.depth
        else ()
    )
    return SubagentResult(
        agent_id=agent.ref.agent_id,
        agent_type=agent.ref.agent_type,
        status=ending.status,
        summary=summary + notices,
        partial=not ending.report,
        turns=tally.turns,
        usage=tally.usage,
        cost_usd=agent.lease.cost_usd,
        files_changed=changed,
        commands=tally.command_count(),
        denied=tuple(tally.denied),
        branch=(work.branch or None) if work else None,
        commit=(work.commit or None) if work else None,
        transcript_path=str(agent.transcript.path),
        evidence=claims,
        error=ending.error,
    )

"""One agent from its order to its result: built, begun, run within its time, and concluded, whatever happens.

The same code runs in the session's process and in a worker program: what it needs of the session is in `Shared`.
"""

from __future__ import annotations

from dataclasses import replace

import anyio

from decurion.hooks import AuditError, DecurionError, RunRef
from decurion.hooks.counts import counted

from .build import begin, build_agent, newest_text, restored
from .evidence import not_borne_out
from .loop import Agent, Conversation, Ending
from .moments import AgentStarted, Notice, TodosChanged
from .result import SubagentResult
from .shared import Assignment, CutShort, Shared, Work, transcript_path
from .tally import Tally
from .tools import Tool
from .transcript import ReadTranscript, Transcript, read_transcript


async def run_assignment(shared: Shared, assignment: Assignment, cut_short: CutShort) -> SubagentResult:
    """Run one subagent to its end, from the beginning or from where its transcript ends.

    Raises:
        DecurionError: the log or the law failed.
    """
    try:
        agent = build_child(shared, assignment)
    except AuditError:
        raise
    except DecurionError as error:
        return not_started(assignment.ref, str(error))
    begin(agent, "" if len(agent.history) else assignment.prompt)
    announce(agent, assignment.order.title)
    return await to_result(shared, agent, assignment, cut_short)


def not_started(ref: RunRef, why: str) -> SubagentResult:
    """Give the result of a subagent that could not begin."""
    text = f"The subagent was not started: {why}"
    return SubagentResult(ref.agent_id, ref.agent_type, "error", text, partial=True)


def build_child(shared: Shared, assignment: Assignment) -> Agent:
    """Make a subagent with the history it has, an empty one if it was never begun."""
    ref, order = assignment.ref, assignment.order
    path = transcript_path(shared.folder, ref.agent_id)
    tools = tools_of(shared, assignment)
    definition = shared.catalogue.found[order.agent_type]
    agent = build_agent(shared, ref, definition, tools, Transcript(path), assignment.bench)
    saved = saved_history(shared, agent)
    if saved.messages:
        return restored(agent, saved)
    agent.transcript.note(ref, "task_started", order=order.prompt, parent_call_id=ref.parent_call_id)
    return agent


def tools_of(shared: Shared, assignment: Assignment) -> dict[str, Tool]:
    """Give the tools of a subagent by name: those its definition names, of those the session has."""
    names = shared.catalogue.found[assignment.order.agent_type].tools
    return {name: tool for name in names if (tool := shared.tools.get(name))}


def saved_history(shared: Shared, agent: Agent) -> ReadTranscript:
    """Read an agent's transcript, and say so where some of it is lost."""
    path = agent.transcript.path
    saved = read_transcript(path)
    if saved.skipped:
        text = f"{counted(saved.skipped, 'line')} of {path} cannot be read (first: line {saved.first_bad})"
        shared.listen(Notice(f"{text}; the history goes on without them"))
    return saved


def announce(agent: Agent, title: str) -> None:
    """Show that an agent begins, and the list it goes on with."""
    agent.listen(AgentStarted(agent.ref, title, agent.max_turns, agent.request.model))
    if items := agent.context.todo.items:
        agent.listen(TodosChanged(agent.ref, items))


async def to_result(
    shared: Shared, agent: Agent, assignment: Assignment | None, cut_short: CutShort
) -> SubagentResult:
    """Run an agent, whatever happens, to a result. `assignment` is None for the lead, whose failures all raise."""
    try:
        ending = await _within_time(agent, shared.settings.subagent_seconds if assignment else None)
    except anyio.get_cancelled_exc_class():
        _end_short(agent, Ending("cancelled", error="interrupted"), cut_short)
        raise
    except Exception as error:
        ending = Ending("error", error=f"{type(error).__name__}: {error}")
        if isinstance(error, DecurionError) or not assignment:
            _end_short(agent, ending, cut_short)
            raise
    work = await finished_work(shared, assignment) if assignment else None
    result = conclude(agent, ending, work)
    agent.transcript.close()
    return result


def _end_short(agent: Agent, ending: Ending, cut_short: CutShort) -> None:
    """Tell an end from outside. Nothing waits and no work is finished, so that a resume goes on."""
    agent.transcript.close()
    cut_short(conclude(agent, ending, None))


async def _within_time(agent: Agent, seconds: float | None) -> Ending:
    with anyio.move_on_after(seconds):
        return await Conversation(agent).run()
    return Ending("timeout", error=f"it ran longer than {counted(seconds or 0, 'second')}")


async def finished_work(shared: Shared, assignment: Assignment) -> Work | None:
    """Commit what an isolated subagent left; where that fails, say where it lies."""
    if assignment.bench is None:
        return None
    try:
        return await assignment.bench.finish(assignment.order.title)
    except DecurionError as error:
        shared.log.write(assignment.ref, "note", reason=f"the work could not be committed: {error}")
        return Work("", "", notices=(f"not committed, still in {assignment.bench.path}: {error}",))


def as_left(
    shared: Shared, assignment: Assignment, ending: Ending, work: Work | None = None
) -> SubagentResult:
    """Give the result of a subagent that says nothing more, from what its transcript holds; it is left as it is."""
    transcript = Transcript(transcript_path(shared.folder, assignment.ref.agent_id))
    definition = shared.catalogue.found[assignment.order.agent_type]
    agent = build_agent(shared, assignment.ref, definition, {}, transcript, assignment.bench)
    saved = read_transcript(transcript.path)
    transcript.close()
    tally = Tally.resumed(saved.turns, newest_text(saved.messages), saved.effects)
    return conclude(replace(agent, tally=tally), ending, work)


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

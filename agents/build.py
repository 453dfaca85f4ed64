"""From a definition and what a session shares to an `Agent` that can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from decurion.hooks import RunRef, ToolCall, ToolResult

from .catalogue import AgentDefinition
from .dispatch import Dispatcher
from .history import INTERRUPTED_MAYBE, INTERRUPTED_UNDONE, History
from .loop import INTERRUPTED, Agent
from .model import Message, ModelRequest, ToolSpec
from .moments import CallChanged, CallState, TodosChanged
from .shared import Bench, Shared
from .tally import Tally
from .tools import Reminder, TodoItem, TodoStore, Tool, ToolContext
from .transcript import ReadTranscript, Transcript

GO_ON = (
    "<reminder>You were interrupted and go on now. If your work is done, repeat your final report.</reminder>"
)


def build_agent(  # noqa: PLR0917 - the six things an agent is made of
    shared: Shared,
    ref: RunRef,
    definition: AgentDefinition,
    tools: Mapping[str, Tool],
    transcript: Transcript,
    bench: Bench | None = None,
) -> Agent:
    """Make one agent with an empty history. `bench` is the workplace of an isolated one."""
    settings = shared.settings
    workspace = bench.path if bench else shared.workspace
    todo = TodoStore()
    return Agent(
        ref=ref,
        model=shared.model,
        request=request_template(shared, ref, definition, tools),
        history=History(),
        dispatcher=_dispatcher(shared, tools, todo),
        context=ToolContext(
            ref=ref,
            workspace=workspace,
            scratch=shared.folder / "outputs" / ref.agent_id,
            environ=settings.environ,
            limits=settings.limits,
            todo=todo,
            skills=shared.skills,
        ),
        transcript=transcript,
        keeper=shared.keeper,
        lease=shared.lease.child(),
        listen=shared.listen,
        max_turns=min(definition.max_turns, settings.subagent_turns) if ref.depth else settings.lead_turns,
        reminder=Reminder(every=settings.reminder_every if "todo_write" in tools else 0),
        workplace=bench.ready if bench else None,
        after_turn=bench.checkpoint if bench else None,
        goes_back=bench is not None and bench.goes_back,
    )


def restored(agent: Agent, saved: ReadTranscript, known: Sequence[ToolResult] = ()) -> Agent:
    """Give the agent the history an interrupted run left, each open call answered: as known, as noted, or as interrupted."""
    history = History()
    history.extend(saved.messages)
    noted = [result for result in arrived(saved) if result.call_id in history.open_calls]
    answered = {result.call_id: result for result in (*noted, *known)}
    unknown = INTERRUPTED_UNDONE if agent.goes_back else INTERRUPTED_MAYBE
    if message := history.repair(list(answered.values()), unknown):
        agent.transcript.add(agent.ref, message)
    tally = Tally.resumed(saved.turns, newest_text(saved.messages) if agent.ref.depth else "", saved.effects)
    if tally.todos:
        agent.context.todo.items = tuple(TodoItem(**item) for item in tally.todos)
    return replace(agent, history=history, tally=tally)


def begin(agent: Agent, prompt: str) -> None:
    """Put what is to be done next into the history; without a prompt, that the agent goes on."""
    if prompt:
        agent.transcript.add(agent.ref, agent.history.add_user(prompt))
    elif agent.history[-1]["role"] == "assistant":  # the API wants the user's word last
        agent.transcript.add(agent.ref, agent.history.add_user(GO_ON))


def newest_text(messages: Sequence[Message]) -> str:
    """Give the newest words of the agent itself."""
    blocks = [b for message in messages if message["role"] == "assistant" for b in message["content"]]
    texts = (str(block["text"]).strip() for block in reversed(blocks) if block["type"] == "text")
    return next(texts, "")


def arrived(saved: ReadTranscript) -> list[ToolResult]:
    """Give the results that were known when the newest interrupted turn was cut short."""
    note = saved.note(INTERRUPTED) or {}
    return [
        ToolResult(block["tool_use_id"], _content(block["content"]), bool(block.get("is_error")))
        for block in note.get("results", ())
    ]


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Give the calls of the newest reply that have no result."""
    history = History()
    history.extend(messages)
    blocks = history[-1]["content"] if history.open_calls else ()
    return [ToolCall(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]


def settled_turns(saved: ReadTranscript) -> int:
    """Give the newest turn whose results are kept; a resumed agent's files must be as they were after it."""
    return saved.turns - bool(open_calls(saved.messages))


def _content(content: Any) -> str | tuple[Mapping[str, Any], ...]:
    return content if isinstance(content, str) else tuple(content)


def request_template(
    shared: Shared, ref: RunRef, definition: AgentDefinition, tools: Mapping[str, Tool]
) -> ModelRequest:
    """Give what all requests of an agent have in common."""
    settings = shared.settings
    own = definition.model or settings.subagent_model if ref.depth else ""
    return ModelRequest(
        model=own or settings.model,
        system=_system(shared, ref, definition),
        tools=shared.specs.setdefault(
            definition.name,
            tuple(ToolSpec(t.name, t.description, t.input_schema) for t in tools.values()),
        ),
        messages=(),
        max_tokens=settings.max_tokens,
        ref=ref,
        effort=definition.effort,
        thinking=definition.thinking,
    )


def _system(shared: Shared, ref: RunRef, definition: AgentDefinition) -> str:
    extra = shared.settings.subagent_system_extra if ref.depth else shared.settings.system_extra
    # Siblings of one type share this text to the byte, isolated or not, so that they share one cached prefix.
    prompt = definition.prompt.replace("{workspace}", str(shared.workspace))
    skills = [
        f'<skill name="{s.name}">\n{s.body}\n</skill>' for s in shared.skills if s.name in definition.skills
    ]
    return "\n\n".join(filter(None, (prompt, *skills, extra)))


def _dispatcher(shared: Shared, tools: Mapping[str, Tool], todo: TodoStore) -> Dispatcher:
    def notice(ref: RunRef, call: ToolCall, state: CallState) -> None:
        shared.listen(CallChanged(ref, call, state))
        if state == "done" and call.name == "todo_write":
            shared.listen(TodosChanged(ref, todo.items))

    return Dispatcher(tools, shared.court, shared.approve, notice)

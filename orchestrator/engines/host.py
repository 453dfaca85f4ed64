"""The session's side of a subagent that runs elsewhere: what its worker tells is done here, what it asks answered.

A worker speaks for its own agent only: who acts is filled in here. The host of a lost attempt is not heard any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from typing import Any, cast

from decurion.agents.build import request_template
from decurion.agents.errors import ModelError
from decurion.agents.history import INTERRUPTED_MAYBE, History
from decurion.agents.loop import reporter
from decurion.agents.model import Message, ModelRequest, Progress
from decurion.agents.moments import AgentStarted, CallChanged, Moment, Replied
from decurion.agents.money import Lease
from decurion.agents.outcome import outcome
from decurion.agents.result import SubagentResult, result_from_json
from decurion.agents.shared import Assignment, CutShort, Shared
from decurion.agents.subagent import tools_of
from decurion.agents.tools import ToolContext
from decurion.hooks import AuditError, Decision, DecurionError, RunRef, ToolCall, as_dict, replace
from decurion.hooks import Event as HookEvent

from .errors import as_pair
from .plain import build, untagged
from .protocol import Event

CallEnviron = Callable[[RunRef, str], Mapping[str, str]]
"""What a call's commands need beside all else, by the id of the call."""

ITS_OWN = ("complete", "count", "finish", "ready")
"""Questions whose failure is for the agent to deal with; where any other fails, the session ends."""


@dataclass(slots=True)
class Mirror:
    """A worker's history as the model is sent it: it grows by what is new, and is made again where it was cut."""

    messages: list[Message] = field(default_factory=list[Message])
    history: History = field(default_factory=History)

    def follow(self, kept: int, new: list[Message]) -> History:
        """Take in what is new behind the first `kept` messages."""
        if kept != len(self.messages):
            newest_reply = self.history.last_reply_id
            self.history, new, self.messages = History(), [*self.messages[:kept], *new], []
            self.history.last_reply_id = newest_reply
        self.messages += new
        self.history.extend(new)
        return self.history


@dataclass(slots=True)
class Host:
    """One attempt's session. `lease` is the agent's, over all its attempts."""

    shared: Shared
    assignment: Assignment
    lease: Lease
    cut_short: CutShort
    call_environ: CallEnviron
    first: bool = True
    """Whether this is the agent's first attempt; only its beginning is shown."""
    template: ModelRequest = field(init=False)
    """What all requests of the agent have in common; its siblings' share tools and system to the byte."""
    _mirrors: dict[bool, Mirror] = field(default_factory=lambda: {False: Mirror(), True: Mirror()})
    _open: dict[str, tuple[RunRef, ToolCall]] = field(default_factory=dict[str, tuple[RunRef, ToolCall]])
    """Calls that were said to begin and not to have ended."""
    _drawer: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        shared, assignment = self.shared, self.assignment
        definition = shared.catalogue.found[assignment.order.agent_type]
        self.template = request_template(shared, assignment.ref, definition, tools_of(shared, assignment))

    # ---- told ----

    def hear(self, event: Event) -> None:
        """Do what an event says.

        Raises:
            AuditError: a record could not be written.
        """
        if event.kind == "told":
            for kind, data in event.data["items"]:
                self._hear(kind, data)

    def _hear(self, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "log":
                self._record(self._ref(data["turn"]), data["event"], data["fields"])
            case "moment":
                self._show(untagged(Moment, self._own(data["moment"])))
            case "cut_short":
                self.cut_short(self.counted(result_from_json(data["result"])))
            case _:
                pass  # of a later version

    def _show(self, moment: Moment) -> None:
        if isinstance(moment, Replied):  # of earlier attempts, too
            moment = dc_replace(moment, total=self.lease.usage)
        if self.first or not isinstance(moment, AgentStarted):
            self.shared.listen(moment)

    def _record(self, ref: RunRef, event: str, fields: dict[str, Any]) -> None:
        self.shared.log.write(ref, event, **fields)
        if event == "planned":
            call = ToolCall(fields["tool_use_id"], fields["tool_name"], fields["input"])
            self._open[call.id] = (ref, call)
        elif event == "done":
            self._open.pop(fields["tool_use_id"], None)

    def close(self) -> None:
        """Record the end of calls whose worker is gone: each that was planned has one."""
        for ref, call in self._open.values():
            self.shared.log.write(
                ref,
                "done",
                tool_name=call.name,
                tool_use_id=call.id,
                output=INTERRUPTED_MAYBE,
                is_error=True,
            )
            self.shared.listen(CallChanged(ref, call, "failed"))
        self._open.clear()

    def counted(self, result: SubagentResult) -> SubagentResult:
        """Put into a result what was spent, which is known here only."""
        return dc_replace(result, usage=self.lease.usage, cost_usd=self.lease.cost_usd)

    def _ref(self, turn: int) -> RunRef:
        return replace(self.assignment.ref, turn=turn)

    def _own(self, pair: list[Any]) -> list[Any]:
        name, data = pair
        if "ref" in data:
            turn = data["ref"]["turn"]
            return [name, {**data, "ref": {**as_dict(self.assignment.ref), "turn": turn}}]
        return pair

    # ---- asked ----

    async def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question: with a `value`, or with the `error` that who asked is to meet.

        Raises:
            DecurionError: the log or the law failed, or a checkpoint could not be made.
        """
        what = question["what"]
        try:
            return {"value": await self._answers()[what](question)}
        except AuditError:
            raise
        except ModelError as error:
            return {"error": as_pair(error)}
        except DecurionError as error:
            if what not in ITS_OWN:
                raise
            return {"error": as_pair(error)}
        except Exception as error:  # noqa: BLE001 - as in this process: the agent's run fails, not the session
            return {"error": as_pair(error)}

    def _answers(self) -> dict[str, Callable[[Mapping[str, Any]], Awaitable[Any]]]:
        return {
            "begin": self._begin,
            "gates": self._gates,
            "hooks": self._hooks,
            "approve": self._approve,
            "complete": self._complete,
            "count": self._count,
            "ready": self._ready,
            "checkpoint": self._checkpoint,
            "finish": self._finish,
            "tool": self._tool,
        }

    async def _begin(self, question: Mapping[str, Any]) -> Mapping[str, str]:
        return self.call_environ(self._ref(question["turn"]), question["call_id"])

    async def _gates(self, question: Mapping[str, Any]) -> Decision:
        return await self.shared.court.chain.ask(untagged(HookEvent, self._own(question["event"])))

    async def _hooks(self, question: Mapping[str, Any]) -> Decision:
        return await self.shared.court.chain.tell(untagged(HookEvent, self._own(question["event"])))

    async def _approve(self, question: Mapping[str, Any]) -> bool:
        call, decision = build(ToolCall, question["call"]), build(Decision, question["decision"])
        return await self.shared.approve(call, decision)

    async def _complete(self, question: Mapping[str, Any]) -> Any:
        request, shared = self._request(question), self.shared
        self.lease.check()
        report = _unseen if question["quiet"] else reporter(shared.listen, request.ref)
        reply = await shared.model.complete(request, report)
        self.lease.spend(reply.model or request.model, reply.usage)
        cast("History", request.messages).last_reply_id = reply.id
        return reply

    async def _count(self, question: Mapping[str, Any]) -> int | None:
        count = self.shared.keeper.count
        return await count(self._request(question)) if count else None

    def _request(self, question: Mapping[str, Any]) -> ModelRequest:
        history = self._mirrors[question["quiet"]].follow(question["kept"], question["messages"])
        ref = self._ref(question["turn"])
        return dc_replace(self.template, ref=ref, messages=history, **question["fields"])

    async def _ready(self, _question: Mapping[str, Any]) -> Mapping[str, str]:
        assert self.assignment.bench is not None
        return await self.assignment.bench.ready()

    async def _checkpoint(self, question: Mapping[str, Any]) -> None:
        assert self.assignment.bench is not None
        await self.assignment.bench.checkpoint(question["turn"])

    async def _finish(self, question: Mapping[str, Any]) -> Any:
        assert self.assignment.bench is not None
        return await self.assignment.bench.finish(question["message"])

    async def _tool(self, question: Mapping[str, Any]) -> Any:
        """Run a tool of the library's user, whose code is here."""
        shared, bench = self.shared, self.assignment.bench
        call = build(ToolCall, question["call"])
        context = ToolContext(
            ref=self._ref(question["turn"]),
            workspace=bench.path if bench else shared.workspace,
            scratch=shared.folder / "outputs" / self.assignment.ref.agent_id,
            environ={**shared.settings.environ, **(await bench.ready() if bench else {})},
            limits=shared.settings.limits,
            skills=shared.skills,
            state=self._drawer,
            call_id=call.id,
        )
        return await outcome(shared.tools[call.name], context, call)


def _unseen(_progress: Progress) -> None:
    """Show nothing."""

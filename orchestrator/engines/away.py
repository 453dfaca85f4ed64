"""A subagent in a worker program: its loop, its history and its tools are here, all that a session has once is not.

The model, the hooks, the log, the person, the money and the checkpoints are reached through the workplace. What is only
told goes out in order and is not waited for; a question goes out behind it, so whatever was told before is on disk where
the session is once the answer comes. Nothing here knows a key, and nothing imports the SDK.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as dc_replace
from pathlib import Path
from typing import Any, cast

import anyio

from decurion.agents.catalogue import AgentDefinition, Catalogue
from decurion.agents.context import ContextKeeper
from decurion.agents.court import Court
from decurion.agents.groups import task_group
from decurion.agents.model import Message, Model, ModelRequest, Progress, Reply, Usage
from decurion.agents.moments import Moment
from decurion.agents.money import Lease, Prices
from decurion.agents.result import SubagentResult
from decurion.agents.shared import Assignment, Settings, Shared, Work
from decurion.agents.subagent import run_assignment
from decurion.agents.task import Order
from decurion.agents.tools import Output, Skill, Tool, ToolContext, tools_for
from decurion.hooks import Decision, DecurionError, Event, RunRef, ToolCall, ToolResult

from .errors import as_pair, from_pair
from .plain import build, tagged
from .protocol import Spec, Workplace

KEPT_THERE = ("messages", "ref", "system", "tools")
"""Fields of a request that the session has already, or that go as what is new."""


class Line:
    """The way to the session. One for each attempt."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._told: deque[tuple[str, Mapping[str, Any]]] = deque()
        self._news = anyio.Event()
        self._lock = anyio.Lock()

    def tell(self, kind: str, **data: Any) -> None:
        """Tell something; it is on its way soon, and before any question that comes later."""
        self._told.append((kind, data))
        self._news.set()

    async def flush(self) -> None:
        """Send what was told."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                if items := list(self._told):
                    self._told.clear()
                    await self._place.tell("told", {"items": items})

    async def pump(self) -> None:
        """Send what is told, as it comes."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await self.flush()

    async def ask(self, what: str, **data: Any) -> Any:
        """Ask something; raises what went wrong there."""
        await self.flush()
        answer = await self._place.ask({"what": what, **data})
        if "error" in answer:
            raise from_pair(answer["error"])
        return answer["value"]


@dataclass(frozen=True, slots=True)
class FarChain:
    """The session's one chain of hooks."""

    line: Line

    async def ask(self, event: Event) -> Decision:
        """Ask the gates."""
        return build(Decision, await self.line.ask("gates", event=tagged(event)))

    async def tell(self, event: Event) -> Decision:
        """Tell the hooks."""
        return build(Decision, await self.line.ask("hooks", event=tagged(event)))


@dataclass(frozen=True, slots=True)
class FarLog:
    """The session's one log. A record is on disk before the next question is answered; a tool asks one first."""

    line: Line

    def write(self, ref: RunRef | None, event: str, **fields: Any) -> None:
        """Have one record written."""
        self.line.tell("log", turn=ref.turn if ref else 0, event=event, fields=fields)


class FarModel:
    """The session's model. Of a history only what is new goes over; `quiet` asks for no show of what comes in."""

    def __init__(self, line: Line, name: str, *, quiet: bool = False) -> None:
        self.name = name
        self._line = line
        self._quiet = quiet
        self._sent: list[Message] = []

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:  # noqa: ARG002 - shown there
        """Have one request answered."""
        return build(Reply, await self._line.ask("complete", quiet=self._quiet, **self._new(request)))

    async def count(self, request: ModelRequest) -> int | None:
        """Have a history counted."""
        return await self._line.ask("count", quiet=self._quiet, **self._new(request))

    def _new(self, request: ModelRequest) -> dict[str, Any]:
        messages = list(request.messages)
        kept = same(self._sent, messages)
        self._sent = messages
        names = [field.name for field in fields(request) if field.name not in KEPT_THERE]
        return {
            "turn": request.ref.turn,
            "kept": kept,
            "messages": messages[kept:],
            "fields": {name: getattr(request, name) for name in names},
        }

    async def aclose(self) -> None:
        """Leave the connections to the session."""


def same(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages stand at the beginning of both; a message never changes once it is made."""
    if before and len(now) >= len(before) and now[len(before) - 1] is before[-1]:
        return len(before)  # it grew at its end, as it does at nearly every turn
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (old, new) in pairs if old is not new), min(len(before), len(now)))


class FarLease(Lease):
    """The subagent's share of the session's money, which is counted there: each request passes it."""

    def __init__(self) -> None:
        super().__init__(Prices({}))

    def child(self, limits: object = None) -> Lease:  # noqa: ARG002 - there is one
        """Give the share itself."""
        return self

    def check(self) -> None:
        """Leave it to the session."""

    def spend(self, model: str, usage: Usage) -> None:
        """Leave it to the session."""


@dataclass(frozen=True, slots=True)
class FarBench:
    """An isolated subagent's workplace: a folder here, its commits made by the session."""

    line: Line
    path: Path
    goes_back: bool

    async def ready(self) -> Mapping[str, str]:
        """Wait until the session has made it."""
        return await self.line.ask("ready")

    async def checkpoint(self, turn: int) -> None:
        """Have the state after a turn saved."""
        await self.line.ask("checkpoint", turn=turn)

    async def finish(self, message: str) -> Work | None:
        """Have what is there committed."""
        return build(cast("Any", Work | None), await self.line.ask("finish", message=message))


async def run(spec: Spec, place: Workplace) -> dict[str, Any]:
    """Run one subagent; an attempt that was interrupted goes on from what the transcript holds.

    The value has `result` (the contract as JSON), or `error`: the log or the law failed, and the session ends.
    """
    line = Line(place)
    assignment, shared = _assignment(spec, line), _shared(spec, line)

    def cut_short(result: SubagentResult) -> None:
        line.tell("cut_short", result=result.as_json())

    async with task_group() as group:
        group.start_soon(line.pump)
        try:
            result = await run_assignment(shared, assignment, cut_short)
            return {"result": result.as_json()}
        except DecurionError as error:
            return {"error": as_pair(error)}
        finally:
            with anyio.CancelScope(shield=True):
                await line.flush()
            group.cancel_scope.cancel()
    raise AssertionError  # for type checkers: nothing is swallowed above


def _assignment(spec: Spec, line: Line) -> Assignment:
    told = spec.args["bench"]
    bench = FarBench(line, Path(told["path"]), told["goes_back"]) if told else None
    ref, order = build(RunRef, spec.args["ref"]), build(Order, spec.args["order"])
    return Assignment(ref, order, spec.args["prompt"], bench)


def _shared(spec: Spec, line: Line) -> Shared:
    args = spec.args
    definition = build(AgentDefinition, args["definition"])
    skills = build(tuple[Skill, ...], args["skills"])
    chain, model = FarChain(line), FarModel(line, args["model"])

    def listen(moment: Moment) -> None:
        line.tell("moment", moment=tagged(moment))

    async def approve(call: ToolCall, decision: Decision) -> bool:
        return await line.ask("approve", call=call, decision=decision)

    court = Court(chain, FarLog(line), listen)
    return Shared(
        session_id=spec.run,
        workspace=Path(args["workspace"]),
        folder=Path(args["folder"]),
        model=model,
        court=court,
        catalogue=Catalogue({definition.name: definition}),
        tools=_tools(args["tools"], skills, line),
        settings=build(Settings, args["settings"]),
        lease=FarLease(),
        keeper=_keeper(args["window"], model, court, line),
        skills=skills,
        listen=listen,
        approve=approve,
    )


def _keeper(window: Mapping[str, Any], model: FarModel, court: Court, line: Line) -> ContextKeeper:
    return ContextKeeper(
        cast("Model", FarModel(line, model.name, quiet=True)),
        lambda _model: window["own"],
        court.ask,
        smallest_window=window["smallest"],
        count=model.count if window["counts"] else None,
    )


def _tools(told: Sequence[Mapping[str, Any]], skills: Sequence[Skill], line: Line) -> dict[str, Tool]:
    """The tools that ship run here, those of the library's user where their code is."""
    ours = tools_for(skills)
    return {
        one["name"]: _recorded(ours[one["name"]], line) if one["ships"] else _far(one["tool"], line)
        for one in told
    }


def _recorded(tool: Tool, line: Line) -> Tool:
    """Let a tool begin when the record that says so is on disk; the session may have more for its environment."""

    async def run_recorded(context: ToolContext, args: Mapping[str, Any]) -> str | Output:
        more = await line.ask("begin", turn=context.ref.turn, call_id=context.call_id)
        own = dc_replace(context, environ={**context.environ, **more}) if more else context
        return await tool.run(own, args)

    return dc_replace(tool, run=run_recorded)


def _far(told: Mapping[str, Any], line: Line) -> Tool:
    async def run_there(context: ToolContext, args: Mapping[str, Any]) -> Output:
        call = ToolCall(context.call_id, told["name"], args)
        result = build(ToolResult, await line.ask("tool", turn=context.ref.turn, call=call))
        return Output(result.content, result.meta or {}, result.is_error)

    return Tool(**told, run=run_there)

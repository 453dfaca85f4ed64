"""The only way to a tool, for every agent: validate, ask the chain, record, run, tell the chain, record.

Calls of one reply are judged together and recorded in call order. Read-only tools and `task` that stand next to
each other run side by side, everything else one by one, so that a read after a write sees the write.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from itertools import groupby
from typing import Any

import anyio
from anyio.abc import TaskStatus

from decurion.hooks import (
    Decision,
    Notification,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    RunRef,
    ToolCall,
    ToolError,
    ToolResult,
    Verdict,
    replace,
)
from decurion.hooks.matchers import our_name

from .court import Court, Log
from .groups import task_group
from .history import INTERRUPTED_MAYBE, INTERRUPTED_NOT_RUN
from .moments import CallState
from .outcome import outcome
from .tools import Tool, ToolContext, prepare

TASK = "task"

_NOT_RECORDED = ("failures", "messages", "system_message", "policy_sha256")
"""Keys of a decision's detail that have records or fields of their own, or are for the person only."""

Approve = Callable[[ToolCall, Decision], Awaitable[bool]]
"""Asks a person about a call whose verdict is ASK."""


async def nobody(_call: ToolCall, _decision: Decision) -> bool:
    """Stand in for a person who is not there: every question is a no."""
    return False


@dataclass(slots=True)
class Results:
    """What has come back from the calls of one reply so far; complete even if the turn is cut short."""

    done: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    running: set[str] = field(default_factory=set[str])
    refused: list[tuple[ToolCall, Decision]] = field(default_factory=list[tuple[ToolCall, Decision]])
    contexts: list[str] = field(default_factory=list[str])
    halted: str = ""
    """Why a hook ended the run; empty where none did."""

    def in_order(self, calls: Iterable[ToolCall]) -> list[ToolResult]:
        """Give one result for each call, in call order, saying so where a call did not come to its end."""
        return [self.done.get(call.id) or self._unfinished(call.id) for call in calls]

    def _unfinished(self, call_id: str) -> ToolResult:
        text = INTERRUPTED_MAYBE if call_id in self.running else INTERRUPTED_NOT_RUN
        return ToolResult(call_id, text, is_error=True)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call that may run, and the decision its record will name."""

    call: ToolCall
    decision: Decision


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Everything between a reply's calls and their results. One for each agent; the chain is everybody's."""

    tools: Mapping[str, Tool]
    court: Court
    approve: Approve = nobody
    notice: Callable[[RunRef, ToolCall, CallState], None] = lambda _ref, _call, _state: None
    """Told of each call's `started`, `done`, `failed` and `refused`, for a view."""

    @property
    def log(self) -> Log:
        """Where the records go."""
        return self.court.log

    async def run(
        self, context: ToolContext, calls: Sequence[ToolCall], malformed: Mapping[str, str], results: Results
    ) -> None:
        """Bring every call to its result in `results`, also when cancelled half way.

        Raises:
            DecurionError: the log or the law itself failed; nothing further was started.
        """
        prepared = (self._prepared(context.ref, raw, malformed, results) for raw in calls)
        ready = [call for call in prepared if call]
        decisions = await self._ask(context.ref, ready)
        allowed: list[Allowed] = []
        for call, decision in zip(ready, decisions, strict=True):
            allowed += await self._settled(context.ref, call, decision, results)
        for side_by_side, group in groupby(allowed, key=self._may_overlap):
            if side_by_side and not results.halted:
                await self._run_together(context, tuple(group), results)
            else:
                await self._run_in_turn(context, tuple(group), results)

    def _may_overlap(self, allowed: Allowed) -> bool:
        return allowed.call.name == TASK or self.tools[allowed.call.name].read_only

    def only_read(self, calls: Iterable[ToolCall]) -> bool:
        """Whether none of these calls, run or not, can have changed a file."""
        return all((tool := self.tools.get(call.name)) and tool.read_only for call in calls)

    def _prepared(
        self, ref: RunRef, call: ToolCall, malformed: Mapping[str, str], results: Results
    ) -> ToolCall | None:
        """Give the call with checked arguments in the tool's own spelling, or settle it as malformed."""
        try:
            return ToolCall(call.id, call.name, self._checked_args(ref, call, malformed))
        except ToolError as error:
            self._malformed(ref, call, str(error), results)
            return None

    def not_run(self, ref: RunRef, calls: Iterable[ToolCall], why: str, results: Results) -> None:
        """Settle calls that must not run at all, those of a reply that was cut, for one."""
        for call in calls:
            self._malformed(ref, call, why, results)

    def _malformed(self, ref: RunRef, call: ToolCall, why: str, results: Results) -> None:
        self.log.write(
            ref, "malformed", tool_name=call.name, tool_use_id=call.id, input=call.args, reason=why
        )
        self.notice(ref, call, "failed")
        results.done[call.id] = ToolResult(call.id, why, is_error=True)

    def _checked_args(self, ref: RunRef, call: ToolCall, malformed: Mapping[str, str]) -> Mapping[str, Any]:
        if call.id in malformed:
            raise ToolError(f"{call.name}: {malformed[call.id]}. Nothing was run; send the call again.")
        return prepare(self._find(ref, call.name), call.args)

    def _find(self, ref: RunRef, name: str) -> Tool:
        # Recursion is refused here whatever the tool list, a definition or a setting says.
        if ref.depth > 0 and our_name(name.strip(" _").casefold().capitalize()) == TASK:
            raise ToolError("A subagent cannot delegate. Finish the work with your own tools and report.")
        if name in self.tools:
            return self.tools[name]
        near = our_name(name.strip())
        hint = f" Did you mean {near!r}?" if near in self.tools else ""
        raise ToolError(f"There is no tool {name!r}.{hint} Your tools: {', '.join(self.tools)}.")

    async def _ask(self, ref: RunRef, calls: Sequence[ToolCall]) -> list[Decision]:
        """Ask the chain about all calls, started in call order, so that slow gates of one turn overlap."""
        if len(calls) == 1:
            return [await self.court.chain.ask(PreToolUse(ref, calls[0]))]
        decisions: list[Decision] = [Decision()] * len(calls)

        async def ask(index: int, task_status: TaskStatus[None]) -> None:
            task_status.started()
            decisions[index] = await self.court.chain.ask(PreToolUse(ref, calls[index]))

        async with task_group() as group:
            for index in range(len(calls)):
                # `start`, not `start_soon`: trio shuffles what it starts, and call order is a promise.
                await group.start(ask, index)
        return decisions

    async def _settled(
        self, ref: RunRef, call: ToolCall, decision: Decision, results: Results
    ) -> list[Allowed]:
        """Give the call as it may run (a list of one), or record that it may not (an empty list)."""
        self.court.heard(ref, decision, call)
        if decision.context:
            results.contexts.append(decision.context)
        if decision.verdict == Verdict.ASK:
            decision = await self._asked(ref, call, decision)
        if decision.blocks:
            self._refuse(ref, call, decision, results)
            return []
        if decision.updated_args is None:
            return [Allowed(call, decision)]
        # A hook's rewrite must fit the tool's schema like any other arguments.
        rewritten = ToolCall(call.id, call.name, decision.updated_args)
        checked = self._prepared(ref, rewritten, {}, results)
        return [Allowed(checked, decision)] if checked else []

    async def _asked(self, ref: RunRef, call: ToolCall, decision: Decision) -> Decision:
        """Let a person decide; hooks hear of it, for a person may have to be called to the terminal."""
        await self.court.tell(Notification(ref, f"{call.name}: {decision.reason}", "permission_prompt"))
        yes = await self.approve(call, decision)
        return replace(decision, verdict=Verdict.ALLOW, by="person") if yes else decision

    def _refuse(self, ref: RunRef, call: ToolCall, decision: Decision, results: Results) -> None:
        self.log.write(
            ref,
            "refused",
            tool_name=call.name,
            tool_use_id=call.id,
            input=call.args,
            **_told(decision),
        )
        self.notice(ref, call, "refused")
        results.refused.append((call, decision))
        results.done[call.id] = ToolResult(call.id, f"Refused: {decision.reason}", is_error=True)
        if decision.verdict == Verdict.HALT:
            results.halted = decision.reason or f"ended by hook {decision.by}"

    async def _run_in_turn(self, context: ToolContext, calls: Sequence[Allowed], results: Results) -> None:
        for one in calls:
            if results.halted:
                self._refuse(
                    context.ref, one.call, Decision(Verdict.DENY, f"not run: {results.halted}"), results
                )
            else:
                await self._run_one(context, one, results)

    async def _run_together(self, context: ToolContext, calls: Sequence[Allowed], results: Results) -> None:
        if len(calls) == 1:
            await self._run_one(context, calls[0], results)
            return
        async with task_group() as group:
            for call in calls:
                await group.start(self._run_one, context, call, results)

    async def _run_one(
        self,
        context: ToolContext,
        allowed: Allowed,
        results: Results,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run one allowed call between its two records."""
        call, told = allowed.call, _told(allowed.decision)
        self.log.write(
            context.ref, "planned", tool_name=call.name, tool_use_id=call.id, input=call.args, **told
        )
        results.running.add(call.id)
        self.notice(context.ref, call, "started")
        task_status.started()
        started = time.monotonic()
        try:
            own = dc_replace(context, call_id=call.id)
            results.done[call.id] = await outcome(self.tools[call.name], own, call)
        finally:
            [result] = results.in_order([call])
            self._record_done(context.ref, call, result, started)
        await self._tell(context.ref, call, results, (time.monotonic() - started) * 1000)

    def _record_done(self, ref: RunRef, call: ToolCall, result: ToolResult, started: float) -> None:
        meta = result.meta or {}
        self.log.write(
            ref,
            "done",
            tool_name=call.name,
            tool_use_id=call.id,
            output=result.text,
            exit_status=meta.get("exit_status"),
            duration_ms=round((time.monotonic() - started) * 1000, 3),
            is_error=result.is_error,
            files_changed=meta.get("files_changed"),
        )
        self.notice(ref, call, "failed" if result.is_error else "done")

    async def _tell(self, ref: RunRef, call: ToolCall, results: Results, duration_ms: float) -> None:
        """Tell the observers. They never change what the tool returned; what they say goes to the model."""
        result = results.done[call.id]
        kind = PostToolUseFailure if result.is_error else PostToolUse
        said = self.court.heard(ref, await self.court.chain.tell(kind(ref, call, result, duration_ms)), call)
        if said.context:
            results.contexts.append(said.context)
        if said.verdict == Verdict.HALT:
            results.halted = said.reason or f"ended by hook {said.by}"


def _told(decision: Decision) -> dict[str, Any]:
    """Give the fields of a record that say who decided what, and why."""
    return {
        "decision": (decision.verdict if decision.verdict > Verdict.ABSTAIN else Verdict.ALLOW).name.lower(),
        "rule": decision.rule,
        "by": decision.by or None,
        "reason": decision.reason or None,
        **{key: value for key, value in (decision.detail or {}).items() if key not in _NOT_RECORDED},
    }

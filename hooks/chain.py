"""The one chain that every event of every agent passes.

Gates are asked on the events of `GATED` and may refuse; a gate that fails, refuses. Observers are told on any event
and never block. One chain object serves the lead and all its subagents; it can be added to, never cut.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from inspect import isawaitable, iscoroutinefunction
from time import monotonic
from typing import Any, Literal

import anyio

from .calls import ToolCall
from .cancellation import is_cancelled
from .decisions import HOOK_FAILED, Decision, Verdict, deny, merge
from .errors import ConfigError, HookFailure
from .events import EVENT_NAMES, GATED, Event, PreToolUse, SubagentStart, SubagentStop
from .frozen import frozen, replace
from .matchers import compiled, matches

__all__ = ("DEFAULT_TIMEOUT", "MAX_STOP_REFUSALS", "Answer", "Hook", "HookChain", "check_hook")

Answer = Decision | None
Run = Callable[[Event], Awaitable[Answer] | Answer]

MAX_ROUNDS = 3
"""How often a call may be rewritten and judged again: two hooks that settle need two rounds, a fight never ends."""

MAX_STOP_REFUSALS = 8
"""How often in a row gates may keep an agent from stopping; the loop counts, as Claude Code's does."""

DEFAULT_TIMEOUT = 60.0


@frozen
class Hook:
    """One gate or observer.

    `matcher` selects by the event's subject (tool name, agent type of subagent events, `source`, `trigger`, `kind`,
    `reason`), see `matchers`; `agents` by the acting agent's type, shell-style. `timeout` is in seconds and starts
    when this hook starts. `run` gives a decision, or None for no opinion; it raises `HookFailure`, or anything
    else, where it could not do its work. One that never waits is best a plain function: it is asked without a task
    of its own.
    """

    name: str
    events: frozenset[str]
    run: Run
    matcher: str = ""
    kind: Literal["gate", "observer"] = "gate"
    timeout: float = DEFAULT_TIMEOUT
    agents: str = "*"

    def concerns(self, event: Event) -> bool:
        """Tell whether this hook wants to hear of an event."""
        if type(event).__name__ not in self.events:
            return False
        if self.agents != "*" and not _fits_any(self.agents, event.ref.agent_type):
            return False
        if not self.matcher:
            return True
        subject = _subject(event)
        return subject is None or matches(self.matcher, subject)


class HookChain:
    """An immutable, ordered set of hooks.

    Raises:
        ConfigError: a hook names an unknown event, or its matcher is not valid.
        TypeError: something in the list is not a `Hook` (a guard function without its decorator, say).
    """

    __slots__ = ("hooks",)

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self.hooks: tuple[Hook, ...] = tuple(hooks)
        for hook in self.hooks:
            check_hook(hook)

    def with_hooks(self, more: Iterable[Hook]) -> HookChain:
        """Give a longer chain; nothing takes a hook out again."""
        return HookChain((*self.hooks, *more))

    async def ask(self, event: Event) -> Decision:
        """Ask every gate that concerns an event, and tell its observers.

        All are started in the order of declaration and run side by side; the strongest verdict wins, as `merge`
        says. Rewritten arguments are judged again by all gates, and what a gate held against the call as it was
        first asked still counts. `updated_args` of the answer are what the call must run with.
        `detail["failures"]` lists the hooks that failed, as in `tell`. Outside `GATED` nothing is refused.

        A gate that fails refuses, with one exception: at a stop it does so once (`stop_hook_active` tells), for a
        broken hook must not keep an agent working for nothing.
        """
        if type(event).__name__ not in GATED:
            return await self.tell(event)
        hooks = self._concerned(event)
        heard: list[Decision] = []
        carried: list[Decision] = []
        for _ in range(MAX_ROUNDS):
            given = await _gather(event, hooks)
            heard += given
            said = [
                _relent(event, one) for hook, one in zip(hooks, given, strict=True) if hook.kind == "gate"
            ]
            decision = merge([*carried, *said])
            rewritten = _rewritten(event, decision.updated_args)
            if decision.verdict >= Verdict.DENY or rewritten is event or rewritten == event:
                return _noted(decision, heard)
            event = rewritten
            hooks = [hook for hook in hooks if hook.kind == "gate"]
            carried += [_carry(one) for one in said]
        return _noted(_unsettled(carried), heard)

    async def tell(self, event: Event) -> Decision:
        """Tell every hook that concerns an event what happened; nothing is refused any more.

        The answer's `context` is text for the model: contexts, and the reasons of hooks that objected. Its verdict
        is ABSTAIN, or HALT where a hook ended the run. `detail["failures"]` is there if hooks failed: a list of
        `{"hook": name, "failure": kind, "reason": details}` for the caller to log; `detail["messages"]`, if hooks
        gave any, what they want said to the person.
        """
        gated = type(event).__name__ in GATED
        hooks = [hook for hook in self._concerned(event) if not gated or hook.kind == "observer"]
        heard = await _gather(event, hooks)
        halts = [one for one in heard if one.verdict is Verdict.HALT and not gated]
        return _noted(merge(halts), [_feedback(one) for one in heard])

    def _concerned(self, event: Event) -> list[Hook]:
        return [hook for hook in self.hooks if hook.concerns(event)]


async def _gather(event: Event, hooks: list[Hook]) -> list[Decision]:
    """Start all hooks in order, wait for all, and give their answers in the same order."""
    answers: list[Decision] = []
    waiting: list[tuple[int, Awaitable[Answer] | None]] = []
    for place, hook in enumerate(hooks):
        begun = None if iscoroutinefunction(hook.run) else _at_once(hook, event)
        if isinstance(begun, Decision):
            answers.append(begun)
        else:
            answers.append(_failure(hook, "no answer", "it ended without one"))
            waiting.append((place, begun))
    # trio shuffles the tasks it starts, so each takes the next hook when it begins: the order is a promise.
    line = iter(waiting)

    async def take_next() -> None:
        place, begun = next(line)
        answers[place] = await _answer(hooks[place], event, begun)

    if len(waiting) == 1:
        await take_next()
    elif waiting:
        async with anyio.create_task_group() as group:
            for _ in waiting:
                group.start_soon(take_next)
    return answers


def _at_once(hook: Hook, event: Event) -> Decision | Awaitable[Answer]:
    """Ask a hook that is a plain function. It may still give something to wait for."""
    began = monotonic()
    try:
        answer = hook.run(event)
    except BaseException as error:  # noqa: BLE001 - what must not be caught is raised again there
        return _broken(hook, error)
    if not (answer is None or type(answer) is Decision) and isawaitable(answer):
        return answer
    return (
        _late(hook, " and answered too late")
        if monotonic() - began > hook.timeout
        else _proper(hook, event, answer)
    )


async def _answer(hook: Hook, event: Event, begun: Awaitable[Answer] | None) -> Decision:
    """Run one hook within its time limit and make a failure of whatever is not a proper answer."""
    began = anyio.current_time()
    try:
        with anyio.move_on_after(hook.timeout) as limit:
            answer: Any = hook.run(event) if begun is None else begun
            answer = await answer
            # A hook that blocks the event loop cannot be cancelled, and a late yes must not count.
            if anyio.current_time() - began <= hook.timeout:
                return _proper(hook, event, answer)
    except BaseException as error:  # noqa: BLE001 - what must not be caught is raised again there
        return _broken(hook, error)
    return _late(hook, "" if limit.cancelled_caught else " and answered too late")


def _broken(hook: Hook, error: BaseException) -> Decision:
    """Make a refusal of whatever goes wrong in a hook; a cancellation from outside and the end of the program go on."""
    if isinstance(error, HookFailure):
        return _failure(hook, error.kind, error.text)
    if isinstance(error, anyio.get_cancelled_exc_class()) and not is_cancelled():
        return _failure(hook, "cancelled itself")
    if isinstance(error, (Exception, SystemExit)):
        return _failure(hook, f"raised {type(error).__name__}", str(error))
    raise error


def _late(hook: Hook, how: str) -> Decision:
    return _failure(hook, "time limit", f"it took longer than {hook.timeout:g} s{how}")


def _proper(hook: Hook, event: Event, answer: object) -> Decision:
    if answer is None:
        return Decision(by=hook.name)
    if not isinstance(answer, Decision) or not isinstance(answer.verdict, Verdict):  # pyright: ignore[reportUnnecessaryIsInstance] - a hook is foreign code
        return _failure(hook, "invalid answer", f"it gave {type(answer).__name__}, not a Decision")
    if answer.updated_args is not None and not _can_rewrite(event, answer.updated_args):
        return _failure(hook, "invalid answer", "its rewritten arguments do not fit the event")
    if answer.blocks and not answer.reason:
        answer = replace(answer, reason=f"refused by the hook {hook.name!r}")
    return answer if answer.by else replace(answer, by=hook.name)


def _failure(hook: Hook, kind: str, text: str = "") -> Decision:
    said = f"{kind}: {text}" if text else kind
    reason = f"the hook {hook.name!r} failed ({said}), and what cannot be checked does not run"
    return Decision(Verdict.DENY, reason, HOOK_FAILED, by=hook.name, detail={"failure": kind, "text": text})


def _fits_any(patterns: str, name: str) -> bool:
    return any(fnmatchcase(name, one.strip()) for one in patterns.replace("|", ",").split(","))


def _subject(event: Event) -> str | None:
    """Give what an event's matcher is held against; None where there is nothing to match."""
    call: ToolCall | None = getattr(event, "call", None)
    if call is not None:
        return call.name
    if isinstance(event, (SubagentStart, SubagentStop)):
        return event.ref.agent_type
    # One of these stands in SessionStart, PreCompact, Notification and SessionEnd, none in the others.
    for field in ("source", "trigger", "kind", "reason"):
        value: str | None = getattr(event, field, None)
        if value is not None:
            return value
    return None


def _can_rewrite(event: Event, args: object) -> bool:
    if not isinstance(args, Mapping):
        return False
    if isinstance(event, SubagentStart):
        return isinstance(args.get("prompt"), str)  # pyright: ignore[reportUnknownMemberType]
    return isinstance(event, PreToolUse)


def _rewritten(event: Event, args: Mapping[str, Any] | None) -> Event:
    if args is None:
        return event
    if isinstance(event, PreToolUse):
        return event if event.call.args == args else replace(event, call=replace(event.call, args=args))
    return replace(
        event, prompt=args["prompt"], description=args.get("description", getattr(event, "description", ""))
    )


def _carry(said: Decision) -> Decision:
    """Keep of an earlier round what still counts: objections, contexts, rewrites; a yes only with its own rewrite."""
    if said.verdict is Verdict.ALLOW and said.updated_args is None:
        return replace(said, verdict=Verdict.ABSTAIN)
    return said


def _unsettled(carried: list[Decision]) -> Decision:
    names = ", ".join(dict.fromkeys(repr(said.by) for said in carried if said.updated_args is not None))
    reason = (
        f"the hooks {names} still rewrite the call after {MAX_ROUNDS} rounds, so nobody judged its last form"
    )
    return replace(deny(reason, HOOK_FAILED), detail={"failure": "no agreement"})


def _relent(event: Event, said: Decision) -> Decision:
    if said.rule == HOOK_FAILED and getattr(event, "stop_hook_active", False):
        return replace(said, verdict=Verdict.ABSTAIN, reason="")
    return said


def _feedback(said: Decision) -> Decision:
    """Turn an objection that comes too late into text for the model."""
    if said.rule == HOOK_FAILED or not said.blocks:
        return said
    return replace(said, context="\n".join(filter(None, (said.reason, said.context))))


def _noted(decision: Decision, heard: list[Decision]) -> Decision:
    """Add to the answer what is no verdict: text for the model, messages for the person, failures for the log."""
    contexts = "\n".join(dict.fromkeys(filter(None, (decision.context, *(one.context for one in heard)))))
    if contexts != decision.context:
        decision = replace(decision, context=contexts)
    added: dict[str, Any] = {}
    if failures := [_note(one) for one in heard if one.rule == HOOK_FAILED]:
        added["failures"] = failures
    if messages := [
        one.detail["system_message"] for one in heard if one.detail and "system_message" in one.detail
    ]:
        added["messages"] = list(dict.fromkeys(messages))
    return replace(decision, detail={**(decision.detail or {}), **added}) if added else decision


def _note(failed: Decision) -> dict[str, str]:
    detail = failed.detail or {}
    return {"hook": failed.by, "failure": str(detail.get("failure")), "reason": str(detail.get("text", ""))}


def check_hook(hook: Hook) -> None:
    """Make sure that a hook can do its work; raises as `HookChain` does."""
    if not isinstance(hook, Hook):  # pyright: ignore[reportUnnecessaryIsInstance] - the list may come from untyped code
        raise TypeError(f"{hook!r} is not a Hook; put @guard() or @observer() over the function")
    compiled(hook.matcher)
    unknown = sorted(hook.events.difference(EVENT_NAMES))
    if unknown:
        raise ConfigError(
            f"the hook {hook.name!r} names the event {unknown[0]!r}; known: {', '.join(EVENT_NAMES)}"
        )
    late = sorted(hook.events.difference(GATED))
    if hook.kind == "gate" and late:
        raise ConfigError(
            f"the gate {hook.name!r} cannot refuse {late[0]}: make it an observer (gates: {', '.join(GATED)})"
        )

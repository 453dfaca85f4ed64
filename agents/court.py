"""The one hook chain as the agents use it: asked and told, and heard on what hooks say besides their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from decurion.hooks import HOOK_FAILED, Decision, Event, RunRef, ToolCall

from .moments import Listener, Notice, ignore


class Log(Protocol):
    """Where records go; see `decurion.hooks.audit`. A write that fails raises, and then nothing runs."""

    def write(self, ref: RunRef | None, event: str, **fields: Any) -> None:
        """Put one record on disk before returning.

        Raises:
            AuditError: the record could not be written.
        """
        ...


class Chain(Protocol):
    """Who is asked and told; see `decurion.hooks.chain`. For a subagent that runs elsewhere, the way there."""

    async def ask(self, event: Event) -> Decision:
        """Ask the gates."""
        ...

    async def tell(self, event: Event) -> Decision:
        """Tell the hooks."""
        ...


@dataclass(frozen=True, slots=True)
class Court:
    """Asks the chain on behalf of every agent. One for each session."""

    chain: Chain
    log: Log
    listen: Listener = ignore

    async def ask(self, event: Event) -> Decision:
        """Ask the gates about an event; failures of hooks go into the log, their messages to the person.

        Raises:
            AuditError: a failure could not be recorded.
        """
        return self.heard(event.ref, await self.chain.ask(event))

    async def tell(self, event: Event) -> Decision:
        """Tell the hooks of an event; otherwise as `ask`."""
        return self.heard(event.ref, await self.chain.tell(event))

    def heard(self, ref: RunRef, decision: Decision, call: ToolCall | None = None) -> Decision:
        """Record the failures and show the messages that came with a decision, and give it back.

        For whoever asks the chain itself, to record several answers in an order of its own.
        """
        detail = decision.detail or {}
        for failure in detail.get("failures", ()):
            self.log.write(
                ref,
                "hook_failed",
                tool_name=call.name if call else None,
                tool_use_id=call.id if call else None,
                by=failure["hook"],
                rule=HOOK_FAILED,
                reason=f"{failure['failure']}: {failure['reason']}",
            )
        for message in detail.get("messages", ()):
            self.listen(Notice(message))
        return decision

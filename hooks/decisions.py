"""Verdicts, decisions, and the one function that merges them."""

from __future__ import annotations

from enum import IntEnum

from .frozen import frozen, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class Verdict(IntEnum):
    """How strongly a hook feels about a call; order is strength."""

    ABSTAIN = 0
    ALLOW = 1
    ASK = 2
    DENY = 3
    HALT = 4
    """Deny, and end the agent's run (`continue: false` on the wire)."""

    @property
    def word(self) -> str:
        """What it means for a call: `allow`, `ask` or `deny`."""
        return "deny" if self >= Verdict.DENY else "ask" if self is Verdict.ASK else "allow"


@frozen
class Decision:
    """What one hook, or the whole chain, says of one event.

    `by` names the hook; `rule` the rule inside it (`hook-failed` where the hook itself broke);
    `updated_args` replaces the call's whole argument object; `context` is text for the model;
    `detail` is for the log only (matched segment, micros, kind of failure).
    """

    verdict: Verdict = Verdict.ABSTAIN
    reason: str = ""
    rule: str | None = None
    updated_args: Mapping[str, Any] | None = None
    context: str = ""
    by: str = ""
    detail: Mapping[str, Any] | None = None

    @property
    def blocks(self) -> bool:
        """True where the call must not run without a person's yes."""
        return self.verdict >= Verdict.ASK


HOOK_FAILED = "hook-failed"
"""The `rule` of a decision made because a gate failed, so that a log never says "denied by rule" then."""


def allow(reason: str = "") -> Decision:
    """Say yes."""
    return Decision(Verdict.ALLOW, reason)


def ask(reason: str, rule: str | None = None) -> Decision:
    """Leave it to a person; without one it counts as deny."""
    return Decision(Verdict.ASK, reason, rule)


def deny(reason: str, rule: str | None = None) -> Decision:
    """Refuse the call; the reason reaches the model."""
    return Decision(Verdict.DENY, reason, rule)


def halt(reason: str, rule: str | None = None) -> Decision:
    """Refuse the call and end the run."""
    return Decision(Verdict.HALT, reason, rule)


def merge(decisions: Iterable[Decision]) -> Decision:
    """Fold what all hooks said into one decision.

    The strongest verdict wins, and the first hook that gave it lends its `by`, `rule` and `detail`. Reasons of
    that strength are joined, all contexts are joined, and the last rewrite of the arguments stands, unless the
    call is refused, when nothing is rewritten.
    """
    given = tuple(decisions)
    if not given:
        return Decision()
    if len(given) == 1 and given[0].updated_args is None:
        return given[0]
    top = max(decision.verdict for decision in given)
    leaders = [decision for decision in given if decision.verdict == top]
    rewrites = [decision.updated_args for decision in given if decision.updated_args is not None]
    return replace(
        leaders[0],
        reason=_join(decision.reason for decision in leaders),
        context=_join(decision.context for decision in given),
        updated_args=rewrites[-1] if rewrites and top < Verdict.DENY else None,
    )


def _join(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(text for text in texts if text))

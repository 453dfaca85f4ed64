"""What to do after each reply, by its stop reason. One pure function; the loop carries it out.

| stop reason | with calls | without |
| --- | --- | --- |
| `end_turn`, `stop_sequence` | run them | done; a blank reply is asked for again |
| `tool_use` | run them | say that no call arrived |
| `max_tokens` | none runs: ask for smaller pieces, with a larger limit once | ask again, shorter, with a larger limit once |
| `pause_turn`, `compaction` | run them | go on |
| `model_context_window_exceeded` | none runs; the history is compacted before the next request | go on likewise |
| `refusal` | none runs; the agent ends as refused | the same |
| anything else | none runs: what ended for an unknown reason may be half | ask whether it is finished |

Asking again is bounded: after `PATIENCE` times in a row the agent ends with what it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .model import Reply
from .result import Status

PATIENCE = 3
WINDOW_EXCEEDED = "model_context_window_exceeded"
FINAL = frozenset({"end_turn", "stop_sequence"})
PAUSED = frozenset({"pause_turn", "compaction"})
COMPLETE = FINAL | PAUSED | {"tool_use"}

SMALLER_PIECES = (
    "Not run: the reply hit the output limit before it was complete, so nothing of it was done. "
    "Send the call again in smaller pieces: for a file, write the first part, then add the rest with edits."
)
SHORTER = "<reminder>Your reply hit the output limit and was cut. Write it again from the start, shorter, so that it is whole.</reminder>"
WINDOW_FULL = "Not run: the context window was full before the reply was complete. Older results are cleared now; go on."
GO_ON = "<reminder>Go on.</reminder>"
BLANK = "<reminder>Your reply was empty. Go on with the task, or write your final answer.</reminder>"
NO_CALL = "<reminder>Your reply announced a tool call, but none arrived. Send the call, or write your final answer.</reminder>"
UNSURE = (
    "Not run: the reply ended for an unknown reason ({reason}) and may be incomplete. Send the call again."
)
FINISHED = "<reminder>Your reply ended for an unknown reason ({reason}). If it was cut, write it again; if not, repeat your answer.</reminder>"


@dataclass(frozen=True, slots=True)
class Step:
    """What the loop does next.

    `finish` ends with `status` (`text` says why where it is not completed); `run` runs the calls; `answer` gives each
    call `text` as its error result; `say` adds `text` as a user message. After the last two comes another request.
    """

    action: Literal["finish", "run", "answer", "say"]
    status: Status = "completed"
    text: str = ""
    larger: bool = False
    """The next requests may use twice the output limit. Never set twice for one agent."""


def next_step(reply: Reply, *, grown: bool = False, nudged: int = 0) -> Step:
    """Say what to do after a reply.

    `grown` says that the output limit was raised before, `nudged` how many `say` and `answer` steps in a row came
    before this reply.
    """
    complete = reply.stop_reason in COMPLETE
    if reply.stop_reason == "refusal":
        return Step("finish", "refused", _refusal(reply))
    if reply.calls and complete:
        return Step("run")
    if nudged >= PATIENCE:
        return _worn_out(reply)
    if complete:
        return _without_calls(reply)
    return _cut(reply, grown=grown)


def _without_calls(reply: Reply) -> Step:
    if reply.stop_reason in FINAL:
        return Step("finish") if reply.text.strip() else Step("say", text=BLANK)
    return Step("say", text=GO_ON if reply.stop_reason in PAUSED else NO_CALL)


def _cut(reply: Reply, *, grown: bool) -> Step:
    """A reply that is or may be incomplete: none of its calls runs."""
    reason = reply.stop_reason
    answers = {"max_tokens": SMALLER_PIECES, WINDOW_EXCEEDED: WINDOW_FULL}
    larger = reason == "max_tokens" and not grown
    if reply.calls:
        return Step("answer", text=answers.get(reason, UNSURE.format(reason=reason)), larger=larger)
    return Step("say", text=SHORTER if reason in answers else FINISHED.format(reason=reason), larger=larger)


def _worn_out(reply: Reply) -> Step:
    """The end after too much asking. A whole text still counts, wherever it came."""
    if reply.text.strip() and reply.stop_reason in FINAL:
        return Step("finish")
    if reply.stop_reason == WINDOW_EXCEEDED:
        return Step("finish", "context", "The context window is full, again and again.")
    reasons = {
        "max_tokens": "The replies hit the output limit again and again.",
        "end_turn": "The replies stay empty.",
    }
    told = reasons.get(reply.stop_reason, f"The replies keep ending with {reply.stop_reason!r}.")
    return Step("finish", "error", told)


def _refusal(reply: Reply) -> str:
    said = reply.text.strip()
    return f"The model refused to go on: {said[:500]}" if said else "The model refused to go on."

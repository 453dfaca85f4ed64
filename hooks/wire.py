"""What hook programs answer, in the words of the wire: the one file that knows its camelCase names.

The format is Claude Code's (its hooks reference). `read_answer` reads programs that *we* start, `render` writes what
`decurion hook` answers to products that start *us*. Reading is strict: whatever is not understood is a `HookFailure`,
which the chain turns into a refusal.
"""

from __future__ import annotations

import json

from .decisions import Decision, Verdict
from .errors import HookFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

MAX_TEXT = 10_000
"""Longest text, in characters, that a hook may put before a model; Claude Code's own limit."""

_BLOCK_STATUS = 2
_BLOCKS = {"block": Verdict.DENY, "deny": Verdict.DENY, "approve": Verdict.ALLOW, "allow": Verdict.ALLOW}
_PERMISSIONS = {
    "allow": Verdict.ALLOW,
    "ask": Verdict.ASK,
    "defer": Verdict.ASK,  # "not now": nobody but a person can decide it here
    "deny": Verdict.DENY,
}
_TOP_KEYS = frozenset(
    {"continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence", "decision", "reason"}
    | {"hookSpecificOutput"}
)
_VERDICT_KEYS = frozenset({"continue", "decision", "hookSpecificOutput"})
_SPECIFIC_VERDICTS = frozenset({"permissionDecision", "updatedInput", "additionalContext"})
_SPECIFIC_KEYS = _SPECIFIC_VERDICTS | {"hookEventName", "permissionDecisionReason"}
_UNSUPPORTED = frozenset({"updatedToolOutput", "updatedMCPToolOutput", "suppressOriginalPrompt"})
"""Words that take something away from the model; passing over them would show what should be hidden."""

_PLAIN_TEXT_IS_CONTEXT = frozenset({"UserPromptSubmit", "SessionStart"})


def read_answer(event_name: str, status: int, stdout: bytes, stderr: bytes) -> Decision | None:
    """Read what a hook program said: exit status 2 refuses, 0 lets its JSON decide, any other is a failure.

    `updated_args` of the decision are in the hook's spelling; `payload.updated_args` translates them.

    Raises:
        HookFailure: any other status, or output that is not valid.
    """
    said_on_stderr = _clip(stderr.decode("utf-8", "replace").strip())
    if status not in {0, _BLOCK_STATUS}:
        kind = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        raise HookFailure(kind, said_on_stderr[-500:])
    if status == _BLOCK_STATUS:
        return _blocked(event_name, stdout, said_on_stderr)
    text = stdout.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return _decision(event_name, _object(stdout))
    return Decision(context=_clip(text)) if text and event_name in _PLAIN_TEXT_IS_CONTEXT else None


def _blocked(name: str, stdout: bytes, stderr: str) -> Decision:
    """Exit status 2 refuses whatever else was said; JSON may only add the reason, or end the run."""
    said = Decision()
    if stdout.lstrip().startswith(b"{"):
        try:
            said = _decision(name, _object(stdout))
        except HookFailure:
            said = Decision()
    reason = said.reason or stderr  # where there is none, the chain names the hook
    return Decision(max(said.verdict, Verdict.DENY), reason, context=said.context, detail=said.detail)


def _object(stdout: bytes) -> dict[str, Any]:
    try:
        said = json.loads(stdout.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HookFailure("invalid output", f"its output starts like JSON but is not: {error}") from None
    if not isinstance(said, dict):
        raise HookFailure("invalid output", "its output is no JSON object")
    return said  # pyright: ignore[reportUnknownVariableType] - json gives string keys


def _decision(event_name: str, said: dict[str, Any]) -> Decision:
    """Turn a hook's JSON into one decision; the strongest of all it says wins."""
    _known(said, _TOP_KEYS, _VERDICT_KEYS, _SPECIFIC_VERDICTS)
    specific = _table(said, "hookSpecificOutput") or {}
    _known(specific, _SPECIFIC_KEYS, _SPECIFIC_VERDICTS, _UNSUPPORTED)
    about = _field(specific, "hookEventName", str)
    if about not in {None, event_name}:
        raise HookFailure("invalid output", f"it answers {about}, but was asked about {event_name}")
    reason = _field(said, "reason", str) or ""
    verdicts = [
        (_named(said, "decision", _BLOCKS), reason),
        (
            _named(specific, "permissionDecision", _PERMISSIONS),
            _field(specific, "permissionDecisionReason", str) or reason,
        ),
    ]
    if _field(said, "continue", bool) is False:
        verdicts.append((Verdict.HALT, _field(said, "stopReason", str) or reason or "a hook ended the run"))
    verdict, why = max(verdicts, key=lambda pair: pair[0])
    message = _field(said, "systemMessage", str)
    return Decision(
        verdict,
        _clip(why),
        updated_args=_table(specific, "updatedInput"),
        context=_clip(_field(specific, "additionalContext", str) or ""),
        detail={"system_message": _clip(message)} if message else None,
    )


def _known(
    said: dict[str, Any], known: frozenset[str], decisive: frozenset[str], never: frozenset[str]
) -> None:
    """Refuse words in the wrong place, and unknown ones where nothing else says yes or no: they may have meant to."""
    strange = sorted(set(said) & never) or sorted(set(said) - known)
    if strange and (strange[0] in never or not decisive & set(said)):
        raise HookFailure("invalid output", f"{strange[0]!r} is not understood here")


def _table(said: dict[str, Any], key: str) -> dict[str, Any] | None:
    return _field(said, key, dict)  # pyright: ignore[reportUnknownVariableType] - json gives string keys


def _field(said: dict[str, Any], key: str, kind: type[T]) -> T | None:
    value = said.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise HookFailure("invalid output", f"{key!r} must be {kind.__name__}, not {type(value).__name__}")


def _named(said: dict[str, Any], key: str, names: dict[str, Verdict]) -> Verdict:
    word = _field(said, key, str)
    if word is None:
        return Verdict.ABSTAIN
    if word not in names:
        raise HookFailure("invalid output", f"{key!r} is {word!r}; known: {', '.join(names)}")
    return names[word]


def _clip(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n[{len(text) - MAX_TEXT} characters cut]"


def render(event_name: str, decision: Decision) -> str:
    """Give what `decurion hook` prints for a decision: nothing where it has no objection.

    A yes is never said: it would spare the person the product's own question.
    """
    if not decision.blocks:
        return ""
    specific = {
        "hookEventName": event_name,
        "permissionDecision": decision.verdict.word,
        "permissionDecisionReason": _clip(decision.reason),
    }
    return json.dumps({"hookSpecificOutput": specific})

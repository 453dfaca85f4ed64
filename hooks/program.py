"""`decurion hook`: the same law and the same log for the tool calls of other agent products.

Started once per tool call (by `cold`), with Claude Code's hook JSON on standard input. It imports little and late,
and whatever goes wrong in it refuses: exit status 2 is what every product of that family takes for a no.
"""

from __future__ import annotations

import os
import sys

from .decisions import Decision, Verdict
from .errors import DecurionError, HookFailure
from .request import Request, read_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .audit import AuditLog
    from .calls import ToolCall
    from .rules.law import Law

REFUSED = 2
"""Exit status for a refusal, and for every failure of this program."""

MAX_INPUT = 64 * 1024 * 1024
"""Bytes of input that are read; a call that is larger is refused."""

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_NAME = 100


def main() -> int:
    """Answer the one question on standard input; gives the exit status."""
    try:
        return answer(read_request(_read()))
    except DecurionError as error:
        return _refuse(f"decurion cannot judge this call, so it does not run: {error}")
    except BaseException as error:  # noqa: BLE001 - a guard that breaks, for whatever reason, refuses
        return _refuse(f"decurion failed, so the call does not run ({type(error).__name__}: {error})")


def _read() -> bytes:
    # None where the starter has closed it, which the type stubs do not know.
    if sys.stdin is None or sys.stdin.isatty():
        raise HookFailure("invalid input", "this is started by agent products; see `decurion hook --help`")
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise HookFailure("invalid input", f"it is larger than {MAX_INPUT // 1024 // 1024} MiB")
    return data


def answer(request: Request) -> int:
    """Judge and record a call before it runs, record one that has run; gives the exit status.

    Raises:
        DecurionError: the rules cannot be loaded or the log not be written.
    """
    if request.call is None:
        return 0
    from .rules.law import Law

    workspace = _workspace(request)
    law = Law.here(workspace)
    if request.event != "PreToolUse":
        _record_done(request, request.call, _open_log(request, workspace, law))
        return 0
    decision = _judge(request, law, workspace)
    where: dict[str, Any] = {"cwd": request.cwd or workspace, "workspace": workspace}
    _record(request, request.call, decision, where, _open_log(request, workspace, law))
    return _say(decision)


def _judge(request: Request, law: Law, workspace: str) -> Decision:
    from .decisions import merge
    from .rules.live import live_places

    places = live_places(workspace, request.cwd or workspace)
    return merge([law.judge_call(call, request.ref, places) for call in request.judged])


def _workspace(request: Request) -> str:
    """Give the folder that is worked in: the product's project, else where it stands."""
    project = os.environ.get("CLAUDE_PROJECT_DIR", "")
    if os.path.isabs(project) and os.path.isdir(project):
        return project
    return os.path.abspath(request.cwd or os.getcwd())


def _open_log(request: Request, workspace: str, law: Law) -> AuditLog:
    from .audit.places import session_dir
    from .audit.writer import AuditLog

    session = request.ref.session_id
    path = os.path.join(session_dir(workspace, _folder_name(session)), "audit.jsonl")
    return AuditLog.open(path, session_id=session, policy_sha256=law.digest, enforcement="hook")


def _folder_name(session_id: str) -> str:
    """Give a session's folder: its id, or a digest of it where the id is no plain name."""
    if session_id.strip(".") and len(session_id) <= _LONGEST_NAME and _NAME_CHARS.issuperset(session_id):
        return session_id
    from hashlib import sha256

    return f"session-{sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _record(
    request: Request, call: ToolCall, decision: Decision, where: dict[str, Any], log: AuditLog
) -> None:
    verdict = decision.verdict if decision.verdict > Verdict.ABSTAIN else Verdict.ALLOW
    detail = {key: value for key, value in (decision.detail or {}).items() if key != "policy_sha256"}
    log.write(
        request.ref,
        "refused" if verdict >= Verdict.DENY else "planned",
        tool_name=call.name,
        tool_use_id=call.id or None,
        decision=verdict.name.lower(),
        rule=decision.rule,
        by=decision.by or None,
        reason=decision.reason or None,
        input=call.args,
        **{**detail, **where},
    )
    log.close()


def _record_done(request: Request, call: ToolCall, log: AuditLog) -> None:
    from json import dumps

    output = request.response
    log.write(
        request.ref,
        "done",
        tool_name=call.name,
        tool_use_id=call.id or None,
        output=output if isinstance(output, str) else dumps(output, sort_keys=True),
        duration_ms=request.duration_ms,
        is_error=request.event == "PostToolUseFailure",
    )
    log.close()


def _say(decision: Decision) -> int:
    from .wire import render

    text = render("PreToolUse", decision)
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()
    if decision.verdict < Verdict.DENY:
        return 0
    # Said twice, for JSON alone is not read by every product, and status 2 stops all of them.
    return _refuse(decision.reason)


def _refuse(reason: str) -> int:
    try:
        sys.stderr.buffer.write(reason.encode("utf-8", "backslashreplace") + b"\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return REFUSED
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())

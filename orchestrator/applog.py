"""The application's own log: what the program itself did, as JSON lines in the session folder, for whoever mends it.

It is no evidence (that is the audit log) and holds no content: ids, states, durations, errors. Nothing of it reaches
the terminal.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from decurion.agents.moments import (
    AgentFinished,
    CallChanged,
    Listener,
    Moment,
    Notice,
    Waiting,
)
from decurion.hooks import AuditError
from decurion.hooks.audit import Redactor, redact_secrets

if TYPE_CHECKING:  # it brings all of rich along, which takes a tenth of a second before the first request
    from structlog.typing import FilteringBoundLogger, Processor


class AppLog:
    """The log of one session. `lines` takes its lines; structlog is loaded with the first."""

    def __init__(self, file: TextIO, session_id: str) -> None:
        self._file, self._session_id = file, session_id

    @cached_property
    def lines(self) -> FilteringBoundLogger:
        """The logger."""
        import structlog

        processors = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact_secrets(Redactor()),
            structlog.processors.JSONRenderer(),
        ]
        return structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=cast("list[Processor]", processors),
            wrapper_class=structlog.make_filtering_bound_logger(0),
            context_class=dict,
            session_id=self._session_id,
        )


@contextmanager
def app_log(folder: Path, session_id: str) -> Generator[AppLog]:
    """Open `decurion.log` in a session folder, owner-only; secrets are taken out as in the audit log.

    Raises:
        AuditError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(
            folder / "decurion.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise AuditError(
            f"The session's folder {folder} cannot be written ({error.strerror}), and without a log nothing runs. "
            "Free it, or set DECURION_STATE_DIR to a folder that can be written."
        ) from None
    file = os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace", buffering=1)
    try:
        yield AppLog(file, session_id)
    finally:
        with suppress(OSError):  # closing tries once more to write what a full disk did not take
            file.close()


def logging_listener(log: AppLog, further: Listener) -> Listener:
    """Give a listener that logs each moment and passes it on; a view that breaks is logged, not fatal."""

    def listen(moment: Moment) -> None:
        if isinstance(moment, TOLD) and (told := _told(moment)):
            event, fields = told
            # On a full disk: this log is no evidence, and whoever looks on must be told still.
            with suppress(OSError):
                log.lines.info(event, **fields)
        try:
            further(moment)
        except Exception:  # noqa: BLE001 - it is told with its traceback, and the work goes on
            with suppress(OSError):
                log.lines.exception("listener_failed", moment=type(moment).__name__)

    return listen


TOLD = (AgentFinished, CallChanged, Waiting, Notice)
"""What `_told` may have a line for; texts that arrive, one moment each, are none of it."""


def _told(moment: Moment) -> tuple[str, dict[str, Any]] | None:
    # What begins or goes well is in the audit log; a line for each reply and call would cost a tenth of a turn.
    match moment:
        case AgentFinished(ref, result):
            fields = {
                "agent_id": ref.agent_id,
                "status": result.status,
                "turns": result.turns,
                "error": result.error,
            }
            return "agent_finished", fields
        case CallChanged(ref, call, "failed"):
            return "call_failed", {"agent_id": ref.agent_id, "tool": call.name, "tool_use_id": call.id}
        case Waiting(ref, seconds, why):
            return "waiting", {"agent_id": ref.agent_id, "seconds": round(seconds, 2), "why": why}
        case Notice(text, level):
            return "notice", {"text": text, "level": level}
        case _:
            return None

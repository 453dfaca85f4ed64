"""What a record passes before it is written: plain structlog processor functions, without structlog.

A processor takes `(logger, method_name, event_dict)` and gives the event dict back, so the same function serves in
`structlog.configure(processors=[…])` and in the hook program that starts cold for each call. `method_name` is the
record's event. The idea and the signature are structlog's (structlog/_base.py); unlike there, none may drop a record.
"""

from __future__ import annotations

import hashlib
import hmac

from ..errors import AuditError
from .record import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence
    from typing import Any

    from .redact import Redactor

    EventDict = MutableMapping[str, Any]
    Processor = Callable[[object, str, Any], Any]


def run(processors: Sequence[Processor], event: str, record: dict[str, Any]) -> dict[str, Any]:
    """Pass a record through the chain.

    Raises:
        AuditError: a processor failed, or gave nothing back; the record is not written then.
    """
    for processor in processors:
        try:
            record = processor(None, event, record)
        except AuditError:
            raise
        except Exception as error:
            name = getattr(processor, "__name__", type(processor).__name__)
            raise AuditError(f"audit processor {name} failed: {error or type(error).__name__}") from error
    if not isinstance(record, dict):
        raise AuditError("an audit processor gave no record back; a record cannot be dropped")
    return record


def digest_output(_logger: object, _method: str, event_dict: EventDict) -> EventDict:
    """Put the size and digest of `output` in its place; text counts as UTF-8."""
    output = event_dict.pop("output", None)
    if output is not None:
        data = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
        event_dict["output_sha256"] = hashlib.sha256(data).hexdigest()
        event_dict["output_bytes"] = len(data)
    return event_dict


def protect_input(key: bytes, redactor: Redactor) -> Processor:
    """Make the processor that takes secrets out and digests the input.

    `input_mac` is a keyed digest of the input as it was, `input_sha256` a plain one of the input as it is written.
    """

    def protect(_logger: object, _method: str, event_dict: EventDict) -> EventDict:
        given = event_dict.get("input")
        if given is not None:
            given = redactor.plain(given)
            text = canonical(given)
            clean = redactor.clean(given)
            event_dict["input_mac"] = hmac.digest(key, text, "sha256").hex()
            text = text if clean is given else canonical(clean)
            event_dict["input_sha256"] = hashlib.sha256(text).hexdigest()
            event_dict["input"] = clean
        for name in event_dict.keys() - _NEVER_SECRET:
            event_dict[name] = redactor.clean(redactor.plain(event_dict[name]))
        return event_dict

    return protect


_NEVER_SECRET = frozenset(
    {
        "v",
        "seq",
        "ts",
        "session_id",
        "agent_id",
        "agent_type",
        "parent_id",
        "parent_call_id",
        "depth",
        "turn",
        "event",
        "tool_use_id",
        "input",
        "input_sha256",
        "input_mac",
        "output_sha256",
        "output_bytes",
        "exit_status",
        "duration_ms",
        "policy_sha256",
        "enforcement",
        "prev",
        "hash",
    }
)
"""Fields that the program makes itself, and `input`, which is handled above."""

"""What a record passes before it is written: plain structlog processor functions, without structlog.

A processor takes `(logger, method_name, event_dict)` and gives the event dict back, so the same function serves in
`structlog.configure(processors=[…])` and in the hook program that starts cold for each call. `method_name` is the
record's event. The idea and the signature are structlog's (structlog/_base.py); unlike there, none may drop a record.
"""

from __future__ import annotations

from ..digests import sha256
from ..errors import AuditError
from .plain import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .redact import Redactor

    Processor = Callable[[Any, str, dict[str, Any]], dict[str, Any]]


def run(processors: Iterable[Processor], event: str, event_dict: dict[str, Any]) -> dict[str, Any]:
    """Pass an event dict through the chain.

    Raises:
        AuditError: a processor failed, or gave nothing back; the record is not written then.
    """
    made: Any = event_dict
    for processor in processors:
        try:
            made = processor(None, event, made)
        except Exception as error:
            name = getattr(processor, "__name__", type(processor).__name__)
            raise AuditError(f"audit processor {name} failed: {error or type(error).__name__}") from error
        if not hasattr(made, "items"):
            raise AuditError("an audit processor gave no record back; a record cannot be dropped")
    return made


def digest_output(_logger: object, _method: str, event_dict: dict[str, Any]) -> dict[str, Any]:
    """Put the size and digest of `output` in its place; text counts as UTF-8."""
    output = event_dict.pop("output", None)
    if output is not None:
        data = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
        event_dict["output_sha256"] = sha256(data).hexdigest()
        event_dict["output_bytes"] = len(data)
    return event_dict


def redact_secrets(redactor: Redactor) -> Processor:
    """Make the processor that takes secrets out of every value; for other logs that should read like this one."""

    def redact(_logger: object, _method: str, event_dict: dict[str, Any]) -> dict[str, Any]:
        return {name: redactor.clean(plain(value)) for name, value in event_dict.items()}

    return redact

"""The log: hash-chained JSON lines that prove who ran what, under which rule, with what outcome.

Writing is loaded with the package, for every hook program needs it; reading and proving only when asked for.
"""

from __future__ import annotations

from ..folders import state_dir
from .places import project_dir, session_dir
from .writer import AuditLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .damage import Problem
    from .keys import generate, key_id, load_public, public_bytes
    from .processors import digest_output, redact_secrets
    from .reading import CutLine, parse, raw_lines, records, rotated_parts
    from .record import EVENTS, FIELDS
    from .redact import Redactor
    from .verification import Report, verify

_LATER = {
    "CutLine": "reading",
    "EVENTS": "record",
    "FIELDS": "record",
    "Problem": "damage",
    "Redactor": "redact",
    "Report": "verification",
    "digest_output": "processors",
    "generate": "keys",
    "key_id": "keys",
    "load_public": "keys",
    "parse": "reading",
    "public_bytes": "keys",
    "raw_lines": "reading",
    "records": "reading",
    "redact_secrets": "processors",
    "rotated_parts": "reading",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    """Import a name of the reading side when it is first asked for."""
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found


__all__ = (
    "EVENTS",
    "FIELDS",
    "AuditLog",
    "CutLine",
    "Problem",
    "Redactor",
    "Report",
    "digest_output",
    "generate",
    "key_id",
    "load_public",
    "parse",
    "project_dir",
    "public_bytes",
    "raw_lines",
    "records",
    "redact_secrets",
    "rotated_parts",
    "session_dir",
    "state_dir",
    "verify",
)

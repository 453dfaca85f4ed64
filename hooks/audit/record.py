"""One record of the log: its fields, its canonical text, its hash, its line.

The line is the canonical JSON of the record with `,"hash":"…"}` in place of the closing brace, so that anyone can
check it by bytes alone, without a JSON library: cut the last 77 bytes, put `}` back, take SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = 1

FIELDS = (
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
    "tool_name",
    "tool_use_id",
    "decision",
    "rule",
    "by",
    "reason",
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
)
"""What stands in every record, null where it does not apply. A record may have more (docs/audit.md names them)."""

EVENTS = (
    "session_start",
    "session_end",
    "prompt",
    "agent_start",
    "agent_end",
    "planned",
    "done",
    "refused",
    "malformed",
    "hook_failed",
    "model_request",
    "retry",
    "compaction",
    "checkpoint",
    "repair",
    "rotate",
    "trust",
    "merge",
    "note",
)

GENESIS = "0" * 64
"""The `prev` of the first record of a log."""

HASH_MARK = b',"hash":"'
TAIL_BYTES = len(HASH_MARK) + 64 + len(b'"}')
"""How many bytes of a line follow the hashed part: `,"hash":"` + 64 hex digits + `"}`."""

_encoder = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: object) -> bytes:
    r"""Encode plain data as canonical JSON: keys sorted, no spaces, UTF-8, nothing escaped that need not be.

    A lone surrogate, which UTF-8 cannot hold, is written out as the six characters of its escape (`\udc80`).

    Raises:
        ValueError, TypeError, RecursionError: the value is not plain JSON data; see `redact.plain`.
    """
    text = _encoder.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode()


def seal(record: Mapping[str, Any]) -> tuple[bytes, str]:
    """Give the line of a record that has all fields but `hash`, newline included, and its hash."""
    body = canonical(record)
    digest = hashlib.sha256(body).hexdigest()
    return b'%s%s%s"}\n' % (body[:-1], HASH_MARK, digest.encode()), digest


def unseal(line: bytes) -> tuple[str, str] | None:
    """Give the hash a line claims and the hash its bytes really have; None where the line has no such form."""
    if line[-TAIL_BYTES : -TAIL_BYTES + len(HASH_MARK)] != HASH_MARK or line[-2:] != b'"}':
        return None
    claimed = line[-66:-2].decode("ascii", "replace")
    real = hashlib.sha256(line[:-TAIL_BYTES])
    real.update(b"}")
    return claimed, real.hexdigest()

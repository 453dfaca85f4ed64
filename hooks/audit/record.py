"""One record of the log: its fields, its text, its hash, its line.

A record's canonical form is compact JSON in UTF-8 with the fields in the order of `FIELDS`, further ones sorted between
`duration_ms` and `policy_sha256`. The line is that text with `,"hash":"…"}` in place of the closing brace, so anyone
can check it by bytes alone, in any language, without agreeing on how to print a number: cut the last 75 bytes, put
`}` back, take SHA-256.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quote

from ..digests import sha256
from ..patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..digests import Digest

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

WHO_FIELDS = FIELDS[3:10]
RESULT_FIELDS = FIELDS[20:24]

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
    "fallback",
    "cache_miss",
    "compaction",
    "checkpoint",
    "repair",
    "rotate",
    "merge",
    "note",
)

GENESIS = "0" * 64
"""The `prev` of the first record of a log."""

HASH_MARK = b',"hash":"'
TAIL_BYTES = len(HASH_MARK) + 64 + len(b'"}')
"""How many bytes of a line follow the hashed part: `,"hash":"` + 64 hex digits + `"}`."""

RECORD_START = b'{"v":'


def _make_encode() -> Callable[[Any], str]:
    """Build the C encoder once: `JSONEncoder.encode` builds it anew for every call, which costs more than encoding."""
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    run = make(None, _refuse, quote, None, ":", ",", False, False, False)  # noqa: FBT003 - positional in C
    return lambda value: "".join(run(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is no JSON")


encode = _make_encode()
"""Compact JSON of plain data. Raises ValueError, TypeError or RecursionError where it is not; see `plain.plain`."""

_SURROGATE = lazy("[\ud800-\udfff]")


def utf8(text: str) -> bytes:
    r"""Encode JSON text; a lone surrogate, which UTF-8 cannot hold, is spelt out as six characters (`\udc80`)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode()


def fragment(value: Any) -> str:
    """Give the JSON of one field."""
    if value is None:
        return "null"
    return quote(value) if type(value) is str else encode(value)


def is_object(value: Any) -> bool:
    """Say whether parsed JSON is an object; a plain bool, so that type checkers leave the value `Any`."""
    return isinstance(value, dict)


def is_array(value: Any) -> bool:
    """Say whether a value is, or becomes, an array of JSON."""
    return isinstance(value, (list, tuple))


def members(values: dict[str, Any], names: tuple[str, ...]) -> str:
    """Give `"name":value,…` for some fields of a record, without braces."""
    return ",".join([f'"{name}":{fragment(values.get(name))}' for name in names])


def seal(body: str, make: Callable[..., Digest] = sha256) -> tuple[bytes, str]:
    """Give the line, newline included, and the hash of a record's JSON text without `hash` and closing brace."""
    data = utf8(body)
    digest = make(data + b"}").hexdigest()
    return b'%s,"hash":"%s"}\n' % (data, digest.encode()), digest


def unseal(line: bytes) -> tuple[str, str] | None:
    """Give the hash a line claims and the hash its bytes really have; None where the line has no such form."""
    if line[-TAIL_BYTES : len(HASH_MARK) - TAIL_BYTES] != HASH_MARK or line[-2:] != b'"}':
        return None
    real = sha256(line[:-TAIL_BYTES])
    real.update(b"}")
    return line[-66:-2].decode("ascii", "replace"), real.hexdigest()

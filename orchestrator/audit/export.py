"""Handing the evidence on: OpenTelemetry spans, OCSF events for a SIEM, CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from decurion import __version__
from decurion.hooks import UsageError

from .select import Record
from .spans import Span, nanoseconds, spans
from .text import brief

BATCH = 512
TIMEOUT = 10.0
CSV_COLUMNS = (
    "seq", "ts", "session_id", "agent_id", "agent_type", "parent_id", "depth", "turn", "event", "tool_name",
    "tool_use_id", "decision", "rule", "by", "reason", "input", "exit_status", "duration_ms", "output_bytes", "hash",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


# ---- OTLP ----


def otlp(records: Iterable[Record], *, content: bool = False) -> Iterator[bytes]:
    """Give OTLP requests as JSON, one for each batch of spans: what `/v1/traces` takes, and one line each of a file."""
    batch: list[Span] = []
    for span in spans(records, content=content):
        batch.append(span)
        if len(batch) == BATCH:
            yield _request(batch)
            batch.clear()
    if batch:
        yield _request(batch)


def send(requests: Iterator[bytes], endpoint: str) -> int:
    """Send OTLP requests to an endpoint (its base, or the full path of its traces); give how many were sent.

    Raises:
        UsageError: the endpoint does not take them.
    """
    url = endpoint if endpoint.rstrip("/").endswith("/v1/traces") else f"{endpoint.rstrip('/')}/v1/traces"
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{endpoint} is no HTTP endpoint; say http://localhost:4318")
    count = 0
    for body in requests:
        request = urllib.request.Request(url, body, {"content-type": "application/json"})  # noqa: S310 - checked above
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT):  # noqa: S310 - checked above
                count += 1
        except (urllib.error.URLError, OSError) as error:
            raise UsageError(
                f"{url} did not take the spans: {getattr(error, 'reason', None) or error}"
            ) from error
    return count


def _request(batch: list[Span]) -> bytes:
    resource = {"service.name": "decurion", "service.version": __version__}
    scope = {"name": "decurion.audit", "version": __version__}
    made = [_span(span) for span in batch]
    return orjson.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _attributes(resource)},
                    "scopeSpans": [{"scope": scope, "spans": made}],
                }
            ]
        }
    )


def _span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **({"parentSpanId": span.parent_id} if span.parent_id else {}),
        "name": span.name,
        "kind": 3 if span.kind == "client" else 1,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "status": {"code": 2, "message": span.error} if span.error else {},
    }


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if hasattr(value, "append"):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


# ---- OCSF ----

_ACTIVITY = {
    "planned": (1, "Launch"),
    "done": (2, "Terminate"),
    "refused": (1, "Launch"),
    "malformed": (1, "Launch"),
}
_PROCESS_ACTIVITY, _API_ACTIVITY = 1007, 6003
_UNMAPPED = ("turn", "depth", "parent_id", "decision", "rule", "by", "policy_sha256", "enforcement")


def ocsf(records: Iterable[Record]) -> Iterator[bytes]:
    """Give OCSF 1.3 events, one JSON object a line: tool calls as Process Activity (1007), all else as API Activity (6003).

    Each has what its class requires. Tool calls carry the profiles `host` and `security_control`: what was decided.
    """
    for record in records:
        yield orjson.dumps(_ocsf(record))


def _ocsf(record: Record) -> dict[str, Any]:
    event = str(record["event"])
    kind = _PROCESS_ACTIVITY if event in _ACTIVITY else _API_ACTIVITY
    activity, name = _ACTIVITY.get(event, (99, event))
    denied = event in {"refused", "malformed"}
    return {
        "class_uid": kind,
        "class_name": "Process Activity" if kind == _PROCESS_ACTIVITY else "API Activity",
        "category_uid": kind // 1000,
        "activity_id": activity,
        "activity_name": name,
        "type_uid": kind * 100 + activity,
        "time": nanoseconds(record["ts"]) // 1_000_000,
        "severity_id": 3 if denied else 1,
        "status_id": 2 if denied or record.get("is_error") else 1,
        "metadata": {
            "version": "1.3.0",
            "product": {"name": "decurion", "vendor_name": "decurion", "version": __version__},
            "profiles": ["host", "security_control"] if kind == _PROCESS_ACTIVITY else [],
            "uid": record["hash"],
            "sequence": record["seq"],
            "correlation_uid": record["session_id"],
        },
        "actor": _known(
            app_name="decurion",
            session={"uid": record["session_id"]},
            process=_known(uid=record["agent_id"], name=record["agent_type"]) if record["agent_id"] else None,
        ),
        **(_call(record, denied=denied) if kind == _PROCESS_ACTIVITY else _api(record)),
        "message": record["reason"] or f"{event} {record['tool_name'] or ''}".strip(),
        "unmapped": _known(**{name: record.get(name) for name in _UNMAPPED}),
    }


def _call(record: Record, *, denied: bool) -> dict[str, Any]:
    """Give what Process Activity asks for; of the machine the log knows nothing."""
    process = _known(
        uid=record["tool_use_id"] or f"{record['session_id']}:{record['seq']}",
        name=record["tool_name"],
        cmd_line=brief(record["input"], 4000) or None,
    )
    return _known(
        device={"type_id": 0, "type": "Unknown"},
        process=process,
        exit_code=record["exit_status"],
        action_id=2 if denied else 1,
        disposition_id=2 if denied else 1,
        policy=_known(name=record["rule"], desc=record["reason"]) if record["rule"] else None,
    )


def _api(record: Record) -> dict[str, Any]:
    return {"api": {"operation": record["event"]}, "src_endpoint": {"svc_name": "decurion"}}


def _known(**fields: Any) -> dict[str, Any]:
    """Give an object of the fields that have a value; OCSF has no nulls."""
    return {name: value for name, value in fields.items() if value is not None}


# ---- CSV ----


def as_csv(records: Iterable[Record]) -> Iterator[bytes]:
    """Give one line a record under a head line. Text that a spreadsheet would compute is quoted with an apostrophe."""
    yield _row(CSV_COLUMNS)
    for record in records:
        yield _row([_cell(record.get(name)) for name in CSV_COLUMNS])


def _cell(value: Any) -> str:
    if value is None or isinstance(value, (int, float)):
        return "" if value is None else str(value)
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return f"'{text}" if text.startswith(_FORMULA) else text


def _row(cells: Any) -> bytes:
    made = io.StringIO()
    csv.writer(made, lineterminator="").writerow(cells)
    return made.getvalue().encode("utf-8", "replace")


def save(made: Iterable[bytes], output: str | None) -> None:
    """Write lines to a file or to standard output.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        for text in made:
            sys.stdout.buffer.write(text + b"\n")
        return
    try:
        with Path(output).open("wb") as file:
            file.writelines(text + b"\n" for text in made)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error

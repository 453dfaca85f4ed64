"""Finding the few records that matter among millions: bytes are looked at first, and only what may fit is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from decurion.hooks import UsageError
from decurion.hooks.audit import parse, raw_lines
from decurion.hooks.counts import counted
from decurion.hooks.matchers import our_name

Record = dict[str, Any]

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_TS_MARK = b'"ts":"'
_TS_LENGTH = 27

_SURE = itemgetter("ts", "session_id", "event", "hash")
_TEXTS = itemgetter(
    "agent_id", "agent_type", "parent_id", "parent_call_id", "tool_name", "tool_use_id",
    "decision", "rule", "by", "reason", "output_sha256", "policy_sha256", "enforcement",
)  # fmt: skip
_COUNTS = itemgetter("seq", "depth", "turn")
_NUMBERS = itemgetter("output_bytes", "exit_status", "duration_ms")
_FURTHER_TEXTS = frozenset(
    ("id", "model", "source", "status", "stop_reason", "cwd", "workspace", "description")
)
_FURTHER_NUMBERS = frozenset(
    (
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "seconds",
        "turns",
    )
)
_FURTHER = _FURTHER_TEXTS | _FURTHER_NUMBERS | {"files_changed"}
_TEXT_OR_NONE = {str, type(None)}
_NUMBER_OR_NONE = {int, float, type(None)}


@dataclass(slots=True)
class Skipped:
    """How many lines of a log hold no record."""

    lines: int = 0

    def __str__(self) -> str:
        what = counted(self.lines, "line holds no record and was", "lines hold no record and were")
        return f"{what} passed over; `decurion audit verify` says what was done to the log"


@dataclass(frozen=True, slots=True)
class Filter:
    """What records are wanted; empty fields do not narrow.

    `agent` is an agent's id or type, `tool` a tool's name in our or the ecosystem's spelling, `decision` a decision
    or an event, `rule` a rule's id or its beginning up to `*`, `since` a point in time as it stands in records.
    """

    agent: str = ""
    tool: str = ""
    decision: str = ""
    rule: str = ""
    since: str = ""

    def needles(self) -> list[bytes]:
        """Give what the bytes of a wanted record hold at least."""
        texts = [text for text in (self.agent, self.decision) if text]
        texts += [our_name(self.tool)] if self.tool else []
        needles = [b'"%s"' % _escaped(text) for text in texts]
        if self.rule:
            needles.append(b'"rule":"' + _escaped(self.rule.rstrip("*")))
        return needles

    def fits(self, record: Record) -> bool:
        """Judge a parsed record."""
        return all(test(self, record) for test in _TESTS)


_TESTS: tuple[Callable[[Filter, Record], bool], ...] = (
    lambda f, r: not f.agent or f.agent in {r.get("agent_id"), r.get("agent_type")},
    lambda f, r: not f.tool or r.get("tool_name") == our_name(f.tool),
    lambda f, r: not f.decision or f.decision in {r.get("decision"), r.get("event")},
    lambda f, r: not f.rule or _rule_fits(f.rule, r.get("rule")),
    lambda f, r: not f.since or str(r.get("ts")) >= f.since,
)


def select(path: Path, wanted: Filter, skipped: Skipped | None = None) -> Iterator[tuple[bytes, Record]]:
    """Give the lines and records that fit, in order; lines that are no records are passed over, and counted.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    skipped = skipped or Skipped()
    for line in _candidates(path, wanted):
        record = parse_line(line)
        if record is None:
            skipped.lines += 1
        elif wanted.fits(record):
            yield line, record


def all_records(path: Path, skipped: Skipped | None = None) -> Iterator[Record]:
    """Give the records of a log, in order; lines that are none are passed over, and counted.

    Raises:
        AuditError: there is no log there, or it is another version's.
    """
    skipped = skipped or Skipped()
    for record in map(parse_line, raw_lines(str(path))):
        if record is None:
            skipped.lines += 1
        else:
            yield record


def parse_line(line: bytes) -> Record | None:
    """Parse one line; None where it is no record, or one whose fields somebody has made something else of."""
    try:
        record: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = parse(line)
    try:
        return record if record is not None and _is_record(record) else None
    except (KeyError, TypeError, ValueError):
        return None


def _is_record(record: Record) -> bool:
    """Check the types of the fields, so that whoever reads them need not."""
    return (
        {*map(type, _SURE(record))} == {str}
        and _TEXT_OR_NONE.issuperset(map(type, _TEXTS(record)))
        and {*map(type, _COUNTS(record))} == {int}
        and _NUMBER_OR_NONE.issuperset(map(type, _NUMBERS(record)))
        and datetime.fromisoformat(record["ts"]).tzinfo is UTC
        and all(_is_right(name, record[name]) for name in record.keys() & _FURTHER)
    )


def _is_right(name: str, value: Any) -> bool:
    if name == "files_changed":
        return value is None or (hasattr(value, "append") and {*map(type, value)} <= {str})
    return type(value) in (_TEXT_OR_NONE if name in _FURTHER_TEXTS else _NUMBER_OR_NONE)


def _candidates(path: Path, wanted: Filter) -> Iterator[bytes]:
    lines = raw_lines(str(path))
    needles = wanted.needles()
    for needle in needles:
        lines = _holding(lines, needle)
    if wanted.since:
        since = wanted.since.encode()
        lines = (line for line in lines if _time_of(line) >= since)
    return lines


def _holding(lines: Iterator[bytes], needle: bytes) -> Iterator[bytes]:
    return (line for line in lines if needle in line)


def _time_of(line: bytes) -> bytes:
    start = line.find(_TS_MARK) + len(_TS_MARK)
    return line[start : start + _TS_LENGTH]


def _escaped(text: str) -> bytes:
    return orjson.dumps(text)[1:-1]


def _rule_fits(wanted: str, rule: object) -> bool:
    if wanted.endswith("*"):
        return isinstance(rule, str) and rule.startswith(wanted[:-1])
    return rule == wanted


def point_in_time(text: str, now: datetime | None = None) -> str:
    """Turn `10m`, `2h`, `1d`, or an ISO 8601 date or time (local where it names no zone) into a record's form.

    Raises:
        UsageError: it is none of these.
    """
    if not text:
        return ""
    span = _SPAN.fullmatch(text.strip())
    now = now or datetime.now(UTC)
    if span:
        when = now - timedelta(**{_UNITS[span[2]]: float(span[1])})
    else:
        try:
            when = datetime.fromisoformat(text.strip()).astimezone(UTC)
        except ValueError:
            raise UsageError(
                f"{text!r} is no time: say 10m, 2h, 1d, 2026-11-30 or 2026-11-30T14:00"
            ) from None
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

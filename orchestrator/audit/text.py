"""Putting records into words for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
import orjson

from decurion.hooks.counts import counted

from ..screen import cut, visible

_MOST = 100
_AGENT_WIDTH = 21
_TELLING = ("command", "pattern", "file_path", "path", "description", "prompt")
_COLOURS = {
    "refused": "red",
    "malformed": "red",
    "hook_failed": "red",
    "repair": "red",
    "planned": "cyan",
    "done": "green",
    "agent_start": "magenta",
    "agent_end": "magenta",
    "model_request": "blue",
}


def brief(value: Any, most: int = _MOST) -> str:
    """Give a value in one short line: of arguments the telling one, else their JSON."""
    return cut(visible(_told(value)), most)


def paragraph(value: Any, most: int) -> str:
    """Give a value in short as `brief` does, but with its lines as they are."""
    return cut("\n".join(map(visible, _told(value).splitlines())), most)


def _told(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "items"):
        shown: Any = next((value[name] for name in _TELLING if isinstance(value.get(name), str)), None)
        value = shown if shown is not None else value
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def line(record: Mapping[str, Any]) -> str:
    """Give one record as one line: number, time, agent, event, tool, rule, what it was about."""
    event = str(record.get("event"))
    when = str(record.get("ts", ""))[11:23]
    who = visible(str(record.get("agent_id") or "-"))
    head = f"{record.get('seq'):>5}  {when}  {who:<{_AGENT_WIDTH}}  {click.style(f'{event:<13}', fg=_COLOURS.get(event))}"
    parts = [visible(str(record.get("tool_name") or "")), *_details(record)]
    return f"{head}  {'  '.join(part for part in parts if part)}".rstrip()


def _details(record: Mapping[str, Any]) -> list[str]:
    event = record.get("event")
    if event == "done":
        status = record.get("exit_status")
        shown = f"exit {status}" if status is not None else "error" if record.get("is_error") else "ok"
        return [shown, _took(record.get("duration_ms")), counted(record.get("output_bytes") or 0, "byte")]
    if event == "session_start":
        names = ("source", "model", "permission_mode", "enforcement", "cwd")
        return [visible(str(record[name])) for name in names if record.get(name)]
    if event == "model_request":
        return [
            visible(str(record.get("model"))),
            counted(tokens(record), "token"),
            visible(str(record.get("stop_reason"))),
        ]
    rule = click.style(visible(str(record["rule"])), fg="yellow") if record.get("rule") else ""
    status = visible(str(record.get("status") or ""))
    return [rule, status, brief(record.get("input")), brief(record.get("reason"))]


def _took(milliseconds: float | None) -> str:
    """Give a duration; nothing where none was measured."""
    if milliseconds is None:
        return ""
    if milliseconds < 1:
        return "<1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.1f} s"


def days(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Give records as lines, and a line of its own where another day begins."""
    day = ""
    for record in records:
        before, day = day, str(record["ts"])[:10]
        if before not in {"", day}:
            yield click.style(f"{day} UTC", bold=True)
        yield line(record)


def tokens(record: Mapping[str, Any]) -> int:
    """Add up the tokens of all four classes of a model request."""
    return sum(int(record.get(name) or 0) for name in TOKEN_CLASSES)


TOKEN_CLASSES = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def money(usd: float | None) -> str:
    """Give an amount, `unknown` where a price is."""
    return "unknown" if usd is None else f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Lay out a plain table; the last column is not padded."""
    widths = [max(len(row[index]) for row in (heads, *rows)) for index in range(len(heads))]
    widths[-1] = 0
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    return "\n".join([click.style(lines[0], bold=True), *lines[1:]])

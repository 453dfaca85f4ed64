"""Whether a session is traced live, which the standard OpenTelemetry variables say; `tracer` does it.

A session that is not traced imports nothing of it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from decurion.agents.tools import Output, Tool, ToolContext

if TYPE_CHECKING:
    from ..applog import AppLog
    from .tracer import Tracer

_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
)


def live_tracer(environ: Mapping[str, str] | None = None) -> Tracer | None:
    """Give what the environment asks for: a tracer where an OTLP endpoint or exporter is named, else None."""
    env = os.environ if environ is None else environ
    wanted = any(env.get(name, "").strip() not in {"", "none"} for name in _ENDPOINTS)
    if not wanted or env.get("OTEL_SDK_DISABLED", "").lower() == "true" or find_spec("opentelemetry") is None:
        return None
    from .tracer import Tracer

    return Tracer(env)


@contextmanager
def open_tracer(log: AppLog) -> Generator[Tracer | None]:
    """Give the tracer that the environment asks for; what it complains of meanwhile goes to the session's own log."""
    tracer = live_tracer()
    if tracer is None:
        yield None
        return
    from .tracer import LOGGER

    handler = _ToLog(log)
    LOGGER.addHandler(handler)
    try:
        yield tracer
    finally:
        tracer.close()
        LOGGER.removeHandler(handler)


class _ToLog(logging.Handler):
    def __init__(self, log: AppLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):  # a full disk, or a log that was closed meanwhile
            self._log.lines.warning("tracing", message=record.getMessage())


def with_traceparent(tools: Mapping[str, Tool], tracer: Tracer) -> dict[str, Tool]:
    """Give tools of which `bash`, if it is there, lets its programs find the trace of their call in `TRACEPARENT`."""

    def traced(tool: Tool) -> Tool:
        async def run(context: ToolContext, args: Mapping[str, Any]) -> str | Output:
            environ = {**context.environ, **tracer.environ(context.ref, context.call_id)}
            return await tool.run(replace(context, environ=environ), args)

        return replace(tool, run=run)

    return {name: traced(tool) if name == "bash" else tool for name, tool in tools.items()}

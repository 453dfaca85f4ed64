"""Whether a session is traced live, which the standard OpenTelemetry variables say; `tracer` does it.

A session that is not traced imports nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from decurion.agents.tools import Output, Tool, ToolContext

if TYPE_CHECKING:
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


def with_traceparent(tools: Mapping[str, Tool], tracer: Tracer) -> dict[str, Tool]:
    """Give tools of which `bash`, if it is there, lets its programs find the trace of their call in `TRACEPARENT`."""

    def traced(tool: Tool) -> Tool:
        async def run(context: ToolContext, args: Mapping[str, Any]) -> str | Output:
            environ = {**context.environ, **tracer.environ(context.ref, context.call_id)}
            return await tool.run(replace(context, environ=environ), args)

        return replace(tool, run=run)

    return {name: traced(tool) if name == "bash" else tool for name, tool in tools.items()}

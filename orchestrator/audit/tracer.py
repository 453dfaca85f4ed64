"""Live OpenTelemetry spans and metrics, made of the same records that go to the log.

Nothing of OpenTelemetry is imported unless the standard variables ask for it. A trace that cannot be sent never
disturbs a session: the SDK drops it and the log stays the truth.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from importlib import import_module
from threading import Thread
from typing import Any

from decurion import __version__
from decurion.hooks import RunRef

from .select import Record
from .spans import Span, SpanMaker, input_tokens, nanoseconds

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CLOSE_SECONDS = 2.0
"""How long sending what is left may take; the exporters would try an unreachable collector for ten seconds."""

LOGGER = logging.getLogger("opentelemetry")
# Without any handler Python writes what exporters complain of across the screen.
LOGGER.addHandler(logging.NullHandler())

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


class Tracer:
    """Turns records into spans and metrics and hands them to the OpenTelemetry SDK, which sends them.

    It reads along with the log: `AuditLog.open(…, observer=tracer.see)`.
    """

    def __init__(self, env: Mapping[str, str], span_exporter: Any = None, metric_reader: Any = None) -> None:
        above = _TRACEPARENT.fullmatch(env.get("TRACEPARENT", "").strip())
        trace, parent = (above[1], above[2]) if above else ("", "")
        self._maker = SpanMaker(
            content=env.get(CONTENT, "").lower() == "true", trace_id=trace, parent_id=parent
        )
        resource = import_module("opentelemetry.sdk.resources").Resource.create(
            {"service.name": env.get("OTEL_SERVICE_NAME") or "decurion", "service.version": __version__}
        )
        self._sender = _Sender(resource, span_exporter) if _on(env, "TRACES") else None
        self._meters = _Meters(resource, metric_reader) if _on(env, "METRICS") else None

    def see(self, record: Record) -> None:
        """Take one record as it was written."""
        for span in self._maker.feed(record):
            if self._sender:
                self._sender.send(span)
        if self._meters:
            self._meters.count(record)

    def environ(self, ref: RunRef, call_id: str) -> Mapping[str, str]:
        """Give what tells the programs of a call its trace; empty where there is none."""
        parent = self.traceparent(ref.session_id, ref.agent_id, call_id)
        return {"TRACEPARENT": parent} if parent else {}

    def traceparent(self, session_id: str, agent_id: str, call_id: str) -> str:
        """Give the `traceparent` of a running call, else of its agent or session."""
        for key in (
            ("call", session_id, agent_id, call_id),
            ("agent", session_id, agent_id),
            ("session", session_id),
        ):
            span = self._maker.open.get(key)
            if span is not None:
                return f"00-{span.trace_id}-{span.span_id}-01"
        return ""

    def close(self) -> None:
        """Send what is still open or waiting; a collector that cannot be reached holds nobody up for long."""
        for span in self._maker.finish():
            span.end = span.end or nanoseconds(_now())
            if self._sender:
                self._sender.send(span)
        closing = [
            Thread(target=part.close, daemon=True)
            for part in (self._sender, self._meters)
            if part is not None
        ]
        for thread in closing:
            thread.start()
        deadline = time.monotonic() + CLOSE_SECONDS
        for thread in closing:
            thread.join(max(0.0, deadline - time.monotonic()))


class _Sender:
    """Makes finished spans of the SDK's own kind, with our ids, and batches them to the exporter."""

    def __init__(self, resource: Any, exporter: Any) -> None:
        trace, export = import_module("opentelemetry.trace"), import_module("opentelemetry.sdk.trace.export")
        if exporter is None:
            exporter = import_module(
                "opentelemetry.exporter.otlp.proto.http.trace_exporter"
            ).OTLPSpanExporter()
        self._trace, self._sdk = trace, import_module("opentelemetry.sdk.trace")
        self._resource = resource
        self._scope = import_module("opentelemetry.sdk.util.instrumentation").InstrumentationScope(
            "decurion", __version__
        )
        self._batch = export.BatchSpanProcessor(exporter)

    def send(self, span: Span) -> None:
        """Hand over one span that has ended."""
        trace = self._trace
        status = trace.Status(trace.StatusCode.ERROR, span.error) if span.error else trace.Status()
        self._batch.on_end(
            self._sdk.ReadableSpan(
                name=span.name,
                context=self._context(span.trace_id, span.span_id),
                parent=self._context(span.trace_id, span.parent_id) if span.parent_id else None,
                resource=self._resource,
                attributes={name: value for name, value in span.attributes.items() if value is not None},
                kind=trace.SpanKind.CLIENT if span.kind == "client" else trace.SpanKind.INTERNAL,
                instrumentation_scope=self._scope,
                status=status,
                start_time=span.start,
                end_time=span.end,
            )
        )

    def close(self) -> None:
        """Send what waits."""
        self._batch.shutdown()

    def _context(self, trace_id: str, span_id: str) -> Any:
        flags = self._trace.TraceFlags(self._trace.TraceFlags.SAMPLED)
        return self._trace.SpanContext(
            int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=flags
        )


class _Meters:
    """Counts tokens and times, under the GenAI metric names."""

    def __init__(self, resource: Any, reader: Any) -> None:
        sdk, export = (
            import_module("opentelemetry.sdk.metrics"),
            import_module("opentelemetry.sdk.metrics.export"),
        )
        if reader is None:
            exporter = import_module(
                "opentelemetry.exporter.otlp.proto.http.metric_exporter"
            ).OTLPMetricExporter()
            reader = export.PeriodicExportingMetricReader(exporter)
        self._provider = sdk.MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        meter = self._provider.get_meter("decurion", __version__)
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")
        self._seconds = meter.create_histogram("gen_ai.client.operation.duration", unit="s")
        self._calls = meter.create_counter("decurion.calls", unit="{call}")

    def count(self, record: Record) -> None:
        """Count one record."""
        event = record["event"]
        if event == "model_request":
            base = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "anthropic",
                "gen_ai.request.model": str(record.get("model")),
            }
            used = {"input": input_tokens(record), "output": int(record.get("output_tokens") or 0)}
            for kind, count in used.items():
                self._tokens.record(count, {**base, "gen_ai.token.type": kind})
            self._seconds.record(float(record.get("seconds") or 0), base)
        elif event in {"done", "refused", "malformed"}:
            tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": str(record.get("tool_name"))}
            self._calls.add(
                1, {**tool, "decurion.event": event, "decurion.rule": str(record.get("rule") or "")}
            )
            if record.get("duration_ms") is not None:
                self._seconds.record(float(record["duration_ms"]) / 1000, tool)

    def close(self) -> None:
        """Send what waits."""
        self._provider.shutdown()


def _on(env: Mapping[str, str], signal: str) -> bool:
    return env.get(f"OTEL_{signal}_EXPORTER", "otlp").strip() != "none"


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

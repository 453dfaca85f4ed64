"""Spans with the GenAI names, live and from a log; nothing of OpenTelemetry is loaded unless it is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from decurion.agents.tools import TOOLS, ToolContext, output_of
from decurion.orchestrator.applog import app_log
from decurion.orchestrator.audit.export import otlp
from decurion.orchestrator.audit.select import all_records as records
from decurion.orchestrator.audit.spans import Span, spans
from decurion.orchestrator.audit.tracer import CLOSE_SECONDS
from decurion.orchestrator.audit.tracing import live_tracer, open_tracer, with_traceparent
from tests.hooks.audit.samples import LEAD, child, open_log, request, write_session


class Collector(HTTPServer):
    """An OTLP collector on loopback: keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((self.path, self.headers["content-type"], body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
        """Stay silent."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def by_name(path: Path, **options: Any) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans(records(path), **options):
        found.setdefault(span.name, []).append(span)
    return found


def test_a_log_becomes_a_tree_of_spans_with_the_genai_names(tmp_path: Path) -> None:
    found = by_name(write_session(tmp_path / "audit.jsonl"))
    assert {name: len(made) for name, made in found.items()} == {
        "invoke_workflow decurion": 1,
        "invoke_agent lead": 1,
        "invoke_agent general": 3,
        "execute_tool bash": 18,
        "chat claude-sonnet-4-5": 15,
    }
    [session], [lead] = found["invoke_workflow decurion"], found["invoke_agent lead"]
    agents = found["invoke_agent general"]
    assert lead.parent_id == session.span_id
    assert {agent.parent_id for agent in agents} == {lead.span_id}
    tool = found["execute_tool bash"][0]
    assert tool.parent_id in {agent.span_id for agent in agents}
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert tool.attributes["gen_ai.tool.call.id"].startswith("toolu_")
    chat = found["chat claude-sonnet-4-5"][0]
    assert chat.attributes["gen_ai.usage.output_tokens"] == 81
    assert chat.attributes["gen_ai.usage.cache_read.input_tokens"] == 5000
    cached = ("cache_read", "cache_creation")
    assert chat.attributes["gen_ai.usage.input_tokens"] >= sum(
        chat.attributes[f"gen_ai.usage.{kind}.input_tokens"] for kind in cached
    )
    assert chat.end - chat.start == 1_250_000_000
    assert {span.trace_id for made in found.values() for span in made} == {session.trace_id}
    assert len({span.span_id for made in found.values() for span in made}) == 38


def test_refused_calls_are_errors_with_their_rule(tmp_path: Path) -> None:
    found = by_name(write_session(tmp_path / "audit.jsonl"))
    refused = [span for span in found["execute_tool bash"] if span.error]
    assert {(span.attributes["error.type"], span.attributes["decurion.rule"]) for span in refused} == {
        ("refused", "no-root-wipe")
    }


def test_content_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl")
    assert b"pytest" not in b"".join(otlp(records(path)))
    assert b"pytest" in b"".join(otlp(records(path), content=True))


def test_what_a_crash_left_open_is_ended_and_marked(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl", end=False)
    [session] = by_name(path)["invoke_workflow decurion"]
    assert session.error == "not ended in the log"
    assert session.end > session.start


def test_export_sends_otlp_to_an_endpoint(tmp_path: Path, collector: Collector) -> None:
    from decurion.__main__ import main

    path = write_session(tmp_path / "audit.jsonl", agents=6, calls=50)
    assert main(["audit", "export", str(path), "--endpoint", collector.url]) == 0
    assert {(where, kind) for where, kind, _ in collector.got} == {("/v1/traces", "application/json")}
    sent = [
        span
        for _, _, body in collector.got
        for span in json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]
    assert len(sent) == 1 + 7 + 306 + 300
    assert main(["audit", "export", str(path), "--endpoint", "http://127.0.0.1:9"]) == 2


def test_without_the_variables_nothing_is_traced_and_nothing_loaded() -> None:
    assert live_tracer({"OTEL_SERVICE_NAME": "x"}) is None
    assert live_tracer({"OTEL_TRACES_EXPORTER": "none"}) is None
    assert live_tracer({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}) is None
    script = (
        "import sys; from decurion.orchestrator.audit.tracing import live_tracer; live_tracer({});"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'anthropic'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_session_is_traced_live_and_joins_the_callers_trace(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    trace = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("TRACEPARENT", PARENT)
    tracer = live_tracer()
    assert tracer is not None
    with open_log(tmp_path / "audit.jsonl", observer=tracer.see) as log:
        log.write(LEAD, "session_start", source="startup")
        log.write(child(1), "agent_start", input={"prompt": "sehr geheim"})
        request(log, child(1), "msg_1")
        log.write(
            child(1), "planned", tool_name="bash", tool_use_id="t1", input={"command": "echo sehr geheim"}
        )
        running = tracer.traceparent(LEAD.session_id, "agent-1", "t1")
        log.write(child(1), "done", tool_name="bash", tool_use_id="t1", duration_ms=5.0)
        log.write(child(1), "agent_end", status="completed")
        log.write(LEAD, "session_end", reason="completed")
    tracer.close()
    sent = [
        span
        for where, _, body in collector.got
        if where == "/v1/traces"
        for group in trace.ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]
    assert {span.name for span in sent} == {
        "invoke_workflow decurion", "invoke_agent general", "chat claude-sonnet-4-5", "execute_tool bash",
    }  # fmt: skip
    assert {span.trace_id.hex() for span in sent} == {PARENT[3:35]}
    top = next(span for span in sent if span.name.startswith("invoke_workflow"))
    assert top.parent_span_id.hex() == PARENT[36:52]
    tool = next(span for span in sent if span.name.startswith("execute_tool"))
    assert running == f"00-{tool.trace_id.hex()}-{tool.span_id.hex()}-01"
    metrics = b"".join(body for where, _, body in collector.got if where == "/v1/metrics")
    assert b"gen_ai.client.token.usage" in metrics
    assert b"gen_ai.client.operation.duration" in metrics
    assert not any(b"geheim" in body for _, _, body in collector.got)


def test_a_collector_that_cannot_be_reached_holds_nobody_up_and_fills_no_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with app_log(tmp_path, "s") as own_log, ExitStack() as stack:
        tracer = stack.enter_context(open_tracer(own_log))
        assert tracer is not None
        with open_log(tmp_path / "audit.jsonl", observer=tracer.see) as log:
            log.write(LEAD, "session_start", source="startup")
            log.write(LEAD, "session_end", reason="completed")
        begin = time.monotonic()
        stack.close()
        assert time.monotonic() - begin < CLOSE_SECONDS + 20
    assert capfd.readouterr().err == ""
    assert "Connection refused" in (tmp_path / "decurion.log").read_text()


def test_a_broken_observer_does_not_stop_the_log(tmp_path: Path) -> None:
    def broken(record: dict[str, Any]) -> None:
        raise ValueError(record["event"])

    with open_log(tmp_path / "audit.jsonl", observer=broken) as log:
        log.write(LEAD, "note")
        log.write(LEAD, "note")
    assert len(list(records(tmp_path / "audit.jsonl"))) == 2


@pytest.mark.anyio
async def test_a_command_finds_its_trace_in_its_environment(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)  # the exporter reads it there
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    tracer = live_tracer()
    assert tracer is not None
    context = ToolContext(child(1), tmp_path, tmp_path / "scratch", call_id="t1")
    with open_log(tmp_path / "audit.jsonl", observer=tracer.see) as log:
        log.write(child(1), "planned", tool_name="bash", tool_use_id="t1", input={"command": "env"})
        traced = with_traceparent(TOOLS, tracer)
        result = await traced["bash"].run(context, {"command": "echo $TRACEPARENT"})
        expected = tracer.traceparent(LEAD.session_id, "agent-1", "t1")
    tracer.close()
    assert traced["grep"] is TOOLS["grep"]
    assert with_traceparent({"grep": TOOLS["grep"]}, tracer) == {
        "grep": TOOLS["grep"]
    }  # bash may be switched off
    assert output_of(result).content == expected

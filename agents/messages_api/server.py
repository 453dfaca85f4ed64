"""The server: rules first, then the script's answer, then the reply as JSON or as a stream, with its faults."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import orjson
from anyio.abc import SocketAttribute, SocketStream
from anyio.from_thread import start_blocking_portal

from . import binding, compaction, events, rules
from .answers import Answer, Fault, Refusal
from .caching import BYTES_PER_TOKEN, PromptCache
from .http import Connection, chunk
from .requests import Request

Answering = Callable[[Request], Awaitable[Answer | Refusal]]

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
BETA_FIELDS = frozenset({compaction.KIND})
JSON_HEADERS = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the server refuses and how it behaves, whatever the script says."""

    max_bytes: int = 0
    """A body larger than this is refused as a prompt that is too long; 0 is no limit."""
    window: int = 0
    """A prompt of more tokens than this (four bytes each) is refused likewise; 0 is no limit."""
    latency: float = 0.0
    """Seconds before each reply, on top of the answer's own."""
    keys: tuple[str, ...] = ()
    """The keys and tokens that are known; empty knows all, but one must be sent."""
    models: tuple[str, ...] = ()
    """The models that are known; empty knows all."""
    record: bool = True
    """Whether `requests` keeps every request."""
    minimum_cached: int = 1024
    """The shortest prefix, in tokens, that the simulated prompt cache keeps."""
    compaction: bool = True
    """Whether on-demand compaction is offered."""
    strict: bool = True
    """Whether the history rules are enforced."""


@dataclass(slots=True)
class Api:
    """A running server. `requests` holds every request in order of arrival; `refused` the 400s among the answers."""

    answer: Answering
    options: Options
    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    refused: list[str] = field(default_factory=list[str])
    cache: PromptCache = field(default_factory=PromptCache)
    active: int = 0
    """Requests being answered now."""
    most_active: int = 0

    @property
    def message_requests(self) -> list[Request]:
        """The requests for a reply, warm-ups and counts left out."""
        return [
            r
            for r in self.requests
            if r.path.split("?")[0] == "/v1/messages" and r.body.get("max_tokens") != 0
        ]

    async def serve_connection(self, stream: SocketStream) -> None:
        """Answer one client until it goes away."""
        connection = Connection(stream)
        try:
            while received := await connection.receive():
                (method, path, headers), raw = received
                await self._answer(
                    connection, Request(method, path, headers, raw, _parse(raw), anyio.current_time())
                )
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await connection.aclose()

    async def _answer(self, connection: Connection, request: Request) -> None:
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        if self.options.record:
            self.requests.append(request)
        try:
            refusal = self._refusal(request)
            if refusal:
                await self._refuse(connection, refusal)
            elif request.path.startswith("/v1/models"):
                await connection.send(200, orjson.dumps(_models(self.options.models)), JSON_HEADERS)
            elif "/count_tokens" in request.path:
                tokens = len(request.raw) // BYTES_PER_TOKEN
                await connection.send(200, orjson.dumps({"input_tokens": tokens}), JSON_HEADERS)
            else:
                await self._reply(connection, request)
        finally:
            self.active -= 1

    def _refusal(self, request: Request) -> Refusal | None:
        """What stands against a request before any script sees it."""
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix(
            "Bearer "
        )
        if not key or (self.options.keys and key not in self.options.keys):
            return Refusal(401, "authentication_error", "invalid x-api-key")
        if request.method == "GET" and request.path.startswith("/v1/models"):
            return None
        if request.method != "POST" or not request.path.startswith("/v1/messages"):
            return Refusal(404, "not_found_error", "Not found")
        return self._body_refusal(request) if "/count_tokens" not in request.path else None

    def _body_refusal(self, request: Request) -> Refusal | None:
        try:
            request.raw.decode()
            if self.options.strict:
                rules.check(request.body, BETA_FIELDS if self.options.compaction else frozenset())
                binding.check(request.body)
                compaction.check(request)
        except (rules.Invalid, UnicodeDecodeError) as problem:
            self.refused.append(str(problem))
            return Refusal(400, "invalid_request_error", str(problem))
        model = request.body["model"]
        if self.options.models and model not in self.options.models:
            return Refusal(404, "not_found_error", f"model: {model}")
        size, tokens = len(request.raw), len(request.raw) // BYTES_PER_TOKEN
        limit = self.options.window or self.options.max_bytes // BYTES_PER_TOKEN
        if (self.options.max_bytes and size > self.options.max_bytes) or (limit and tokens > limit):
            return Refusal(
                400, "invalid_request_error", f"prompt is too long: {tokens} tokens > {limit} maximum"
            )
        return None

    @staticmethod
    async def _refuse(connection: Connection, refusal: Refusal) -> None:
        if refusal.latency:
            await anyio.sleep(refusal.latency)
        if refusal.body is not None:
            headers = {"content-type": "text/html", **refusal.headers}
            await connection.send(refusal.status, refusal.body, headers)
            return
        error = {
            "type": "error",
            "error": {"type": refusal.type, "message": refusal.message},
            "request_id": "req_1",
        }
        await connection.send(refusal.status, orjson.dumps(error), {**JSON_HEADERS, **refusal.headers})

    async def _reply(self, connection: Connection, request: Request) -> None:
        if request.body.get("max_tokens") == 0:
            answer: Answer | Refusal = Answer((), stop_reason="max_tokens")
        elif compaction.KIND in request.body and self.options.compaction:
            answer = compaction.summed_up(request, self.cache.usage(request.body, 100))
        else:
            answer = await self.answer(request)
        if isinstance(answer, Refusal):
            await self._refuse(connection, answer)
            return
        if latency := answer.latency + self.options.latency:
            await anyio.sleep(latency)
        if answer.fault is Fault.RESET_BEFORE:
            await connection.reset()
            return
        if answer.fault is Fault.PAGE:
            await connection.send(200, b"<html>Please log in.</html>", {"content-type": "text/html"})
            return
        answer = replace(answer, content=tuple(binding.signed(request.body, answer.content)))
        model, usage = request.body["model"], self._usage(request, answer)
        if request.streaming and answer.fault is not Fault.NOT_STREAMED:
            parts = answer.raw or events.events_of(answer, model, usage)
            await _stream(connection, parts, answer.fault)
        else:
            await connection.send(200, orjson.dumps(events.message_of(answer, model, usage)), JSON_HEADERS)

    def _usage(self, request: Request, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return {"input_tokens": 0, "output_tokens": 0, **answer.usage}
        output = max(1, sum(len(str(block)) for block in answer.content) // BYTES_PER_TOKEN)
        return self.cache.usage(request.body, output if answer.content else 0)


@asynccontextmanager
async def serve(answer: Answering, options: Options | None = None) -> AsyncGenerator[Api]:
    """Serve on a free port of 127.0.0.1, in the caller's event loop, until the block ends."""
    chosen = options or Options()
    api = Api(answer, chosen, cache=PromptCache(chosen.minimum_cached))
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=4096) as listener:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - not Django
        api.url = f"http://127.0.0.1:{port}"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, api.serve_connection)
            yield api
            tasks.cancel_scope.cancel()


@contextmanager
def serve_in_thread(answer: Answering, options: Options | None = None) -> Generator[Api]:
    """Serve from a thread with an event loop of its own, for callers that have none or block theirs."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serve(answer, options)) as api:
        yield api


async def _stream(connection: Connection, parts: Sequence[bytes], fault: Fault | None) -> None:
    if fault is None:
        await connection.open_stream(STREAM_HEADERS, parts)
        await connection.end_stream()
        return
    half = len(parts) // 2
    await connection.open_stream(STREAM_HEADERS, [] if fault is Fault.EMPTY else parts[:half])
    await _go_wrong(connection, parts[half:], fault)


async def _go_wrong(connection: Connection, rest: Sequence[bytes], fault: Fault) -> None:
    match fault:
        case Fault.RESET_DURING:
            await anyio.sleep(0.01)  # the client is to see the first half before the reset
            await connection.reset()
        case Fault.CUT_EVENT:
            await connection.send_raw(chunk(rest[0])[: len(rest[0]) // 2])
            await connection.aclose()
        case Fault.STALL:
            await connection.wait_closed()
        case Fault.ERROR_EVENT:
            await connection.send_chunks([events.error_event("overloaded_error", "Overloaded")])
            await connection.end_stream()
        case Fault.BROKEN_EVENT:
            await connection.send_chunks([rest[0][:-8] + b"\n\n", *rest[1:]])
            await connection.end_stream()
        case _:  # cut clean, or empty
            await connection.end_stream()


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        value: Any = orjson.loads(raw) if raw else {}
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - JSON keys are text


def _models(known: tuple[str, ...]) -> dict[str, Any]:
    listed = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
        for name in known
    ]
    return {
        "data": listed,
        "has_more": False,
        "first_id": known[0] if known else None,
        "last_id": known[-1] if known else None,
    }

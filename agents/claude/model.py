"""The model client of a session: one request at a time per agent, retries included, the history never touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import orjson
from anthropic.types import Message, MessageTokensCount

from decurion.hooks import DecurionError

from ..clock import Clock
from ..errors import BadRequest
from ..history import History
from ..limiter import Limiter
from ..model import ModelRequest, Progress, Reply
from .body import BodyBuilder
from .door import events_of, open_client, takes_bytes, with_compaction
from .faults import Failed, Failure, failure_of
from .prefixes import Prefixes
from .reply import Received, received
from .settings import ClientSettings, WireEvent
from .stream import Reader, Stream, receive
from .tries import Tries
from .turnstile import Turnstile

PATH = "/v1/messages"


class ClaudeModel:
    """Answers requests through the official SDK. Safe to share between all agents of a session."""

    def __init__(
        self,
        settings: ClientSettings,
        observe: Callable[[WireEvent], None],
        limiter: Limiter,
        clock: Clock,
    ) -> None:
        self.name = settings.model
        self.settings = settings
        self._observe = observe
        self._limiter = limiter
        self._clock = clock
        self._bodies = BodyBuilder(settings)
        self._prefixes = Prefixes(clock)
        self._client: Any = None
        self._turnstile = Turnstile()
        self._reached = False
        self._counts = settings.switches.count_tokens

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
        """Answer one request; see `Model.complete`. Only the request itself is ever repeated, byte for byte.

        Raises:
            ModelError: by name of what happened.
        """
        history = _history(request)
        tries = Tries(request, self.settings, self._clock, report, self._observe, reached=self._reached)
        try:
            return await self._try_once(request, history, tries)
        except Failed as failed:
            return await self._try_again(request, history, tries, failed)

    async def _try_again(self, request: ModelRequest, history: History, tries: Tries, first: Failed) -> Reply:
        """Go on from a failure: tenacity sees it as its first try. Most requests never come here."""
        import tenacity  # here, for few sessions need it

        failures = [first]

        async def attempt() -> Reply:
            if failures:
                raise failures.pop()
            return await self._try_once(request, history, tries)

        retrying = tenacity.AsyncRetrying(
            sleep=tries.sleep,
            stop=tries.stop,
            wait=tries.wait,
            retry=tenacity.retry_if_exception(tries.worth_another),
            before_sleep=tries.tell,
            reraise=True,
        )
        try:
            return await retrying(attempt)
        except Failed as failed:
            raise tries.final(failed.failure) from failed

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Have the API count a request; None where it cannot, which is asked once. Never raises for the API's sake."""
        if not self._counts:
            return None
        history = _history(request)
        body = self._bodies.count(request, history)
        try:
            client, options = self._opened(), self._options(compact=history.is_compacted)
            counted = await client.post(
                f"{PATH}/count_tokens", cast_to=MessageTokensCount, options=options, **self._payload(body)
            )
            return int(counted.input_tokens)
        except Exception:  # noqa: BLE001 - a count is a help, no need
            self._counts = False
            return None

    async def aclose(self) -> None:
        """Release connections."""
        if self._client is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(2):
                await self._client.close()

    async def _try_once(self, request: ModelRequest, history: History, tries: Tries) -> Reply:
        model = tries.model
        if request.compact and not self.settings.switches.compaction:
            raise Failed(Failure(BadRequest("Compaction by the API is switched off.")))
        body = self._bodies.build(request, history, model, stream=self.settings.switches.streaming)
        prefix = self._bodies.fixed(request) if self.settings.switches.share_prefix else b""
        try:
            async with (
                self._prefixes.turn((model, prefix), len(prefix)) as begun,
                self._limiter.slot() as held,
            ):
                started = self._clock.now()
                tries.started(held)
                options = self._options(compact=request.compact or history.is_compacted)
                reader = Reader(
                    tries.report, begun, history.call_ids, self._clock.now, self.settings.patience.pings
                )
                got = await self._send(body, options, reader)
        except DecurionError:
            raise
        except Exception as error:  # all that the SDK, its transport and a strange server can raise
            raise self._failed(failure_of(error, self.settings.endpoint, model)) from error
        await self._turnstile.go_through()
        self._reached = True
        self._limiter.accepted()
        self._observe(_accepted(request, got, self._clock.now() - started))
        if got.cache_miss:
            self._observe(WireEvent("cache_miss", request.ref, {"reason": got.cache_miss}))
        return got.reply

    def _failed(self, failure: Failure) -> Failed:
        if failure.load:
            wait = failure.retry_after  # no agent waits longer than for its own request: it asks, and is told
            self._limiter.slow_down(wait if wait is None or wait <= self.settings.patience.seconds else None)
        return Failed(failure)

    async def _send(self, body: bytes, options: dict[str, Any], reader: Reader) -> Received:
        with anyio.fail_after(self.settings.patience.request):
            if not self.settings.switches.streaming:
                got = received(await self._post(body, options), {}, reader.taken)
                reader.begun()
                return got
            client = self._opened()
            stream = await client.post(
                self._url(client),
                cast_to=Message,
                stream=True,
                stream_cls=Stream,
                options=options,
                **self._payload(body),
            )
            return await receive(stream, events_of(self.settings.endpoint, stream), reader)

    async def _post(self, body: bytes, options: dict[str, Any]) -> dict[str, Any]:
        client = self._opened()
        message = await client.post(PATH, cast_to=Message, options=options, **self._payload(body))
        return message.to_dict(warnings=False)

    def _url(self, client: Any) -> str:
        """The whole address where that will do: the SDK takes an address apart three times to join a path to it."""
        if not takes_bytes(self.settings.endpoint):
            return PATH
        return str(client.base_url).rstrip("/") + PATH

    def _options(self, *, compact: bool) -> dict[str, Any]:
        return {"headers": with_compaction(self._opened())} if compact else {}

    def _payload(self, body: bytes) -> dict[str, Any]:
        return {"content": body} if takes_bytes(self.settings.endpoint) else {"body": orjson.loads(body)}

    def _opened(self) -> Any:
        if self._client is None:
            self._client = open_client(self.settings)
        return self._client


def _history(request: ModelRequest) -> History:
    return request.messages if isinstance(request.messages, History) else History.restore(request.messages)


def _accepted(request: ModelRequest, got: Received, seconds: float) -> WireEvent:
    usage = got.reply.usage
    data = {
        "id": got.reply.id,
        "model": got.reply.model or request.model,
        "stop_reason": got.reply.stop_reason,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "seconds": round(seconds, 3),
    }
    return WireEvent("model_request", request.ref, data)

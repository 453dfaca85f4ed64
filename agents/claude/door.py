"""The SDK's client for each provider, its own retries off, with the transport that suits the event loop."""

from __future__ import annotations

import ssl
import sys
from typing import Any

import anthropic
import httpx2

from decurion.hooks import ConfigError

from .settings import ClientSettings, Endpoint
from .sse import plain_events
from .stream import Events, Stream, framed_events

CONNECT_SECONDS = 10.0
CONTEXT_EDITING = "context-management-2025-06-27"
COMPACTION = "compact-2026-09-04"
KEPT_AS_IT_IS = frozenset({307, 308})
KEEP_ALIVE = 60.0  # seconds; the SDK's five opened 7,281 connections for 1,001 agents


def open_client(settings: ClientSettings) -> anthropic.AsyncAnthropic | Any:
    """Make the SDK's client. Call it inside the event loop that will use it.

    Raises:
        ConfigError: the provider's extra packages or its settings are missing.
    """
    endpoint = settings.endpoint
    common: dict[str, Any] = {
        "max_retries": 0,
        "timeout": _timeout(settings),
        "http_client": _transport(settings),
        "default_headers": _headers(settings) or None,
        "base_url": endpoint.base_url or None,
    }
    try:
        match endpoint.provider:
            case "bedrock":
                from anthropic.lib.bedrock import AsyncAnthropicBedrock

                return AsyncAnthropicBedrock(**common)
            case "vertex":
                from anthropic.lib.vertex import AsyncAnthropicVertex

                return AsyncAnthropicVertex(**common)
            case "foundry":
                return anthropic.AsyncAnthropicFoundry(**common)
            case _:
                common["api_key" if endpoint.key else "auth_token"] = endpoint.key or endpoint.token or None
                return anthropic.AsyncAnthropic(**common)
    except (anthropic.AnthropicError, ImportError, ValueError) as error:
        raise ConfigError(f"provider {endpoint.provider}: {error}") from error


def _headers(settings: ClientSettings) -> dict[str, str]:
    beta = {"anthropic-beta": CONTEXT_EDITING} if settings.clear_above else {}
    return {**beta, **settings.endpoint.headers}


def with_compaction(client: anthropic.AsyncAnthropic | Any) -> dict[str, str]:
    """Give the header of a request that asks for a compaction or carries one, with the betas that are on anyway."""
    betas = str(client.default_headers.get("anthropic-beta") or "")
    return {"anthropic-beta": ",".join(filter(None, (betas, COMPACTION)))}


def takes_bytes(endpoint: Endpoint) -> bool:
    """Whether the client sends prepared bytes; those of Bedrock and Vertex move fields of the body elsewhere."""
    return endpoint.provider not in {"bedrock", "vertex"}


def events_of(endpoint: Endpoint, stream: Stream) -> Events:
    """Read the events of a provider's reply: with the SDK's own reader where Bedrock frames them in its own way."""
    if endpoint.provider == "bedrock":
        return framed_events(stream)
    return plain_events(stream.response.aiter_bytes())


def _transport(settings: ClientSettings) -> httpx2.AsyncClient:
    width = settings.width
    options: dict[str, Any] = {
        "limits": httpx2.Limits(
            max_connections=width, max_keepalive_connections=width, keepalive_expiry=KEEP_ALIVE
        ),
        "timeout": _timeout(settings),
        "event_hooks": {"response": [_stay]},
    }
    if settings.endpoint.base_url.startswith("http://"):
        # Reading the certificates of all authorities takes 30 ms, and a local server has none. A context that knows
        # no authority refuses whatever a redirect to https would lead to.
        options["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if _on_trio():
        return anthropic.DefaultAsyncHttpxClient(**options)
    return anthropic.DefaultAioHttpClient(**options)


class SentElsewhere(Exception):  # named for what came
    """Raised where a redirect is not followed; the text says which."""


async def _stay(response: httpx2.Response) -> None:
    """Follow a redirect only where the same request goes to the same server.

    httpx makes an empty GET of any other, and takes the key along to wherever it leads.
    """
    if not response.has_redirect_location:
        return
    location = response.headers["location"]
    try:
        to = response.url.join(location)
    except httpx2.InvalidURL:
        raise SentElsewhere(f"{response.status_code}: {location[:200]}") from None
    here = response.url
    at_home = (to.scheme, to.host, to.port) == (here.scheme, here.host, here.port)
    if not at_home or response.status_code not in KEPT_AS_IT_IS:
        raise SentElsewhere(f"{response.status_code}: {to}"[:200])


def _timeout(settings: ClientSettings) -> httpx2.Timeout:
    return httpx2.Timeout(settings.patience.idle, connect=CONNECT_SECONDS, pool=None)


def _on_trio() -> bool:
    """Whether trio runs this; asked without importing it where it is not in use."""
    trio: Any = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()

"""Which model answers a session: the SDK's client, the scripted model behind the same client, or one that was given."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio

from decurion.agents.claude import (
    ClientSettings,
    Endpoint,
    Switches,
    WireEvent,
    connect,
    resolve_model,
)
from decurion.agents.claude.settings import Provider
from decurion.agents.model import Model
from decurion.agents.thought import read_effort, read_thinking

from .options import ModelOptions

OFFLINE = "offline"

Observe = Callable[[WireEvent], None]


@asynccontextmanager
async def open_model(options: ModelOptions, observe: Observe) -> AsyncGenerator[tuple[Model, str]]:
    """Give a connected model client and the model's name on the wire; connections are released at the end.

    Raises:
        AuthenticationFailed: no usable key; nothing was sent.
        ConfigError: the provider, the address, the effort or the way of thinking cannot be used.
    """
    effort = read_effort(options.effort, "--effort")
    thinking = read_thinking(options.thinking, "--thinking")
    if options.client is not None:
        yield options.client, options.name or options.client.name
        return
    if options.chosen == OFFLINE:
        from decurion.agents.offline import offline_endpoint

        async with offline_endpoint(options.manners) as endpoint:
            settings = ClientSettings(endpoint, OFFLINE)
            async with _connected(settings, observe) as client:
                yield client, OFFLINE
        return
    name = resolve_model(options.chosen)
    endpoint = Endpoint.from_env(provider=cast("Provider", options.provider), base_url=options.base_url)
    without: dict[str, Any] = dict.fromkeys(options.without, False)
    settings = ClientSettings(
        endpoint,
        name,
        switches=Switches(**without),
        fallback_models=tuple(resolve_model(model) for model in options.fallback),
        effort=effort,
        thinking=thinking,
        clear_above=options.clear_above,
        extra_body=options.extra_body,
    )
    async with _connected(settings, observe) as client:
        yield client, name


@asynccontextmanager
async def _connected(settings: ClientSettings, observe: Observe) -> AsyncGenerator[Model]:
    settings.endpoint.check()
    # Importing the SDK takes about a second; meanwhile the screen must not stand still.
    client = await anyio.to_thread.run_sync(lambda: connect(settings, observe=observe))
    try:
        yield client
    finally:
        await client.aclose()

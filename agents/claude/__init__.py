"""The one client that knows the SDK. `connect(settings)` gives a `Model`; only then is the SDK imported.

`settings` what may be set and where it is read from; `door` the SDK's clients, one per provider; `body` the bytes of a
request; `sse`, `stream` and `reply` a reply from its bytes; `faults` what went wrong, by name, in one place;
`turnstile` one agent after the other; `model` retries and all.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..clock import Clock
from ..limiter import Limiter
from ..model import Model
from .settings import ClientSettings, Endpoint, Patience, Switches, WireEvent, resolve_model

__all__ = (
    "ClientSettings",
    "Endpoint",
    "Patience",
    "Switches",
    "WireEvent",
    "connect",
    "resolve_model",
)


def connect(
    settings: ClientSettings,
    *,
    observe: Callable[[WireEvent], None] | None = None,
    limiter: Limiter | None = None,
    clock: Clock | None = None,
) -> Model:
    """Make the client for one session, shared by all its agents. Takes about a second: the SDK is imported here.

    `observe` is told of each reply, retry, slow-down, fallback and cache miss, for the log; it must not raise.

    Raises:
        AuthenticationFailed: no usable key; before the SDK is imported where the environment alone shows it.
    """
    settings.endpoint.check()
    with _unswept():
        from .model import ClaudeModel

    return ClaudeModel(
        settings, observe or _ignore, limiter or Limiter(settings.width, clock), clock or Clock()
    )


@contextmanager
def _unswept() -> Generator[None]:
    """Hold back the garbage collector: what the SDK's import makes, stays, and going through it takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _ignore(_event: WireEvent) -> None:
    """Stand in for an observer."""

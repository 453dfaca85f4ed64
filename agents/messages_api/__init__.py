"""A Messages API on loopback: strict like the real one, answered by a function, able to fail in every known way.

The offline model is served by it, the tests hold the client against it, the benchmarks measure with it.

    async def answer(request: Request) -> Answer | Refusal: ...

    async with serve(answer) as api:
        ...  # api.url, api.requests

`rules` says which histories the real API refuses, `binding` which thinking, `caching` simulates its prompt cache,
`compaction` its summaries, `events` writes a reply as server-sent events, `http` is the little of HTTP/1.1 that this
needs.
"""

from __future__ import annotations

from .answers import Answer, Fault, Refusal, Script, call, calls, overloaded, rate_limited, say
from .requests import Request
from .server import Answering, Api, Options, serve, serve_in_thread

__all__ = (
    "Answer",
    "Answering",
    "Api",
    "Fault",
    "Options",
    "Refusal",
    "Request",
    "Script",
    "call",
    "calls",
    "overloaded",
    "rate_limited",
    "say",
    "serve",
    "serve_in_thread",
)

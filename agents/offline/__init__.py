"""The offline model: a script, not an AI, that does mechanical refactors through the same client as a live model.

    async with offline_endpoint() as endpoint:
        model = connect(ClientSettings(endpoint, OFFLINE))

It is served as a Messages API on loopback, in this process, so no line of the agent path differs from a live model.
Each reply is a function of its request alone, so retries and resumed sessions work like anywhere else.

`wording` reads the person's task, `lead` and `worker` are the two roles, `source` and `scopes` read Python, `rename`
and `replace` plan changes, `edits` turns plans into calls, `reading` and `conversation` read what came back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from ..claude import Endpoint
from ..messages_api import Options, serve
from .model import Manners, answer

OFFLINE = "offline"
"""The model's name, on the command line and on the wire."""

KEY = "offline-needs-no-key"

__all__ = ("OFFLINE", "Manners", "answer", "offline_endpoint")


@asynccontextmanager
async def offline_endpoint(manners: Manners | None = None) -> AsyncGenerator[Endpoint]:
    """Serve the scripted model on loopback until the block ends; give where it is and a key that opens it."""
    chosen = manners or Manners()
    options = Options(latency=chosen.latency, record=False, keys=(KEY,))
    async with serve(partial(answer, manners=chosen), options) as api:
        yield Endpoint(base_url=api.url, key=KEY)

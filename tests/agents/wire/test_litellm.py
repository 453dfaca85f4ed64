"""LiteLLM's proxy between the client and the strict API: optional, see docs/endpoints.md."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from decurion.agents.claude import Endpoint
from decurion.agents.messages_api import Answer, Request, call, say, serve_in_thread
from tests.loopback import answered, begun, wired

LITELLM = os.environ.get("LITELLM", "")
KEY = "sk-" + secrets.token_hex(24)  # it refuses to start with a weak one
CONFIG = """
model_list:
  - model_name: claude-sonnet-5-5
    litellm_params: {{model: anthropic/claude-sonnet-5-5, api_base: "{url}", api_key: unused}}
  - model_name: mocked
    litellm_params: {{model: anthropic/claude-sonnet-5-5, api_key: unused, mock_response: "Mocked."}}
"""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not LITELLM, reason="set LITELLM to the program of a LiteLLM proxy"),
    pytest.mark.timeout(180),
]


@contextmanager
def proxy(folder: Path, url: str) -> Generator[str]:
    """Run the proxy in front of an address; gives its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "config.yaml").write_text(CONFIG.format(url=url))
    env = {
        **os.environ,
        "LITELLM_MASTER_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HOME": str(folder),
    }
    command = [LITELLM, "--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health/liveliness")
            yield f"http://127.0.0.1:{port}"
        finally:
            program.terminate()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            httpx2.get(url, timeout=1)
        except httpx2.HTTPError:
            time.sleep(0.2)
        else:
            return
    pytest.fail("the proxy did not start")


async def _by_turn(request: Request) -> Answer:
    """By the history, as the proxy may ask more than once."""
    return say("Done.") if request.turn else call("x", {"a": "1"}, text="Look.")


async def test_a_conversation_with_tools_passes_through_the_proxy(tmp_path: Path) -> None:
    with serve_in_thread(_by_turn) as api, proxy(tmp_path, api.url) as url:
        async with wired(say("unused"), endpoint=Endpoint(base_url=url, key=KEY)) as wire:
            history = begun("Go.")
            reply = await wire.ask(history)
            assert reply.calls[0].args == {"a": "1"}
            assert (await wire.ask(answered(history, reply))).text == "Done."
            mocked = await wire.ask(model="mocked")  # it answers JSON although a stream was asked for
            assert mocked.text == "Mocked."
        assert api.refused == []

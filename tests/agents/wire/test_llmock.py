"""An endpoint that nobody here wrote: llmock breaks what it can over real HTTP, and then judges how the client took it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import pytest

from decurion.agents.claude import ClientSettings, Endpoint, Patience, connect
from decurion.agents.errors import AuthenticationFailed, BadRequest, ContextOverflow, UnknownModel
from decurion.agents.model import Model, ModelRequest
from tests.loopback import REF, TOOLS, answered, begun

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

pytest.importorskip("llmock")
pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


def client(llmock: LLMock) -> Model:
    patience = Patience(seconds=60, idle=0.5, first_wait=0.1, longest_wait=2.0)
    return connect(
        ClientSettings(Endpoint(base_url=llmock.base_url("anthropic"), key="test"), patience=patience)
    )


async def _conversation(model: Model, name: str, finished: list[str]) -> None:
    history = begun(f"Please use x. {name}")
    request = ModelRequest("claude-sonnet-5-5", "Be good.", TOOLS, history, 500, REF)
    while (reply := await model.complete(request, lambda _progress: None)).calls:
        answered(history, reply)
    finished.append(name)


def _errors(llmock: LLMock) -> None:
    for status in (529, 500, 503, 502, 408):
        llmock.fail(status, times=1)


def _cuts(llmock: LLMock) -> None:
    llmock.truncate(times=3).disconnect(times=3, after_chunks=2)


def _oddities(llmock: LLMock) -> None:
    llmock.corrupt(times=2).stall(times=2, seconds=5).break_tool_call(times=2)


def _limit(llmock: LLMock) -> None:
    llmock.rate_limit(times=3, retry_after=0.4)


@pytest.mark.parametrize("chaos", [_errors, _cuts, _oddities, _limit])
async def test_conversations_finish_and_the_verdict_is_a_pass(
    llmock: LLMock, chaos: Callable[[LLMock], None]
) -> None:
    chaos(llmock)
    model, finished = client(llmock), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(_conversation, model, f"agent {number}", finished)
    await model.aclose()
    assert len(finished) == 6
    llmock.assert_resilient()


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, BadRequest), (401, AuthenticationFailed), (403, AuthenticationFailed), (404, UnknownModel)],
)
async def test_what_cannot_be_mended_is_asked_once(
    llmock: LLMock, status: int, error: type[Exception]
) -> None:
    llmock.fail(status, times=None)
    model = client(llmock)
    with pytest.raises(error):
        await _conversation(model, "agent", [])
    await model.aclose()
    assert len(llmock.requests) == 1
    llmock.assert_resilient(strict=True)


async def test_a_window_that_is_full_is_told_as_such(llmock: LLMock) -> None:
    llmock.context_overflow(times=None)
    model = client(llmock)
    with pytest.raises(ContextOverflow):
        await _conversation(model, "agent", [])
    await model.aclose()
    llmock.assert_resilient(strict=True)

"""Engines of both kinds for the contract, each on an event loop, and specs for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from decurion.orchestrator.engines.protocol import Engine, Limits, Spec
from tests.orchestrator.engines.making import WORKS, MakeSpec, make

WAYS = (("inprocess", "asyncio"), ("inprocess", "trio"), ("pipe", "asyncio"))


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Engine and loop. A worker program is dear to start, and to its engine the loop only carries frames."""
    return request.param


@pytest.fixture(scope="module")
def anyio_backend(way: tuple[str, str]) -> str:
    return way[1]


@pytest.fixture
def kind(way: tuple[str, str]) -> str:
    return way[0]


@pytest.fixture
async def engine(kind: str, tmp_path: Path) -> AsyncIterator[Engine]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(make(kind, tmp_path / "engine"))


@pytest.fixture
def spec(tmp_path: Path) -> MakeSpec:
    def build(work: str, limits: Limits | None = None, **args: object) -> Spec:
        given = {"ran": str(tmp_path / "ran"), "events": 3, **args}
        return Spec("run", "agent/1", 1, f"{WORKS}:{work}", given, limits or Limits(wall_s=20))

    return build

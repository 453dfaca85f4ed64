"""A repository and a place for state, both outside of each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from decurion.orchestrator.git import Isolation
from tests.orchestrator.git.repository import Repository, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "user" / "project")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "s1"


@pytest.fixture
async def isolation(repository: Repository, state: Path) -> AsyncIterator[Isolation]:
    made = await Isolation.prepare(repository.path, state, "s1")
    yield made
    await made.aclose()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the many tests that are about git; `test_isolation` runs the whole way on both."""
    return "asyncio"

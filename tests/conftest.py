"""What every test gets: both event loops, folders of its own, and no network but loopback."""

from __future__ import annotations

import gc
import os
import re
import socket
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.effort import choose_profile

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = ("127.", "::1", "localhost")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: many tests wait for a timer or a process."""
    return min(4, (os.cpu_count() or 1) + 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow ones, so that no worker ends long after the others; measure coverage on asyncio alone.

    Measuring takes as long as the test, and trio runs the same lines.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if "trio" in re.split(r"[\[\]-]", item.name):
            item.add_marker(pytest.mark.unmeasured)


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the thousands of tests, which stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Do not measure what is marked `unmeasured`, nor its fixtures.

    The `no_cover` of pytest-cov does nothing beside xdist: of the two measurements in a worker it ends the upper one.
    """
    measure = sys.gettrace()
    if measure is None or item.get_closest_marker("unmeasured") is None:
        return (yield)
    threading.settrace(None)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        threading.settrace(measure)
        sys.settrace(measure)


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each async test on both event loops."""
    return request.param


@pytest.fixture(autouse=True)
def own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep state, configuration and git settings of the person who runs the tests out of them, and their keys too."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "DECURION_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DECURION_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("DECURION_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Tess Tester")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "tess@example.invalid")
    return home


@pytest.fixture
def checkout() -> Path:
    """The folder of the sources; skips where only the installed package is there."""
    if not (ROOT / "hooks" / "__init__.py").is_file():
        pytest.skip("needs the checkout, not the installed package")
    return ROOT


def _only_loopback(event: str, args: tuple[Any, ...]) -> None:
    if event != "socket.connect":
        return
    sock, address = args
    if sock.family in {socket.AF_INET, socket.AF_INET6} and not str(address[0]).startswith(LOOPBACK):
        raise PermissionError(f"a test tried to reach {address[0]}; only loopback is allowed")


sys.addaudithook(_only_loopback)
choose_profile()

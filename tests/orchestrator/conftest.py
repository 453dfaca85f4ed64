"""Sessions and git: real repositories, but no waiting for the disk."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(own_places: Path) -> None:
    """Git waits for the disk at every ref and pack; on a busy one this took two thirds of the time of tests."""
    (own_places / ".gitconfig").write_text("[core]\n\tfsync = none\n")

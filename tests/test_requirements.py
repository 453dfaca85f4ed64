"""The compiled requirements files say what pyproject.toml says, and name no place to fetch from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

FILES = ("run.txt", "test.txt", "dev.txt")


def pins(text: str) -> dict[str, str]:
    """Name to version of each pinned line."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", FILES)
def test_every_direct_dependency_is_pinned(name: str, checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[\[<>=! ]", line)[0] for line in project["dependencies"]}
    pinned = pins((checkout / "requirements" / name).read_text(encoding="utf-8"))
    assert wanted - set(pinned) == set(), "run `make lock`"


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_a_hash_and_no_line_an_address(name: str, checkout: Path) -> None:
    text = (checkout / "requirements" / name).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert [line for line in text.splitlines() if "://" in line or line.lstrip().startswith("--index")] == []


def test_the_smaller_files_hold_the_same_pins(checkout: Path) -> None:
    run, test, dev = (pins((checkout / "requirements" / name).read_text(encoding="utf-8")) for name in FILES)
    assert run.items() <= test.items() <= dev.items()

"""What the layout promises (docs/decisions/0001): links that travel, one copy of each module, no mocks, no machine's paths."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.sources import sources

pytestmark = pytest.mark.unmeasured  # reads files, runs nothing of ours

LAYERS = ("hooks", "agents", "orchestrator")
CODE = (*LAYERS, "src", "tests", "bench")


@pytest.mark.parametrize("layer", LAYERS)
def test_the_links_are_relative(layer: str, checkout: Path) -> None:
    assert (checkout / "src" / "decurion" / layer).readlink() == Path("..", "..", layer)


def test_nobody_imports_a_layer_by_its_folder_name(checkout: Path) -> None:
    pattern = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(LAYERS)})\b", re.MULTILINE)
    assert [path for path, text in sources(checkout, CODE) if pattern.search(text)] == []


def test_modules_import_within_their_layer_relatively(checkout: Path) -> None:
    offenders = [
        path
        for path, text in sources(checkout, CODE)
        if (layer := path.split("/", maxsplit=1)[0]) in LAYERS
        and re.search(rf"^\s*(?:from|import) decurion\.{layer}\b", text, re.MULTILINE)
    ]
    assert offenders == []


LAW = "hooks/rules/law/"  # names root's folder, and everybody's, because it guards them


def test_no_file_holds_a_path_of_some_machine(checkout: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=checkout, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    pattern = re.compile(rb"(?<![\w*])/(?:root|home/(?!user\b|me\b|you\b|ada\b|dev\b)[a-z][a-z0-9]*)/[\w.]")
    offenders = [
        name
        for name in listed
        if name and (file := checkout / name).is_file() and not name.startswith(("tests/", LAW))
        if pattern.search(file.read_bytes())
    ]
    assert offenders == []

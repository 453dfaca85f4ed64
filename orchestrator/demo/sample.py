"""The sample project: a small shop with tests. Its Python files ship as `name.py.txt`.

So no test runner, linter or type checker takes them for code of this package, in the checkout or once installed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_COMMITTER = (
    "-c",
    "user.name=decurion demo",
    "-c",
    "user.email=demo@example.invalid",
    "-c",
    "commit.gpgsign=false",
)


def sample_project(folder: Path) -> Path:
    """Put the sample project into an empty folder, as a git repository where git is there; give the folder."""
    for name, source in _files(files("decurion.orchestrator.demo") / "project", ""):
        target = folder / name.removesuffix(".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    if shutil.which("git"):
        _commit(folder)
    return folder


def _files(place: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for item in place.iterdir():
        if item.is_dir():
            yield from _files(item, f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, item


def _commit(folder: Path) -> None:
    """Make it a repository, so that a person can look at the changes; where git fails the demo goes on without."""
    for args in (("init", "--quiet"), ("add", "."), (*_COMMITTER, "commit", "--quiet", "-m", "A small shop")):
        done = subprocess.run(["git", *args], cwd=folder, capture_output=True, check=False)
        if done.returncode:
            return

"""The Makefile's own set-up: a `.venv` that works stays, one that lost its Python goes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKE = shutil.which("make") or ""
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

pytestmark = pytest.mark.skipif(not MAKE, reason="needs make")


@pytest.mark.parametrize(
    ("python", "library", "stays"),
    [(sys.executable, PYTHON, True), ("/gone/python3", PYTHON, False), (sys.executable, "python3.0", False)],
    ids=["in place", "Python is gone", "Python is another version"],
)
def test_an_environment_is_kept_while_it_has_its_python(
    checkout: Path, tmp_path: Path, python: str, library: str, *, stays: bool
) -> None:
    shutil.copy(checkout / "Makefile", tmp_path)
    environment = tmp_path / ".venv"
    (environment / "lib" / library / "site-packages").mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin" / "python").symlink_to(python)
    (environment / "run.stamp").touch()
    subprocess.run([MAKE, "help"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert environment.exists() is stays

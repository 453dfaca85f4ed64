"""Lines that are printed to be pasted name the program as it can be called here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from decurion.orchestrator.naming import program


def test_on_the_path_it_is_just_decurion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "decurion").write_text("#!/bin/sh\n")
    (tmp_path / "decurion").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "decurion"


def test_elsewhere_it_is_what_was_started_relative_to_here(tmp_path: Path) -> None:
    script = tmp_path / ".venv" / "bin" / "decurion"
    script.parent.mkdir(parents=True)
    script.write_text("from decurion.orchestrator.naming import program\nprint(program())\n")
    command = [sys.executable, "-P", ".venv/bin/decurion"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == ".venv/bin/decurion", done.stderr

"""`decurion audit` as a person types it, and a session to ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.__main__ import main
from decurion.hooks.audit import session_dir
from tests.hooks.audit.samples import write_session

from .commands import Run


@pytest.fixture
def audit(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def run(*args: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        status = main(["audit", *args])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of a project, in the state folder; the current folder is the project's."""
    workspace = tmp_path / "shop"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    return write_session(Path(session_dir(str(workspace), "20261130-120000-aaaaaa"), "audit.jsonl"))

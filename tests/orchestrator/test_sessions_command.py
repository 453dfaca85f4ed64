"""`decurion sessions`: whatever became of a session's files, it is shown and never a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decurion.__main__ import main
from decurion.hooks.audit import session_dir

SESSION = "20261201-000000-abcdef"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    folder = Path(session_dir(str(tmp_path / "project"), SESSION))
    folder.mkdir(parents=True)
    (folder / "audit.jsonl").touch()
    return folder


def test_a_session_is_shown_with_how_it_ended(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lead = {"status": "completed", "summary": "Renamed.\x1b[2J"}
    (session / "result.json").write_text(json.dumps({"lead": lead}))
    assert main(["sessions", "show"]) == 0
    shown = capsys.readouterr().out
    assert f"{SESSION}  " in shown
    assert "  completed  " in shown
    assert shown.endswith("\nRenamed.\\x1b[2J\n")


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"lead": 5}', '{"lead": {}}', "\0"])
def test_a_result_that_cannot_be_read_is_none(
    session: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (session / "result.json").write_text(text)
    (session / "transcript.jsonl").write_text('nonsense\n{"type": "user"}\n')
    assert main(["sessions"]) == 0
    assert main(["sessions", "show"]) == 0
    shown = capsys.readouterr()
    assert "  interrupted  " in shown.out
    assert f" resume {SESSION}\n" in shown.out
    assert shown.err == ""

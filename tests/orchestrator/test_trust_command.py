"""`decurion trust`: what is accepted is shown, recorded, listed and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decurion.__main__ import main
from decurion.hooks.settings import load_settings
from tests.program import decurion


@pytest.fixture
def project(tmp_path: Path) -> Path:
    handler = {"type": "command", "command": ".claude/hooks/check.sh --strict"}
    settings = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]},
        "permissions": {"allow": ["Bash(docker push:*)"]},
    }
    (tmp_path / ".claude/hooks").mkdir(parents=True)
    (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
    (tmp_path / ".claude/hooks/check.sh").write_text("exit 0")
    return tmp_path


def test_trusting_shows_what_will_run_and_lasts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", "--yes", str(project)]) == 0
    shown = capsys.readouterr().out
    assert "PreToolUse [Bash]: .claude/hooks/check.sh --strict" in shown
    assert ".claude/hooks/check.sh\n" in shown
    assert "allowed without a question: Bash(docker push:*)" in shown
    assert f"Trusted: {project}" in shown
    assert load_settings(project).trust == "trusted"


def test_a_command_cannot_hide_from_who_is_to_trust_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = project / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("--strict", r"; evil\u001b[1K\u001b[1Gtrue"))
    assert main(["trust", "--show", str(project)]) == 0
    assert r"check.sh ; evil\x1b[1K\x1b[1Gtrue" in capsys.readouterr().out


def test_what_the_hooks_of_an_agent_definition_run_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".claude/agents").mkdir(parents=True)
    (tmp_path / ".claude/agents/deployer.md").write_text(
        "---\nname: deployer\ndescription: Deploys.\nhooks:\n  Stop:\n"
        "    - hooks:\n        - type: command\n          command: ./upload.sh --all\n---\nDeploy.\n"
    )
    assert main(["trust", "--show", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "SubagentStop [*] of agent deployer: ./upload.sh --all" in shown
    assert ".claude/agents/deployer.md" in shown


def test_here_is_the_default(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert main(["trust", "-y"]) == 0
    assert load_settings(project).trust == "trusted"


@pytest.mark.parametrize("closed", [False, True])
def test_where_nobody_can_be_asked_nothing_is_trusted_without_a_yes(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], closed: bool
) -> None:
    with (project / "nothing").open("w+") as stdin:
        monkeypatch.setattr("sys.stdin", None if closed else stdin)
        assert main(["trust", str(project)]) == 2
    shown = capsys.readouterr()
    assert "check.sh --strict" in shown.out
    assert shown.err.count("\n") == 1
    assert "--yes" in shown.err
    assert load_settings(project).trust == "unknown"


def test_show_accepts_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", "--show", str(project)]) == 0
    assert "Not trusted." in capsys.readouterr().out
    assert load_settings(project).trust == "unknown"


def test_list_and_revoke(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["trust", "-y", str(project)])
    main(["trust", "--list"])
    assert str(project) in capsys.readouterr().out
    assert main(["trust", "--revoke", str(project)]) == 0
    assert load_settings(project).trust == "unknown"
    assert main(["trust", "--revoke", str(project)]) == 2
    capsys.readouterr()
    main(["trust", "--list"])
    assert capsys.readouterr().out == "No project is trusted.\n"


def test_a_project_without_configuration_needs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(tmp_path)]) == 0
    assert "nothing that needs trust" in capsys.readouterr().out


def test_what_cannot_be_trusted_is_an_error_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(project / "nowhere")]) == 2
    (project / ".claude/settings.json").write_text("{")
    assert main(["trust", str(project)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2
    assert "settings.json:1" in errors[1]


@pytest.mark.parametrize("quiet", [("-p",), ("--output-format", "json")])
def test_a_session_says_aloud_what_is_not_in_force_however_quiet_it_is(
    project: Path, quiet: tuple[str, ...]
) -> None:
    run = decurion(project, "run", "--model", "offline", *quiet, "rename aaa to bbb")
    assert (
        "1 hook and 1 permission configured by this project are not trusted yet and not in force"
        in run.stderr
    )
    assert f"decurion trust {project}" in run.stderr

"""`decurion doctor`: all is well where it is, and each thing that is wrong is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.__main__ import main
from decurion.hooks.settings import load_settings
from decurion.orchestrator.doctor import Finding, programs
from decurion.orchestrator.doctor.canary import SPELLINGS, released_canary
from decurion.orchestrator.doctor.programs import check_command_hooks

pytestmark = pytest.mark.slow


def doctor(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, dict[str, Any]]]:
    status = main(["doctor", "--json", *args])
    findings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return status, {finding["subject"]: finding for finding in findings}


def test_the_canary_is_stopped_everywhere_and_everything_is_recorded(
    tmp_path: Path, own_places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = doctor(capsys, str(tmp_path))
    for who in ("lead", "subagent", "decurion hook"):
        assert found[who]["state"] == "ok"
        assert found[who]["text"] == f"{len(SPELLINGS)} spellings of the canary refused and recorded"
        assert len(found[who]["details"]) == len(SPELLINGS)
    assert [one for one in found.values() if one["state"] == "fail"] == []
    assert status == 0
    assert list(tmp_path.iterdir()) == []
    assert not (own_places / "state/projects").exists()


def test_quick_only_looks_at_the_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = doctor(capsys, "--quick", str(tmp_path))
    assert status == 0
    assert {"python", "git", "shfmt", "rg", "state folder", "rules", "settings", "key"} == set(found)


def settings(project: Path, command: str, **more: Any) -> None:
    handler = {"type": "command", "command": command}
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": hooks, **more}))
    main(["trust", "--yes", str(project)])


async def gates(project: Path) -> list[Finding]:
    with released_canary() as canary:
        return [finding async for finding in check_command_hooks(load_settings(project), project, canary)]


def test_every_configured_gate_is_tried_beside_the_law(tmp_path: Path) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    settings(tmp_path, f"echo '{json.dumps(said)}'")
    (finding,) = anyio.run(gates, tmp_path)
    assert (finding.state, finding.subject[:9]) == ("ok", "hook echo")


def test_a_gate_that_fails_is_found(tmp_path: Path) -> None:
    settings(tmp_path, "exit 1")
    (finding,) = anyio.run(gates, tmp_path)
    assert (finding.state, finding.text) == ("fail", "exit status 1")


def test_an_installed_program_is_tried_as_it_is_installed(
    tmp_path: Path, own_places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "SPELLINGS", SPELLINGS[:2])
    main(["hook", "install", "--claude"])
    file = own_places / ".claude/settings.json"
    file.write_text(file.read_text().replace(sys.executable, "/gone/python"))

    async def tried() -> dict[str, str]:
        with released_canary() as canary:
            return {one.subject: one.state async for one in programs.check_hook_program(tmp_path, canary)}

    assert anyio.run(tried) == {"decurion hook": "ok", f"decurion hook in {file}": "fail"}


@pytest.mark.parametrize(
    ("path", "text", "subject"),
    [(".decurion/rules.toml", "deny = [", "rules"), (".claude/settings.json", "{", "settings")],
)
def test_broken_files_are_found_and_named(
    tmp_path: Path, path: str, text: str, subject: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(text)
    status, found = doctor(capsys, "--quick", str(tmp_path))
    assert found[subject]["state"] == "fail"
    assert str(tmp_path / path) in found[subject]["text"]
    assert status == 1


def test_a_state_folder_that_cannot_be_made_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "file/state"))
    status, found = doctor(capsys, "--quick", str(tmp_path))
    assert found["state folder"]["state"] == "fail"
    assert status == 1


def test_a_missing_program_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, found = doctor(capsys, "--quick", str(tmp_path))
    assert "not found" in found["git"]["text"]
    assert status == 1


def test_no_folder_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path / "nowhere")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_a_person_reads_one_line_a_check(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-P", "-m", "decurion", "doctor", "--quick"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert run.returncode == 0
    assert run.stdout.endswith("\nAll is well.\n")
    assert "anthropic" not in run.stderr

"""`decurion hook install` and `uninstall`: shown, backed up, undone exactly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from decurion.__main__ import main
from decurion.hooks.own import EVENTS, handler, is_own
from decurion.hooks.settings import load_settings


@pytest.fixture
def settings_file(own_places: Path) -> Path:
    return own_places / ".claude/settings.json"


def write(path: Path, text: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.read_bytes()


def hooks_of(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())["hooks"]


def test_the_entry_is_shown_and_written_for_every_event(
    settings_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hook", "install", "--claude"]) == 0
    shown = capsys.readouterr().out
    assert str(settings_file) in shown
    assert json.dumps(handler()["command"]) in shown
    assert tuple(hooks_of(settings_file)) == EVENTS
    assert hooks_of(settings_file)["PreToolUse"] == [{"matcher": "*", "hooks": [handler()]}]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        ' {"model" : "x",\n\n"hooks":{}}',
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}\n\n',
        '{"hooks": {"PreToolUse": [], "Stop": [{"hooks": []}]}, "permissions": {"deny": ["Read(./.env)"]}}',
        "\ufeff{}",
        "",
    ],
)
def test_uninstall_gives_back_every_byte_and_leaves_no_backup(settings_file: Path, text: str) -> None:
    before = write(settings_file, text)
    settings_file.chmod(0o640)
    assert main(["hook", "install", "--claude"]) == 0
    assert main(["hook", "install", "--claude"]) == 0
    assert settings_file.read_bytes() != before
    assert settings_file.stat().st_mode & 0o777 == 0o640
    backup = settings_file.with_name("settings.json.before-decurion")
    assert backup.read_bytes() == before
    assert main(["hook", "uninstall", "--claude"]) == 0
    assert settings_file.read_bytes() == before
    assert list(settings_file.parent.iterdir()) == [settings_file]


def test_a_file_that_was_not_there_is_gone_again(settings_file: Path) -> None:
    main(["hook", "install", "--claude"])
    assert main(["hook", "uninstall", "--claude"]) == 0
    assert not settings_file.exists()


def test_what_the_person_changed_since_stays(settings_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(settings_file, '{"model": "x"}')
    main(["hook", "install", "--claude"])
    said = json.loads(settings_file.read_bytes())
    mine = {"type": "command", "command": "mine"}
    said["hooks"]["PreToolUse"][0]["hooks"].append(mine)
    write(settings_file, json.dumps(said | {"model": "y"}))
    main(["hook", "uninstall", "--claude"])
    assert json.loads(settings_file.read_bytes()) == {
        "model": "y",
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [mine]}]},
    }
    assert "your later changes stay" in capsys.readouterr().out


def test_an_older_entry_of_ours_is_replaced(settings_file: Path) -> None:
    old = handler() | {"command": handler()["command"].replace(sys.executable, "/gone/python")}
    entry = {"matcher": "*", "hooks": [old]}
    write(settings_file, json.dumps({"hooks": {"PreToolUse": [entry], "Stop": [entry]}}))
    main(["hook", "install", "--claude"])
    assert hooks_of(settings_file) == {event: [{"matcher": "*", "hooks": [handler()]}] for event in EVENTS}


def test_a_linked_settings_file_stays_a_link(settings_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    write(target, "{}")
    settings_file.parent.mkdir(parents=True)
    settings_file.symlink_to(target)
    main(["hook", "install", "--claude"])
    assert settings_file.is_symlink()
    assert "PreToolUse" in hooks_of(target)


@pytest.mark.parametrize(
    ("flag", "name"), [("--project", ".claude/settings.json"), ("--local", ".claude/settings.local.json")]
)
def test_a_projects_files_can_be_meant(
    flag: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["hook", "install", "--claude", flag]) == 0
    assert "PreToolUse" in hooks_of(tmp_path / name)


def test_two_places_contradict_each_other(settings_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hook", "install", "--claude", "--user", "--project"]) == 2
    assert "--user and --project contradict each other" in capsys.readouterr().err
    assert not settings_file.exists()


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_mode_of_any_new_file(settings_file: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert main(["hook", "install", "--claude"]) == 0
    finally:
        os.umask(before)
    assert settings_file.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
def test_a_broken_file_is_named_and_left_alone(
    settings_file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = write(settings_file, text)
    assert main(["hook", "install", "--claude"]) == 2
    assert str(settings_file) in capsys.readouterr().err
    assert settings_file.read_bytes() == before
    assert list(settings_file.parent.iterdir()) == [settings_file]


def test_without_a_product_it_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hook", "install"]) == 2
    assert "--claude" in capsys.readouterr().err


def test_uninstall_where_nothing_is_installed_changes_nothing(settings_file: Path) -> None:
    before = write(settings_file, '{"hooks": {"Stop": []}}')
    assert main(["hook", "uninstall", "--claude"]) == 0
    assert settings_file.read_bytes() == before


def test_our_own_sessions_do_not_ask_the_installed_program(settings_file: Path, tmp_path: Path) -> None:
    """Its law and log are in force there already; every call would be recorded twice."""
    main(["hook", "install", "--claude"])
    assert load_settings(tmp_path).hooks == ()
    assert settings_file.exists()


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (handler()["command"], True),
        ("decurion hook", True),
        ("/opt/bin/decurion hook", True),
        ("decurion check", False),
        ("my-decurion hook", False),
        ("'", False),
        (None, False),
    ],
)
def test_our_own_entry_is_known_again(command: object, ours: bool) -> None:
    assert is_own(command) is ours


def test_an_installed_program_that_cannot_start_refuses_rather_than_being_passed_over() -> None:
    command = handler()["command"].replace(sys.executable, "/gone/python")
    assert (
        subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False).returncode == 2
    )


def test_a_strangers_folder_named_decurion_is_not_imported(tmp_path: Path) -> None:
    write(tmp_path / "decurion/__init__.py", "raise SystemExit(0)")
    write(tmp_path / "json.py", "raise SystemExit(0)")
    run = subprocess.run(
        ["sh", "-c", handler()["command"]], input=b"", cwd=tmp_path, capture_output=True, check=False
    )
    assert run.returncode == 2
    assert b"cannot judge this call" in run.stderr

"""The person's own folders: nowhere but where they belong."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import pytest

from decurion.hooks.files import claude_dir
from decurion.hooks.folders import config_dir, home_dir, state_dir

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG is Linux's")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "STATE"):
        monkeypatch.delenv(f"DECURION_{name}_DIR", raising=False)
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def test_they_lie_below_the_home_folder_or_where_xdg_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert (config_dir(), state_dir()) == ("/home/ann/.config/decurion", "/home/ann/.local/state/decurion")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    monkeypatch.setenv("XDG_STATE_HOME", "/s")
    assert (config_dir(), state_dir()) == ("/c/decurion", "/s/decurion")


def test_a_relative_home_or_xdg_folder_leads_nothing_into_the_working_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, "here")
    assert home_dir() == home
    assert (config_dir(), state_dir()) == (f"{home}/.config/decurion", f"{home}/.local/state/decurion")
    assert claude_dir() == Path(home, ".claude")


def test_a_user_whom_nobody_knows_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert state_dir() == "/.local/state/decurion"


def test_our_own_variables_are_taken_from_the_working_folder_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DECURION_CONFIG_DIR", "c")
    monkeypatch.setenv("DECURION_STATE_DIR", "s")
    assert (config_dir(), state_dir()) == (str(tmp_path / "c"), str(tmp_path / "s"))

"""Files that others brought along are read only where they end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from decurion.__main__ import main
from decurion.hooks import ConfigError
from decurion.hooks.regular import read_regular, read_text

PLACES = (".claude/settings.json", ".decurion/rules.toml", ".claude/agents/a.md", ".claude/skills/x/SKILL.md")


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert read_regular(tmp_path / "link", 3) == b"abc"


def test_what_is_larger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcd")
    with pytest.raises(OSError, match="larger than 3 bytes"):
        read_regular(tmp_path / "f", 3)


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


def test_a_persons_text_is_read_or_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("\ufeffä".encode())
    assert read_text(tmp_path / "f") == "ä"
    for missing in ("none", "f/below"):
        with pytest.raises(FileNotFoundError):
            read_text(tmp_path / missing)
    (tmp_path / "f").write_bytes(b"a\n\xff")
    with pytest.raises(ConfigError, match=r"f:2: this is not UTF-8 text"):
        read_text(tmp_path / "f")
    with pytest.raises(ConfigError, match="cannot be read: it is larger"):
        read_text(tmp_path / "f", 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_checkout_cannot_hold_a_session_up_with_what_never_ends(
    place: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    monkeypatch.chdir(tmp_path)
    command = ["agents"] if "agents" in place else ["run", "--model", "offline", "-p", "rename aa to bb"]
    main(command)
    said = "".join(capsys.readouterr())
    assert ("no regular file" in said) is (".md" not in place or "agents" in place)

"""Places of a command that would run here and now: real links are followed, real scripts are read."""

from __future__ import annotations

import os

from ..folders import config_dir
from ..shell.events import Places
from .model import Source

FILE_NAME = "rules.toml"
"""The name of every rule file, the user's and a project's."""

MAX_SCRIPT = 262_144
"""Bytes of a script file that are read for judging; a longer one is not, and counts as unknown."""

_KNOWN = ("HOME", "USER", "LOGNAME", "TMPDIR", "PWD")


def live_places(workspace: str, cwd: str | None = None, home: str | None = None) -> Places:
    """Describe this machine's places, seen from a workspace; scratch folders are the system's."""
    home = home or os.path.expanduser("~")
    temps = dict.fromkeys(("/tmp", "/var/tmp", os.environ.get("TMPDIR", "").rstrip("/")))  # noqa: S108 - the shell's
    root = os.path.abspath(workspace)
    return Places(
        workspace=root,
        cwd=os.path.abspath(cwd) if cwd else root,
        home=home,
        user=os.environ.get("USER", ""),
        temp=tuple(temp for temp in temps if temp),
        env=tuple((name, os.environ[name]) for name in _KNOWN if name in os.environ),
        resolve=os.path.realpath,
        read=read_script,
    )


def read_script(path: str) -> str | None:
    """Give the text of a script file, or None where there is none, or it is no text, or too long."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_SCRIPT:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def rule_files(workspace: str) -> tuple[str, str]:
    """Give where the user's rules and a workspace's own rules stand; neither need exist."""
    return os.path.join(config_dir(), FILE_NAME), os.path.join(workspace, ".decurion", FILE_NAME)


def protected_places() -> tuple[Source, ...]:
    """Give, as rules, the folders of the law and the log where the environment moved them from their usual places."""
    from json import dumps

    moved = (os.environ.get("DECURION_CONFIG_DIR"), os.environ.get("DECURION_STATE_DIR"))
    folders = [os.path.abspath(folder) for folder in moved if folder]
    if not folders:
        return ()
    patterns = [pattern for folder in folders for pattern in (folder, f"{folder}/**")]
    return (Source("environment", f"[paths]\npolicy-folders = {dumps(patterns)}\n", "project"),)

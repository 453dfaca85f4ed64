"""Places of a command that would run here and now: real links are followed, real scripts are read."""

from __future__ import annotations

import os

from ..shell.events import Places

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

"""Where logs and keys live: one state folder for each user, one folder for each project and session."""

from __future__ import annotations

import os
import sys

_SLUG_LENGTH = 40


def state_dir() -> str:
    """Give the state folder, absolute; it need not exist. `DECURION_STATE_DIR` overrides the platform's place."""
    override = os.environ.get("DECURION_STATE_DIR")
    if override:
        return os.path.abspath(override)
    if not sys.platform.startswith("linux"):
        from platformdirs import user_state_dir

        return user_state_dir("decurion", appauthor=False)
    # What platformdirs answers on Linux, without its 40 ms of imports in every hook program.
    base = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")
    return os.path.join(base, "decurion")


def project_dir(workspace: str) -> str:
    """Give the folder of all sessions of one workspace: a readable slug and a hash of the real path."""
    from ..digests import sha256

    real = os.path.realpath(workspace)
    kept = "".join(char if char.isalnum() else "-" for char in os.path.basename(real))[:_SLUG_LENGTH]
    digest = sha256(os.fsencode(real)).hexdigest()[:12]
    return os.path.join(state_dir(), "projects", f"{kept.strip('-') or 'root'}-{digest}")


def session_dir(workspace: str, session_id: str) -> str:
    """Give the folder of one session (`audit.jsonl`, `transcript.jsonl`, `subagents/`, `result.json`)."""
    return os.path.join(project_dir(workspace), session_id)


def make_private(folder: str) -> None:
    """Create a folder and its missing parents, readable by their owner only. Folders that exist stay as they are."""
    parent = os.path.dirname(folder)
    if parent and not os.path.isdir(parent):
        make_private(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise

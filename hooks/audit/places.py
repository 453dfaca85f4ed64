"""Where logs live: in the person's state folder, one folder for each project and session."""

from __future__ import annotations

import os

from ..folders import state_dir

_SLUG_LENGTH = 40


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

"""Our own hook program as an entry of a settings file: how it is started, and how to know it again."""

from __future__ import annotations

import shlex
import sys
import sysconfig
from pathlib import Path
from typing import Any

__all__ = ("EVENTS", "handler", "is_own")

EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
"""Where it is installed: before a call to judge and record it, after it to record the outcome."""

_START = "from decurion.hooks.cold import run; run()"
_TIMEOUT = 30


def handler() -> dict[str, Any]:
    """Give the settings entry that starts the hook program of this very installation.

    `-I` keeps a folder `decurion` of a stranger's repository from being imported in our place, `-S` spares a tool
    call the 3 ms of `site`, so the folders to import from are named. Claude Code lets a call pass when a hook cannot
    be started; the `exit 2` makes a refusal of that, should this Python ever be gone.
    """
    start = f"import sys; sys.path += {_folders()!r}; {_START}"
    command = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(start)} || exit 2"
    return {"type": "command", "command": command, "timeout": _TIMEOUT, "onFailure": "block"}


def _folders() -> list[str]:
    """Give the folders of this package and of its dependencies."""
    ours = Path(__file__).absolute().parent.parent.parent
    return list(dict.fromkeys([str(ours), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))


def is_own(command: object) -> bool:
    """Tell whether a command of a settings file starts our hook program, of this or another installation."""
    if not isinstance(command, str):
        return False
    if _START in command:
        return True
    try:
        words = shlex.split(command)[:2]
    except ValueError:
        return False
    return [word.rsplit("/", 1)[-1] for word in words] == ["decurion", "hook"]

"""Where settings files are, and how a JSON file that a person writes is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

from . import folders
from .errors import ConfigError
from .regular import read_text

__all__ = ("DEFINITION_FOLDERS", "claude_dir", "config_dir", "project_files", "read_json", "user_files")


DEFINITION_FOLDERS = (".decurion/agents", ".claude/agents", ".agents/agents")
"""Where a project keeps agent definitions, strongest first."""


def config_dir() -> Path:
    """Give the person's configuration folder; it need not exist."""
    return Path(folders.config_dir())


def claude_dir() -> Path:
    """Give the folder in which Claude Code keeps what is the person's; it need not exist."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(folders.home_dir(), ".claude"))


def user_files() -> tuple[Path, ...]:
    """Give the places of the person's own settings, weakest first."""
    return claude_dir() / "settings.json", config_dir() / "settings.json"


def project_files(project: Path) -> tuple[Path, ...]:
    """Give the places of a project's settings, weakest first."""
    names = (".claude/settings.json", ".claude/settings.local.json", ".decurion/settings.json")
    return tuple(project / name for name in names)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file; a file that is not there is an empty one.

    Raises:
        ConfigError: it cannot be read or is no JSON object; names file and line.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        return {}
    if not text.strip():
        return {}
    try:
        said = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"no valid JSON: {error.msg} (column {error.colno})", str(path), error.lineno
        ) from None
    except RecursionError:
        raise ConfigError("nested too deeply", str(path)) from None
    if not isinstance(said, dict):
        raise ConfigError("must hold one JSON object", str(path), 1)
    return cast("dict[str, Any]", said)

"""What this machine offers: programs, folders, rules, settings, a key."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from decurion.hooks import DecurionError
from decurion.hooks.folders import make_private, state_dir
from decurion.hooks.rules import Law

from .finding import Finding

_PROGRAMS = {
    "git": ("--version", "needed for worktrees and undo; install git"),
    "shfmt": ("--version", "needed to read shell commands; reinstall decurion (wheel shfmt-py)"),
    "rg": ("--version", "needed by grep; reinstall decurion (wheel ripgrep)"),
}
_SECONDS = 10


def check_machine(project: Path) -> Iterator[Finding]:
    """Look at everything a session will need."""
    yield Finding("ok", "python", f"{platform.python_version()} at {sys.executable}")
    for name, (flag, remedy) in _PROGRAMS.items():
        yield _program(name, flag, remedy)
    yield _state_folder()
    yield _rules(project)
    yield _key()


def _program(name: str, flag: str, remedy: str) -> Finding:
    # Wheels put their programs beside the interpreter, which need not be on PATH.
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}{os.pathsep}{Path(sys.executable).parent}")
    if path is None:
        return Finding("fail", name, f"not found: {remedy}")
    try:
        run = subprocess.run([path, flag], capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("fail", name, f"{path} does not run ({error}): {remedy}")
    return Finding("ok", name, f"{run.stdout.splitlines()[0]} at {path}")


def _state_folder() -> Finding:
    folder = Path(state_dir())
    try:
        make_private(str(folder))
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        text = f"{folder} cannot be written ({error.strerror}), and without a log nothing runs: set DECURION_STATE_DIR"
        return Finding("fail", "state folder", text)
    if folder.stat().st_mode & 0o077:
        return Finding(
            "note", "state folder", f"{folder} can be read by others; chmod 700 keeps the logs yours"
        )
    return Finding("ok", "state folder", str(folder))


def _rules(project: Path) -> Finding:
    try:
        law = Law.here(str(project))
    except DecurionError as error:
        return Finding("fail", "rules", str(error))
    return Finding(
        "ok", "rules", f"{len(law.rules.rules)} in force, all examples hold, digest {law.digest[:12]}"
    )


def _key() -> Finding:
    names = [name for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN") if os.environ.get(name)]
    if names:
        return Finding("ok", "key", f"{names[0]} is set")
    return Finding(
        "note", "key", "no ANTHROPIC_API_KEY: live models are out of reach, `--model offline` works"
    )

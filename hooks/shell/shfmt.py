"""Find and start shfmt."""

from __future__ import annotations

import os

from ..errors import ConfigError

MAX_JSON = 6_000_000
"""Bytes of JSON past which a program is too large to judge in time."""


SHFMT_SECONDS = 5.0
"""How long the parser may take; it needs milliseconds, and a text that takes longer is refused."""


class Unreadable(Exception):
    """The text is not a shell program that can be judged; the argument says why, in one line."""


def run_shfmt(source: bytes) -> bytes:
    """The JSON that shfmt makes of bash text.

    Raises:
        Unreadable: if shfmt rejects it.
        ConfigError: if shfmt cannot be found.
    """
    from ..quick import run_quick

    status, output, errors = run_quick([shfmt_path(), "-ln", "bash", "--to-json"], source, SHFMT_SECONDS)
    if status:
        first = errors.decode("utf-8", "replace").partition("\n")[0].strip()
        raise Unreadable(f"the shell syntax cannot be read: {first[:200]}")
    return output


_found: list[str] = []


def shfmt_path() -> str:
    """Find shfmt: beside this interpreter, in the wheel's scripts folder, or on PATH.

    Raises:
        ConfigError: if it is nowhere.
    """
    if _found:
        return _found[0]
    import sys

    beside = os.path.join(os.path.dirname(sys.executable), "shfmt")
    found = beside if os.access(beside, os.X_OK) else _in_wheel() or _on_path()
    if found is None:
        raise ConfigError(
            f"shfmt is not installed (looked beside {sys.executable} and on PATH): pip install shfmt-py"
        )
    _found.append(found)
    return found


def _in_wheel() -> str | None:
    from importlib import metadata

    try:
        files = metadata.files("shfmt-py") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "shfmt":
            path = os.path.normpath(str(file.locate()))
            return path if os.access(path, os.X_OK) else None
    return None


def _on_path() -> str | None:
    # `shutil` costs the cold hook program 2 ms, and mostly the two places before this one have it.
    from shutil import which

    return which("shfmt")

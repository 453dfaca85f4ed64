"""Find and start shfmt, and read what it says."""

from __future__ import annotations

import os

from ..errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

MAX_JSON = 6_000_000
"""Bytes of JSON past which a program is too large to judge in time."""


SHFMT_SECONDS = 5.0
"""How long the parser may take; it needs milliseconds, and a text that takes longer is refused."""


class Unreadable(Exception):
    """The text is not a shell program that can be judged; the argument says why, in one line."""


MAX_ROUNDS = 6
"""How often a text is read again whose comments end in backslashes."""


def tree_of(source: bytes) -> tuple[bytes, Json]:
    """The tree that shfmt makes of bash text, and the text it stands for.

    A backslash at the end of a comment continues nothing, but shfmt takes it for a continued line; so it is
    blanked in the text given back, which is as long.

    Raises:
        Unreadable: if shfmt rejects the text, or it is too large.
        ConfigError: if shfmt cannot be found.
    """
    import json

    for _round in range(MAX_ROUNDS):
        output = run_shfmt(source)
        if len(output) > MAX_JSON:
            raise Unreadable("the command is too large to be judged")
        tree = json.loads(output)
        ends = _continued_comments(tree) if b"#" in source and b"\\\n" in source else []
        if not ends:
            return source, tree
        mended = bytearray(source)
        for end in ends:
            mended[end : end + 1] = b" "
        source = bytes(mended)
    raise Unreadable("comments of the command end in backslashes, which cannot be judged")


def _continued_comments(tree: Json) -> list[int]:
    """Where the backslashes stand that end a comment."""
    found: list[int] = []
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if type(node) is list:
            items: list[Any] = node  # pyright: ignore[reportUnknownVariableType] - JSON may hold anything
            todo.extend(items)
        elif type(node) is dict:
            fields: Json = node  # pyright: ignore[reportUnknownVariableType] - its keys are texts
            if "Hash" in fields and str(fields.get("Text", "")).endswith("\\\n"):
                found.append(int(fields["End"]["Offset"]) - 2)
            todo.extend(fields.values())
    return found


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

"""Compiled rules kept between runs, so that a cold hook program reads no TOML and tries no examples.

The key is the digest of all rule texts and of the code that compiles them; the content is checked against its own
digest. The folder belongs to the user alone. A cache that cannot be read or written is merely slower.
"""

from __future__ import annotations

import json
import os

from ..digests import sha256
from ..folders import make_private, state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .load import Source

_FOLDER = "rules-cache"
_KEEP = 16


def load_cached(sources: tuple[Source, ...]) -> tuple[str, dict[str, Any]] | None:
    """Give the digest of the compiled rules of these texts and the rules, or None where there are none to trust."""
    try:
        path = _path(sources)
        about = os.stat(path)
        if about.st_uid != os.getuid() or about.st_mode & 0o022:
            return None
        with open(path, encoding="ascii") as file:
            check, _, text = file.read().partition("\n")
        if sha256(text.encode()).hexdigest() != check:
            return None
        digest, _, packed = text.partition("\n")
        return digest, json.loads(packed)
    except (OSError, ValueError):
        return None


def save_cached(sources: tuple[Source, ...], digest: str, packed: dict[str, Any]) -> None:
    """Keep compiled rules and their digest; where that is impossible, do nothing."""
    text = f"{digest}\n{json.dumps(packed, separators=(',', ':'), ensure_ascii=True)}"
    try:
        path = _path(sources)
        folder = os.path.dirname(path)
        make_private(folder)
        draft = f"{path}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(f"{sha256(text.encode()).hexdigest()}\n{text}")
        os.replace(draft, path)
        _sweep(folder)
    except OSError:
        return


def _path(sources: tuple[Source, ...]) -> str:
    digest = sha256(_code_stamp().encode())
    for source in sources:
        digest.update(f"{source.level}\0{source.path}\0{source.agents}\0{len(source.text)}\0".encode())
        digest.update(source.text.encode())
    return os.path.join(state_dir(), _FOLDER, f"{digest.hexdigest()[:40]}.json")


def _code_stamp() -> str:
    """Tell one state of the judging code from another, so that examples are tried again after an update."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = (here, os.path.join(os.path.dirname(here), "shell"))
    stamps = [
        f"{entry.name}:{entry.stat().st_mtime_ns}"
        for folder in folders
        for entry in os.scandir(folder)
        if entry.name.endswith(".py")
    ]
    return "\n".join(sorted(stamps))


def _sweep(folder: str) -> None:
    files = sorted(
        (entry for entry in os.scandir(folder) if entry.is_file()), key=lambda e: e.stat().st_mtime
    )
    for entry in files[:-_KEEP]:
        os.unlink(entry.path)

"""Whose configuration may run programs: a project's only after the person has seen it and said so.

`trust.json` in the configuration folder maps the real path of a project to a digest of everything in it that is
configuration to be executed. If any of that changes, the project has to be trusted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from .errors import ConfigError, UsageError
from .files import DEFINITION_FOLDERS, config_dir, project_files, read_json
from .front_matter import split_front_matter

__all__ = (
    "Trust",
    "is_trusted",
    "project_digest",
    "project_parts",
    "revoke",
    "trust_project",
    "trusted_projects",
)

Trust = Literal["nothing", "trusted", "unknown", "changed"]
"""`nothing`: the project configures nothing that needs trust. `changed`: it did not look like this when trusted."""

_SCRIPT_FOLDERS = (".claude/hooks", ".decurion/hooks")
_OTHER_FILES = (".mcp.json",)
_WORD = re.compile(r"[^\s\"'`;|&<>()]+")
_PROJECT = re.compile(r"\$\{?(?:CLAUDE|DECURION)_PROJECT_DIR\}?/?")
_LARGEST = 10_000_000
"""Bytes of one file that are part of the digest; of a larger one, which no script is, so are its size and last change."""


def project_digest(project: Path) -> str:
    """Give one digest of what a project would have executed.

    That is: hooks and granted permissions in its settings files, the heads of agent definitions with hooks,
    `.mcp.json`, and the scripts inside the project that the hooks name or that lie in a hooks folder. The rest of the
    project may change freely.
    """
    whole = hashlib.sha256()
    for name, content in sorted(_executable(Path(os.path.realpath(project)))):
        for part in (name.encode("utf-8", "surrogateescape"), hashlib.sha256(content).digest()):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def project_parts(project: Path) -> tuple[str, ...]:
    """Give the names of the files, relative to the project, whose executable parts are in the digest."""
    found = _executable(Path(os.path.realpath(project)))
    return tuple(sorted({name.removeprefix("file:") for name, _content in found}))


def _executable(project: Path) -> Iterator[tuple[str, bytes]]:
    named: set[Path] = set()
    for file in project_files(project):
        said = read_json(file)
        loosens = (said.get("hooks"), _allowed(said.get("permissions")))
        if any(loosens):
            yield str(file.relative_to(project)), json.dumps(loosens, sort_keys=True).encode()
            named |= set(_named_scripts(said.get("hooks"), project))
    for path in (path for folder in DEFINITION_FOLDERS for path in _files(project / folder)):
        head = _head(path)
        if hooks := head.get("hooks"):
            yield str(path.relative_to(project)), repr(head).encode()
            named |= set(_named_scripts(hooks, project))
    named |= {path for folder in _SCRIPT_FOLDERS for path in _files(project / folder)}
    named |= {project / name for name in _OTHER_FILES if (project / name).is_file()}
    for path in named:
        yield f"file:{path.relative_to(project)}", _read(path)


def _head(path: Path) -> Mapping[str, Any]:
    """Give the fields of a definition's head; of what is none, or cannot be read, none: it is refused and runs nothing."""
    if path.suffix != ".md":
        return {}
    try:
        return split_front_matter(_read(path).decode())[0]
    except (ConfigError, UnicodeDecodeError):
        return {}


def _allowed(permissions: object) -> object:
    return cast("dict[str, Any]", permissions).get("allow") if isinstance(permissions, dict) else None


def _named_scripts(said: object, project: Path) -> Iterator[Path]:
    """Find the files inside the project that stand as words in commands."""
    if isinstance(said, dict):
        for value in cast("dict[str, object]", said).values():
            yield from _named_scripts(value, project)
    elif isinstance(said, list):
        for value in cast("list[object]", said):
            yield from _named_scripts(value, project)
    elif isinstance(said, str):
        for word in _WORD.findall(_PROJECT.sub("", said)):
            # `$(git rev-parse --show-toplevel)/x.sh` leaves `/x.sh`, so a leading slash is tried without it, too.
            spelled = {Path(os.path.normpath(project / form)) for form in (word, word.lstrip("/"))}
            yield from (path for path in spelled if path.is_relative_to(project) and _is_file(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content, status = file.read(_LARGEST), os.fstat(file.fileno())
    except OSError as error:
        raise ConfigError(f"cannot be read, so it cannot be trusted: {error}", str(path)) from None
    return (
        content if status.st_size <= _LARGEST else content + b"%d %d" % (status.st_size, status.st_mtime_ns)
    )


def is_trusted(project: Path, digest: str) -> Trust:
    """Tell whether the person trusts a project as it is now.

    Raises:
        ConfigError: the trust file cannot be understood.
    """
    entry = trusted_projects().get(os.path.realpath(project))
    if entry is None:
        return "unknown"
    return "trusted" if entry.get("digest") == digest else "changed"


def trusted_projects() -> Mapping[str, Mapping[str, str]]:
    """Give the trusted projects: real path → `{"digest": …, "at": ISO time}`.

    Raises:
        ConfigError: the trust file cannot be understood.
    """
    path = _trust_file()
    entries: Any = read_json(path).get("projects", {})
    if not isinstance(entries, dict) or not all(
        isinstance(entry, dict) for entry in cast("Any", entries).values()
    ):
        raise ConfigError('"projects" must map folders to entries; delete the file to trust anew', str(path))
    return cast("dict[str, dict[str, str]]", entries)


def trust_project(project: Path) -> str:
    """Record that the person trusts a project as it is now; gives the digest.

    Raises:
        UsageError: it is not a folder.
        ConfigError: a file of the project, or the trust file, cannot be read or written.
    """
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder")
    digest = project_digest(project)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    _write({**trusted_projects(), os.path.realpath(project): {"digest": digest, "at": at}})
    return digest


def revoke(project: Path) -> bool:
    """Take trust back; False where there was none. The folder itself need not exist any more."""
    entries = dict(trusted_projects())
    if entries.pop(os.path.realpath(project), None) is None:
        return False
    _write(entries)
    return True


def _trust_file() -> Path:
    return config_dir() / "trust.json"


def _write(entries: Mapping[str, Mapping[str, str]]) -> None:
    path = _trust_file()
    text = json.dumps({"version": 1, "projects": entries}, indent=2, sort_keys=True) + "\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".trust-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", str(path)) from None

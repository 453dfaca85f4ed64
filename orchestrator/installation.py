"""Put our hook program into another product's settings file and take it out again, leaving no trace."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from decurion.hooks import ConfigError
from decurion.hooks.files import read_json
from decurion.hooks.own import EVENTS, handler, is_own

BACKUP_SUFFIX = ".before-decurion"
"""A settings file's bytes as they were, beside it, until `uninstall`."""


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of one settings file: what to show of it, and the bytes to write (None: remove the file)."""

    file: Path
    shown: str
    content: bytes | None = None
    is_needed: bool = True
    keeps_backup: bool = False
    is_exact: bool = False
    """The file becomes what it was before the installation, byte for byte."""

    def carry_out(self) -> str:
        """Write it; gives a line that says what was done.

        Raises:
            ConfigError: the file cannot be written.
        """
        # Through a link, so that settings kept elsewhere (dotfiles) stay linked.
        target, backup = Path(os.path.realpath(self.file)), _backup(self.file)
        try:
            if self.keeps_backup and target.exists() and not backup.exists():
                _write(backup, target.read_bytes(), target)
            if self.content is None:
                target.unlink()
            else:
                _write(target, self.content, target)
            if not self.keeps_backup:
                backup.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror or error}", str(self.file)) from None
        if self.keeps_backup:
            kept = f" Backup: {backup}." if backup.exists() else ""
            return f"Installed.{kept} Try it with `decurion doctor`."
        return (
            "Removed; the file is as it was before." if self.is_exact else "Removed; your later changes stay."
        )


def planned_install(file: Path) -> Change:
    """Plan the entry of our hook program on each of its events; an older one of ours is replaced.

    Raises:
        ConfigError: the file is not valid, so nothing is written to it.
    """
    settings = read_json(file)
    entry = {"matcher": "*", "hooks": [handler()]}
    changed = _without_ours(settings, str(file))
    hooks: dict[str, Any] = changed.setdefault("hooks", {})
    for event in EVENTS:
        hooks[event] = [*_groups(hooks, event, str(file)), entry]
    shown = json.dumps({"hooks": {event: [entry] for event in EVENTS}}, indent=2)
    if changed == settings:
        return Change(file, "The hook program is installed here already.", is_needed=False)
    return Change(file, shown, _render(changed), keeps_backup=True)


def planned_uninstall(file: Path) -> Change:
    """Plan the removal of our entries, and of the backup. What was there before comes back byte for byte.

    Raises:
        ConfigError: the file is not valid, so nothing is written to it.
    """
    settings = read_json(file)
    changed = _without_ours(settings, str(file))
    if changed == settings:
        return Change(file, "The hook program is not installed here.", is_needed=False)
    shown = "The entries of the hook program will be removed."
    backup = _backup(file)
    if backup.exists() and _without_empties(read_json(backup)) == _without_empties(changed):
        return Change(file, shown, backup.read_bytes(), is_exact=True)
    if not backup.exists() and not _without_empties(changed):
        return Change(file, shown, None, is_exact=True)
    return Change(file, shown, _render(changed))


def _without_ours(settings: dict[str, Any], source: str) -> dict[str, Any]:
    hooks = settings.get("hooks")
    if hooks is None:
        return dict(settings)
    if not isinstance(hooks, dict):
        raise ConfigError("hooks must be an object", source)
    kept = {
        event: _pruned(_groups(cast("dict[str, Any]", hooks), event, source))
        for event in cast("dict[str, Any]", hooks)
    }
    kept = {event: groups for event, groups in kept.items() if groups or not hooks[event]}
    return {**settings, "hooks": kept}


def _groups(hooks: dict[str, Any], event: str, source: str) -> list[Any]:
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise ConfigError(f"hooks.{event} must be a list", source)
    return cast("list[Any]", groups)


def _pruned(groups: list[Any]) -> list[Any]:
    """Take our handlers out of an event's groups, and a group that held nothing else."""
    kept: list[Any] = []
    for group in groups:
        handlers = cast("dict[str, Any]", group).get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            kept.append(group)
            continue
        others = [one for one in cast("list[Any]", handlers) if not _is_ours(one)]
        if others or not handlers:
            kept.append({**cast("dict[str, Any]", group), "hooks": others})
    return kept


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and is_own(cast("dict[str, Any]", entry).get("command"))


def _without_empties(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    kept = {event: groups for event, groups in cast("dict[str, Any]", hooks).items() if groups}
    others = {key: value for key, value in settings.items() if key != "hooks"}
    return {**others, "hooks": kept} if kept else others


def _render(settings: dict[str, Any]) -> bytes:
    return (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP_SUFFIX)


def _write(path: Path, content: bytes, like: Path) -> None:
    """Replace a file at once, with the mode of another one where that exists, else that of any new file."""
    mode = like.stat().st_mode & 0o777 if like.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".decurion-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if mode is not None:
            draft.chmod(mode)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise

"""Hooks and permissions from settings files: the person's own, and those that a project brings along.

The format is Claude Code's `settings.json`. A project may always tighten (`permissions.deny`, `permissions.ask`);
what would run programs or loosen something waits for the person's trust, see `trust`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from .command import CommandHook
from .counts import counted
from .errors import ConfigError
from .files import project_files, read_json, user_files
from .frozen import frozen
from .handlers import read_hooks
from .trust import Trust, is_trusted, project_digest

__all__ = ("Settings", "load_settings")

_LISTS = ("deny", "ask", "allow")


@frozen
class Settings:
    """What the settings files say, taken together.

    `hooks` run; `withheld` are configured by a project that is not trusted and do not. `deny`, `ask` and `allow`
    are permission rules in Claude Code's syntax. `notes` are lines for the person: whatever stands in a file but is
    not in force, and why.
    """

    hooks: tuple[CommandHook, ...] = ()
    withheld: tuple[CommandHook, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    """Variables for the agents' commands, from the person's own files alone: a project's could make any of them run
    what it likes."""
    notes: tuple[str, ...] = ()
    trust: Trust = "nothing"
    brought: tuple[str, ...] = ()
    """What the project's files allow; part of `allow` where it is trusted."""


@frozen
class SettingsFile:
    """One file as read: what it configures, still without a verdict on trust."""

    path: str
    hooks: tuple[CommandHook, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    disables_hooks: bool = False
    notes: tuple[str, ...] = ()


def load_settings(project: Path, *, trust_project: bool = False) -> Settings:
    """Read all settings files that concern a project.

    `trust_project` lets the project's hooks run this once without an entry in the trust file.

    Raises:
        ConfigError: a file cannot be read or understood; what may hold a refusal is never passed over.
    """
    own = [read_file(path) for path in user_files()]
    seen = {os.path.realpath(file.path) for file in own}
    brought = [read_file(path) for path in project_files(project) if os.path.realpath(path) not in seen]
    trust: Trust = "nothing"
    if any(file.hooks or file.allow for file in brought):
        trust = "trusted" if trust_project else is_trusted(project, project_digest(project))
    return _combine(own, brought, trust, project)


def _combine(own: list[SettingsFile], brought: list[SettingsFile], trust: Trust, project: Path) -> Settings:
    notes = [note for file in (*own, *brought) for note in file.notes]
    hooks = [hook for file in own for hook in file.hooks]
    projects = [hook for file in brought for hook in file.hooks]
    allow = [rule for file in own for rule in file.allow]
    if any(file.disables_hooks for file in brought) and projects:
        notes.append("the project's settings switch its own hooks off (disableAllHooks); yours stay on")
        projects = []
    if any(file.disables_hooks for file in own) and (hooks or projects):
        notes.append(
            "your settings switch all configured hooks off (disableAllHooks); the rules stay in force"
        )
        hooks, projects = [], []
    notes += [
        f"{file.path}: its `env` is not used; only your own settings can set variables"
        for file in brought
        if file.env
    ]
    withheld: list[CommandHook] = []
    if trust == "trusted":
        hooks += projects
        allow += [rule for file in brought for rule in file.allow]
    else:
        withheld = projects
        notes += _untrusted(withheld, sum(len(file.allow) for file in brought), trust, project)
    return Settings(
        hooks=tuple(dict.fromkeys(hooks)),
        withheld=tuple(withheld),
        deny=tuple(rule for file in (*own, *brought) for rule in file.deny),
        ask=tuple(rule for file in (*own, *brought) for rule in file.ask),
        allow=tuple(allow),
        env={name: value for file in own for name, value in file.env},
        notes=tuple(notes),
        trust=trust,
        brought=tuple(rule for file in brought for rule in file.allow),
    )


def _untrusted(withheld: list[CommandHook], allowed: int, trust: Trust, project: Path) -> list[str]:
    parts: list[str] = []
    if withheld:
        parts.append(counted(len(withheld), "hook"))
    if allowed:
        parts.append(counted(allowed, "permission"))
    if not parts:
        return []
    one = len(withheld) + allowed == 1
    verb, them = ("is", "it") if one else ("are", "them")
    changed = (
        f"{'has' if one else 'have'} changed since you trusted {them}, so {them if one else 'they'} {verb}"
    )
    why = f"{changed} not in force" if trust == "changed" else f"{verb} not trusted yet and not in force"
    note = (
        f"{' and '.join(parts)} configured by this project {why}: "
        f"see `decurion trust --show {project}`, accept with `decurion trust {project}` or --trust-project"
    )
    return [note]


def read_file(path: Path) -> SettingsFile:
    """Read one settings file; one that is not there configures nothing.

    Raises:
        ConfigError: it cannot be read, is no JSON, or has a part that is not understood.
    """
    said = read_json(path)
    permissions: object = said.get("permissions", {})
    if not isinstance(permissions, dict):
        raise ConfigError('"permissions" must be an object', str(path))
    lists = {name: _rules(cast("dict[str, Any]", permissions), name, path) for name in _LISTS}
    disabled = said.get("disableAllHooks", False)
    if not isinstance(disabled, bool):
        raise ConfigError('"disableAllHooks" must be true or false', str(path))
    hooks, notes = read_hooks(said.get("hooks"), str(path))
    return SettingsFile(
        str(path), hooks, env=_variables(said, path), disables_hooks=disabled, notes=notes, **lists
    )


def _variables(said: dict[str, Any], path: Path) -> tuple[tuple[str, str], ...]:
    env: object = said.get("env", {})
    if not isinstance(env, dict) or not all(
        isinstance(value, (str, int)) for value in cast("Any", env).values()
    ):
        raise ConfigError('"env" must be an object of texts', str(path))
    return tuple((name, str(value)) for name, value in cast("dict[str, Any]", env).items())


def _rules(permissions: dict[str, Any], name: str, path: Path) -> tuple[str, ...]:
    rules: object = permissions.get(name, [])
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in cast("list[Any]", rules)):
        raise ConfigError(f'"permissions.{name}" must be a list of texts', str(path))
    return tuple(cast("list[str]", rules))

"""The law of a session: rules found and given, settings, permissions and mode, as one chain of gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from decurion.agents.catalogue import Catalogue
from decurion.hooks import ConfigError, RunRef, replace
from decurion.hooks.chain import Hook, HookChain
from decurion.hooks.command import CommandHook, command_hooks
from decurion.hooks.handlers import read_hooks
from decurion.hooks.payload import Surroundings
from decurion.hooks.regular import read_text
from decurion.hooks.rules import Law, Source, law_hook, live_places
from decurion.hooks.settings import Settings, load_settings
from decurion.hooks.shell.events import Places
from decurion.hooks.shell.shfmt import shfmt_path
from decurion.hooks.trust import is_trusted, project_digest

from .options import SessionOptions
from .permissions import mode_hook, permission_hooks, permission_sources

Workplace = Callable[[RunRef], Path]
"""Where an agent works: the workspace, or its own checkout."""


@dataclass(frozen=True, slots=True)
class LawInForce:
    """What was found and is in force. `notes` are lines for the person: what is configured but not in force."""

    law: Law
    settings: Settings
    options: SessionOptions
    definition_hooks: tuple[tuple[str, CommandHook], ...] = ()
    """Hooks of agent definitions, each with the type of agent it is for."""
    notes: tuple[str, ...] = ()

    def chain(self, workplace: Workplace, transcript: Path) -> HookChain:
        """Make the one chain of the session: the law first, then modes and permissions, then configured hooks."""
        law = self.options.law
        hooks: list[Hook] = [law_hook(self.law, _places(workplace))]
        hooks += mode_hook(law.permission_mode)
        hooks += permission_hooks((*self.settings.deny, *law.disallowed), self.settings.ask)

        def where(ref: RunRef) -> Surroundings:
            return Surroundings(
                cwd=str(workplace(ref)),
                project=str(self.options.workspace),
                transcript_path=str(transcript),
                permission_mode=law.permission_mode,
            )

        hooks += command_hooks(self.settings.hooks, where)
        for agent_type, configured in self.definition_hooks:
            # One chain for all: a definition's hooks are in it for everybody and concern its own agents only.
            hooks += [replace(hook, agents=agent_type) for hook in command_hooks((configured,), where)]
        return HookChain((*hooks, *law.hooks))


def law_in_force(options: SessionOptions, catalogue: Catalogue) -> LawInForce:
    """Load everything that binds a session in this workspace.

    Raises:
        ConfigError: a rules or settings file is broken (names file and line), or shfmt is missing, without which no
            command can be judged.
    """
    shfmt_path()
    settings = load_settings(options.workspace, trust_project=options.law.trust_project)
    given = options.law.rules_file
    extra = [_further(given)] if given else []
    extra += permission_sources((*settings.deny, *options.law.disallowed), settings.ask)
    law = Law.here(str(options.workspace), extra=tuple(extra))
    hooks, notes = _definition_hooks(options, catalogue)
    return LawInForce(law, settings, options, hooks, (*settings.notes, *notes))


def _further(path: str) -> Source:
    try:
        return Source(path, read_text(path), "project")
    except FileNotFoundError:
        raise ConfigError("there is no such rule file; check the path", path) from None


def _definition_hooks(
    options: SessionOptions, catalogue: Catalogue
) -> tuple[tuple[tuple[str, CommandHook], ...], list[str]]:
    """Read the hooks of agent definitions; a project's own wait for trust like its settings."""
    found: list[tuple[str, CommandHook]] = []
    notes: list[str] = []
    trusted = options.law.trust_project or None
    for definition in catalogue.found.values():
        if not definition.hooks:
            continue
        if Path(definition.source).is_relative_to(options.workspace):
            if trusted is None:
                trusted = is_trusted(options.workspace, project_digest(options.workspace)) == "trusted"
            if not trusted:
                notes.append(
                    f"{definition.source}: its hooks do not run, for this project is not trusted yet"
                )
                continue
        read = read_hooks(definition.hooks, definition.source, inside_agent=True)
        found += [(definition.name, hook) for hook in read[0]]
        notes += read[1]
    return tuple(found), notes


def _places(workplace: Workplace) -> Callable[[RunRef], Places]:
    known: dict[Path, Places] = {}

    def places(ref: RunRef) -> Places:
        folder = workplace(ref)
        if folder not in known:
            known[folder] = live_places(str(folder))
        return known[folder]

    return places

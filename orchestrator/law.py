"""The law of a session: rules found and given, settings, permissions and mode, as one chain of gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from decurion.hooks import RunRef
from decurion.hooks.chain import Hook, HookChain
from decurion.hooks.command import command_hooks
from decurion.hooks.files import config_dir
from decurion.hooks.payload import Surroundings
from decurion.hooks.rules import Law, Source, law_hook, live_places
from decurion.hooks.settings import Settings, load_settings
from decurion.hooks.shell.events import Places

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

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person must be told before anything runs."""
        return self.settings.notes

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

        return HookChain((*hooks, *command_hooks(self.settings.hooks, where), *law.hooks))


def law_in_force(options: SessionOptions) -> LawInForce:
    """Load everything that binds a session in this workspace.

    Raises:
        ConfigError: a rules or settings file is broken; names file and line.
    """
    settings = load_settings(options.workspace, trust_project=options.law.trust_project)
    given = options.law.rules_file
    extra = [Source(given, Path(given).read_text(encoding="utf-8"), "project")] if given else []
    extra += permission_sources((*settings.deny, *options.law.disallowed), settings.ask)
    law = Law.load(
        str(config_dir() / "rules.toml"),
        str(options.workspace / ".decurion" / "rules.toml"),
        tuple(extra),
    )
    return LawInForce(law, settings, options)


def _places(workplace: Workplace) -> Callable[[RunRef], Places]:
    known: dict[Path, Places] = {}

    def places(ref: RunRef) -> Places:
        folder = workplace(ref)
        if folder not in known:
            known[folder] = live_places(str(folder))
        return known[folder]

    return places

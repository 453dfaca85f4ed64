"""Everything a session's agents share, put together from options, files found and the law in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from decurion.agents.catalogue import AgentDefinition, Catalogue, load_catalogue, own_folders
from decurion.agents.claude import resolve_model
from decurion.agents.context import ContextKeeper
from decurion.agents.court import Court
from decurion.agents.dispatch import nobody
from decurion.agents.model import Model
from decurion.agents.moments import Listener
from decurion.agents.money import Lease, Limits, Prices
from decurion.agents.shared import Settings, Shared
from decurion.agents.tools import Skill, Tool, find_skills, tools_for
from decurion.hooks import ConfigError
from decurion.hooks.audit import AuditLog
from decurion.hooks.files import config_dir

from .fence import fence_hook
from .law import LawInForce
from .models import OFFLINE
from .options import SessionOptions
from .permissions import approver, whole_tools

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
INSTRUCTION_CHARS = 40_000
OURS = ("ANTHROPIC_", "CLAUDE_", "DECURION_")


def find_definitions(options: SessionOptions) -> Catalogue:
    """Read every agent definition in reach, the library user's own first.

    Raises:
        ConfigError: `--agents` cannot be read.
    """
    found = load_catalogue(
        options.workspace,
        user_folders=own_folders(),
        given=options.agents_json or None,
        more_tools=[tool.name for tool in options.tools],
    )
    every = {**found.found, **{definition.name: definition for definition in options.agents}}
    return replace(found, found={name: _with_model(one, options) for name, one in every.items()})


def _with_model(definition: AgentDefinition, options: SessionOptions) -> AgentDefinition:
    """Put the wire's name in the place of a tier (`haiku`); the scripted model is the only one of its session."""
    if not definition.model:
        return definition
    own = None if options.model.chosen == OFFLINE else resolve_model(definition.model)
    return replace(definition, model=own)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a session has opened for itself before its agents are put together. `name` is the model's on the wire."""

    session_id: str
    folder: Path
    law: LawInForce
    log: AuditLog
    catalogue: Catalogue
    model: Model
    name: str
    listen: Listener
    prices: Prices


def read_prices(options: SessionOptions, name: str) -> Prices:
    """Read what models cost. A budget in dollars can only be kept where the price of each model to be asked is known.

    Raises:
        ConfigError: the person's prices cannot be used, or one is missing that a budget needs.
    """
    prices, usd, model = Prices.load(config_dir()), options.limits.usd, options.model
    asked = (name, resolve_model(model.subagent, inherit=name), *map(resolve_model, model.fallback))
    unknown = [one for one in dict.fromkeys(asked) if prices.of(one) is None]
    if usd is None or not unknown:
        return prices
    raise ConfigError(
        f"The price of {', '.join(unknown)} is unknown, so a budget of ${usd:g} cannot be kept. "
        f"Add it to {config_dir() / 'prices.toml'}, or set a limit in tokens (--max-tokens-total)."
    )


def unpriced(options: SessionOptions, prices: Prices, catalogue: Catalogue) -> list[str]:
    """Say which agents would end a session that has a budget, for their own model's price is unknown."""
    if options.limits.usd is None:
        return []
    own = [(d.name, resolve_model(d.model)) for d in catalogue.subagents() if d.model]
    return [
        f"agent {agent}: the price of {model} is unknown, so the budget ends the session once it was asked"
        for agent, model in own
        if prices.of(model) is None
    ]


def assemble(options: SessionOptions, opened: Opened) -> Shared:
    """Put together what the agents of a session share.

    Raises:
        ConfigError: a hook of the person's cannot be used.
    """
    limits, folder, prices = options.limits, opened.folder, opened.prices
    settings = _settings(options, opened)
    skills = find_skills(options.workspace, config_dir()).skills
    workplaces: dict[str, Path] = {}
    chain = opened.law.chain(
        lambda ref: workplaces.get(ref.agent_id, options.workspace), folder / "transcript.jsonl"
    ).with_hooks([fence_hook(options.workspace, folder, workplaces)])
    court = Court(chain, opened.log, opened.listen)
    return Shared(
        session_id=opened.session_id,
        workspace=options.workspace,
        folder=folder,
        model=opened.model,
        court=court,
        catalogue=opened.catalogue,
        tools=_tools(options, skills),
        settings=settings,
        lease=Lease(prices, Limits(tokens=limits.tokens, seconds=limits.seconds, usd=limits.usd)),
        keeper=ContextKeeper(
            opened.model,
            prices.window,
            court.ask,
            smallest_window=min(prices.window(settings.model), prices.window(settings.subagent_model)),
            count=getattr(opened.model, "count_tokens", None),
        ),
        skills=skills,
        listen=opened.listen,
        approve=approver(options.law, opened.law.settings.allow, options.law.person or nobody),
        workplaces=workplaces,
    )


def _settings(options: SessionOptions, opened: Opened) -> Settings:
    limits, model = options.limits, opened.name
    instructions = project_instructions(options.workspace)
    return Settings(
        model=model,
        subagent_model=resolve_model(options.model.subagent, inherit=model),
        max_tokens=options.model.max_tokens,
        running_at_once=limits.running_at_once,
        reminder_every=limits.reminder_every,
        lead_turns=limits.lead_turns,
        subagent_turns=limits.subagent_turns,
        subagent_seconds=limits.subagent_seconds,
        system_extra="\n\n".join(filter(None, (instructions, options.system_extra))),
        subagent_system_extra=instructions,
        isolation=options.work.isolation,
        environ={
            name: value
            for name, value in opened.law.settings.env.items()
            if not name.startswith(OURS)  # keys and addresses of the models are no business of commands
        },
    )


def _tools(options: SessionOptions, skills: Sequence[Skill]) -> dict[str, Tool]:
    """Give every tool of the session by name: those that ship, then the library user's own."""
    without = whole_tools(options.law.disallowed)
    own = {tool.name: tool for tool in options.tools}
    return {name: tool for name, tool in {**tools_for(skills), **own}.items() if name not in without}


def project_instructions(workspace: Path) -> str:
    """Give the project's CLAUDE.md and AGENTS.md as marked data, each cut to a bound."""
    parts: list[str] = []
    for name in INSTRUCTION_FILES:
        path = workspace / name
        if path.is_file() and path.resolve().is_relative_to(workspace.resolve()):
            text = path.read_text(encoding="utf-8", errors="replace")[:INSTRUCTION_CHARS].strip()
            parts += (
                [f'<project-instructions file="{name}">\n{text}\n</project-instructions>'] if text else []
            )
    return "\n\n".join(parts)

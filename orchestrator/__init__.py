"""The top layer: sessions, commands, views, git isolation. `Orchestrator` is the way in for libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decurion.agents.catalogue import AgentDefinition
    from decurion.agents.tools import ToolContext, tool
    from decurion.hooks.decorators import guard, observer

    from .options import LawOptions, LimitOptions, ModelOptions, SessionOptions, WorkOptions
    from .orchestrator import Orchestrator
    from .session import Finished, Session, open_session

_HOMES = {
    "AgentDefinition": "decurion.agents.catalogue",
    "Finished": "decurion.orchestrator.session",
    "LawOptions": "decurion.orchestrator.options",
    "LimitOptions": "decurion.orchestrator.options",
    "ModelOptions": "decurion.orchestrator.options",
    "Orchestrator": "decurion.orchestrator.orchestrator",
    "Session": "decurion.orchestrator.session",
    "SessionOptions": "decurion.orchestrator.options",
    "ToolContext": "decurion.agents.tools",
    "WorkOptions": "decurion.orchestrator.options",
    "guard": "decurion.hooks.decorators",
    "observer": "decurion.hooks.decorators",
    "open_session": "decurion.orchestrator.session",
    "tool": "decurion.agents.tools",
}
"""Where each public name lives. Loaded on first use: `decurion --help` passes through here and must stay quick."""

__all__ = (
    "AgentDefinition",
    "Finished",
    "LawOptions",
    "LimitOptions",
    "ModelOptions",
    "Orchestrator",
    "Session",
    "SessionOptions",
    "ToolContext",
    "WorkOptions",
    "guard",
    "observer",
    "open_session",
    "tool",
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

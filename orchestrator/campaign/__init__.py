"""Campaigns: one change over many places, each in a worktree of its own, without spending a lead's context."""

from __future__ import annotations

from .ledger import Entry, Ledger, State
from .plan import Plan, load_plan
from .running import Campaign, Report, Runner, Subtask, SubtaskResult
from .targets import find_targets, in_groups

__all__ = (
    "Campaign",
    "Entry",
    "Ledger",
    "Plan",
    "Report",
    "Runner",
    "State",
    "Subtask",
    "SubtaskResult",
    "find_targets",
    "in_groups",
    "load_plan",
)

"""Shell text in, what would be executed out. `events` is the contract; `read_command` is the way in."""

from __future__ import annotations

from .commands import read_command
from .events import (
    ANYWHERE,
    ExecEvent,
    Glob,
    Hole,
    Places,
    Reading,
    Redirect,
    Stdin,
    Unchecked,
    Value,
    Written,
    literal,
)

__all__ = (
    "ANYWHERE",
    "ExecEvent",
    "Glob",
    "Hole",
    "Places",
    "Reading",
    "Redirect",
    "Stdin",
    "Unchecked",
    "Value",
    "Written",
    "literal",
    "read_command",
)

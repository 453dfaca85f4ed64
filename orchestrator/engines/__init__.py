"""Where an attempt at a piece of work runs: in this process, or in a worker program over a pipe.

Engines run what they are given once and tell what happened; they never try again. `Supervisor` does, and drops
whatever a superseded attempt still says.
"""

from __future__ import annotations

from .inprocess import InProcess
from .pipe import Pipe
from .protocol import Blob, Engine, Event, Handle, Limits, Result, Spec, Workplace
from .supervisor import Supervisor

__all__ = (
    "Blob",
    "Engine",
    "Event",
    "Handle",
    "InProcess",
    "Limits",
    "Pipe",
    "Result",
    "Spec",
    "Supervisor",
    "Workplace",
)

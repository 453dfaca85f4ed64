"""The log: hash-chained JSON lines that prove who ran what, under which rule, with what outcome."""

from __future__ import annotations

from .places import project_dir, session_dir, state_dir
from .writer import AuditLog

__all__ = ("AuditLog", "project_dir", "session_dir", "state_dir")

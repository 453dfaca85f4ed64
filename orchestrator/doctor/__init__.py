"""The self-test: what this machine offers, and proof that the law binds every way to a command."""

from __future__ import annotations

from .check import diagnose
from .finding import Finding

__all__ = ("Finding", "diagnose")

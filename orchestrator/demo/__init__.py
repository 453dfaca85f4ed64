"""The demo: a whole delegation on a sample project that ships with the package, by the offline model."""

from __future__ import annotations

from .sample import sample_project
from .show import DemoOptions, run_demo

__all__ = ("DemoOptions", "run_demo", "sample_project")

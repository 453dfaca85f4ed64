"""How much a test tries: enough to notice a mistake each time, far more where THOROUGH is set, as before a release."""

from __future__ import annotations

import os

from hypothesis import settings

THOROUGH = bool(os.environ.get("THOROUGH"))


def effort(usual: int, thorough: int) -> int:
    """Choose a number of examples, records or rounds."""
    return thorough if THOROUGH else usual


def choose_profile() -> None:
    """Set how many examples a property gets that names no number of its own. Loaded machines have no deadline."""
    settings.register_profile("decurion", deadline=None, max_examples=effort(40, 1000))
    settings.load_profile("decurion")

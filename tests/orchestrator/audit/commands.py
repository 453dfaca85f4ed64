"""What running a sub-command gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Run = Callable[..., tuple[int, str, str]]
"""Takes the arguments after `decurion audit`; gives exit code, standard output and error."""


def rows(text: str) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in text.splitlines()]

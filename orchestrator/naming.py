"""What a person types to call this program again, here and now."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def program() -> str:
    """Give `decurion` where the shell finds it, else the way it was started, so that a printed line can be pasted."""
    if shutil.which("decurion"):
        return "decurion"
    started = Path(sys.argv[0])
    if started.name != "decurion" or not started.is_file():
        return "decurion"
    here = Path.cwd()
    near = started.resolve().relative_to(here) if started.resolve().is_relative_to(here) else started
    return shlex.quote(str(near))

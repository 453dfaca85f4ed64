"""SIGKILL before single steps of a whole session: nothing of the user's is lost, and the session goes on.

Two moments here; `python bench/git.py --interruptions 300` goes through all of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_a_session_killed_at_any_moment_loses_nothing_and_resumes(checkout: Path) -> None:
    command = [sys.executable, "-P", "bench/git_interruptions.py", "2"]
    run = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=50, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 interruptions" in run.stdout
    assert "0 with a loss" in run.stdout

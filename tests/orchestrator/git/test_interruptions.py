"""SIGKILL before single steps of a whole session: nothing of the user's is lost, and the session goes on.

A few moments here; `python bench/git.py --interruptions 300` goes through as many as are wanted.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import effort

MOMENTS = effort(2, 20)


@pytest.mark.slow
def test_a_session_killed_at_any_moment_loses_nothing_and_resumes(checkout: Path) -> None:
    command = [sys.executable, "-P", "bench/git_interruptions.py", str(MOMENTS)]
    run = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=55, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{MOMENTS} interruptions" in run.stdout
    assert "0 with a loss" in run.stdout

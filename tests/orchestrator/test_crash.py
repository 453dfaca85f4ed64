"""Whole sessions, killed at a few moments; `make bench-crash` goes through many more, and through fifty subagents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import effort

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.slow
def test_a_killed_session_leaves_no_call_without_a_record_and_resumes_to_a_whole_log(checkout: Path) -> None:
    """BUG-65 and BUG-66 of a real session: lead, eight subagents, `kill -9`, `decurion resume`."""
    runs = effort(1, 20)
    command = [sys.executable, "-P", "bench/crash.py", "--runs", str(runs), "--turns", "2"]
    run = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{runs} sessions" in run.stdout
    assert "0 faults" in run.stdout

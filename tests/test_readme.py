"""The README's library example is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_library_example_runs(checkout: Path, tmp_path: Path) -> None:
    text = (checkout / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "a.py").write_text("def load():\n    return 1\n")
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "run.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "-P", "example/run.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("completed Done: rename")
    assert (tmp_path / "a.py").read_text() == "def read_config():\n    return 1\n"

"""The README's library example is run as it stands."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.program import Running


@pytest.mark.slow
def test_the_library_example_runs(checkout: Path, tmp_path: Path) -> None:
    text = (checkout / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "a.py").write_text("def load():\n    return 1\n")
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "run.py").write_text(example)
    with Running(tmp_path, _run_example) as running:
        done = running.ended()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("completed Done: rename")
    assert (tmp_path / "a.py").read_text() == "def read_config():\n    return 1\n"


def _run_example() -> int:
    runpy.run_path("example/run.py", run_name="__main__")
    return 0

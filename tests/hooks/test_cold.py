"""The cold start: one bundle of code, never older than its sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import decurion.hooks

SOURCE = Path(decurion.hooks.__file__).resolve().parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package whose code may be changed."""
    root = tmp_path / "site/decurion"
    shutil.copytree(SOURCE, root / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "__init__.py").write_text("")
    return root / "hooks"


def hook(package: Path, command: str = "true") -> subprocess.CompletedProcess[bytes]:
    site = [str(package.parent.parent), *(place for place in sys.path if place.endswith("site-packages"))]
    start = f"import sys; sys.path[:0] = {site!r}; from decurion.hooks.cold import run; run()"
    said = {
        "session_id": "s",
        "cwd": str(package.parent),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", start],
        input=json.dumps(said).encode(),
        cwd=package.parent,
        capture_output=True,
        timeout=60,
        check=False,
    )


def bundle(package: Path) -> Path:
    return package / "__pycache__" / f"bundle.{sys.implementation.cache_tag}"


def test_the_first_call_writes_the_bundle_and_the_next_uses_it(package: Path) -> None:
    first, second = hook(package), hook(package)
    assert (first.returncode, first.stderr, second.returncode, second.stderr) == (0, b"", 0, b"")
    before = bundle(package).stat().st_mtime_ns
    assert hook(package).returncode == 0
    assert bundle(package).stat().st_mtime_ns == before
    assert hook(package, "sudo true").returncode == 2


def test_changed_code_is_run_not_what_the_bundle_remembers(package: Path) -> None:
    assert hook(package).returncode == 0
    program = package / "program.py"
    program.write_text(program.read_text().replace("REFUSED = 2\n", "REFUSED = 77\n"))
    assert hook(package, "sudo true").returncode == 77
    assert hook(package, "sudo true").returncode == 77


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\0" * 64])
def test_a_bundle_that_is_no_bundle_is_replaced(package: Path, content: bytes) -> None:
    hook(package)
    bundle(package).write_bytes(content)
    assert hook(package, "sudo true").returncode == 2
    assert hook(package).returncode == 0
    assert bundle(package).stat().st_size > 100_000


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_a_damaged_bundle_is_noticed_wherever_it_is_damaged(package: Path, share: float) -> None:
    hook(package)
    data = bytearray(bundle(package).read_bytes())
    data[round(share * (len(data) - 1))] ^= 0xFF
    bundle(package).write_bytes(data)
    run = hook(package, "sudo true")
    assert (run.returncode, b"rule" in run.stderr.lower()) == (2, True)
    bundle(package).write_bytes(data[: len(data) // 2])
    assert hook(package).returncode == 0


def test_code_that_cannot_even_be_loaded_refuses(package: Path) -> None:
    (package / "program.py").write_text("raise ImportError('broken')")
    run = hook(package)
    assert (run.returncode, run.stdout) == (2, b"")
    assert run.stderr == b"decurion cannot start, so the call does not run (ImportError: broken)\n"


def test_a_bundle_that_others_may_write_is_not_used(package: Path) -> None:
    hook(package)
    bundle(package).write_bytes(b"nonsense")
    bundle(package).chmod(0o666)
    assert hook(package).returncode == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_only_time(package: Path) -> None:
    package.chmod(0o500)
    try:
        assert hook(package).returncode == 0
        assert hook(package, "sudo true").returncode == 2
    finally:
        package.chmod(0o700)


def test_the_entry_of_the_command_line_answers_the_same() -> None:
    run = subprocess.run(
        [sys.executable, "-P", "-m", "decurion", "hook"], input=b"", capture_output=True, check=False
    )
    assert run.returncode == 2
    assert b"cannot judge this call" in run.stderr

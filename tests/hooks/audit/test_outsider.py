"""What docs/audit.md promises an outsider: the chain can be checked in twenty lines, and the record is as documented."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from decurion.hooks.audit import EVENTS, FIELDS, records, rotated_parts, verify

from .samples import write_session

SCRIPT = Path(__file__).with_name("outsider.py")


def run(*paths: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *paths], capture_output=True, text=True, check=False
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def test_a_separate_tiny_script_verifies_a_rotated_log(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl", agents=3, calls=8, max_bytes=20_000)
    report = verify(str(path))
    assert run(*rotated_parts(str(path)), str(path)) == (
        0,
        f"{report.records} records, newest hash {report.last_hash}",
    )


@pytest.mark.parametrize("line", [0, 7, 20])
def test_it_finds_what_was_altered(tmp_path: Path, line: int) -> None:
    path = write_session(tmp_path / "audit.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:line], lines[line].replace(b"e", b"E", 1), *lines[line + 1 :]]))
    assert run(str(path)) == (1, f"{path} line {line + 1}: edited")
    path.write_bytes(b"".join([*lines[:line], *lines[line + 1 :]]))
    assert run(str(path)) == (1, f"{path} line {line + 1}: does not follow record {line}")


def test_the_script_stands_in_the_documentation_and_is_as_short_as_promised(checkout: Path) -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    documented = (checkout / "docs" / "audit.md").read_text(encoding="utf-8")
    assert text.partition('"""\n\n')[2] in documented
    assert len([line for line in text.splitlines() if line.strip()]) <= 20


def test_every_field_and_event_is_documented(checkout: Path, tmp_path: Path) -> None:
    documented = (checkout / "docs" / "audit.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`([a-z_0-9]+)`", documented))
    assert set(FIELDS) <= names
    assert set(EVENTS) <= names
    path = write_session(tmp_path / "audit.jsonl")
    used = {name for record in records(str(path)) for name in record}
    assert used <= names


def test_no_event_is_written_that_is_not_documented(checkout: Path) -> None:
    """Whatever the sources write: `log.write(ref, "event", …)`, or told of on the wire."""
    written = re.compile(r'log\.write\(\s*[\w.]+,\s*"(\w+)"|WireEvent\("(\w+)"')
    found = {
        name
        for folder in ("hooks", "agents", "orchestrator")
        for file in (checkout / folder).rglob("*.py")
        for names in written.findall(file.read_text(encoding="utf-8"))
        for name in names
        if name
    }
    assert {"planned", "retry", "merge"} <= found
    assert found <= set(EVENTS)

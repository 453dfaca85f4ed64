"""Slips on the command line: one or two lines, exit code 2, and nothing is done."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from decurion.__main__ import main

SLIPS = """
run --model offline --verify '' x
run --model offline --setup '' x
run --model offline --resume '' x
run --model offline --resume a --continue x
run --model offline -C '' x
run --model offline --max-budget-usd nan x
run --model offline --max-budget-usd inf x
run --model offline --timeout nan x
run --model offline --subagent-timeout inf x
run --base-url 'http://[::1' x
run --base-url http://localhost:99999 x
run --base-url http://localhost:port x
resume ''
apply ''
undo ''
sessions show ''
sessions clean ''
sessions -C '' list
agents -C ''
trust ''
trust --list --revoke
demo --keep ''
demo --keep FILE/x
campaign run --each '*.py' --task ''
campaign run --each '*.py' --task x --verify ''
campaign run --each '*.py' --task x --budget-usd nan
campaign run --each '*.py' --task x --budget-usd -1
campaign run --each '*.py' --task x --parallel 0
campaign run PLAN
campaign status ''
audit show ''
audit show --decision denied
audit tail -n -5
audit tail -n 999999999999999999999
audit list -n -1
audit verify --key FILE
audit report -o ''
audit export -o ''
audit transcript ''
audit diff last ''
rules import SETTINGS --output FILE/x
""".strip().splitlines()


@pytest.mark.parametrize("line", SLIPS)
def test_a_slip_is_one_or_two_lines_and_nothing_is_done(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "FILE").write_text("no key")
    (tmp_path / "PLAN").write_text('targets = 5\ntask = "x"\n')
    (tmp_path / "settings.json").write_text('{"permissions": {"deny": ["Bash(rm:*)"]}}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert main(shlex.split(line.replace("SETTINGS", "settings.json"))) == 2
    said = capsys.readouterr()
    assert said.err.startswith("decurion: ")
    assert said.err.count("\n") <= 2
    assert "internal error" not in said.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["FILE", "PLAN", "a.py", "settings.json"]

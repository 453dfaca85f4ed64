"""`decurion agents`: what was found, in an order that stays, and what was refused."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from decurion.orchestrator.commands.agents import command


def test_the_lead_comes_first_then_the_others_by_name_with_what_they_may_use(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nname: auditor\ndescription: Reads.\ntools: Read\n---\nRead.\n")
    (folder / "broken.md").write_text("no head\n")
    done = CliRunner().invoke(command, ["-C", str(tmp_path), "--json"], standalone_mode=False)
    told = json.loads(done.output)
    assert done.return_value == 1
    assert [one["name"] for one in told["agents"]] == [
        "lead", "auditor", "explorer", "general", "refactorer", "reviewer", "tester",
    ]  # fmt: skip
    assert {"todo_write", "task", "bash"} <= set(told["agents"][0]["tools"])
    assert told["agents"][1]["tools"] == ["read_file"]
    assert [Path(one["path"]).name for one in told["refused"]] == ["broken.md"]
    shown = CliRunner().invoke(command, ["-C", str(tmp_path)], standalone_mode=False).output
    assert shown.startswith("lead  (built in)\n")
    assert f"refused: {folder / 'broken.md'}: " in shown

"""`decurion rules`: list, test, explain, init, import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decurion.hooks import DecurionError
from decurion.hooks.rules import Law
from decurion.orchestrator.commands.rules import command


@pytest.fixture(scope="session")
def rules_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One state folder for all: rules are compiled once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, rules_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECURION_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("DECURION_STATE_DIR", str(rules_cache))
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")


def run(*args: str) -> Result:
    return CliRunner().invoke(command, list(args))


def test_list_shows_every_rule_and_the_digest() -> None:
    result = run("list")
    law = Law.load(cache=False)
    assert all(rule.id in result.stdout for rule in law.rules.rules)
    assert result.exit_code == 0


def test_list_as_json() -> None:
    rules = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert {"id", "decision", "source", "agents", "message"} <= set(rules[0])


def test_a_file_is_tested_on_top_of_the_shipped_rules(tmp_path: Path) -> None:
    good = tmp_path / "good.toml"
    good.write_text('[[rule]]\nid = "r"\nprogram = "x"\ndeny = ["x a"]\nallow = ["y a"]\n', "utf-8")
    result = run("test", str(good))
    assert result.exit_code == 0
    assert "all as they should be" in result.stdout


def test_a_failing_example_is_told(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('[[rule]]\nid = "r"\nprogram = "x"\ndeny = ["y"]\n', "utf-8")
    result = run("test", str(bad))
    assert isinstance(result.exception, DecurionError)
    assert f"{bad}:4: " in str(result.exception)


def test_explain_tells_condition_exceptions_and_examples() -> None:
    text = run("explain", "git-push-force").stdout
    assert "program: git" in text
    assert "unless   flags: -n|--dry-run" in text
    assert "catches  git push --force" in text


def test_explain_knows_near_names() -> None:
    result = run("explain", "git-push-farce")
    assert "git-push-force" in str(result.exception)


def test_init_writes_a_file_that_loads_and_is_not_replaced(tmp_path: Path) -> None:
    assert run("init").exit_code == 0
    written = tmp_path / "config" / "rules.toml"
    Law.load(str(written), cache=False)
    assert isinstance(run("init").exception, DecurionError)
    assert run("init", "--force").exit_code == 0


def test_init_for_a_project_says_nothing_that_a_project_may_not_say(tmp_path: Path) -> None:
    assert run("init", "--project").exit_code == 0
    Law.load(None, str(tmp_path / "app" / ".decurion" / "rules.toml"), cache=False)


def test_import_writes_rules_and_reports_the_rest(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(
        json.dumps({"permissions": {"deny": ["Bash(npm publish:*)", "WebFetch(domain:x)"]}}), "utf-8"
    )
    output = tmp_path / "rules.toml"
    result = run("import", str(settings), "--output", str(output))
    assert result.exit_code == 0
    assert "1 rule taken over, 1 left out" in result.stderr
    assert "WebFetch" in result.stderr
    Law.load(str(output), cache=False)
    assert isinstance(run("import", str(settings), "--output", str(output)).exception, DecurionError)


def test_import_wants_to_know_the_format(tmp_path: Path) -> None:
    odd = tmp_path / "list.txt"
    odd.write_text("{}", "utf-8")
    assert "--from" in str(run("import", str(odd)).exception)

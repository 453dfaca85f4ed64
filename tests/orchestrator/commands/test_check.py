"""`decurion check`: exit codes, both outputs, many commands, places that need not exist, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decurion.hooks import DecurionError
from decurion.orchestrator.commands.check import command

ELSEWHERE = ("--workspace", "/home/dev/app", "--home", "/home/dev", "--user", "dev")


@pytest.fixture(scope="session")
def rules_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One state folder for all: rules are compiled once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, rules_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECURION_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("DECURION_STATE_DIR", str(rules_cache))


def check(*args: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, [*ELSEWHERE, *args], input=stdin)


@pytest.mark.parametrize(("text", "code"), [("ls", 0), ("rm -rf /", 3), ("", 0)])
def test_exit_codes(text: str, code: int) -> None:
    assert check(text).exit_code == code


def test_ask_has_its_own_exit_code(tmp_path: Path) -> None:
    rules = tmp_path / "r.toml"
    rules.write_text('ask = ["make deploy"]', "utf-8")
    result = check("--rules", str(rules), "make deploy")
    assert result.exit_code == 4
    assert result.stdout.startswith("ask: make deploy")


def test_what_a_person_reads() -> None:
    lines = check("cd sub && nohup git push -f &").stdout.splitlines()
    assert lines[0] == "deny: git-push-force"
    assert lines[1] == "  segment  nohup git push -f"
    assert "  runs     cd sub" in lines
    assert "           git push -f" in lines
    assert lines[-1].startswith("  instead  A forced push overwrites")


def test_json_is_one_object_a_line() -> None:
    result = check("--json", "rm -rf ~")
    (line,) = result.stdout.splitlines()
    data = json.loads(line)
    assert data["cmd"] == "rm -rf ~"
    assert (data["verdict"], data["rule"], data["segment"]) == ("deny", "delete-outside", "rm -rf ~")
    assert data["events"] == ["rm -rf /home/dev"]
    assert isinstance(data["micros"], int)


def test_many_commands_from_standard_input() -> None:
    result = check("--json", stdin="ls\n\nsudo id\necho a\n")
    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert verdicts == ["allow", "deny", "allow"]
    assert result.exit_code == 3


def test_many_commands_for_a_person_show_each() -> None:
    assert [line for line in check(stdin="ls\npwd\n").stdout.splitlines() if line.startswith("$ ")] == [
        "$ ls",
        "$ pwd",
    ]


def test_json_strings_carry_line_breaks() -> None:
    result = check(
        "--json", "--stdin-json", stdin=f"{json.dumps('ls' + chr(10) + 'rm -rf /')}\n{json.dumps('')}\n"
    )
    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert verdicts == ["deny", "allow"]


@pytest.mark.parametrize("line", ["{", '"ls', "3", '["ls"]', "null"])
def test_a_line_that_is_no_json_string_is_told(line: str) -> None:
    result = check("--stdin-json", stdin=f'"ls"\n{line}\n')
    assert isinstance(result.exception, DecurionError)
    assert "line 2" in str(result.exception)


def test_bytes_that_are_no_text_are_refused_not_fatal() -> None:
    result = check("--json", stdin=b"ls\nrm -rf \xff\n")
    assert [json.loads(line)["verdict"] for line in result.stdout.splitlines()] == ["allow", "deny"]


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in check("echo '\x1b[31m'; rm -rf '/\x1b[2J'").stdout


@pytest.mark.parametrize(
    ("args", "text", "code"),
    [
        (("--cwd", "/home/dev/app/sub"), "rm -rf ..", 3),
        (("--cwd", "/home/dev/app/sub"), "rm -rf ../dist", 0),
        (("--cwd", "sub"), "rm -rf ../dist", 0),
        (("--cwd", "/srv"), "rm -rf x", 3),
        (("--agent", "explore"), "ls", 0),
    ],
)
def test_places_need_not_exist(args: tuple[str, ...], text: str, code: int) -> None:
    assert check(*args, text).exit_code == code


def test_a_home_that_is_no_path_is_told() -> None:
    result = CliRunner().invoke(command, ["--home", "dev", "ls"])
    assert isinstance(result.exception, DecurionError)


def test_a_rule_file_that_is_not_there_is_told() -> None:
    result = check("--rules", "/nowhere/rules.toml", "ls")
    assert isinstance(result.exception, DecurionError)
    assert "/nowhere/rules.toml" in str(result.exception)


def test_the_programs_own_exit_code_and_no_sdk(tmp_path: Path) -> None:
    script = (
        "import sys; from decurion.__main__ import main; code = main(['check', 'git push -f']);"
        "print('anthropic' in sys.modules, code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stdout.splitlines()[-1] == "False 3"
    assert not done.stderr

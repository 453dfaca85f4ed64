"""The command line as programs see it: started for real, read from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import click
import pytest

from decurion import __version__
from decurion.__main__ import main
from decurion.hooks import ConfigError, DecurionError, PolicyError, UsageError
from decurion.orchestrator.cli import COMMANDS, Entry

SLOW_TO_IMPORT = ("anthropic", "pydantic", "rich", "structlog", "tenacity", "duckdb", "opentelemetry")


def decurion(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "decurion", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_help_lists_every_command_and_imports_none() -> None:
    code = (
        "import sys; from decurion.__main__ import main; main(['--help']);"
        "print('\\nLOADED', *sorted(sys.modules), sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    shown, _, loaded = run.stdout.partition("LOADED")
    modules = loaded.split()
    assert all(f"  {name} " in shown and entry.help in shown for name, entry in COMMANDS.items())
    assert [name for name in modules if name.startswith("decurion.orchestrator.commands.")] == []
    assert [name for name in modules if name.split(".", maxsplit=1)[0] in SLOW_TO_IMPORT] == []


def test_version_is_one_line() -> None:
    assert decurion("--version").stdout == f"decurion {__version__}\n"


def test_a_wrong_command_is_a_usage_error_of_two_lines() -> None:
    run = decurion("chek")
    assert run.returncode == 2
    assert run.stderr == "decurion: No such command 'chek'.\nSee `decurion --help`.\n"


def test_a_folder_that_is_gone_is_said_to_be_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["check", "ls"]) == 1
    assert capsys.readouterr().err == "decurion: The folder you are in is gone; change to another one.\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_answers_help_or_says_that_it_is_not_in_this_build(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    built = find_spec(COMMANDS[name].target.partition(":")[0]) is not None
    code = main([name, "--help"])
    shown = capsys.readouterr()
    assert code == (0 if built else 1)
    assert ("Usage: decurion" in shown.out) if built else ("not part of this build" in shown.err)


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("check", "git status"),
        ("rules", "list"),
        ("hook",),
        ("agents",),
        ("audit", "show"),
        ("sessions", "list"),
        ("trust", "--help"),
        ("run", "--help"),
    ],
    ids=" ".join,
)
def test_what_asks_no_model_never_loads_the_sdk(args: tuple[str, ...], tmp_path: Path) -> None:
    code = (
        "import sys; from decurion.__main__ import main\n"
        f"try: main({list(args)!r})\n"
        "except SystemExit: pass\n"
        "finally: sys.exit(77 if 'anthropic' in sys.modules else 0)"
    )
    command = [sys.executable, "-P", "-c", code]
    run = subprocess.run(command, input="{}", cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (UsageError("not a folder: x"), 2, "decurion: not a folder: x\n"),
        (
            ConfigError("unknown key 'denny'", "rules.toml", 3),
            2,
            "decurion: rules.toml:3: unknown key 'denny'\n",
        ),
        (PolicyError("the rules do not load"), 3, "decurion: the rules do not load\n"),
        (DecurionError("no"), 1, "decurion: no\n"),
        (KeyboardInterrupt(), 130, "\n"),
        (click.exceptions.Abort(), 130, ""),
        (
            PermissionError(13, "Permission denied", "/x/a\x1b[2J"),
            1,
            "decurion: /x/a\\x1b[2J: Permission denied.\n",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_is_one_line_and_its_exit_code(
    error: BaseException,
    code: int,
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    module = ModuleType("a_failing_command")
    module.__spec__ = ModuleSpec(module.__name__, None)
    vars(module)["command"] = failing
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "failing", Entry("a_failing_command:command", "Fails."))
    assert main(["failing"]) == code
    assert capsys.readouterr().err == shown


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    command = f"{sys.executable} -P -m decurion --help | true"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30, check=False)
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (">/dev/full", 1, "decurion: The output could not be written: No space left on device.\n"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
    ],
)
def test_an_output_that_is_full_or_closed_is_no_crash(closed: str, code: int, said: str) -> None:
    command = f"{sys.executable} -P -m decurion agents {closed}"
    run = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (code, said)


@pytest.mark.parametrize(("args", "code"), [("rules import list.json", 0), ("nothing-like-it", 2)])
def test_where_nobody_can_be_told_the_exit_code_is_that_of_the_work(
    tmp_path: Path, args: str, code: int
) -> None:
    (tmp_path / "list.json").write_text('{"permissions": {"deny": ["Bash(npm publish:*)"]}}')
    command = f"{sys.executable} -P -m decurion {args} 2>/dev/full"
    run = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert run.returncode == code


def test_a_file_that_is_opened_never_becomes_a_closed_standard_stream(tmp_path: Path) -> None:
    """The log would be one, and every program that is started would write into it."""
    code = "from decurion.__main__ import main; main(['--version']); print(open('f', 'w').fileno() > 2, file=open('said', 'w'))"
    command = f'{sys.executable} -P -c "{code}" <&- >&- 2>&-'
    subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=30, check=True)
    assert (tmp_path / "said").read_text() == "True\n"


def test_what_the_encoding_of_the_output_does_not_know_is_spelt_out(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "latin-1", "DECURION_STATE_DIR": str(tmp_path)}
    command = [sys.executable, "-P", "-m", "decurion", "audit", "list"]
    run = subprocess.run(command, env=env, capture_output=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert b'decurion run "\\u2026"' in run.stdout

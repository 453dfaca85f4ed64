"""Plans from files and options, and the targets they find."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from decurion.hooks import ConfigError, UsageError
from decurion.orchestrator.campaign import find_targets, in_groups, load_plan, targets
from decurion.orchestrator.campaign.plan import Plan, Targets, filled, from_json, places
from tests.orchestrator.git.repository import Repository, make_repository

pytestmark = pytest.mark.anyio

FILES = {
    "src/a.py": "import os\n",
    "src/deep/b.py": "import os.path\n",
    "src/vendor/c.py": "import os\n",
    "src/my file.py": "import os\n",
    "tests/test_a.py": "x\n",
    "README.md": "os\n",
    ".gitignore": "ignored.py\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make_repository(tmp_path / "project", FILES)
    made.write("ignored.py", "import os\n")
    made.write("src/new.py", "not added yet\n")
    return made


def _plan(**targets: object) -> Plan:
    return load_plan(None, {"task": "x", "targets": targets})


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"each": ["src/*.py"]}, ("src/a.py", "src/my file.py", "src/new.py")),
        (
            {"each": ["src/**/*.py"], "exclude": ["src/vendor"]},
            ("src/a.py", "src/deep/b.py", "src/my file.py", "src/new.py"),
        ),
        ({"each": ["src/deep", "README.md"]}, ("README.md", "src/deep/b.py")),
        ({"grep": r"os\.path"}, ("src/deep/b.py",)),
        ({"grep": "import os", "inside": ["src/*.py"]}, ("src/a.py", "src/my file.py")),
        ({"command": "printf 'one\\ntwo\\n\\none\\n'"}, ("one", "two")),
    ],
)
async def test_where_targets_come_from(
    repository: Repository, wanted: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert await find_targets(_plan(**wanted), repository.path) == expected


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"each": ["*.rs"]}, "no file that git does not ignore matches *.rs"),
        ({"grep": "("}, "is not a regular expression"),
        ({"command": "echo no >&2; exit 3"}, "The command for targets failed with exit status 3: no"),
    ],
)
async def test_no_targets_is_an_error_that_says_why(
    repository: Repository, wanted: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        await find_targets(_plan(**wanted), repository.path)
    assert says in str(refused.value)


async def test_the_tests_of_a_target_are_found(repository: Repository) -> None:
    files = sorted(FILES)
    assert targets.tests_of(_plan(each=["x"]), ["src/a.py"], files) == ("tests/test_a.py",)
    assert targets.tests_of(_plan(each=["x"]), ["README.md"], files) == ()


def test_a_plan_from_a_file_and_options_that_win(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('task = "a {path}"\nparallel = 3\n[targets]\neach = "src/*.py"\n')
    plan = load_plan(file, {"parallel": 5, "verify": "", "canary": None, "targets": {}})
    assert plan == Plan("a {path}", Targets(each=("src/*.py",)), parallel=5)
    assert from_json(json.loads(json.dumps(asdict(plan)))) == plan


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task = ", "the plan cannot be read"),
        ('tusk = "x"', "unknown key 'tusk'; known are"),
        ('task = "x"\n[targets]\neach = 3', "each must be a text or a list of texts"),
        ('task = "x"\nparallel = "many"', "parallel must be a number, not 'many'"),
    ],
)
def test_a_broken_plan_names_the_file_and_the_fault(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_plan(file, {})
    assert str(file) in str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "needs a task"),
        ({"task": "x"}, "needs targets from exactly one of"),
        ({"task": "x", "targets": {"each": ["a"], "grep": "b"}}, "not from each and grep"),
        ({"task": "x {foo}", "targets": {"each": ["a"]}}, "{foo} means nothing"),
        ({"task": "x", "parallel": 0, "targets": {"each": ["a"]}}, "parallel must be at least 1"),
    ],
)
def test_what_is_missing_or_contradictory_is_said(given: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        load_plan(None, given)
    assert says in str(refused.value)


def test_names_are_quoted_in_commands_and_not_in_prompts() -> None:
    group = ("src/my file.py", "b;rm.py")
    assert filled("check {paths}", places(group, quoted=True)) == "check 'src/my file.py' 'b;rm.py'"
    assert filled("In {path} ({stem}, {dir}): {{x}} ${x} { a; }", places(group)) == (
        "In src/my file.py (my file, src): {x} ${x} { a; }"
    )


@pytest.mark.parametrize(
    ("verify", "verify_all", "expected"),
    [("pytest -q {tests}", "", "pytest -q"), ("check {path}", "", ""), ("a", "b", "b"), ("", "", "")],
)
def test_the_last_check_follows_from_the_single_one(verify: str, verify_all: str, expected: str) -> None:
    assert Plan("x", verify=verify, verify_all=verify_all).last_check == expected


def test_groups_keep_the_order() -> None:
    assert in_groups(("a", "b", "c"), 2) == [("a", "b"), ("c",)]

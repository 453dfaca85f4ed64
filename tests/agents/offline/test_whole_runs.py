"""The scripted lead and its subagents on real projects: through the served API, the real client and the real tools."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.history import History
from decurion.agents.offline import Manners
from decurion.agents.tools import TOOLS, ToolContext
from decurion.hooks import ToolError
from tests.agents.offline.team import Team, open_team, write

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop is enough here: `test_endpoint` tries both."""
    return "asyncio"


CHECK = f"PYTHONPATH=src {shlex.quote(sys.executable)} -B -m unittest discover -s tests"
VIEW = (
    b"\xef\xbb\xbffrom app.users import (\r\n    get_user,\r\n    get_user_id,\r\n)\r\n\r\n\r\n"
    b'def show(uid):\r\n\treturn f"{get_user(uid)!r} get_user"  # get_user\r\n'
)
PROJECT: dict[str, str | bytes] = {
    "src/app/__init__.py": 'from .users import get_user\n\n__all__ = ["get_user"]\n',
    "src/app/users.py": 'import json\n\n\ndef get_user(uid):\n    """get_user of old."""\n    return {"id": uid}\n\n\n'
    'def get_user_id(user):\n    return json.dumps(user["id"])\n',
    "src/app/view.py": VIEW,
    "src/app/other.py": "def get(get_user):\n    return get_user\n",
    "tests/test_users.py": "import unittest\n\nfrom app import users\n\n\nclass T(unittest.TestCase):\n"
    '    def test_it(self):\n        self.assertEqual(users.get_user(3), {"id": 3})\n',
}
TASK = f"rename function get_user to fetch_user\n\nCheck command: {CHECK}"


def said(team: Team) -> list[str]:
    return [child.report for child in team.children]


async def test_a_rename_from_the_plan_to_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write(folder, PROJECT)
    async with open_team(folder) as team:
        ran = await team.lead(TASK)
    assert "Done: rename function `get_user` to `fetch_user`. 6 places in 4 files." in ran.report
    assert f"Check passed: `{CHECK}` (last line: OK)" in ran.report
    assert "2 as a variable or parameter of a function, 2 in strings, 1 in comments" in ran.report
    before = VIEW.replace(b"    get_user,", b"    fetch_user,").replace(b"{get_user(", b"{fetch_user(")
    assert (folder / "src/app/view.py").read_bytes() == before
    assert (folder / "src/app/other.py").read_text() == PROJECT["src/app/other.py"]


async def test_the_work_goes_to_at_least_three_subagents_side_by_side(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(TASK)
    replies = [m["content"] for m in ran.history if m["role"] == "assistant"]
    tasks = [[b["input"] for b in blocks if b.get("name") == "task"] for blocks in replies]
    handed = [given for given in tasks if given]
    assert [len(given) for given in handed] == [3, 3]
    assert {one["subagent_type"] for one in handed[0]} == {"explorer"}
    assert {one["subagent_type"] for one in handed[1]} == {"refactorer"}
    paths = [path for one in handed[1] for path in one["paths"]]
    assert sorted(paths) == sorted(PROJECT)
    assert all("isolation" not in one for one in handed[1])


async def test_the_plan_is_kept_true_and_closed(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(TASK)
    plans = [
        [item["status"] for item in block["input"]["todos"]]
        for message in ran.history
        for block in message["content"]
        if block.get("name") == "todo_write"
    ]
    assert len(plans) == 4  # look, change, check, done
    assert all(plan.count("in_progress") == 1 for plan in plans[:-1])
    assert set(plans[-1]) == {"completed"}


async def test_a_failing_check_is_reported_as_failed_with_the_lines_that_say_why(tmp_path: Path) -> None:
    check = "echo noise; echo 'AssertionError: 1 != 2' >&2; exit 3"
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(f"rename function get_user to fetch_user\n\nCheck command: {check}")
    assert "CHECK FAILED" in ran.report
    assert "exit status 3" in ran.report
    assert "AssertionError: 1 != 2" in ran.report


@pytest.mark.parametrize("task", ["write me a poem", "rename class to klass"])
async def test_a_task_it_cannot_do_is_answered_honestly_in_one_reply(tmp_path: Path, task: str) -> None:
    async with open_team(tmp_path) as team:
        ran = await team.lead(task)
    assert ran.turns == 1
    assert "a script, not an AI" in ran.report
    assert ran.report.count("decurion run --model offline") == 2


async def test_a_name_that_stands_nowhere_is_said_to(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function nowhere to somewhere")
    assert "Nothing was changed" in ran.report
    assert team.orders == []


async def test_a_name_of_other_peoples_modules_only_is_left(tmp_path: Path) -> None:
    write(
        tmp_path / "p", {"a.py": "import json\njson.dumps(1)\n", "b.py": "from json import dumps\ndumps(1)\n"}
    )
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function dumps to write")
    assert "none of the uses is the one meant" in ran.report
    assert (tmp_path / "p/b.py").read_text() == "from json import dumps\ndumps(1)\n"


async def test_a_folder_is_kept_to_and_what_lies_outside_is_named(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function get_user to fetch_user in src/")
    assert "Outside `src`, and so untouched: 1 file" in ran.report
    assert "get_user(3)" in (tmp_path / "p/tests/test_users.py").read_text()


async def test_several_changes_at_once_and_words_in_strings(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    task = (
        "rename function get_user to fetch_user and replace module json by fast, also in strings and comments"
    )
    async with open_team(tmp_path / "p") as team:
        await team.lead(task)
    users = (tmp_path / "p/src/app/users.py").read_text()
    assert users == str(PROJECT["src/app/users.py"]).replace("get_user(", "fetch_user(").replace(
        "get_user of", "fetch_user of"
    ).replace("json", "fast")
    assert (
        b'{fetch_user(uid)!r} fetch_user"  # fetch_user\r\n' in (tmp_path / "p/src/app/view.py").read_bytes()
    )


async def test_broken_and_foreign_files_are_named_and_not_touched(tmp_path: Path) -> None:
    broken = {"src/app/bad.py": "def f(:\n  get_user\n", "src/app/latin.py": b"# \xe9\nget_user()\n"}
    write(tmp_path / "p", {**PROJECT, **broken})
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(TASK)
    assert (
        "- `src/app/bad.py`: left as it is, it cannot be read as Python: syntax error in line 1" in ran.report
    )
    assert "- `src/app/latin.py`: left as it is: it is not UTF-8" in ran.report
    assert "Check passed" in ran.report
    assert (tmp_path / "p/src/app/latin.py").read_bytes() == broken["src/app/latin.py"]


async def test_installed_packages_are_no_part_of_the_project(tmp_path: Path) -> None:
    installed = {
        ".venv/lib/python3.11/site-packages/x.py": "def get_user(): pass\n",
        "venv/y.py": "get_user()\n",
    }
    write(tmp_path / "p", {**PROJECT, **installed})
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(TASK)
    assert "6 places in 4 files" in ran.report
    assert all((tmp_path / "p" / name).read_text() == text for name, text in installed.items())


async def test_a_package_is_known_by_its_init_file_though_the_name_stands_elsewhere(tmp_path: Path) -> None:
    """The folder `parts` is imported as `whole.parts`; no file below `whole` holds the name."""
    files = {
        "src/whole/__init__.py": "",
        "parts/a.py": "def load(): pass\n",
        "tests/t.py": "from whole.parts.a import load\nfrom json import load as other\nload(other)\n",
    }
    write(tmp_path / "p", files)
    async with open_team(tmp_path / "p") as team:
        await team.lead("rename function load to read")
    text = "from whole.parts.a import read\nfrom json import load as other\nread(other)\n"
    assert (tmp_path / "p/tests/t.py").read_text() == text


async def test_a_name_looked_up_by_its_text_fails_the_check_and_the_report_says_why(tmp_path: Path) -> None:
    files = {"a.py": "def load(): pass\n", "b.py": "import a\ngetattr(a, 'load')()\na.load()\n"}
    write(tmp_path / "p", files)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function load to read\n\nCheck command: python3 -B b.py")
    assert "CHECK FAILED" in ran.report
    assert "AttributeError: module 'a' has no attribute 'load'" in ran.report
    assert "say `also in strings`" in ran.report


async def test_isolation_is_asked_for_when_the_person_did(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead(f"{TASK}\n\nIsolation: worktree")
    assert {order.isolation for order in team.orders} == {"", "worktree"}
    assert "runs after the merge" in ran.report


async def test_a_refused_edit_is_reported_and_not_tried_again(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p", refuse={"users.py": "this file is frozen"}) as team:
        ran = await team.lead(TASK)
    assert "`src/app/users.py`: left as it is: Refused: this file is frozen" in ran.report
    assert "Refused: `src/app/users.py` (this file is frozen)" in ran.report
    assert "CHECK FAILED" in ran.report


async def test_a_clumsy_subagent_is_refused_and_says_so(tmp_path: Path) -> None:
    command = "git push --force origin main"
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p", Manners(clumsy=command), refuse={"push": "history stays"}) as team:
        ran = await team.lead(TASK)
    assert f"Refused: `{command}` (history stays)" in ran.report
    assert sum(command in report for report in said(team)) == 1
    assert "Check passed" in ran.report


async def test_many_uses_in_a_file_too_long_for_one_look(tmp_path: Path) -> None:
    body = "".join(f"def use_{n}():\n    return get_user({n})\n\n\n" for n in range(900))
    text = f"def get_user(n):\n    return n\n\n\ndef get_user_2():\n    return 2\n\n\n{body}"
    write(tmp_path / "p", {"big.py": text})
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename get_user to fetch_user")
    assert "901 places in 1 file" in ran.report
    assert (tmp_path / "p/big.py").read_text() == text.replace("get_user(", "fetch_user(")


@pytest.mark.unmeasured
async def test_a_large_group_stays_within_thirty_turns(tmp_path: Path) -> None:
    files = {f"pkg/m{n:03}.py": "from pkg.m000 import load\nload()\n" for n in range(1, 30)}
    write(tmp_path / "p", {**files, "pkg/m000.py": "def load(): pass\n"})
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function load to read")
    assert "59 places in 30 files" in ran.report
    assert max(child.turns for child in team.children) <= 9


async def test_the_same_request_gets_the_same_reply(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        first = await team.lead(TASK)
        again = History.restore(list(first.history)[:-1])
        second = await team.run("", team.lead_tools(), "You are the lead.", depth=0, history=again)
    assert second.report == first.report


async def test_an_interrupted_run_goes_on_where_it_stood(tmp_path: Path) -> None:
    """The history is cut after the edits were made but before their results came back."""
    write(tmp_path / "p", PROJECT)
    tools = {name: TOOLS[name] for name in ("bash", "read_file", "edit_file", "grep")}
    task = "rename get_user to fetch_user in src/"
    async with open_team(tmp_path / "p") as team:
        whole = await team.run(task, tools, "You refactor.")
        edits = next(
            place
            for place, message in enumerate(whole.history)
            if any(block.get("name") == "edit_file" for block in message["content"])
        )
        cut = History.restore(list(whole.history)[: edits + 1])
        cut.repair()
        resumed = await team.run("", tools, "You refactor.", history=cut)
    assert "all of them parse" in resumed.report or "nothing to change" in resumed.report
    assert "def fetch_user(uid)" in (tmp_path / "p/src/app/users.py").read_text()


async def test_the_last_turn_gets_a_report_of_what_is_done(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    tools = {name: TOOLS[name] for name in ("read_file", "edit_file", "grep")}
    async with open_team(tmp_path / "p", max_turns=2) as team:
        ran = await team.run("rename get_user to fetch_user in src/", tools, "You refactor.")
    assert ran.report.startswith("Not finished")
    assert "not read yet" in ran.report


async def test_a_later_task_of_the_same_conversation_is_a_new_one(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function get_user to fetch_user")
        ran.history.add_user("rename function fetch_user to find_user")
        again = await team.lead("", ran.history)
    assert "Done: rename function `fetch_user` to `find_user`. 6 places in 4 files." in again.report


async def test_a_lead_without_subagents_does_the_work_itself(tmp_path: Path) -> None:
    write(tmp_path / "p", PROJECT)
    async with open_team(tmp_path / "p") as team:
        ran = await team.run("rename function get_user to fetch_user", TOOLS, "You are the lead.", depth=0)
    assert "`src/app/users.py`: 1 place changed" in ran.report


@pytest.mark.parametrize("order", ["rename function load to read", "replace call base.load by other.read"])
@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_edits_that_were_cut_short_are_finished_whatever_stands_between(
    tmp_path: Path, order: str, cut: int
) -> None:
    """From the edit numbered `cut` on, none of the first try is run: the file is left half changed."""
    text = "from base import load\n\n\ndef f():\n    return load, 'load'\n\n\ndef g():\n    return 2\n\n\nx = load()\n"
    write(tmp_path / "p", {"a.py": text})
    seen: list[str] = []

    async def flaky(context: ToolContext, args: Any) -> Any:
        seen.append(args["old_string"])
        if cut <= len(seen) <= 3:
            raise ToolError("Interrupted while it ran: it may have had effect.")
        return await TOOLS["edit_file"].run(context, args)

    tools = {name: TOOLS[name] for name in ("read_file", "grep", "glob")}
    tools["edit_file"] = replace(TOOLS["edit_file"], run=flaky)
    part = f"This is part 1 of 1.\nChange: {order}\nWhat `load` is in this project: module\nThe project's own names: base\nFiles:\n- `a.py`"
    async with open_team(tmp_path / "p") as team:
        ran = await team.run(part, tools, "You refactor.")
    assert "places changed" in ran.report
    after = text.replace("load", "read").replace("'read'", "'load'")
    after = after if order.startswith("rename") else after.replace("from base", "from other")
    assert (tmp_path / "p/a.py").read_text() == after


async def test_a_second_attempt_finishes_what_another_agent_left_half_renamed(tmp_path: Path) -> None:
    write(
        tmp_path / "p",
        {"a.py": "from base import read\n\nx = load()\n", "b.py": "def f(load): return load\n"},
    )
    part = (
        "This is part 1 of 1.\nChange: rename function `load` to `read`\nWhat `load` is in this project: module\n"
        "The project's own names: base\nFiles:\n- `a.py`\n- `b.py`\nAttempt 2: the one before did not finish."
    )
    tools = {name: TOOLS[name] for name in ("read_file", "edit_file")}
    async with open_team(tmp_path / "p") as team:
        await team.run(part, tools, "You refactor.")
    assert (tmp_path / "p/a.py").read_text() == "from base import read\n\nx = read()\n"
    assert (tmp_path / "p/b.py").read_text() == "def f(load): return load\n"


ONE_OF_THREE: dict[str, str | bytes] = {
    "pkg/config.py": "def load():\n    return 1\n",
    "pkg/main.py": "from .config import load\n\n\nclass C:\n    def load(self):\n        return load()\n",
    "pkg/other.py": "from .config import load\n\nload()\n",
    "pkg/__init__.py": "",
}


@pytest.mark.parametrize(
    ("order", "changed"),
    [
        ("Rename function load to read_config in pkg/main.py", {"pkg/main.py"}),
        ("rename function `load` to read_config in `./pkg/main.py`.", {"pkg/main.py"}),
        ("Rename function load to read_config.\n\nDo this for each of: pkg/main.py, pkg/other.py", {"pkg/main.py", "pkg/other.py"}),
        ("Rename function load to read_config in pkg/none.py", set[str]()),
        ("Rename function load to read_config in pkg", {"pkg/config.py", "pkg/main.py", "pkg/other.py"}),
    ],
)  # fmt: skip
async def test_a_subagent_that_is_given_a_place_changes_nothing_else(
    tmp_path: Path, order: str, changed: set[str]
) -> None:
    """The other files are only read: what `load` is, a function of the module, stands in one of them."""
    folder = tmp_path / "p"
    write(folder, ONE_OF_THREE)
    tools = {name: TOOLS[name] for name in ("grep", "glob", "read_file", "edit_file")}
    async with open_team(folder) as team:
        ran = await team.run(order, tools, "You refactor.")
    after = {name: (folder / name).read_text() for name in ONE_OF_THREE}
    assert {name for name, text in after.items() if text != ONE_OF_THREE[name]} == changed
    if "pkg/main.py" in changed:
        assert after["pkg/main.py"] == (
            "from .config import read_config\n\n\nclass C:\n    def load(self):\n        return read_config()\n"
        )
    else:
        assert ran.report == "No Python file in pkg/none.py holds `load` as a whole word."

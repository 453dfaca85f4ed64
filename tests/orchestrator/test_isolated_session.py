"""Isolated subagents in whole sessions, with the scripted model: merged into a branch, the person's checkout untouched."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace as dc_replace
from pathlib import Path
from shlex import quote
from shutil import copytree, rmtree

import anyio
import pytest

from decurion.agents.moments import Moment, Replied, TurnStarted
from decurion.agents.task import Order
from decurion.agents.tools import ToolContext
from decurion.hooks import HookChain, PreToolUse, RunRef, ToolCall, Verdict
from decurion.orchestrator.fence import fence_hook
from decurion.orchestrator.options import LimitOptions, ModelOptions, SessionOptions, WorkOptions
from decurion.orchestrator.session import Session, open_session
from tests.orchestrator.git.repository import Repository, is_our_branch, make_repository
from tests.program import decurion

pytestmark = pytest.mark.anyio

FILES = {
    "src/app/__init__.py": "",
    "src/app/config.py": "def load(path):\n    return path\n",
    "src/app/main.py": "from app.config import load\n\n\ndef main():\n    return load('x')\n",
    "tests/test_config.py": "from app.config import load\n\n\ndef test():\n    assert load(1) == 1\n",
}


RENAME = Order("Rename load to read_config in src/app/main.py", "refactorer")


def asking(session: Session, call_id: str = "1") -> ToolContext:
    """A call of `task` by the session's lead."""
    ref = RunRef(session.id, "lead", "lead")
    workspace = session.options.workspace
    return ToolContext(ref, workspace, session.folder / "outputs", {}, call_id=call_id)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make_repository(tmp_path / "project", FILES)
    made.write("notes.txt", "untracked\n")
    made.write("src/app/config.py", FILES["src/app/config.py"] + "# mine\n")
    return made


@pytest.mark.slow
def test_a_rename_over_the_code_base_arrives_as_one_branch_and_is_undone(repository: Repository) -> None:
    before, status = repository.image(), repository.status()
    check = f"PYTHONPATH=src {sys.executable} -c 'from app.main import main; assert main()'"
    run = decurion(
        repository.path,
        "run",
        "-w",
        "-p",
        "--model",
        "offline",
        "--verify",
        check,
        "rename load to read_config",
    )
    assert run.returncode == 0, run.stdout + run.stderr
    after = repository.image()
    assert {name for name in after if after[name] != before.get(name) and not is_our_branch(name)} == set()
    assert repository.status() == status
    (branch,) = repository.git("branch", "--list", "decurion/*", "--format=%(refname:short)").splitlines()
    assert f"decurion: the work is in branch {branch}\n" in run.stderr
    assert "def read_config" in repository.git("show", f"{branch}:src/app/config.py")
    assert "# mine" in repository.git("show", f"{branch}:src/app/config.py")
    assert "load" not in repository.git("grep", "-h", "config", branch, "--", "src", "tests")
    applied = decurion(repository.path, "apply")
    assert applied.returncode == 0, applied.stderr
    assert applied.stdout.splitlines()[-1] == (
        "applied 3 files to this checkout; take it back with `decurion undo`."
    )
    assert "read_config(path):\n    return path\n# mine" in repository.read("src/app/config.py")
    assert decurion(repository.path, "apply").stdout == (
        "this checkout has the result already: nothing was written.\n"
    )
    assert decurion(repository.path, "undo").returncode == 0
    assert repository.status() == status


@pytest.mark.slow
def test_going_on_takes_up_what_the_session_was_started_with(repository: Repository) -> None:
    """Without `-w` it would go on in the person's own checkout."""
    check = "test -f src/app/config.py"
    run = decurion(
        repository.path, "run", "-w", "-p", "--model", "offline", "--max-turns", "1", "--verify", check, "rename load to x"
    )  # fmt: skip
    assert run.returncode == 124
    before, status = repository.read("src/app/config.py"), repository.status()
    again = decurion(repository.path, "resume", "--output-format", "json", "--max-turns", "20")
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["verified"], told["branch"][:9]) == (True, "decurion/")
    assert (repository.read("src/app/config.py"), repository.status()) == (before, status)


def test_outside_of_a_repository_isolation_says_so_in_one_line(tmp_path: Path) -> None:
    run = decurion(tmp_path, "run", "-w", "-p", "--model", "offline", "rename a to b")
    assert run.returncode == 2
    assert "is not in a git repository, so subtasks cannot be isolated" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert "no session here yet" in decurion(tmp_path, "sessions").stdout


async def test_a_subagent_that_asks_for_it_is_isolated_without_any_option(repository: Repository) -> None:
    options = SessionOptions(repository.path, ModelOptions(name="offline"), work=WorkOptions())
    before = repository.work_image()
    async with open_session(options) as session:
        ref = RunRef(session.id, "lead", "lead")
        context = ToolContext(ref, repository.path, session.folder / "outputs", {}, call_id="call_1")
        order = Order("Rename load to read_config in src/app/main.py", "refactorer", isolation="worktree")
        result = await session.team.spawn(context, order)
        assert result.branch is not None
        assert result.branch.startswith("refs/agents/")
        assert session.isolation is not None
        assert session.isolation.used
    assert repository.work_image() == before


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("echo x > {user}/README.md", True),
        ("cd {user} && git stash drop", True),
        ("git -C {user} commit -m x", True),
        ("git --git-dir={user}/.git gc", True),
        ("sed -i s/a/b/ {user}/src/a.py", True),
        ("cat {user}/src/a.py", True),
        ("cat ../other/file.txt", True),
        ("cat {hub}/config", True),
        ("cat src/a.py && ls .", False),
        ("git commit -am x", False),
        ("ls {own}/src", False),
        ("ls /usr/bin", False),
    ],
)
async def test_isolated_subagents_stay_out_of_the_users_checkout(
    tmp_path: Path, command: str, refused: bool
) -> None:
    user, session = tmp_path / "user", tmp_path / "state" / "s1"
    own = session / "git" / "trees" / "a"
    for folder in (user / ".git", user / "src", own / "src", session / "git" / "trees" / "other"):
        folder.mkdir(parents=True)
    chain = HookChain([fence_hook(user, session, {"a": own})])
    places = {"user": user, "own": own, "hub": session / "git" / "hub.git"}
    text = command.format(**{name: quote(str(path)) for name, path in places.items()})
    call = ToolCall("1", "bash", {"command": text})
    decision = await chain.ask(PreToolUse(RunRef("s1", "a", "general", "lead", 1), call))
    assert (decision.verdict is Verdict.DENY) is refused
    assert (await chain.ask(PreToolUse(RunRef("s1", "lead", "lead"), call))).verdict is Verdict.ABSTAIN


class Hands:
    """A workplace that nobody else looks after."""

    def __init__(self, path: Path) -> None:
        self.path = path

    goes_back = False

    async def ready(self) -> Mapping[str, str]:
        """It is there."""
        return {}

    async def checkpoint(self, turn: int) -> None:
        """Keep nothing."""

    async def finish(self, message: str) -> None:
        """Commit nothing."""


async def test_a_resolver_does_not_wait_for_the_slot_of_who_waits_for_it(tmp_path: Path) -> None:
    options = SessionOptions(tmp_path, ModelOptions(name="offline"), LimitOptions(running_at_once=1))
    (tmp_path / "a.py").write_text("def load():\n    return 1\n")
    async with open_session(options) as session:

        class Nested(Hands):
            async def finish(self, message: str) -> None:
                order = Order("Rename load to read_config in a.py", "refactorer")
                await session.team.run_at(order, Hands(tmp_path), "resolver-1", takes_slot=False)

        with anyio.fail_after(60):
            order = Order("Find load in a.py", "explorer")
            await session.team.run_at(order, Nested(tmp_path), "outer-1")
    assert "read_config" in (tmp_path / "a.py").read_text()


class Rollback(Hands):
    """A workplace with checkpoints that is cut off in one of them: before the files are kept, or after."""

    goes_back = True

    def __init__(self, path: Path, kept: Path, cut: tuple[int, bool] | None = None) -> None:
        super().__init__(path)
        self.kept, self.cut, self.scope = kept, cut, anyio.CancelScope()

    async def checkpoint(self, turn: int) -> None:
        """Keep the files, unless this is where it ends."""
        if self.cut != (turn, False):
            copytree(self.path, self.kept, dirs_exist_ok=True)
        if self.cut and self.cut[0] == turn:
            self.scope.cancel()
            await anyio.sleep_forever()


@pytest.mark.parametrize("kept", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("turn", [3, 4])
async def test_an_agent_taken_back_to_its_checkpoint_knows_of_no_result_that_is_not_in_it(
    tmp_path: Path, turn: int, *, kept: bool
) -> None:
    """The edits of the turn that was cut off are made again, what it read before is kept, and nothing is missing."""
    work, saved = tmp_path / "work", tmp_path / "kept"
    work.mkdir()
    (work / "a.py").write_text("def load():\n    return 1\n\n\nload()\n")
    copytree(work, saved)
    order = Order("Rename load to read_config in a.py", "refactorer")
    options = SessionOptions(work, ModelOptions(name="offline"))
    async with open_session(options) as session:
        first = Rollback(work, saved, (turn, kept))
        with first.scope:
            await session.team.run_at(order, first, "one-1")
        assert first.scope.cancelled_caught
    rmtree(work)
    copytree(saved, work)
    async with open_session(dc_replace(options, resume=session.id)) as session:
        result = await session.team.run_at(order, Rollback(work, saved), "one-1")
    assert result.status == "completed", result.summary
    assert "2 places changed" in result.summary
    assert (work / "a.py").read_text() == "def read_config():\n    return 1\n\n\nread_config()\n"


async def test_the_model_is_asked_while_the_checkpoint_is_made(tmp_path: Path) -> None:
    """No result is on disk before its checkpoint; yet nobody waits for the one before the other is begun.

    Turns that only search and read, the first two here, need none.
    """
    (tmp_path / "a.py").write_text("def load():\n    return 1\n")
    order = Order("Rename load to read_config in a.py", "refactorer")
    asked, at_checkpoints = anyio.Event(), dict[int, int]()

    def listen(moment: Moment) -> None:
        if isinstance(moment, TurnStarted) and moment.ref.turn == 4:
            asked.set()

    async with open_session(SessionOptions(tmp_path, ModelOptions(name="offline")), listen) as session:

        class Slow(Hands):
            async def checkpoint(self, turn: int) -> None:
                with anyio.fail_after(60):
                    await asked.wait()
                at_checkpoints[turn] = session.team.settled_turns("one-1")

        result = await session.team.run_at(order, Slow(tmp_path), "one-1")
    assert result.status == "completed"
    assert at_checkpoints == {3: 2, 4: 3}


async def test_the_model_is_asked_while_the_checkout_is_made(repository: Repository, tmp_path: Path) -> None:
    """The set-up waits here for the first reply; nothing runs in the checkout before it is through."""
    replied = tmp_path / "replied"
    setup = f"while ! [ -e {quote(str(replied))} ]; do sleep 0.01; done; echo ready > set-up.txt"

    def listen(moment: Moment) -> None:
        if isinstance(moment, Replied) and moment.ref.depth:
            replied.touch()

    work = WorkOptions(isolation="worktree", setup=setup)
    options = SessionOptions(repository.path, ModelOptions(name="offline"), work=work)
    async with open_session(options, listen) as session:
        with anyio.fail_after(60):
            result = await session.team.spawn(asking(session), RENAME)
    assert (result.status, "2 places changed" in result.summary) == ("completed", True), result.summary
    assert "set-up.txt" in {change.path for change in result.files_changed}


async def test_a_checkout_that_cannot_be_made_fails_its_subagent_alone(repository: Repository) -> None:
    before = repository.image()
    work = WorkOptions(isolation="worktree", setup="echo no such thing >&2; exit 7")
    options = SessionOptions(repository.path, ModelOptions(name="offline"), work=work)
    async with open_session(options) as session:
        result = await session.team.spawn(asking(session), RENAME)
        calm = await session.team.spawn(asking(session, "2"), dc_replace(RENAME, isolation="none"))
        assert list((session.folder / "git" / "trees").iterdir()) == []
    assert (result.status, result.partial, result.files_changed) == ("error", True, ())
    assert "Its checkout could not be made" in result.error
    assert "no such thing" in result.error
    assert calm.status == "completed"
    assert repository.image() != before  # what the one without isolation did

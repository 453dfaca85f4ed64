"""Kill a session at many moments and hold what is left against what was there: `python bench/git_interruptions.py 300`.

The program runs the whole way (snapshot, two subagents with checkpoints, merge, branch, apply, undo, then a campaign
over three files) in a process of its own and kills itself, with SIGKILL, right before the n-th thing it does to the outside: starting a process,
opening a file for writing, renaming, removing, making a folder or a link. Then another process goes on. Held against
the start: every byte of the working tree, the index, refs, stash, configuration and hooks.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio

from decurion.orchestrator.campaign import (
    Campaign,
    Ledger,
    Subtask,
    SubtaskResult,
    find_targets,
    in_groups,
    load_plan,
)
from decurion.orchestrator.git import Isolation, Worktree, undo

EFFECTS = {
    "subprocess.Popen", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.utime"
}  # fmt: skip
AGENTS = ("a", "b")
TURNS = 2


async def whole_way(place: Path, state: Path) -> None:
    """One session, which can be begun and gone on with by the same call."""
    isolation = await Isolation.prepare(place, state, "s1")
    works = [await isolation.finished(name) or await _agent(isolation, name) for name in AGENTS]
    done = await isolation.integrate(works)
    assert not done.left, done.left
    await isolation.hand_back()
    await isolation.apply()
    await isolation.aclose()
    await undo(state)
    await campaign(place, state / "campaign")


class Editor:
    """Runs the campaign's subtasks: changes one file, and leaves a line for each time it is run."""

    def settled_turns(self, agent_id: str) -> int:  # noqa: ARG002 - the seam's argument
        """Forget every turn: what was interrupted is made again from the start."""
        return 0

    async def run_subtask(self, subtask: Subtask, tree: Worktree) -> SubtaskResult:
        """Change the target; an attempt that was interrupted is simply made again."""
        target = tree.path / subtask.targets[0]
        target.write_text(target.read_text().replace("old", "new"))
        await tree.checkpoint(1)
        return SubtaskResult("completed", "done")


async def campaign(place: Path, state: Path) -> None:
    """One campaign, begun or gone on with."""
    plan = load_plan(
        None, {"task": "say new in {path}", "verify": "! grep -q old {path}", "targets": {"each": ["t/*"]}}
    )
    isolation = await Isolation.prepare(place, state, "s2")
    path = state / "campaign.jsonl"
    if not path.exists():
        Ledger.create(path, plan, in_groups(await find_targets(plan, place), 1))
    report = await Campaign(Ledger.read(path), isolation, Editor()).run()
    assert report.ok, report
    assert [entry.state for entry in report.entries] == ["done"] * 3, report
    await isolation.aclose()


async def _agent(isolation: Isolation, name: str) -> Any:
    tree = await isolation.reopen(name)
    for turn in range(tree.turn + 1, TURNS + 1):
        (tree.root / f"{name}-{turn}.txt").write_text(f"{turn}\n")
        core = tree.root / "core.py"
        core.write_text(core.read_text().replace(f"line {name}{turn}\n", f"LINE {name}{turn}\n"))
        await tree.checkpoint(turn)
    return await isolation.finish(tree, f"work of {name}")


def template(place: Path) -> None:
    """A repository in which everything is in some state of work."""
    place.mkdir(parents=True)

    def git(*args: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@localhost", *args], cwd=place, check=True
        )

    git("init", "-q", "-b", "main", "--template=")
    lines = [f"line {name}{turn}\n" + "filler\n" * 8 for name in AGENTS for turn in range(1, TURNS + 1)]
    (place / "core.py").write_text("".join(lines))
    (place / "gone.txt").write_text("x\n")
    (place / "t").mkdir()
    for number in range(3):
        (place / "t" / f"{number}.txt").write_text("old\n")
    (place / ".gitignore").write_text("*.log\n")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    (place / "stashed.txt").write_text("x\n")
    git("stash", "-q", "-u")
    (place / "core.py").write_text((place / "core.py").read_text() + "unstaged\n")
    (place / "staged.bin").write_bytes(bytes(range(256)))
    git("add", "staged.bin")
    (place / "untracked.txt").write_text("x\n")
    (place / "ignored.log").write_text("x\n")
    (place / "gone.txt").unlink()
    os.utime(place / "core.py", ns=(10**18, 10**18))


def image(place: Path) -> dict[str, str]:
    """Every byte that is the user's; of the repository what git may not even append to. Our branch is left out."""
    found: dict[str, str] = {}
    for file in sorted(place.rglob("*")):
        name = str(file.relative_to(place))
        ours = name.startswith((".git/objects", ".git/refs/heads/decurion", ".git/logs/refs/heads/decurion"))
        if file.is_file() and not ours:
            found[name] = sha256(file.read_bytes()).hexdigest() + str(file.stat().st_mode)
    return found


def kill_before(number: int) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that ends the program at the n-th effect; 0 only counts."""
    seen = 0

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if event in EFFECTS or writes:
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
        if event == "decurion.count":
            print(seen)

    return hook


def in_child(work: Callable[[], None]) -> int:
    """Run something in a forked process and give its wait status; the parent stays free of threads and loops."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the exit status tells the parent
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def count_effects(base: Path) -> int:
    """How many effects an undisturbed session has."""
    place, state = base / "count" / "project", base / "count" / "state"
    shutil.copytree(base / "template", place, symlinks=True)
    reader, writer = os.pipe()

    def work() -> None:
        os.dup2(writer, 1)
        sys.addaudithook(kill_before(0))
        anyio.run(whole_way, place, state)
        sys.audit("decurion.count")
        sys.stdout.flush()

    status = in_child(work)
    os.close(writer)
    with os.fdopen(reader) as answer:
        told = answer.read()
    assert status == 0, f"the undisturbed session failed: {status}"
    shutil.rmtree(base / "count")
    return int(told)


def interrupt(base: Path, number: int) -> str:
    """One session, killed at a moment and gone on with; gives what was lost or changed, or `""`."""
    place, state = base / f"{number}" / "project", base / f"{number}" / "state"
    shutil.copytree(base / "template", place, symlinks=True)
    before = image(place)

    def first() -> None:
        sys.addaudithook(kill_before(number))
        anyio.run(whole_way, place, state)

    if not os.WIFSIGNALED(in_child(first)):
        return "it was not interrupted"
    if in_child(lambda: anyio.run(whole_way, place, state)):
        return "the session does not resume"
    after = image(place)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        return f"changed: {changed}"
    shown = subprocess.run(
        ["git", "ls-tree", "--name-only", "decurion/s1"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    told = subprocess.run(
        ["git", "grep", "-c", "new", "decurion/s2", "--", "t"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    if told.count(":1") != 3:
        return f"the campaign's work is lost: {told}"
    missing = {f"{name}-{turn}.txt" for name in AGENTS for turn in range(1, TURNS + 1)} - set(shown)
    # A git that the killed session had started may still be writing to its hub.
    shutil.rmtree(base / f"{number}", ignore_errors=True)
    return f"work lost: {missing}" if missing else ""


def main() -> int:
    """Kill at `count` moments, spread over all there are; print what was lost."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    base = Path(tempfile.mkdtemp(prefix="decurion-interrupted-"))
    try:
        template(base / "template")
        effects = count_effects(base)
        moments = sorted(random.Random(0).sample(range(1, effects + 1), min(count, effects)))
        began = time.monotonic()
        failures = {number: why for number in moments if (why := interrupt(base, number))}
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for number, why in failures.items():
        print(f"killed before effect {number} of {effects}: {why}")
    seconds = time.monotonic() - began
    print(
        f"{len(moments)} interruptions over {effects} effects, {len(failures)} with a loss, {seconds:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill sessions at many moments and hold what is left against what was there: `python bench/git_interruptions.py 300`.

A program goes its way in a process of its own and kills itself, with SIGKILL, right before the n-th thing it does to
the outside: starting a process, opening a file for writing, renaming, removing, making a folder or a link. Then
another process goes on. Held against the start: every byte of the working tree, the index, refs, stash, configuration
and hooks; held against an undisturbed run: the tree of the branch that results. There are three ways:

- `steps`: snapshot, two subagents with checkpoints, merge, branch, apply, undo, then a campaign over three files;
- `session`: `decurion run -w --apply` and `decurion resume`, with a lead and three subagents that append to files by
  `bash`, so that a turn lost or made twice is seen; then `decurion undo`;
- `campaign`: the same work by `decurion campaign run` and `decurion campaign resume`.

The last two are killed up to 30 ms later, in the middle of whatever goes on then, the turns of agents among it.

    python bench/git_interruptions.py 300            # steps
    python bench/git_interruptions.py 100 session campaign
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio

from decurion.__main__ import main as decurion
from decurion.agents.messages_api import Answer, Request, call, calls, say, serve_in_thread
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


def kill_before(number: int, jitter: float = 0.0) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that ends the program at the n-th effect, or `jitter` seconds later; 0 only counts."""
    seen = 0

    def end() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if event in EFFECTS or writes:
            seen += 1
            if seen == number:
                threading.Timer(jitter, end).start() if jitter else end()
        if event == "decurion.count":
            print(seen)

    return hook


def in_child(work: Callable[[], object], said: Path | None = None) -> int:
    """Run something in a forked process and give its wait status; the parent stays free of threads and loops."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if said:
                os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
                os.dup2(1, 2)
            told = work()
            code = told if isinstance(told, int) else 0
        except BaseException as error:  # noqa: BLE001 - the exit status tells the parent
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(code)
    return os.waitpid(child, 0)[1]


@dataclass(frozen=True)
class Way:
    """One way to be killed on. `result` gives what a run has come to; it is the same however often it was killed."""

    begin: Callable[[Path, Path], object]
    go_on: Callable[[Path, Path], object]
    result: Callable[[Path], object]
    jitter: float = 0.0


def steps(place: Path, state: Path) -> None:
    """Go the whole way in this process."""
    anyio.run(whole_way, place, state)


def branches(place: Path) -> list[str]:
    """The trees of the branches that were handed back."""
    command = ("git", "for-each-ref", "--format=%(tree)", "refs/heads/decurion")
    return sorted(
        subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout.split()
    )


STEPS = 3


async def script(request: Request) -> Answer:
    """Be the lead, or a subagent that appends a line to its file in each turn; by the history alone."""
    found = re.search(r"Append to (\S+)", request.task)
    if not found:
        parts = (
            ("task", {"description": f"Append to t/{n}.txt", "subagent_type": "general"}) for n in range(3)
        )
        return say("All is done.") if request.turn else calls(*parts)
    asked: list[dict[str, Any]] = [m for m in request.messages if not isinstance(m["content"], str)]
    results = [block for m in asked for block in m["content"] if block["type"] == "tool_result"]
    done = sum(not result.get("is_error") for result in results)
    return (
        say("It is done.") if done >= STEPS else call("bash", {"command": f"echo step {done} >> {found[1]}"})
    )


def program(*args: str) -> Callable[[Path, Path], int]:
    """Make one call of `decurion`, with the scripted model behind it."""

    def run(place: Path, state: Path) -> int:
        os.chdir(place)
        os.environ.update({"DECURION_STATE_DIR": str(state), "DECURION_CONFIG_DIR": str(state / "config")})
        with serve_in_thread(script) as api:
            os.environ.update({"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test"})
            return decurion(list(args))

    return run


def in_turn(*runs: Callable[[Path, Path], int]) -> Callable[[Path, Path], int]:
    """Make one call after the other, up to the first that fails."""
    return lambda place, state: next((code for run in runs if (code := run(place, state))), 0)


def again(
    go_on: Callable[[Path, Path], int], begin: Callable[[Path, Path], int]
) -> Callable[[Path, Path], int]:
    """Go on, or begin anew where it was killed before there was anything to go on with."""
    return lambda place, state: begin(place, state) if _nothing_yet(state) else go_on(place, state)


def _nothing_yet(state: Path) -> bool:
    ledgers = list(state.glob("projects/*/*/campaign.jsonl"))
    leads = [file for file in state.glob("projects/*/*/transcript.jsonl") if file.stat().st_size]
    return not ledgers and not leads


_CHECK = "test $(grep -c step t/0.txt) = 3"
_RUN = program("run", "-w", "-p", "--apply", "--verify", _CHECK, "Have all parts done.")
_CAMPAIGN = program(
    "campaign", "run", "-q", "--each", "t/*", "--task", "Append to {path}", "--verify", "grep -q 'step 2' {path}"
)  # fmt: skip
WAYS: Mapping[str, Way] = {
    "steps": Way(steps, steps, branches),
    "session": Way(
        in_turn(_RUN, program("undo")),
        in_turn(again(program("resume", "-p"), _RUN), program("undo")),
        branches,
        0.03,
    ),
    "campaign": Way(_CAMPAIGN, again(program("campaign", "resume", "-q"), _CAMPAIGN), branches, 0.03),
}


def undisturbed(base: Path, way: Way) -> tuple[int, object]:
    """How many effects an undisturbed run has, and what it comes to."""
    place, state, said = base / "count" / "project", base / "count" / "state", base / "count.txt"
    shutil.copytree(base / "template", place, symlinks=True)

    def work() -> object:
        sys.addaudithook(kill_before(0))
        code = way.begin(place, state)
        sys.audit("decurion.count")
        return code

    if in_child(work, said):
        raise RuntimeError(f"the undisturbed run failed: {said.read_text()}")
    result = way.result(place)
    shutil.rmtree(base / "count")
    return int(said.read_text().split()[-1]), result


def interrupt(base: Path, way: Way, number: int, wanted: object) -> str:
    """One run, killed at a moment and gone on with; gives what was lost or changed, or `""`."""
    place, state, said = base / f"{number}" / "project", base / f"{number}" / "state", base / f"{number}.txt"
    shutil.copytree(base / "template", place, symlinks=True)
    before = image(place)
    jitter = random.Random(number).uniform(0, way.jitter) if way.jitter else 0.0

    def first() -> object:
        sys.addaudithook(kill_before(number, jitter))
        return way.begin(place, state)

    killed = os.WIFSIGNALED(in_child(first, said))
    if killed and in_child(lambda: way.go_on(place, state), said):
        return f"it does not go on: {said.read_text()[-1500:]}"
    after = image(place)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        return f"changed: {changed}"
    result = way.result(place)
    # A git that the killed session had started may still be writing to its hub.
    shutil.rmtree(base / f"{number}", ignore_errors=True)
    return "" if result == wanted else f"it came to {result} and not to {wanted}: {said.read_text()[-1500:]}"


def try_way(base: Path, name: str, count: int) -> int:
    """Kill one way at `count` moments, spread over all there are; print what was lost, give how often."""
    way, began = WAYS[name], time.monotonic()
    effects, wanted = undisturbed(base, way)
    moments = sorted(random.Random(0).sample(range(1, effects + 1), min(count, effects)))
    failures = {number: why for number in moments if (why := interrupt(base, way, number, wanted))}
    for number, why in failures.items():
        print(f"{name}: killed before effect {number} of {effects}: {why}")
    told = f"{len(moments)} interruptions over {effects} effects, {len(failures)} with a loss"
    print(f"{name}: {told}, {time.monotonic() - began:.0f} s", flush=True)
    return len(failures)


def main() -> int:
    """Kill the ways that are named, the steps where none is."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    base = Path(tempfile.mkdtemp(prefix="decurion-interrupted-"))
    try:
        template(base / "template")
        lost = sum(try_way(base, name, count) for name in sys.argv[2:] or ["steps"])
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())

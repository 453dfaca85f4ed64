"""What isolation costs: `python bench/git.py` (`make bench-git`). Makes its own repositories; prints goal and figure.

"Plain" is `git worktree add` from the user's repository. Of single steps the lower quartile counts: what else the
machine does makes some of them slower, and none of them faster. The last line holds whole sessions against their
longest chain: the lead's two replies and those of one subtask.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio

from decurion.agents.messages_api import Answer, Request, call, calls, say
from decurion.agents.messages_api import Options as ApiOptions
from decurion.orchestrator.git import Isolation, Work
from decurion.orchestrator.git.matrix import Merges, conflict_matrix
from decurion.orchestrator.options import ModelOptions, SessionOptions, WorkOptions
from decurion.orchestrator.session import open_session

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.elsewhere import be_api, elsewhere

TREES = 16
PARTS, TURNS, DELAY = 8, 10, 0.2
"""Subtasks of the lead, replies of each, and seconds that each reply takes."""
ROUNDS = 5
SMALL, LARGE = 300, 1_700


def git(place: Path, *args: str) -> None:
    """Run git as a person would."""
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@localhost", *args], cwd=place, check=True)


def make_repository(place: Path, files: int) -> Path:
    """A project of some size: modules of about 60 lines, a few folders deep."""
    words = random.Random(files)
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main", "--template=")
    for number in range(files):
        file = place / "src" / f"pkg{number % 17}" / f"part{number % 5}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (f"def f{number}_{n}(x):\n    return x * {words.randrange(10**6)}\n" for n in range(60))
        file.write_text("".join(lines))
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")
    return place


async def worktrees(place: Path, base: Path) -> tuple[float, float]:
    """Seconds for plain worktrees, one after the other as git wants it, and for hub, snapshot and ours, side by side."""
    plain: list[float] = []
    ours: list[float] = []
    for number in range(3):
        began = time.perf_counter()
        for tree in range(TREES):
            git(place, "worktree", "add", "-q", "--detach", str(base / f"plain{number}-{tree}"))
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        isolation = await Isolation.prepare(place, base / f"ours{number}", "bench")
        async with anyio.create_task_group() as group:
            for tree in range(TREES):
                group.start_soon(isolation.open, f"w{tree}")
        ours.append(time.perf_counter() - began)
        isolation.release()
        for tree in range(TREES):
            git(place, "worktree", "remove", "--force", str(base / f"plain{number}-{tree}"))
    return min(plain), min(ours)


async def matrix(place: Path, base: Path) -> float:
    """Seconds for all pairs of sixteen works, half of which touch one file."""
    isolation = await Isolation.prepare(place, base / "matrix", "bench")
    files = sorted((place / "src").rglob("*.py"))
    works: list[Work] = []
    for number in range(TREES):
        tree = await isolation.open(f"w{number}")
        edited = tree.root / (files[0] if number % 2 else files[number + 1]).relative_to(place)
        edited.write_text(edited.read_text().replace("return x", f"return {number} + x"))
        (tree.root / files[40 + number].relative_to(place)).unlink()  # so that every pair is worth a look
        works.append(await isolation.finish(tree, f"work {number}"))
    seconds = await _timed(lambda: conflict_matrix(Merges(isolation.hub), works), 3)
    isolation.release()
    return seconds


async def checkpoint(place: Path, base: Path) -> float:
    """Seconds for a checkpoint after a turn that changed two files."""
    isolation = await Isolation.prepare(place, base / "checkpoint", "bench")
    tree = await isolation.open("a")
    files = sorted(tree.root.rglob("*.py"))
    turn = 0

    async def one() -> object:
        nonlocal turn
        turn += 1
        for file in files[turn * 2 : turn * 2 + 2]:
            file.write_text(file.read_text() + f"# turn {turn}\n")
        return await tree.checkpoint(turn)

    seconds = await _timed(one, 30)
    isolation.release()
    return seconds


def script(parts: int) -> Callable[[Request], Awaitable[Answer]]:
    """Be a lead with so many parts, or a subagent that writes a file in each turn."""

    async def answer(request: Request) -> Answer:
        found = re.search(r"Do part(\d+)\.", request.task)
        if not found:
            tasks = (("task", {"description": f"Do part{number}."}) for number in range(parts))
            return say("Done.") if request.turn else calls(*tasks)
        if request.turn == TURNS - 1:
            return say("Done.")
        return call("write_file", {"path": f"new/{found[1]}-{request.turn}.txt", "content": "x\n"})

    return answer


async def lead(place: Path, base: Path, parts: int) -> float:
    """Seconds from the lead's first request to the end; several parts are isolated and end in a branch."""
    own = {"DECURION_STATE_DIR": str(base / "lead"), "DECURION_CONFIG_DIR": str(base / "config")}
    os.environ.update({**own, "ANTHROPIC_API_KEY": "test"})
    with elsewhere(__file__, "api", str(parts)) as (url, _end):
        work = WorkOptions(isolation="worktree" if parts > 1 else "none")
        async with open_session(SessionOptions(place, ModelOptions(base_url=url), work=work)) as session:
            began = time.perf_counter()
            finished = await session.run("Have all parts done.")
            seconds = time.perf_counter() - began
    assert (finished.lead.status, len(finished.subagents)) == ("completed", parts), finished
    assert bool(finished.branch) == (parts > 1)
    return seconds


async def chains(place: Path, base: Path) -> bool:
    """Hold isolated subtasks side by side against one of them alone, in turn; medians of both, for the machine varies."""
    alone: list[float] = []
    together: list[float] = []
    single = make_repository(base / "single", SMALL)
    await lead(single, base, 1)  # the first one imports what a session needs
    before = os.times()
    for _ in range(ROUNDS):
        alone.append(await lead(single, base, 1))
        together.append(await lead(place, base, PARTS))
    after = os.times()
    chain, seconds = statistics.median(alone), statistics.median(together)
    good = show(
        f"lead + {PARTS} isolated subtasks of {TURNS} replies, {DELAY * 1000:.0f} ms each",
        "≤ 1.3 times",
        f"{seconds / chain:.2f} times ({chain:.2f} -> {seconds:.2f} s)",
        good=seconds <= 1.3 * chain,
    )
    replies = DELAY * (TURNS + 2)
    spent = sum(after[:4]) - sum(before[:4])
    print(
        f"      (the longest chain: one subtask alone, not isolated; medians of {ROUNDS}. Its replies alone take "
        f"{replies:.1f} s, {seconds / replies:.2f} times; {spent / ROUNDS:.1f} s of processor time a round, "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)",
        flush=True,
    )
    return good


async def _timed(what: Callable[[], Awaitable[object]], times: int) -> float:
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await what()
        taken.append(time.perf_counter() - began)
    return _typical(taken)


def _typical(taken: Sequence[float]) -> float:
    return statistics.quantiles(taken, n=4)[0]


def show(name: str, goal: str, figure: str, *, good: bool) -> bool:
    """Print one line of the table."""
    print(f"{'ok  ' if good else 'MISS'}  {name:<52} {goal:>14} {figure:>26}", flush=True)
    return good


async def measure(base: Path) -> bool:
    """All figures; whether all goals are met."""
    small = make_repository(base / f"repo{SMALL}", SMALL)
    # First, for where tens of thousands of files were just deleted, ext4 creates new ones slowly for minutes.
    good = await chains(small, base)
    alone = dict[int, float]()
    for size, place in ((SMALL, small), (LARGE, make_repository(base / f"repo{LARGE}", LARGE))):
        plain, ours = await worktrees(place, base / f"trees{size}")
        alone[size] = plain / TREES * PARTS
        figure = f"{ours / plain:.2f} times ({plain:.2f} -> {ours:.2f} s)"
        good &= show(
            f"hub + {TREES} worktrees against plain, {size} files",
            "≤ 1.2 times",
            figure,
            good=ours <= 1.2 * plain,
        )
    seconds = await matrix(small, base)
    good &= show(
        f"conflict matrix of {TREES} works (120 merges)", "≤ 1 s", f"{seconds:.2f} s", good=seconds <= 1
    )
    seconds = await checkpoint(small, base)
    good &= show(
        f"checkpoint per turn, {SMALL} files", "≤ 40 ms", f"{seconds * 1000:.1f} ms", good=seconds <= 0.04
    )
    print(f"      ({PARTS} plain worktrees alone take {alone[SMALL]:.2f} s on this disk)", flush=True)
    return good


def interruptions(count: int) -> bool:
    """Kill a session at many moments, in a program of its own."""
    command = [sys.executable, "-P", str(Path(__file__).with_name("git_interruptions.py")), str(count)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    last = (run.stdout.strip().splitlines() or run.stderr.strip().splitlines() or ["it did not run"])[-1]
    return show(f"{count} interruptions: bytes of the user's lost", "0", last, good=run.returncode == 0)


def main() -> int:
    """Print the table; `--interruptions N` adds the kill test, which takes a second each."""
    if sys.argv[1:2] == ["api"]:
        anyio.run(be_api, script(int(sys.argv[2])), ApiOptions(latency=DELAY, record=False))
        return 0
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    base = Path(tempfile.mkdtemp(prefix="decurion-bench-git-"))
    try:
        good = anyio.run(measure, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if "--interruptions" in sys.argv:
        good &= interruptions(int(sys.argv[sys.argv.index("--interruptions") + 1]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""`kill -9` of whole sessions at random moments, each then proven, resumed and proven again. `make bench-crash`.

A session (`decurion run`, a process of its own) works against a strict Messages API in this process: a lead and its
subagents, whose calls each leave a mark of having run that no log has a part in: a line appended, a file written, the
access time of a file read. It is killed where its log has grown to a random size, plus up to 20 ms. Then:

- every mark belongs to a call that the log announces as `planned`; what is marked ran once;
- the log can be read, and `decurion audit verify` finds a crash and no tampering;
- `decurion resume` ends well; subagents that had ended are not run again; the API refused no request;
- the whole log verifies; each call has one `planned` and one `done`, or none of the latter where the kill broke it off.

    python bench/crash.py --runs 200                    # a lead and 8 subagents
    python bench/crash.py --agents 50 --turns 2 --runs 5
    python bench/crash.py --engine pipe --runs 20       # each subagent a worker program
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decurion.agents.messages_api import Answer, Api, Options, Request, calls, say, serve_in_thread
from decurion.hooks.audit import records, verify

PROGRAM = (sys.executable, "-P", "-m", "decurion")
MARK = re.compile(r"\b(?:lead|part\d+)-\d+-\d+\b")
SECONDS = 120
JITTER = 0.02


@dataclass(frozen=True)
class Plan:
    """How much there is to do: subagents, and turns of each. Every turn has two commands, a file to read and one to write."""

    agents: int = 8
    turns: int = 4
    engine: str = "inprocess"

    async def answer(self, request: Request) -> Answer:
        """Answer as the lead or as the subagent whose part stands in its task; by the history alone."""
        found = re.search(r"Do part(\d+)\.", request.task)
        if found:
            return say("Done.") if request.turn >= self.turns else _work(f"part{found[1]}", request.turn)
        if request.turn == 1:
            return calls(*(("task", {"description": f"Do part{n}."}) for n in range(self.agents)))
        return _work("lead", request.turn) if request.turn in (0, 2) else say("All done.")

    def prepare(self, workspace: Path) -> None:
        """Lay out the files that are read, as if nobody had read them since they were written."""
        for folder in ("appended", "written", "read"):
            (workspace / folder).mkdir(parents=True)
        for who in ("lead", *(f"part{n}" for n in range(self.agents))):
            for turn in range(max(self.turns, 3)):
                file = workspace / "read" / f"{who}-{turn}-1.txt"
                file.write_text("to be read\n")
                os.utime(file, (0, file.stat().st_mtime))


def _work(who: str, turn: int) -> Answer:
    mark = f"{who}-{turn}"
    return calls(
        ("bash", {"command": f"echo {mark}-0 >> appended/{who}.txt"}),
        ("read_file", {"path": f"read/{mark}-1.txt"}),
        ("write_file", {"path": f"written/{mark}-2.txt", "content": "written\n"}),
        ("bash", {"command": f"echo {mark}-3 >> appended/{who}.txt"}),
    )


def marks(workspace: Path) -> Counter[str]:
    """Count what ran, by what it left behind."""
    found = Counter[str]()
    for file in (workspace / "appended").iterdir():
        found.update(file.read_text().split())
    found.update(file.stem for file in (workspace / "written").iterdir() if MARK.fullmatch(file.stem))
    found.update(file.stem for file in (workspace / "read").iterdir() if file.stat().st_atime)
    return found


@dataclass
class Run:
    """One session in folders of its own, and what is wrong with it."""

    base: Path
    url: str
    plan: Plan
    problems: list[str] = field(default_factory=list[str])

    @property
    def workspace(self) -> Path:
        """Where it works."""
        return self.base / "work"

    @property
    def log(self) -> Path | None:
        """Its log, once there is one."""
        return next((self.base / "state").glob("projects/*/*/audit.jsonl"), None)

    def records(self) -> list[dict[str, Any]]:
        """Read its log."""
        return list(records(str(self.log))) if self.log else []

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start the program in the workspace."""
        own = {f"DECURION_{name}_DIR": str(self.base / name.lower()) for name in ("STATE", "CONFIG")}
        env = {**os.environ, **own, "ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "test-key"}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            (*PROGRAM, *args), cwd=self.workspace, env=env, stdout=pipe, stderr=pipe, text=True
        )

    def session(self) -> subprocess.Popen[str]:
        """Start the session that is to be killed."""
        self.plan.prepare(self.workspace)
        plan = self.plan
        options = ("-p", "--parallel", str(plan.agents), "--engine", plan.engine)
        return self.start("run", *options, "Have all parts done.")

    def expect(self, fine: object, problem: str) -> None:
        """Note a problem unless all is fine."""
        if not fine:
            self.problems.append(problem)

    # ---- what must hold ----

    def check_log(self, when: str) -> list[dict[str, Any]]:
        """Every mark has its `planned` record, and the log is proven."""
        found, ran = self.records(), marks(self.workspace)
        announced = Counter(mark for r in found if r["event"] == "planned" for mark in _marks_of(r))
        unknown = sorted(ran.keys() - announced.keys())
        self.expect(not unknown, f"{when}: ran without a record: {unknown}")
        lost = sorted(_said_done(found) - ran.keys())
        self.expect(not lost, f"{when}: recorded as done, but it left no mark: {lost}")
        twice = sorted(mark for mark, count in ran.items() if count > 1 or announced[mark] > 1)
        self.expect(not twice, f"{when}: ran or was planned more than once: {twice}")
        if self.log:
            report = verify(str(self.log))
            self.expect(report.ok, f"{when}: {report.problems}")
            self.expect(
                report.records == len(found), f"{when}: {len(found)} records of {report.records} read"
            )
        return found

    def check_calls(self, found: list[dict[str, Any]]) -> None:
        """Each call was decided once and ended once; where the kill broke it off, not at all."""
        *before, last = _lives(found)
        for life in before:
            for call, (decided, done) in _pairs(life).items():
                self.expect(decided == 1 and done <= 1, f"{call}: decided {decided} times, done {done} times")
        for call, (decided, done) in _pairs(last).items():
            self.expect(decided == done == 1, f"{call}: decided {decided} times, done {done} times")

    def resume(self, killed: list[dict[str, Any]]) -> None:
        """Go on, and hold the end against what stood when it was killed."""
        folder = self.log.parent if self.log else self.base
        ended = {file.name.partition(".")[0] for file in folder.glob("subagents/*.result.json")}
        process = self.start("resume")
        out, said = process.communicate(timeout=SECONDS)
        if not any(record["event"] == "agent_start" for record in killed):
            # It was killed before its prompt was kept: there is nothing to go on with, and it says so.
            self.expect(process.returncode in {0, 1, 2} and "Traceback" not in said, f"resume: {said}")
            return
        self.expect(
            (process.returncode, out.strip()) == (0, "All done."), f"resume: {process.returncode} {said}"
        )
        found = self.check_log("resumed")
        self.check_calls(found)
        again = {str(r["agent_id"]) for r in found[len(killed) :] if r["event"] in {"agent_start", "planned"}}
        self.expect(not again & ended, f"run again though they had ended: {again & ended}")
        self.expect(found[-1]["event"] == "session_end", "the log is not sealed")


def _marks_of(record: dict[str, Any]) -> set[str]:
    return set(MARK.findall(json.dumps(record["input"])))


def _said_done(found: list[dict[str, Any]]) -> set[str]:
    done = {(r["agent_id"], r["tool_use_id"]) for r in found if r["event"] == "done" and not r["is_error"]}
    asked = [r for r in found if r["event"] == "planned" and (r["agent_id"], r["tool_use_id"]) in done]
    return {mark for record in asked for mark in _marks_of(record)}


def _lives(found: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split a log where the session began or went on."""
    starts = [n for n, record in enumerate(found) if record["event"] == "session_start"]
    return [found[start:end] for start, end in zip(starts, [*starts[1:], len(found)], strict=True)]


def _pairs(life: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Count, for each call, how often it was decided and how often done."""
    events = [(r["event"], (str(r["agent_id"]), str(r["tool_use_id"]))) for r in life]
    decided = Counter(call for event, call in events if event in {"planned", "refused", "malformed"})
    done = Counter(call for event, call in events if event in {"done", "refused", "malformed"})
    return {call: (decided[call], done[call]) for call in decided | done}


def undisturbed(base: Path, api: Api, plan: Plan) -> int:
    """Run one session to its end; give the size of its log.

    Raises:
        RuntimeError: it does not even work when nobody kills it.
    """
    run = Run(base, api.url, plan)
    _, said = run.session().communicate(timeout=SECONDS)
    found, ran = run.check_log("undisturbed"), marks(run.workspace)
    if found:
        run.check_calls(found)
    wanted = 4 * (plan.agents * plan.turns + 2)
    if run.problems or len(ran) != wanted or not run.log:
        raise RuntimeError(
            f"{run.problems} {len(ran)} of {wanted} calls left a mark (is /tmp noatime?)\n{said}"
        )
    return run.log.stat().st_size


def kill(run: Run, size: int, jitter: float) -> bool:
    """Start a session and kill it when its log has this size; say whether it still ran."""
    process = run.session()
    deadline, log = time.monotonic() + SECONDS, None
    while process.poll() is None and time.monotonic() < deadline:
        log = log or run.log
        if size == 0 or (log and log.stat().st_size >= size):
            break
        time.sleep(0.002)
    time.sleep(jitter)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


@dataclass
class Told:
    """What all runs were, together."""

    runs: int = 0
    killed: int = 0
    records: int = 0
    ran: int = 0
    broken_off: int = 0
    ended: int = 0
    failures: list[str] = field(default_factory=list[str])

    def one(self, number: int, base: Path, api: Api, plan: Plan, whole: int) -> None:
        """Kill, check, resume and check one session, chosen by its number."""
        rng, run = random.Random(number), Run(base, api.url, plan)
        self.runs += 1
        self.killed += kill(run, int(rng.random() * whole), rng.random() * JITTER)
        found = run.check_log("killed")
        self.records += len(found)
        self.ran += marks(run.workspace).total()
        self.broken_off += verify(str(run.log)).open_calls if run.log else 0
        self.ended += sum(record["event"] == "agent_end" and record["depth"] > 0 for record in found)
        run.resume(found)
        run.expect(not api.refused, f"the API refused: {api.refused}")
        self.failures += [f"run {number}: {problem}" for problem in run.problems]

    def __str__(self) -> str:
        """Give the numbers in a line."""
        return (
            f"{self.runs} sessions, {self.killed} killed at work; then {self.records} records, {self.ran} calls had run, "
            f"{self.broken_off} were broken off, {self.ended} subagents had ended; {len(self.failures)} faults"
        )


def main() -> int:
    """Kill as many sessions as asked for; print what was wrong, and the numbers."""
    parser = argparse.ArgumentParser(description="Kill sessions at random moments and prove their logs.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--engine", choices=("inprocess", "pipe"), default="inprocess")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run, to repeat one")
    given = parser.parse_args()
    plan, told, began = Plan(given.agents, given.turns, given.engine), Told(), time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="decurion-crash-", ignore_cleanup_errors=True) as scratch,
        serve_in_thread(plan.answer, Options(record=False)) as api,
    ):
        whole = undisturbed(Path(scratch) / "undisturbed", api, plan)
        for number in range(given.first, given.first + given.runs):
            told.one(number, Path(scratch) / str(number), api, plan, whole)
            shutil.rmtree(Path(scratch) / str(number), ignore_errors=True)
    for failure in told.failures:
        print(failure)
    print(f"lead + {given.agents} subagents: {told}, {time.monotonic() - began:.0f} s")
    return 1 if told.failures else 0


if __name__ == "__main__":
    sys.exit(main())

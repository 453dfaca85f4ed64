"""BUG-66: many writers, one log: whole lines, one chain, order kept, nothing lost; whoever is killed takes nothing along."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from decurion.hooks.audit import records, verify
from tests.effort import effort

from .samples import child, open_log, write_many

ROOT = Path(__file__).parents[3]
EACH = 500

WRITER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.hooks.audit.samples import open_log, write_many
log = open_log(Path(sys.argv[1]), max_bytes=int(sys.argv[4]))
print("ready", flush=True)
sys.stdin.readline()
write_many(log, int(sys.argv[2]), int(sys.argv[3]))
"""


def start_writer(
    path: Path, number: int, count: int = EACH, max_bytes: int = 1 << 40
) -> subprocess.Popen[bytes]:
    """Start a process that opens the log, and writes once `go` lets it."""
    command = [sys.executable, "-c", WRITER, str(path), str(number), str(count), str(max_bytes)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def go(*processes: subprocess.Popen[bytes]) -> None:
    """Wait until all are ready, and let them begin together."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()


def end(*processes: subprocess.Popen[bytes]) -> list[int]:
    """Wait for all, and give their exit codes."""
    for process in processes:
        process.communicate(timeout=50)
    return [process.returncode for process in processes]


def by_agent(path: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for record in records(str(path)):
        if record["event"] == "note":
            found[record["agent_id"]].append(record["index"])
    return found


@pytest.mark.parametrize("max_bytes", [1 << 40, 500_000], ids=["one file", "rotating"])
def test_threads_and_processes_append_at_once(tmp_path: Path, max_bytes: int) -> None:
    each = EACH if max_bytes == 1 << 40 else effort(150, EACH)
    path = tmp_path / "audit.jsonl"
    processes = [start_writer(path, 100 + number, each, max_bytes) for number in range(3)]
    log = open_log(path, max_bytes=max_bytes)
    threads = [Thread(target=write_many, args=(log, number, each)) for number in range(8)]
    go(*processes)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert end(*processes) == [0, 0, 0]
    log.close()
    report = verify(str(path))
    assert report.ok, report.problems
    found = by_agent(path)
    assert len(found) == 11
    assert all(indexes == list(range(each)) for indexes in found.values())
    assert bool(list(tmp_path.glob("audit.0*.jsonl"))) == (max_bytes < 1 << 40)


def test_a_killed_writer_takes_nothing_of_the_others_along(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    victim = start_writer(path, 100, count=1_000_000)
    go(victim)
    with open_log(path) as log:
        _wait_for(path, b"100-")
        write_many(log, 1, 250)
        victim.kill()
        end(victim)
        write_many(log, 2, 250)
    report = verify(str(path))
    assert report.ok, report.problems
    found = by_agent(path)
    assert found["agent-1"] == found["agent-2"] == list(range(250))
    assert found["agent-100"] == list(range(len(found["agent-100"])))


def test_killed_at_random_moments_what_was_said_to_be_written_is_written(tmp_path: Path) -> None:
    """The child says on its standard output what `write` returned from; each of those records is in the log."""
    rng = random.Random(200)
    path = tmp_path / "audit.jsonl"
    said: list[str] = []
    for attempt in range(effort(8, 200)):
        said += _kill_one(path, attempt, rng.uniform(0.0, 0.04))
    written = [str(record["tool_use_id"]) for record in records(str(path)) if record["event"] == "planned"]
    assert set(said) <= set(written)
    report = verify(str(path))
    assert report.ok, report.problems


def _kill_one(path: Path, attempt: int, seconds: float) -> list[str]:
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.hooks.audit.samples import LEAD, open_log
log, number = open_log(Path({str(path)!r})), 0
while True:
    name = "{attempt}-" + str(number)
    log.write(LEAD, "planned", tool_use_id=name, input={{"command": "x" * (number % 7) * 3000}})
    print(name, flush=True)
    number += 1
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    return [line for line in (first + rest).split("\n")[:-1] if line]


def test_a_forked_writer_and_its_parent_share_the_chain(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(child(1), "note", index=0)
        script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.hooks.audit.samples import child, open_log
open_log(Path({log.path!r})).write(child(2), "note", index=0)
"""
        subprocess.run([sys.executable, "-c", script], check=True)
        log.write(child(1), "note", index=1)
        found: list[Any] = [json.loads(line) for line in Path(log.path).read_bytes().splitlines()]
    assert [(record["seq"], record["agent_id"]) for record in found] == [
        (1, "agent-1"),
        (2, "agent-2"),
        (3, "agent-1"),
    ]
    assert verify(log.path).ok


def _wait_for(path: Path, text: bytes) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_bytes():
            return
        time.sleep(0.01)
    raise AssertionError(f"{text!r} never came")

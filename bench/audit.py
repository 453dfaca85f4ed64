"""The log measured against its goals: writing, verifying, finding, secrets, tampering. `make bench-audit`.

Every ratio is measured against the bare work in the same run, interleaved, so that a busy machine does not decide.
RECORDS=1000000 (the default for reading) and QUICK=1 (a tenth) may be set in the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import count, repeat
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from decurion.hooks import RunRef
from decurion.hooks.audit import AuditLog, Redactor, raw_lines, verify
from tests.hooks.audit.samples import call, write_session
from tests.hooks.audit.secrets import harmless, planted

RECORDS = int(os.environ.get("RECORDS", "1000000")) // (10 if os.environ.get("QUICK") else 1)
SESSION = "20261130-120000-abcdef"
LEAD = RunRef(SESSION, "lead", "lead")
AGENTS = [RunRef(SESSION, f"agent-{n}", "general", "lead", 1, 1, f"toolu_task_{n}") for n in range(8)]
ROUNDS, EACH = 12, 1000


def row(what: str, measured: str, goal: str, *, good: bool) -> None:
    """Print one line of the table."""
    print(f"{what:<52} {measured:>22}   {goal:<18} {'ok' if good else 'MISSED'}")


def seconds(work: Callable[[], object]) -> float:
    """Give how long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def busy(work: Callable[[], object]) -> float:
    """Give how much processor time some work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


# ---- writing ----

COMMANDS = (
    "git status --short",
    "pytest tests/unit -q -x -k 'orders and not slow'",
    "ls -la src | head -50",
    "ruff check src && ruff format --check src",
    "grep -rn 'import requests' src | sort | uniq -c | sort -rn | head",
)


def write_calls(log: AuditLog, count: int) -> None:
    """Write pairs of records as a session does: planned, done."""
    for number in range(count // 2):
        call(log, AGENTS[number % 8], f"toolu_{number:08d}", COMMANDS[number % 5], "ok\n" * 20)


def append_ratio(folder: Path, make: Callable[[AuditLog, int], None]) -> tuple[float, float]:
    """Compare writing with `json.dumps` + `sha256` + `write` of the very same records; give microseconds and ratio."""
    path = folder / f"append-{random.random()}" / "audit.jsonl"
    log = AuditLog.open(
        path, session_id=SESSION, policy_sha256="ab" * 32, enforcement="static", max_bytes=1 << 40
    )
    make(log, EACH)
    same = [json.loads(line) for line in path.read_bytes().splitlines()]
    bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def plain() -> None:
        for record in same:
            data = json.dumps(record).encode()
            hashlib.sha256(data).hexdigest()
            os.write(bare, data + b"\n")

    # Processor time, for what the machine does beside it must not decide.
    pairs = [(busy(plain), busy(lambda: make(log, EACH))) for _ in range(ROUNDS)]
    os.close(bare)
    log.close()
    return statistics.median(ours for _, ours in pairs) / EACH * 1e6, statistics.median(
        o / b for b, o in pairs
    )


def files() -> Iterator[str]:
    """Give pieces of 4 kB of this project's own source text, no two of them the same."""
    sources = sorted((Path(__file__).parent.parent / "hooks").rglob("*.py"))
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    return (text[start : start + 4000] for start in (place % (len(text) - 4000) for place in count(0, 997)))


def write_files(log: AuditLog, count: int, texts: Iterator[str]) -> None:
    """Write records whose arguments are files of some kilobytes."""
    for number in range(count):
        given = {"file_path": f"src/part_{number}.py", "content": next(texts)}
        log.write(
            AGENTS[0], "planned", tool_name="write_file", tool_use_id=f"t{number}", by="law", input=given
        )


# ---- reading ----


def big_log(folder: Path) -> Path:
    """Write a log of RECORDS records."""
    path = folder / "big" / "audit.jsonl"
    with AuditLog.open(
        path, session_id=SESSION, policy_sha256="ab" * 32, enforcement="static", max_bytes=1 << 40
    ) as log:
        log.write(LEAD, "session_start", source="startup", model="claude-sonnet-4-5", cwd="/w")
        for ref in AGENTS:
            log.write(ref, "agent_start")
        write_calls(log, RECORDS - 18)
        for ref in AGENTS:
            log.write(ref, "agent_end", status="completed")
        log.write(LEAD, "session_end", reason="completed")
    return path


def reading(path: Path) -> None:
    """Measure verifying, filtering and asking in SQL."""
    from decurion.orchestrator.audit.select import Filter, select

    def parse() -> None:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)

    def parse_and_hash() -> None:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
                hashlib.sha256(line).hexdigest()

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bare, ours = seconds(parse_and_hash), seconds(lambda: verify(str(path)))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    row(f"verify {RECORDS:,} records, {ours:.1f} s", f"{ours / bare:.2f} x", "<= 2 x", good=ours <= 2 * bare)
    row("verify, memory grown", f"{grown / 1024:.0f} MiB", "flat", good=grown < 64 * 1024)
    bare = seconds(parse)
    for name, wanted in (
        ("--agent agent-3 --tool Bash", Filter("agent-3", "Bash")),
        ("--decision deny", Filter(decision="deny")),
    ):
        found = seconds(lambda wanted=wanted: sum(1 for _ in select(path, wanted)))
        row(f"show {name}, {found:.1f} s", f"{found / bare:.2f} x", "<= 1.5 x", good=found <= 1.5 * bare)
    if find_spec("duckdb"):
        from decurion.orchestrator.audit.sql import ask

        wall: list[float] = []
        query = "SELECT agent_id, count(*), avg(duration_ms) FROM calls GROUP BY 1"
        took = busy(lambda: wall.append(seconds(lambda: list(ask([path], query)[1]))))
        # Of all threads together, so on an idle machine it takes no longer than that.
        row(f"sql over calls, {wall[0]:.1f} s, of a processor", f"{took:.1f} s", "<= 3 s", good=took <= 3)


# ---- secrets, tampering ----


def secrets() -> None:
    """Count what is left of planted secrets, and what harmless text is lost."""
    redactor, plants, plain = Redactor({}), planted(seed=11, rounds=5), harmless(seed=12, rounds=200)
    left = [plant for plant in plants if plant.core in redactor.clean_text(plant.text)]
    removed = [text for text in plain if redactor.clean_text(text) != text]
    kinds = len({plant.kind for plant in plants})
    row(f"secrets left of {len(plants)}, {kinds} kinds", str(len(left)), "0", good=not left)
    row(
        f"harmless strings removed of {len(plain)}",
        f"{len(removed) / len(plain):.2%}",
        "<= 1 %",
        good=len(removed) * 100 <= len(plain),
    )


def tampering(folder: Path) -> None:
    """Alter a log a thousand times."""
    from tests.hooks.audit.test_verification import ALTERATIONS

    path, rng = write_session(folder / "small" / "audit.jsonl", agents=4, calls=5), random.Random(99)
    original, found = path.read_bytes().splitlines(keepends=True), 0
    for number in range(1000):
        lines: Any = list(original)
        kind, place = ALTERATIONS[number % len(ALTERATIONS)](lines, rng)
        path.write_bytes(b"".join(lines))
        first = verify(str(path)).first
        found += first is not None and (first.kind, first.line) == (kind, place)
    row("alterations found and named, of 1,000", str(found), "1,000", good=found == 1000)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["DECURION_STATE_DIR"] = str(folder / "state")
        took, ratio = append_ratio(folder, write_calls)
        row(f"append, calls of a session, {took:.0f} us", f"{ratio:.2f} x", "<= 2 x", good=ratio <= 2)
        for what, texts in (("a text of 4 kB", repeat(next(files()))), ("files of 4 kB, all new", files())):
            took, ratio = append_ratio(folder, partial(write_files, texts=texts))
            new = "new" in what
            goal = "(searched anew)" if new else "<= 2 x"
            row(f"append, {what}, {took:.0f} us", f"{ratio:.2f} x", goal, good=new or ratio <= 2)
        tampering(folder)
        secrets()
        path = big_log(folder)
        reading(path)
        assert sum(1 for _ in raw_lines(str(path))) == RECORDS


if __name__ == "__main__":
    main()

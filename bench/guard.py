"""How good and how fast the law is: the corpus, its rewrites, and the time of one decision.

Run as `make bench-guard` or `python bench/guard.py [--all]`. Nothing is executed, everything is judged. With `--all`
every rewrite is tried, else 22 a row.
"""

from __future__ import annotations

import json
import statistics
import sys
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from decurion.hooks import Verdict  # noqa: E402
from decurion.hooks.rules import EXAMPLE_PLACES, Law  # noqa: E402
from tests.hooks.rules.rewrites import rewrites  # noqa: E402

CORPUS = ROOT / "tests" / "data" / "guard_cases.jsonl"
PLAIN = (
    *(
        "ls -la",
        "git status",
        "npm test",
        "cat src/app.py",
        "git diff --stat",
        "make -j2 test",
        "pytest -q tests",
        "ls -la src",
        "npm run build",
        "python -m foo --bar",
    ),
    *("cd src && ls", "cargo build --release", "rm -rf build", "git add . && git commit -m wip", "echo done"),
    *("head -5 a.txt | wc -l", "mkdir -p out; cp a out", "python3 -m pytest -x", "grep -rn 'def main' src"),
)
REPEATS = 200


def main(*, everything: bool) -> int:
    """Measure and print one table; the exit code is 1 where a goal of correctness is missed."""
    law = Law.load(cache=False)
    rows = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
    deny = [row["cmd"] for row in rows if row["should"] == "deny"]
    allow = [row["cmd"] for row in rows if row["should"] == "allow"]
    first = [_timed(law, row["cmd"]) for row in rows]
    again = [_timed(law, row["cmd"]) for row in rows]
    refused = sum(_refuses(law, text) for text in deny)
    alarms = sum(_refuses(law, text) for text in allow)
    tried, held = _rewritten(law, deny, everything=everything)
    big = f"echo {'a' * 102_400}; rm -rf /"
    many = "true && " * 12_800 + "rm -rf /"
    carried = "cat > a.txt <<'EOF'\n" + "it is $5 (or `so`) | more\n" * 4000 + "EOF"
    table = (
        ("corpus: bypasses refused", f"{refused}/{len(deny)}", "all", refused == len(deny)),
        ("corpus: false alarms", f"{alarms}/{len(allow)}", "≤ 2", alarms <= 2),
        (f"rewrites refused ({tried})", f"{held / tried:.3%}", "≥ 99.9 %", held >= tried * 0.999),
        _speed("median, corpus, first time", first, 4000),
        _speed("median, corpus, repeated", again, 100),
        _speed("median, plain commands (CPU)", _plain(), 100),
        _speed("100 KiB, one long word", [_timed(law, big)], 100_000),
        _speed("100 KiB, many commands", [_timed(law, many)], 100_000),
        _speed("100 KiB, a here-document", [_timed(law, carried)], 100_000),
        ("100 KiB refused", str(_refuses(law, big) and _refuses(law, many)), "True", True),
        (
            "100 KiB here-document allowed",
            str(not _refuses(law, carried)),
            "True",
            not _refuses(law, carried),
        ),
    )
    width = max(len(line[0]) for line in table)
    print(f"{'':{width}}  {'here':>14}  goal")
    for name, here, goal, met in table:
        print(f"{name:{width}}  {here:>14}  {goal}{'' if met else '   missed'}")
    return int(not all(met for name, _, _, met in table if "median" not in name))


def _refuses(law: Law, text: str) -> bool:
    return law.judge_command(text, EXAMPLE_PLACES).verdict >= Verdict.ASK


def _timed(law: Law, text: str) -> float:
    began = perf_counter()
    law.judge_command(text, EXAMPLE_PLACES)
    return (perf_counter() - began) * 1e6


def _plain() -> list[float]:
    """Time each plain command in a fresh memory, so that nothing is remembered but the rules.

    It is the processor's time, for no parser is started, and moments so short are lost among other programs.
    """
    times: list[float] = []
    law = Law.load(cache=False)
    for text in PLAIN:
        law.judge_command(text, EXAMPLE_PLACES)
    for number in range(REPEATS):
        for text in PLAIN:
            began = process_time()
            law.judge_command(f"{text} {number}", EXAMPLE_PLACES)
            times.append((process_time() - began) * 1e6)
    return times


def _rewritten(law: Law, deny: list[str], *, everything: bool) -> tuple[int, int]:
    tried = held = 0
    for place, text in enumerate(deny):
        made = list(rewrites(text))
        start = 0 if everything else place % len(made)
        for _, rewritten in islice((*made[start:], *made[:start]), None if everything else 22):
            tried += 1
            held += _refuses(law, rewritten)
    return tried, held


def _speed(name: str, times: list[float], limit: float) -> tuple[str, str, str, bool]:
    median = statistics.median(times)
    return name, f"{median:,.0f} us", f"≤ {limit:,.0f} us", median <= limit


if __name__ == "__main__":
    sys.exit(main(everything="--all" in sys.argv[1:]))

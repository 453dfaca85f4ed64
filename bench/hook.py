"""Cold time of one `decurion hook` call against that of a bare interpreter, side by side in one run.

    python -P bench/hook.py [ROUNDS]

Every round starts one bare `python -c pass` and one hook program for each case, in turn, so that a busy machine
slows both alike. Goals: median at most 4 times the bare one, 95th percentile at most 6 times.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from decurion.hooks.own import handler

WARM_UP = 2
MEDIAN_GOAL, P95_GOAL = 4.0, 6.0
CASES = {
    "plain command": ("PreToolUse", "Bash", {"command": "git status"}),
    "command that needs the parser": (
        "PreToolUse",
        "Bash",
        {"command": 'for f in *.py; do echo "${f%.py}"; done'},
    ),
    "refused command": ("PreToolUse", "Bash", {"command": "sudo rm -rf /"}),
    "file tool": ("PreToolUse", "Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}),
    "after the call": ("PostToolUse", "Bash", {"command": "git status"}),
}


def hook_argv() -> list[str]:
    """Give the installed command without its shell, which any product pays for alike."""
    words = shlex.split(handler()["command"])
    return words[: words.index("||")]


def seconds(argv: list[str], stdin: bytes, cwd: str, env: dict[str, str]) -> float:
    """Time one program from start to end."""
    began = time.perf_counter()
    subprocess.run(argv, input=stdin, cwd=cwd, env=env, capture_output=True, check=False)
    return time.perf_counter() - began


def measure(rounds: int) -> dict[str, list[float]]:
    """Give the times of each case, and of the bare interpreter."""
    bare = [sys.executable, "-c", "pass"]
    times: dict[str, list[float]] = {name: [] for name in ("bare interpreter", *CASES)}
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "DECURION_STATE_DIR": f"{folder}/state",
            "DECURION_CONFIG_DIR": f"{folder}/config",
        }
        workspace = f"{folder}/project"
        Path(workspace).mkdir()
        for at, (name, kept) in product(range(-WARM_UP, rounds), times.items()):
            body = _body(name, workspace, at) if name in CASES else b""
            taken = seconds(hook_argv() if name in CASES else bare, body, workspace, env)
            if at >= 0:
                kept.append(taken)
    return times


def _body(name: str, workspace: str, at: int) -> bytes:
    event, tool, args = CASES[name]
    said = {
        "session_id": "bench",
        "cwd": workspace,
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": args,
    }
    response = {"tool_response": {"stdout": "x" * 1000}} if event == "PostToolUse" else {}
    return json.dumps({**said, **response, "tool_use_id": f"toolu_{name}_{at}"}).encode()


def p95(times: list[float]) -> float:
    """Give the time that 95 of 100 calls stay below."""
    return statistics.quantiles(times, n=20)[-1]


def main() -> int:
    """Print the table; 1 where a goal is missed."""
    times = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
    base, base_p95 = statistics.median(times["bare interpreter"]), p95(times["bare interpreter"])
    print(f"{'':32}{'median':>10}{'p95':>10}{'x median':>10}{'x p95':>10}")
    failed = 0
    for name, taken in times.items():
        median, high = statistics.median(taken), p95(taken)
        failed += median > MEDIAN_GOAL * base or high > P95_GOAL * base_p95
        row = f"{median * 1000:>8.1f}ms{high * 1000:>8.1f}ms{median / base:>10.2f}{high / base_p95:>10.2f}"
        print(f"{name:32}{row}")
    print(f"goals: {MEDIAN_GOAL:g} x median, {P95_GOAL:g} x p95: {'missed' if failed else 'met'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

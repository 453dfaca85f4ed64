"""How other command guards do on our corpus and a blind set, or on other files, each in an environment of its own.

Run as `make bench-peers` or `python bench/peers.py [FILE…]`; a file has one JSON object a line, with `cmd` and `should`
(`deny` or `allow`). Needs the network, to install the peers into a temporary folder, and Linux, for peers look at the
file system: each sees a `/home/dev/app` that is a small git project, by a mount that nobody else sees, and no network.

Nothing is executed, everything is judged: by the function behind each peer's own hook, in one process a peer, so that
the times leave out what starting a hook program costs. Whatever cannot answer counts as having asked. An agent that
nobody watches has nobody to ask, so being asked stops it as a denial does.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.peer_adapters import DECURION, NODE_LOOP, PEERS, PYTHON_LOOP, Guard  # noqa: E402

CORPUS = ROOT / "tests" / "data" / "guard_cases.jsonl"
BLIND = (
    ROOT / "bench" / "guard_blind.jsonl"
)  # written apart from the rules and judged once before they saw it
HOME = "/home/dev"
VERDICTS = {"allow", "ask", "deny"}
INSTALL_LIMIT, JUDGE_LIMIT = 300, 600  # seconds

# Every other home stays where it is: interpreters may live there.
MOUNT = """
for place in /home/*; do
    name=${place#/home/}
    [ "$name" != dev ] && [ -d "$place" ] && mkdir -p "$1/$name" && mount --rbind "$place" "$1/$name"
done
mount --rbind "$1" /home && cd /home/dev/app && unset OLDPWD && shift && exec "$@"
"""
ENTER = ("unshare", "--map-root-user", "--mount", "--net", "sh", "-c", MOUNT, "sh")

PROJECT = (
    *("README.md", "Makefile", "package.json", "pyproject.toml", ".env", "src/app.py", "tests/test_app.py"),
    *("build/app.o", "dist/app.js", "node_modules/left/index.js", "target/debug/app", "coverage/index.html"),
    *("__pycache__/app.pyc", ".pytest_cache/README.md", "logs/app.log", "tmp/a.tmp", "scripts/build.sh"),
)
PERSONAL = (".bashrc", ".gitconfig", ".ssh/id_ed25519", ".aws/credentials", "Documents/notes.txt")


class UnavailableError(Exception):
    """A guard cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one guard said to one row (`allow`, `ask` or `deny`), and how long it took."""

    verdict: str
    micros: float


def main(files: list[str]) -> int:
    """Measure each guard and print a table for each file; the exit code is 1 where a peer could not be measured."""
    sets = {path: _rows(path) for path in map(Path, files or (CORPUS, BLIND))}
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="decurion-peers-") as folder:
        try:
            bench = Bench(Path(folder))
        except UnavailableError as reason:
            sys.exit(f"the peers need a mount of their own, which cannot be had here: {reason}")
        for path, rows in sets.items():
            missing |= _table(bench, path, rows)
    for name, reason in missing.items():
        print(f"not measured: {name}: {reason}", file=sys.stderr)
    return int(bool(missing))


@dataclass(frozen=True, slots=True)
class Bench:
    """A temporary folder with the home that peers see and one environment for each package."""

    root: Path
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Why a package could not be installed: asked for once, not for each setting and file."""

    def __post_init__(self) -> None:
        """Lay out the home: a project in git, and files of a person that guards know by name."""
        home = self.root / "home" / "dev"
        for name in (*(f"app/{name}" for name in PROJECT), *PERSONAL):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("an example\n", "utf-8")
        git = ("git", "-C", str(home / "app"), "-c", "user.name=dev", "-c", "user.email=dev@example.org")
        for words in (("init", "-q", "-b", "main"), ("add", "-f", "."), ("commit", "-q", "-m", "start")):
            _run([*git, *words])
        self._inside(["true"])

    def decurion(self) -> Guard:
        """Give this checkout as a guard like the others."""
        from decurion import __version__

        return Guard("decurion", __version__, DECURION, here=True)

    def judge(self, guard: Guard, rows: list[dict[str, str]]) -> list[Answer]:
        """Let a guard judge all rows, inside the mount, without a network.

        Raises:
            UnavailableError: it cannot be installed or run here.
        """
        given = "".join(json.dumps({"cmd": row["cmd"]}) + "\n" for row in rows)
        printed = self._inside(self._argv(guard), given, guard.env)
        answers = [Answer(**json.loads(line)) for line in printed.splitlines()]
        if len(answers) != len(rows) or not {answer.verdict for answer in answers} <= VERDICTS:
            raise UnavailableError(f"its {len(answers)} answers to {len(rows)} commands are not understood")
        return answers

    def _inside(self, argv: list[str], given: str = "", more: Mapping[str, str] | None = None) -> str:
        """Run a program where `/home/dev` is ours and no network is."""
        env = {"HOME": HOME, "USER": "dev", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "PATH": os.defpath}
        return _run(
            [*ENTER, str(self.root / "home"), *argv],
            given=given,
            env={**env, **(more or {})},
            limit=JUDGE_LIMIT,
        )

    def _argv(self, guard: Guard) -> list[str]:
        folder = self.root / guard.package
        if guard.package in self.failed:
            raise UnavailableError(self.failed[guard.package])
        if not folder.exists():
            folder.mkdir()
            self._install(guard, folder)
        program = folder / ("judge.mjs" if guard.npm else "judge.py")
        program.write_text((NODE_LOOP if guard.npm else PYTHON_LOOP).format(adapter=guard.adapter), "utf-8")
        interpreter = _found("node") if guard.npm else str(folder / "bin" / "python")
        return [sys.executable if guard.here else interpreter, str(program)]

    def _install(self, guard: Guard, folder: Path) -> None:
        try:
            if not guard.here:
                (_install_npm if guard.npm else _install_pypi)(guard, folder)
        except UnavailableError as reason:
            needs = f"a network and Python {guard.python}" if guard.python else "a network"
            self.failed[guard.package] = f"{reason} (installing it needs {needs})"
            raise UnavailableError(self.failed[guard.package]) from None


def _install_pypi(guard: Guard, folder: Path) -> None:
    """Install from wheels alone, so that installing runs no code of the package."""
    wanted = ["--only-binary=:all:", f"{guard.package}=={guard.version}"]
    if uv := shutil.which("uv"):
        _run([uv, "venv", "-q", "--python", guard.python or sys.executable, str(folder)])
        _run([uv, "pip", "install", "-q", "--python", str(folder / "bin" / "python"), *wanted])
        return
    _run([_found(f"python{guard.python}") if guard.python else sys.executable, "-m", "venv", str(folder)])
    _run([str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", *wanted])


def _install_npm(guard: Guard, folder: Path) -> None:
    npm = [
        _found("npm"),
        "install",
        "--loglevel=error",
        "--fetch-retries=1",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]
    _run([*npm, "--prefix", str(folder), f"{guard.package}@{guard.version}"])


def _found(program: str) -> str:
    if path := shutil.which(program):
        return path
    raise UnavailableError(f"needs {program} on PATH")


def _run(
    argv: list[str], *, given: str = "", env: Mapping[str, str] | None = None, limit: int = INSTALL_LIMIT
) -> str:
    """Run a program to its end and give what it printed.

    Raises:
        UnavailableError: it is not there, took too long or failed; with the last line of what it said.
    """
    name = Path(argv[0]).name
    try:
        done = subprocess.run(
            argv, input=given, env=env, timeout=limit, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise UnavailableError(f"needs {name} on PATH") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{name} took longer than {limit} s; is there a network?") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise UnavailableError(f"{name} failed: {said[-1].strip()}")
    return done.stdout


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        rows: list[Any] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")
    for number, row in enumerate(rows, start=1):
        match row:
            case {"cmd": str(), "should": "deny" | "allow"}:
                continue
            case _:
                sys.exit(f"{path}:{number}: needs `cmd`, and `should`: `deny` or `allow`")
    return rows or sys.exit(f"{path}: no rows")


def _table(bench: Bench, path: Path, rows: list[dict[str, str]]) -> dict[str, str]:
    """Print what each guard makes of the rows; give those that could not be measured, and why."""
    print(_heading(path, rows), flush=True)
    missing: dict[str, str] = {}
    for guard in (bench.decurion(), *PEERS):
        try:
            print(_line(guard.name, rows, bench.judge(guard, rows)), flush=True)
        except UnavailableError as reason:
            missing[f"{guard.package} {guard.version}"] = str(reason)
    return missing


def _heading(path: Path, rows: list[dict[str, str]]) -> str:
    bad = sum(row["should"] == "deny" for row in rows)
    columns = f"{'stopped':>16}  {'by denial':>9}{'false alarms':>16}  {'by denial':>9}{'a decision':>12}"
    return f"\n{path.name}: {bad} commands to be stopped, {len(rows) - bad} harmless ones\n{'':40}{columns}"


def _line(name: str, rows: list[dict[str, str]], answers: list[Answer]) -> str:
    bad = [answer for row, answer in zip(rows, answers, strict=True) if row["should"] == "deny"]
    good = [answer for row, answer in zip(rows, answers, strict=True) if row["should"] == "allow"]
    median = statistics.median(answer.micros for answer in answers)
    return f"{name:40}{_share(bad)}{_share(good)}{median / 1000:>9.2f} ms"


def _share(answers: list[Answer]) -> str:
    denied = sum(answer.verdict == "deny" for answer in answers)
    stopped = denied + sum(answer.verdict == "ask" for answer in answers)
    rate = f"({stopped / max(len(answers), 1):.1%})"
    return f"{stopped:>7} {rate:>8}  {denied:>9}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

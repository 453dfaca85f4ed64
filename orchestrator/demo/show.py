"""The demo from the first line to the last: copy, delegate, test again, point to the log."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import click

from decurion.agents.offline import OFFLINE, Manners
from decurion.hooks.counts import counted

from ..naming import program
from ..options import ModelOptions, SessionOptions, WorkOptions
from ..running import run_session
from ..sessions import find_session
from .sample import sample_project

TASK = "rename function get_price to price_of"
CHECK = "python3 -B -m unittest discover -t . -s tests"
FORBIDDEN = "git push --force origin main"
"""What a clumsy agent would try. The law refuses it; without the law it would fail, as the sample has no remote."""

SECONDS_A_REPLY = 0.5
WIDEST = 100
"""Columns of running text on a wide terminal."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """How the demo is shown."""

    fast: bool = False
    """Without the pauses that let a person follow."""
    keep: Path | None = None
    """Where the project goes and stays; None is a temporary folder that is deleted at the end."""


def run_demo(options: DemoOptions) -> int:
    """Show the demo and give its exit code: that of the session, or 1 if the tests fail afterwards.

    Raises:
        UsageError: the folder to keep is not empty.
        DecurionError: the session could not start.
    """
    with _folder(options.keep) as folder:
        sample_project(folder)
        _introduce(folder)
        manners = Manners(latency=0.0 if options.fast else SECONDS_A_REPLY, clumsy=FORBIDDEN)
        session = SessionOptions(
            workspace=folder,
            model=ModelOptions(OFFLINE, manners=manners),
            work=WorkOptions(verify=CHECK),
            passing=options.keep is None,
        )
        code = run_session(session, TASK, "text", quiet=False)
        if code == 0:  # a session that ended otherwise has said itself where to look
            code = _test_again(folder)
            _point_to_the_log(find_session(folder).name)
        if options.keep is not None:
            click.echo(f"\nThe project is in {folder}; look at the changes: git -C {folder} diff")
    return code


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """Give an empty folder; a temporary one is deleted when the demo is over, however it ends."""
    if keep is not None:
        from decurion.hooks import UsageError

        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise UsageError(f"{keep} is not an empty folder; name a new one.")
        try:
            keep.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{keep} cannot be made: {error.strerror}; name another folder.") from None
        yield keep.resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="decurion-demo-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _introduce(folder: Path) -> None:
    files = sum(path.suffix == ".py" for path in folder.rglob("*.py"))
    told = (
        f"A small shop, {counted(files, 'Python file')} with tests, was copied to {folder}. The model is `offline`: "
        "a script, not an AI, behind the same client, tools, hooks and log as a live one. "
        "One subagent will try what no agent may do."
    )
    command = f'    decurion run --model offline "{TASK}" \\\n        --verify "{CHECK}"'
    width = min(shutil.get_terminal_size().columns, WIDEST)
    wrapped = fill(told, width, break_long_words=False, break_on_hyphens=False)  # a path stays whole
    click.echo(f"{wrapped}\n\n{command}\n", err=True)


def _test_again(folder: Path) -> int:
    """Run the project's tests once more, by this process, so that nobody has to take an agent's word for it."""
    click.echo(f"\nThe tests after the change, run outside the session:\n    {CHECK}")
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-m", "unittest", "discover", "-t", ".", "-s", "tests"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    click.echo("\n".join(f"    {line}" for line in (lines[-2:] if done.returncode == 0 else lines)))
    return 0 if done.returncode == 0 else 1


def _point_to_the_log(session_id: str) -> None:
    lines = (
        ("who started whom, and what each one did", f"tree {session_id}"),
        ("what was refused, to whom, by which rule", f"show {session_id} --decision deny"),
        ("proof that nothing was altered or is missing", f"verify {session_id}"),
        ("all of it as one HTML page", f"report {session_id}"),
    )
    click.echo("\nThe log has every call of every agent. Look further:")
    for why, line in lines:
        click.echo(f"    # {why}\n    {program()} audit {line}")

"""Machines that lack something: no git, no ripgrep, no shfmt, no key, nowhere to write (BUG-69). Real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

import decurion

PROGRAMS = ("sh", "bash", "env", "ls", "cat", "true", "python3")
WHEELS = {"shfmt": "shfmt_py", "rg": "ripgrep"}


@dataclass(frozen=True)
class Machine:
    """A Python of its own with our package, and a PATH with little on it."""

    folder: Path
    lacks: str

    @classmethod
    def without(cls, lacks: str, folder: Path) -> Machine:
        """Make a machine in a folder; `lacks` is `git`, `rg` or `shfmt`."""
        (folder / "bin").mkdir(parents=True)
        (folder / "site").mkdir()
        (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
        for entry in Path(sysconfig.get_path("purelib")).iterdir():
            if not entry.name.startswith(WHEELS.get(lacks, "nothing")):
                (folder / "site" / entry.name).symlink_to(entry)
        wanted = {*PROGRAMS, "git", "rg", "shfmt"} - {lacks}
        for name in wanted:
            if found := shutil.which(name) or shutil.which(name, path=sysconfig.get_path("scripts")):
                (folder / "bin" / name).symlink_to(found)
        (folder / "work").mkdir()
        (folder / "work" / "a.py").write_text("def load():\n    return 1\n\n\nload()\n")
        return cls(folder, lacks)

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run `decurion` there."""
        package = Path(decurion.__file__).resolve().parent.parent
        return subprocess.run(
            (str(self.folder / "bin" / "python"), "-P", "-m", "decurion", *args),
            cwd=self.folder / "work",
            env={
                "PATH": str(self.folder / "bin"),
                "PYTHONPATH": f"{package}:{self.folder / 'site'}",
                "HOME": str(self.folder),
                "DECURION_STATE_DIR": str(self.folder / "state"),
                **env,
            },
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )


def in_words(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the error output is a line or two, and no traceback."""
    return "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) <= 2


RENAME = ("run", "--model", "offline", "rename function load to read_config")


@pytest.mark.slow
def test_without_git_files_are_worked_on_and_only_worktrees_say_that_they_need_it(tmp_path: Path) -> None:
    machine = Machine.without("git", tmp_path / "m")
    done = machine.run(*RENAME)
    assert done.returncode == 0, done.stderr
    assert "read_config()" in (machine.folder / "work" / "a.py").read_text()
    isolated = machine.run(*RENAME, "-w")
    assert (isolated.returncode, in_words(isolated)) == (1, True), isolated.stderr
    assert "git" in isolated.stderr


# Only in the checkout: an installed package finds the shfmt of its own environment through its metadata.
@pytest.mark.usefixtures("checkout")
def test_without_shfmt_no_session_starts_and_the_remedy_is_named(tmp_path: Path) -> None:
    done = Machine.without("shfmt", tmp_path / "m").run(*RENAME)
    assert (done.returncode, in_words(done)) == (2, True), done.stderr
    assert "pip install shfmt-py" in done.stderr


def test_without_ripgrep_the_search_says_what_to_install_and_nothing_crashes(tmp_path: Path) -> None:
    done = Machine.without("rg", tmp_path / "m").run(*RENAME)
    assert "Traceback" not in done.stderr
    assert "pip install ripgrep" in done.stderr


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({}, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_API_KEY": "k", "DECURION_STATE_DIR": "a.py/state"}, "DECURION_STATE_DIR"),
    ],
    ids=["no key", "nowhere to write"],
)
def test_what_a_session_cannot_do_without_is_named(tmp_path: Path, env: dict[str, str], said: str) -> None:
    machine = Machine.without("nothing", tmp_path / "m")
    done = machine.run("run", "do it", **env)
    assert (done.returncode, in_words(done), done.stdout) == (1, True, ""), done.stderr
    assert said in done.stderr
    if not env:
        assert "no session here yet" in machine.run("sessions").stdout

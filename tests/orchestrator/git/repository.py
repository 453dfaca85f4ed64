"""A real repository for tests, with everything a person may have lying about in it, and a way to see every byte of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

FILES = {
    "README.md": "# sample\n",
    "src/pkg/core.py": "".join(f"line {n}\n" for n in range(1, 31)),
    "src/pkg/util.py": "def helper():\n    return 1\n",
    "tests/test_core.py": "def test():\n    pass\n",
    ".gitignore": "*.log\n.env\nbuild/\n",
}


@dataclass(frozen=True)
class Repository:
    """A working tree at `path`."""

    path: Path

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def status(self) -> str:
        env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        done = subprocess.run(
            ["git", "status", "--porcelain=v2", "-z"], cwd=self.path, capture_output=True, check=True, env=env
        )
        return os.fsdecode(done.stdout)

    def image(self) -> dict[str, str]:
        """Every file of the working tree and of the repository, by digest; links by their target."""
        found: dict[str, str] = {}
        for folder, folders, files in os.walk(self.path):
            for full in (Path(folder, name) for name in (*files, *folders)):
                if full.is_dir() and not full.is_symlink():
                    continue
                content = os.fsencode(full.readlink()) if full.is_symlink() else full.read_bytes()
                found[str(full.relative_to(self.path))] = sha256(content).hexdigest()
        return found

    def work_image(self) -> dict[str, str]:
        """Only the files of the working tree."""
        return {name: digest for name, digest in self.image().items() if not name.startswith(".git/")}


def make_repository(path: Path, files: dict[str, str] | None = None) -> Repository:
    """A repository with one commit of some files, or with none where `files` is empty."""
    wanted = FILES if files is None else files
    key = tuple(wanted.items())
    if key not in _TEMPLATES:
        _TEMPLATES[key] = _make(Path(_home().name) / str(len(_TEMPLATES)), wanted)
    shutil.copytree(_TEMPLATES[key].path, path, symlinks=True)
    return Repository(path)


_TEMPLATES: dict[tuple[tuple[str, str], ...], Repository] = {}
"""Copying a repository is much cheaper than the four processes that make one."""


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="decurion-templates-")


def _make(path: Path, files: dict[str, str]) -> Repository:
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "-q", "-b", "main", "--template=")
    (path / ".git" / "info").mkdir()
    for name, text in files.items():
        repository.write(name, text)
    if files:
        repository.commit("first")
    return repository


def is_our_branch(name: str) -> bool:
    """Whether a file of an image belongs to a branch that the program made."""
    return name.startswith((".git/objects/", ".git/refs/heads/decurion/", ".git/logs/refs/heads/decurion/"))


def failing_git(folder: Path, command: str, says: str, does: str = "exit 1") -> str:
    """A PATH on which git fails at one of its commands and works at all others."""
    real = shutil.which("git")
    folder.mkdir(parents=True, exist_ok=True)
    wrapper = folder / "git"
    wrapper.write_text(
        f"""#!/bin/sh
case " $* " in *' {command} '*) echo '{says}' >&2; {does};; esac
exec {real} "$@"
"""
    )
    wrapper.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def make_dirty(repository: Repository) -> None:
    """Leave every kind of unfinished business: staged, staged and changed again, unstaged, untracked, removed from the
    index, deleted, renamed, binary, a link, ignored files, odd names.
    """
    repository.write("README.md", "# sample\nstaged\n")
    repository.git("add", "README.md")
    repository.write("README.md", "# sample\nstaged\nand more\n")
    repository.write("src/pkg/util.py", "def helper():\n    return 2\n")
    repository.write("new.txt", "untracked\n")
    repository.write("staged-new.bin", bytes(range(256)))
    repository.git("add", "staged-new.bin")
    repository.git("rm", "-q", "--cached", "tests/test_core.py")
    (repository.path / "link").symlink_to("README.md")
    repository.write("debug.log", "ignored\n")
    repository.write(".env", "TOKEN=1\n")
    repository.write(os.fsdecode(b"odd\xff\nname"), "odd\n")

"""A harmless command that a blocklist forbids, and the many ways to spell it.

The canary is a program that does nothing but leave a mark. If the mark is there, something got through.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

NAME = "canary-wipe"
RULES = f'deny = ["{NAME}"]\n'
CONTROL = "echo canary-control"
"""A command that must pass: a law that refuses everything proves nothing."""

SPELLINGS = (
    NAME,
    f"true && {NAME}",
    f"true; {NAME}",
    f"false || {NAME}",
    f"true | {NAME}",
    f"true & {NAME}",
    f"true\n{NAME}",
    f"( {NAME} )",
    f"{{ {NAME}; }}",
    f"echo $({NAME})",
    f"echo `{NAME}`",
    f"cat <({NAME})",
    f"if true; then {NAME}; fi",
    f"for i in 1; do {NAME}; done",
    f"f() {{ {NAME}; }}; f",
    f"! {NAME}",
    f">out {NAME}",
    f"env -i A=1 {NAME}",
    f"A=1 {NAME}",
    f"nohup {NAME} x",
    f"timeout 5 {NAME}",
    f"time {NAME}",
    f"command {NAME}",
    f"exec {NAME}",
    f"echo x | xargs {NAME}",
    f"find . -maxdepth 0 -exec {NAME} \\;",
    f"bash -c '{NAME}'",
    f'sh -ec "{NAME} x"',
    f"eval '{NAME}'",
    f"setsid {NAME}",
    f"./bin/{NAME}",
    "c''anary-wipe",
    '"canary"-wipe',
    "canary\\-wipe",
    "$'canary\\x2dwipe'",
    f"X={NAME}; $X",
    f"{NAME}${{IFS}}x",
    "$(printf canary-wipe)",
    f"{{{NAME},x}}",
    "echo Y2FuYXJ5LXdpcGU= | base64 -d | sh",
    f"python3 -c \"import os; os.system('{NAME}')\"",
)


@dataclass(frozen=True, slots=True)
class Canary:
    """A scratch folder with the program in it. `workspace` is where agents work."""

    folder: Path
    mark: Path
    rules: Path

    @property
    def workspace(self) -> Path:
        """The folder that stands for a project."""
        return self.folder / "project"

    @property
    def program(self) -> Path:
        """The program itself."""
        return self.workspace / "bin" / NAME

    @property
    def got_through(self) -> bool:
        """Whether it has run since the last `forget`."""
        return self.mark.exists()

    def forget(self) -> None:
        """Take the mark away."""
        self.mark.unlink(missing_ok=True)


@contextmanager
def released_canary() -> Generator[Canary]:
    """Give a canary on PATH, with state of its own, so that the person's logs stay free of it."""
    with TemporaryDirectory(prefix="decurion-doctor-") as name:
        folder = Path(name).resolve()
        canary = Canary(folder, folder / "mark", folder / "canary.toml")
        canary.program.parent.mkdir(parents=True)
        canary.program.write_text(f"#!/bin/sh\n: > '{canary.mark}'\n")
        canary.program.chmod(0o700)
        canary.rules.write_text(RULES)
        changes = {
            "PATH": f"{canary.program.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "DECURION_STATE_DIR": str(folder / "state"),
            "CLAUDE_PROJECT_DIR": None,
        }
        with _environment(changes):
            yield canary


@contextmanager
def _environment(changes: dict[str, str | None]) -> Generator[None]:
    before = {key: os.environ.get(key) for key in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

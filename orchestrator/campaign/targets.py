"""Where a campaign's targets come from: the files that git knows or would add, a command's lines, or a search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from decurion.hooks import UsageError

from ..git.commands import run_shell
from ..git.errors import GitError
from ..git.run import clean_environment, git_in
from .plan import Plan, filled, places

COMMAND_SECONDS = 60.0
LARGEST_SEARCHED = 2_000_000
"""Bytes up to which a file is searched; generated files beyond are no targets."""


async def find_targets(plan: Plan, workspace: Path) -> tuple[str, ...]:
    """All targets of a plan, in a stable order, each once.

    Raises:
        UsageError: there is none, a pattern is not valid, or the command fails.
    """
    wanted = plan.targets
    if wanted.command:
        found = await _lines(wanted.command, workspace)
    else:
        known = await project_files(workspace)
        found = (
            _searched(wanted.grep, workspace, known, wanted.inside)
            if wanted.grep
            else _fitting(known, wanted.each)
        )
    kept = [target for target in dict.fromkeys(found) if not _fits(target, wanted.exclude)]
    if not kept:
        raise UsageError(f"There are no targets: {_told(plan)}.")
    return tuple(kept)


async def project_files(workspace: Path) -> list[str]:
    """The files of a workspace that are not ignored, relative to it, sorted."""
    try:
        listed = await git_in(workspace).names(
            "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "."
        )
    except GitError as error:
        raise UsageError(f"A campaign works in a git repository: {error}") from None
    return sorted(name for name in dict.fromkeys(listed) if _is_file(workspace / name))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


async def _lines(command: str, workspace: Path) -> list[str]:
    done = await run_shell(command, workspace, clean_environment(), COMMAND_SECONDS)
    if not done.ok:
        said = f": {done.tail}" if done.output.strip() else "."
        raise UsageError(f"The command for targets failed with exit status {done.code}{said}")
    return [line.strip() for line in done.output.splitlines() if line.strip()]


def _searched(pattern: str, workspace: Path, files: Iterable[str], inside: Sequence[str]) -> list[str]:
    try:
        sought = re.compile(pattern.encode())
    except re.error as error:
        raise UsageError(f"--grep {pattern!r} is not a regular expression: {error}") from None
    candidates = _fitting(files, inside) if inside else files
    return [name for name in candidates if _holds(workspace / name, sought)]


def _holds(file: Path, sought: re.Pattern[bytes]) -> bool:
    try:
        if file.stat().st_size > LARGEST_SEARCHED:
            return False
        content = file.read_bytes()
    except OSError:
        return False
    return b"\0" not in content[:8000] and sought.search(content) is not None


def _fitting(files: Iterable[str], patterns: Sequence[str]) -> list[str]:
    return [name for name in files if _fits(name, patterns)]


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(
        _matcher(pattern).fullmatch(path) or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )


def _matcher(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression: `*` and `?` stay within a folder, `**/` is any depth, none included."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", pattern.removeprefix("./"))
    special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    made = (special.get(part) or (part if part.startswith("[") else re.escape(part)) for part in parts)
    return re.compile("".join(made), re.DOTALL)


def in_groups(targets: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Targets in groups of at most `size`, neighbours together."""
    return [tuple(targets[at : at + size]) for at in range(0, len(targets), size)]


def tests_of(plan: Plan, group: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """The test files that belong to a group, by the plan's pattern, and the group's own tests."""
    found: dict[str, None] = {}
    for target in group:
        pattern = filled(plan.tests, places([target]))
        matching = [name for name in files if _fits(name, [pattern])]
        own = [target] if fnmatchcase(target.rpartition("/")[2], "test_*.py") else []
        found.update(dict.fromkeys([*own, *matching]))
    return tuple(found)


def _told(plan: Plan) -> str:
    wanted = plan.targets
    if wanted.command:
        return f"`{wanted.command}` printed nothing"
    if wanted.grep:
        return f"no file matches {wanted.grep!r}"
    return f"no file that git does not ignore matches {', '.join(wanted.each)}"

"""Submodules in worktrees: filled from the user's local copies, offline; watched when the worktree is removed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import GitError
from .preflight import Place
from .run import Git, git_in, shown
from .worktree import Worktree


@dataclass(frozen=True, slots=True)
class Submodule:
    """One submodule of a commit: its place, the commit wanted there, its name in `.gitmodules`."""

    path: str
    commit: str
    name: str


async def submodules(git: Git, commit: str, root: Path) -> list[Submodule]:
    """The submodules of a commit that is checked out in `root`; at no cost where there are none."""
    if not (root / ".gitmodules").is_file():
        return []
    names = await _names(git.at(root), root / ".gitmodules")
    listed = await git.names("ls-tree", "-r", "-z", commit)
    links = (line.partition("\t") for line in listed if line.startswith("160000 "))
    return [Submodule(path, head.split(" ")[2], names[path]) for head, _, path in links if path in names]


async def fill(worktree: Worktree, place: Place) -> list[str]:
    """Clone the user's local copies of submodules into a fresh worktree; gives what could not be filled."""
    notices: list[str] = []
    for module in await submodules(worktree.hub.git, worktree.base, worktree.root):
        source = place.common_dir / "modules" / module.name
        if not source.is_dir():
            notices.append(
                f"submodule {shown(module.path)} is not set up in your checkout, so it is empty here."
            )
            continue
        target = worktree.root / module.path
        try:
            git = git_in(worktree.root)
            await git.run("clone", "--quiet", "--no-checkout", "--template=", "--", str(source), str(target))
            await git.at(target).run("checkout", "--quiet", "--detach", module.commit)
            await git.at(target).run("remote", "remove", "origin")
        except GitError as error:
            notices.append(f"submodule {shown(module.path)} could not be filled: {error}")
    return notices


async def changed_submodules(worktree: Worktree) -> list[str]:
    """Submodules of a worktree that hold anything which their recorded commit does not."""
    changed: list[str] = []
    for module in await submodules(worktree.hub.git, worktree.base, worktree.root):
        folder = worktree.root / module.path
        if not (folder / ".git").exists():
            continue
        git = git_in(folder)
        same = await git.line("rev-parse", "HEAD") == module.commit
        if not same or await git.names("status", "--porcelain", "-z", "--ignored"):
            changed.append(module.path)
    return changed


async def _names(git: Git, file: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with suppress(GitError):
        told = await git.names("config", "--file", str(file), "-z", "--get-regexp", r"^submodule\..*\.path$")
        for record in told:
            key, _, path = record.partition("\n")
            found[path] = key.removeprefix("submodule.").removesuffix(".path")
    return found

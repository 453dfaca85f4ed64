"""The worktree in which merged states are checked and conflicts resolved. It belongs to us alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from .commands import Ran, run_shell
from .hub import Hub
from .matrix import matches
from .run import Git, shown
from .work import Work, differences
from .worktree import Worktree

_MARKERS = (b"<<<<<<< ", b">>>>>>> ", b"||||||| ")


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a resolver is asked to mend in the worktree it is given.

    `files` are those in conflict, or those that both sides touched where a clean merge failed the check; only these
    and the work's own `paths` may be changed. `log` is the end of the failed check, `why` what was wrong with the
    attempt before.
    """

    kind: Literal["merge", "check"]
    work: Work
    files: tuple[str, ...]
    log: str
    why: str
    attempt: int
    merged: tuple[Work, ...]
    check: str | None

    @property
    def brief(self) -> str:
        """The task in words, for a subagent that knows nothing else."""
        head = (
            "Two pieces of work conflict. Git has merged what it could in this folder; the rest carries markers."
            if self.kind == "merge"
            else "Two pieces of work merge cleanly, but together they fail the check."
        )
        others = [work for work in self.merged if set(work.files) & set(self.files)] or list(self.merged)
        lines = [
            head,
            f"Files to mend: {', '.join(map(shown, self.files))}",
            f"The work to be merged ({self.work.agent_id}): {self.work.message}",
            *(f"Already merged ({other.agent_id}): {other.message}" for other in others[:10]),
            "Keep the intent of both sides. Change only these files"
            + (f" and {', '.join(self.work.paths)}." if self.work.paths else ".")
            + " Leave no conflict markers. Do not commit.",
        ]
        lines += [f"The check that must pass: {self.check}"] if self.check else []
        lines += [f"It said:\n{self.log}"] if self.log else []
        lines += [f"Your first attempt was not accepted: {self.why}"] if self.why else []
        return "\n".join(lines)


Resolve = Callable[[Conflict, Worktree], Awaitable[None]]
"""Mends a conflict in a worktree. Whether it did is judged afterwards; what it says does not count."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The check of merged states: a shell command, after each merge or once per batch with bisection."""

    command: str | None = None
    seconds: float = 600.0
    mode: Literal["each", "bisect"] = "bisect"


class Workbench:
    """Puts merged states into a worktree, runs the check there, and prepares and judges resolutions."""

    def __init__(self, hub: Hub, tree: Worktree, gate: Gate) -> None:
        self.hub, self.tree, self.gate = hub, tree, gate
        self._known: dict[str, Ran] = {}

    @property
    def git(self) -> Git:
        """A runner in the worktree, with its ordinary index."""
        return self.hub.git.at(self.tree.root).with_env(
            GIT_DIR=self.tree.record.admin, GIT_WORK_TREE=str(self.tree.root)
        )

    async def check(self, commit: str) -> Ran:
        """Run the check on a commit; the same files are checked once."""
        if self.gate.command is None:
            return Ran(0, "")
        files = await self.hub.tree(commit)
        if files not in self._known:
            await self.place(commit)
            env = self.tree.command_environment()
            self._known[files] = await run_shell(self.gate.command, self.tree.path, env, self.gate.seconds)
        return self._known[files]

    async def place(self, commit: str) -> None:
        """Make the worktree exactly a commit; ignored files, such as an environment, stay."""
        self.hub.restore_config()
        await self.git.run("reset", "--hard", "--quiet", commit)
        await self.git.run("clean", "-ffdq")

    async def lay_out(self, ours: str, theirs: str) -> bool:
        """Merge into the worktree without committing; whether somebody has to look at it.

        What was resolved before in the same way (`rerere`) is resolved already.
        """
        await self.place(ours)
        await self.git.run("update-ref", "--no-deref", "HEAD", ours)
        await self.git.run("merge", "--no-ff", "--no-commit", "--quiet", theirs, ok=(0, 1))
        return bool(await self.git.names("ls-files", "--unmerged", "-z"))

    async def harvest(self) -> str:
        """The resolved files as a tree."""
        self.tree.index.unlink(missing_ok=True)  # the subagent or git may have another index by now
        tree, _ = await self.tree.tree()
        return tree

    async def remember(self) -> None:
        """Let git learn the resolution, so that it is replayed on another base."""
        await self.git.run("rerere", ok=(0, 1, 128))

    async def objections(
        self, conflict: Conflict, automatic: str, tree: str, parents: tuple[str, str]
    ) -> str:
        """Why a resolution cannot be accepted, or `""`: markers, or changes where none are allowed."""
        if left := [name for name in conflict.files if await self._has_markers(name, tree, parents)]:
            return f"conflict markers are left in {', '.join(map(shown, left))}"
        changed = {found.path for found in await differences(self.hub.git, automatic, tree)}
        allowed = set(conflict.files)
        outside = sorted(p for p in changed - allowed if not matches(p, conflict.work.paths))
        if outside:
            return f"files outside the conflict were changed: {', '.join(map(shown, outside[:10]))}"
        return ""

    async def _has_markers(self, name: str, tree: str, parents: tuple[str, str]) -> bool:
        found = await self._marker_lines(tree, name)
        if not found:
            return False
        legitimate = [await self._marker_lines(parent, name) for parent in parents]
        return any(line not in lines for line in found for lines in legitimate)

    async def _marker_lines(self, where: str, name: str) -> set[bytes]:
        told = await self.hub.git.run("cat-file", "blob", f"{where}:{name}", ok=(0, 128))
        lines = told.stdout.splitlines() if told.code == 0 else []
        return {line for line in lines if line.startswith(_MARKERS)}

"""A subagent's own checkout: made under the hub's lock, kept in step by a commit per turn, sealed at the end.

The subagent may use git in it as it likes. Our commits go through an index of our own, so neither its index nor its
HEAD moves, and no hook runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from decurion.agents.groups import task_group
from decurion.hooks.counts import counted

from .errors import GitError, told
from .hub import Hub, ref_part, write_bytes
from .run import Git, clean_environment
from .snapshot import add_all, nested_repositories
from .work import Work, changes

_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class Record:
    """What is written down of a worktree beside its folder, so that another process can take it up.

    `admin` is its folder in the hub; `ignored` are the ignored paths that were there when the subagent started.
    """

    agent_id: str
    base: str
    admin: str
    prefix: str
    ignored: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    turn: int = 0


class Worktree:
    """One subagent's checkout. `root` is its top, `path` where the subagent's tools are rooted."""

    def __init__(self, hub: Hub, record: Record, notices: Sequence[str] = ()) -> None:
        self.hub, self.record, self.notices = hub, record, tuple(notices)
        self.root = tree_folder(hub, record.agent_id)
        self.path = self.root / record.prefix
        self.turn = record.turn
        self._last: tuple[str, str] | None = None  # tree and commit of the newest checkpoint
        self.written: tuple[str, list[str]] | None = None
        """What `tree` gave last: our index is that tree still, for nobody else writes it."""

    @property
    def agent_id(self) -> str:
        """Whose it is."""
        return self.record.agent_id

    @property
    def base(self) -> str:
        """The commit the work started from."""
        return self.record.base

    @property
    def complete(self) -> bool:
        """Whether its folder and its part of the hub are there."""
        return self.root.is_dir() and Path(self.record.admin).is_dir()

    @property
    def env(self) -> Mapping[str, str]:
        """What commands started here need besides the surroundings, such as a PYTHONPATH to these sources."""
        return self.record.env or {}

    @property
    def index(self) -> Path:
        """Our own index of this worktree."""
        return self.root.with_name(f"{self.root.name}.index")

    @property
    def git(self) -> Git:
        """A runner that sees the worktree through our own index; does not depend on the `.git` file in it."""
        return self.hub.git.at(self.root).with_env(
            GIT_DIR=self.record.admin, GIT_WORK_TREE=str(self.root), GIT_INDEX_FILE=str(self.index)
        )

    def command_environment(self) -> dict[str, str]:
        """The whole environment for commands of ours that run here, such as checks."""
        return {**clean_environment(), **self.env}

    async def checkpoint(self, turn: int) -> str:
        """Keep the state of the files as a commit under a ref; gives the commit.

        Raises:
            GitError: git failed or the folder is gone. What was kept before is still there.
        """
        tree, _ = await self.tree()
        if self._last is not None and self._last[0] == tree:
            return self._last[1]
        parents = [self._last[1] if self._last else self.base]
        head = await self.head()
        if head not in {None, self.base, *parents}:
            parents.append(str(head))
        commit = await self.hub.commit(tree, parents, f"turn {turn} of {self.agent_id}")
        await self.hub.write_turn(commit, self.name, turn)
        self.turn, self._last = turn, (tree, commit)
        return commit

    @property
    def name(self) -> str:
        """The agent's id as a part of refs and folders."""
        return ref_part(self.agent_id)

    @told
    async def tree(self) -> tuple[str, list[str]]:
        """The files as a tree in the hub, and the nested repositories that it leaves out."""
        self.hub.restore_config()
        self.written = None
        self._prepare_index()
        nested: list[str] = []
        try:
            said = await add_all(self.git)
        except GitError as error:
            said = error.stderr
            if "does not have a commit checked out" not in said:
                raise
        if "embedded git repository" in said or "does not have a commit checked out" in said:
            self.index.unlink(missing_ok=True)  # it may hold them by now
            self._prepare_index()
            nested = await nested_repositories(self.git)
            await add_all(self.git, nested)
        self.written = await self.git.line("write-tree"), nested
        return self.written

    def _prepare_index(self) -> None:
        if not self.root.is_dir():
            raise GitError("git add --all", 128, f"the worktree {self.root} is gone")
        # Nobody but this object uses this index; a lock on it is left from a crash.
        self.index.with_name(self.index.name + ".lock").unlink(missing_ok=True)
        if not self.index.exists():
            shutil.copy2(Path(self.record.admin) / "index", self.index)

    async def unchanged(self) -> bool:
        """Whether the files are those of the base."""
        return (await self.tree())[0] == await self.hub.tree(self.base)

    async def head(self) -> str | None:
        """The commit the subagent stands on, or None where it stands on none."""
        file = Path(self.record.admin) / "HEAD"
        try:
            told = file.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None
        if _COMMIT.fullmatch(told):
            return told
        return (
            await self.git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1))
        ).line or None

    async def seal(self, message: str) -> Work:
        """Make the final commit from the files as they are, and put everything that could be lost under refs."""
        notices: list[str] = []
        try:
            tree, nested = await self.tree()
            commit = await self._final(tree, message)
            root: Path | None = self.root
            notices += [f"{name} is a repository of its own: kept, not merged." for name in nested]
        except GitError as error:
            commit, root = await self._newest_checkpoint(message), None
            notices.append(
                f"the files could not be read ({error}); this is the state of the last checkpoint."
            )
        notices += await self._save_strays(commit)
        ref = self.hub.ref("agent", self.name, "head")
        async with task_group() as group:
            if commit != self.base:
                group.start_soon(self.hub.write, commit, "agent", self.name, "head")
            changed = await changes(self.hub.git, self.base, commit, root)
        where = f"{ref} in {self.hub.path}" if commit != self.base else "nothing was changed"
        return Work(self.agent_id, self.base, commit, ref, message, changed, where, tuple(notices))

    async def _final(self, tree: str, message: str) -> str:
        head = await self.head()
        parent = self.base
        if head not in {None, self.base} and await self._descends(str(head)):
            parent = str(head)  # the subagent's own commits stay as it made them
        if await self.hub.tree(parent) == tree:
            return parent
        return await self.hub.commit(tree, [parent], self._signed(message))

    async def _descends(self, commit: str) -> bool:
        return await self.hub.git.succeeds("merge-base", "--is-ancestor", self.base, commit)

    async def _newest_checkpoint(self, message: str) -> str:
        turns = await self.hub.refs("agent", self.name, "turn")
        if not turns:
            return self.base
        tree = await self.hub.tree(turns[max(turns)])
        return await self.hub.commit(tree, [self.base], self._signed(message))

    async def _save_strays(self, commit: str) -> list[str]:
        """Put under refs what the subagent committed somewhere and what the result does not contain."""
        log = Path(self.record.admin) / "logs" / "HEAD"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        visited = dict.fromkeys(line.split(" ", 2)[1] for line in lines if line.count(" ") > 1)
        visited.pop(self.base, None)
        if not visited:
            return []
        kept = await self.hub.refs("agent", self.name)
        # Where the worktree was made again, git stood at a commit of ours: a checkpoint, or the finished work.
        ours = [oid for name, oid in kept.items() if name == "head" or name.startswith("turn/")]
        beside = await self.hub.git.run("rev-list", *visited, "--not", commit, self.base, *ours)
        strays = [oid for oid in visited if oid in set(beside.line.split())]
        for number, oid in enumerate(strays, 1):
            await self.hub.write(oid, "agent", self.name, "stray", f"{number:04}")
        if not strays:
            return []
        told = counted(len(strays), "commit made on the way is", "commits made on the way are")
        return [f"{told} not in the result; kept as {self.hub.ref('agent', self.name, 'stray')}/*."]

    def _signed(self, message: str) -> str:
        return f"{message.strip() or 'Work of a subagent'}\n\nDecurion-Agent: {self.agent_id}\n"

    async def ignored(self) -> list[str]:
        """Ignored paths that were not there at the start, caches left aside; folders end in `/`."""
        return (await self.beside())[1]

    async def beside(self) -> tuple[list[str], list[str]]:
        """What is not as our index has it: paths that changed or are new, and ignored ones as `ignored` gives them."""
        how = (
            "--porcelain",
            "--ignored",
            "--untracked-files=normal",
            "--no-renames",
            "--ignore-submodules=all",
        )
        told = [(line[:2], line[3:]) for line in await self.git.names("status", "-z", *how)]
        late = [path for code, path in told if code != "!!" and code[1] != " "]
        ignored = [path for code, path in told if code == "!!" and path not in self.record.ignored]
        return late, [path for path in ignored if not is_cache(self.root / path)]

    def save(self) -> None:
        """Write down what another process needs to take this worktree up."""
        text = json.dumps({**asdict(self.record), "turn": self.turn})
        write_bytes(record_file(self.hub, self.agent_id), text.encode())


def is_cache(path: Path) -> bool:
    """Whether a tool can make this again by itself: it says so by the usual tag, or is Python's byte code."""
    if path.name == "__pycache__" or path.suffix == ".pyc":
        return True
    return path.is_dir() and (path / "CACHEDIR.TAG").is_file()


def tree_folder(hub: Hub, agent_id: str) -> Path:
    """Where an agent's worktree lies: outside of the user's repository, so searches and `git clean` never meet it."""
    return hub.home / "trees" / ref_part(agent_id)


def record_file(hub: Hub, agent_id: str) -> Path:
    """Where the record of a worktree lies."""
    folder = tree_folder(hub, agent_id)
    return folder.with_name(f"{folder.name}.json")


def load(hub: Hub, agent_id: str) -> Worktree | None:
    """Take up a worktree that an earlier process made, or None."""
    try:
        data: dict[str, Any] = json.loads(record_file(hub, agent_id).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    data["ignored"] = tuple(data["ignored"])
    return Worktree(hub, Record(**data))


def admin_folder(root: Path) -> str:
    """The folder in the hub that belongs to a worktree, from its `.git` file."""
    told = os.fsdecode((root / ".git").read_bytes()).strip()
    return os.path.normpath(
        root / told.removeprefix("gitdir: ")
    )  # a newer git may be told to write relative paths

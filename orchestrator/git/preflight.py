"""Look at the user's repository before anything is made. Refuse or tell, never guess; reads only."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from decurion.hooks.counts import counted

from .errors import GitError, NotIsolatable
from .run import Git, git_in, shown

OLDEST_GIT = (2, 38)  # the first with `merge-tree --write-tree`
LEAST_FREE = 200 * 1024 * 1024
"""Bytes that must be free where the hub and the worktrees go."""

UNDERWAY = {
    "MERGE_HEAD": ("a merge", "`git merge --continue` or `git merge --abort`"),
    "rebase-merge": ("a rebase", "`git rebase --continue` or `git rebase --abort`"),
    "rebase-apply": ("a rebase or `git am`", "`git rebase --continue` or `git am --abort`"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "`git cherry-pick --continue` or `git cherry-pick --abort`"),
    "REVERT_HEAD": ("a revert", "`git revert --continue` or `git revert --abort`"),
    "BISECT_LOG": ("a bisection", "`git bisect reset`"),
}
"""Files of a git folder that say what is in progress, and how a person ends it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The user's repository as it was found.

    `prefix` is the workspace below the top of the working tree (`""` for the top itself); `objects` is where its
    objects lie; `index` its index, which may not exist; `notices` are what a person should know.
    """

    top: Path
    prefix: str
    git_dir: Path
    common_dir: Path
    head: str | None
    head_tree: str | None
    config: dict[str, str]
    notices: tuple[str, ...]

    @property
    def objects(self) -> Path:
        """The folder of the repository's objects."""
        return self.common_dir / "objects"

    @property
    def index(self) -> Path:
        """The user's own index: copied, never written."""
        return self.git_dir / "index"

    @property
    def git(self) -> Git:
        """A runner in the user's working tree, for reading."""
        return git_in(self.top)

    @property
    def ignores_case(self) -> bool:
        """Whether the file system takes `A` and `a` for one name."""
        return self.config.get("core.ignorecase") == "true"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the index."""

    tag: str
    mode: str
    oid: str
    stage: int
    path: str


async def survey(workspace: Path, state_dir: Path, least_free: int = LEAST_FREE) -> Place:
    """Find the repository around a workspace and judge whether subtasks can be isolated there.

    Raises:
        NotIsolatable: with one clear line and the remedy; nothing was changed.
        GitError: git itself failed.
    """
    git = git_in(workspace)
    await _refuse_old_git(git)
    top, git_dir = await _locate(git, workspace)
    common_dir = _common_dir(git_dir)
    _refuse_operations(git_dir)
    _refuse_state_inside(state_dir, top)
    _refuse_full_disk(state_dir, least_free)
    config = await read_config(git.at(top))
    entries = await read_index(git.at(top))
    _refuse_unmerged(entries)
    head, head_tree = await _head(git)
    filters = _filters(top, [entry.path for entry in entries])
    notices = (
        *_notices_of_place(git_dir, common_dir, head, config),
        *_notices_of_entries(entries, config),
        *_notices_of_filters(filters, config, await _own_settings(git.at(top), filters)),
    )
    return Place(top, _prefix(workspace, top), git_dir, common_dir, head, head_tree, config, notices)


async def _head(git: Git) -> tuple[str | None, str | None]:
    """The commit that is checked out, and its tree; None where there is no commit yet."""
    asked = b"HEAD^{commit}\nHEAD^{tree}\n"
    told = await git.run("cat-file", "--batch-check=%(objectname)", stdin=asked)
    commit, tree = (None if line.endswith(" missing") else line for line in told.line.splitlines())
    return commit, tree


def _prefix(workspace: Path, top: Path) -> str:
    found = os.path.relpath(workspace.resolve(), top.resolve())
    return "" if found == "." else found


async def read_config(git: Git) -> dict[str, str]:
    """Every setting in force, the last one winning; names in lower case, as git prints them."""
    pairs = (record.partition("\n") for record in await git.names("config", "--list", "-z"))
    return {name: value for name, _, value in pairs}


async def read_index(git: Git) -> list[Entry]:
    """The index, entry by entry."""
    return [_entry(record) for record in await git.names("ls-files", "--stage", "-v", "-z")]


def _entry(record: str) -> Entry:
    head, _, path = record.partition("\t")
    tag, mode, oid, stage = head.split(" ")
    return Entry(tag, mode, oid, int(stage), path)


async def _refuse_old_git(git: Git) -> None:
    found = re.search(r"(\d+)\.(\d+)", await git.line("--version"))
    if found and (int(found[1]), int(found[2])) < OLDEST_GIT:
        raise NotIsolatable(f"git {found[0]} is too old to isolate subtasks: 2.38 or newer is needed.")


async def _locate(git: Git, workspace: Path) -> tuple[Path, Path]:
    try:
        told = await git.line(
            "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"
        )
    except GitError as error:
        if foreign := re.search(r"dubious ownership in repository at '(.*)'", error.stderr):
            raise NotIsolatable(
                f"{foreign[1]} belongs to another user, so git does not work in it: if you trust what is there, run "
                f"`git config --global --add safe.directory {shlex.quote(foreign[1])}`, or go on without isolation."
            ) from None
        if "not a git repository" not in error.stderr:
            raise
        raise NotIsolatable(
            f"{workspace} is not in a git repository, so subtasks cannot be isolated: "
            "run `git init` there, or go on without isolation."
        ) from None
    is_bare, is_inside, *found = told.split("\n", 3)
    if (is_bare, is_inside) != ("false", "true"):
        raise NotIsolatable(
            f"{workspace} is a bare repository or a .git folder, without files to work on: "
            "start in a working tree (`git worktree add ../work`)."
        )
    up, git_dir = found
    return _upwards(workspace, up), Path(git_dir)


def _upwards(workspace: Path, up: str) -> Path:
    return Path(os.path.normpath(workspace.resolve() / up))


def _common_dir(git_dir: Path) -> Path:
    """A linked worktree's git folder names the one it shares, in a file `commondir`."""
    try:
        told = os.fsdecode((git_dir / "commondir").read_bytes()).rstrip("\n")
    except FileNotFoundError:
        return git_dir
    return Path(os.path.normpath(git_dir / told))


def _refuse_operations(git_dir: Path) -> None:
    for name, (what, remedy) in UNDERWAY.items():
        if (git_dir / name).exists():
            raise NotIsolatable(f"{what} is in progress here: finish it first ({remedy}).")


def _refuse_state_inside(state_dir: Path, top: Path) -> None:
    if state_dir.resolve().is_relative_to(top.resolve()):
        raise NotIsolatable(
            f"the state folder {state_dir} lies inside the repository, where searches and `git clean` would meet "
            "the subagents' worktrees: set DECURION_STATE_DIR to a folder outside."
        )


def _refuse_full_disk(state_dir: Path, least: int) -> None:
    there = next(folder for folder in (state_dir, *state_dir.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < least:
        raise NotIsolatable(
            f"only {free >> 20} MB are free at {there}, and worktrees need at least {least >> 20}: "
            "free some space, or set DECURION_STATE_DIR to another disk."
        )


def _refuse_unmerged(entries: Iterable[Entry]) -> None:
    unmerged = sorted({entry.path for entry in entries if entry.stage})
    if unmerged:
        names = ", ".join(shown(path) for path in unmerged[:5])
        raise NotIsolatable(
            f"{counted(len(unmerged), 'file has', 'files have')} unresolved conflicts ({names}): resolve them and "
            "`git add` them first."
        )


def _notices_of_place(git_dir: Path, common_dir: Path, head: str | None, config: dict[str, str]) -> list[str]:
    promisor = "extensions.partialclone" in config or any(
        name.startswith("remote.") and name.endswith(".promisor") for name in config
    )
    told = {
        "no commit yet: subagents start from the files as they are.": head is None,
        "a linked worktree: the result becomes a branch of its repository.": git_dir != common_dir,
        "a shallow clone: old history is not there, the result is based on what is.": (
            common_dir / "shallow"
        ).exists(),
        "a partial clone: git may fetch missing old content from its remote.": promisor,
        "a read-only repository: the result stays in the session's hub until you fetch it.": not os.access(
            common_dir / "objects", os.W_OK
        ),
        "a sparse checkout: subagents see all files; --apply leaves those outside of yours alone.": (
            config.get("core.sparsecheckout") == "true"
        ),
    }
    return [text for text, holds in told.items() if holds]


def _notices_of_entries(entries: list[Entry], config: dict[str, str]) -> list[str]:
    paths = [entry.path for entry in entries]
    notices: list[str] = []
    if modules := [entry.path for entry in entries if entry.mode == "160000"]:
        notices.append(
            f"{counted(len(modules), 'submodule')} ({_some(modules)}): what is changed inside them is kept, not merged."
        )
    if hidden := [entry.path for entry in entries if entry.tag.islower()]:
        notices.append(
            f"{counted(len(hidden), 'file')} marked assume-unchanged ({_some(hidden)}): edits there are not seen."
        )
    if config.get("core.sparsecheckout") != "true" and (skip := [e.path for e in entries if e.tag in "Ss"]):
        notices.append(
            f"{counted(len(skip), 'file')} marked skip-worktree ({_some(skip)}): edits there are not seen."
        )
    if odd := [path for path in paths if shown(path) != path]:
        notices.append(
            f"{counted(len(odd), 'file name holds', 'file names hold')} line breaks or bytes that are no text ({_some(odd)})."
        )
    if clashes := case_clashes(paths):
        notices.append(
            f"names that differ only by letter case ({_some(clashes)}) clash on other file systems."
        )
    return notices


def _filters(top: Path, paths: Iterable[str]) -> set[str]:
    """The content filters that a project's attributes name."""
    files = (top / path for path in paths if path.rpartition("/")[2] == ".gitattributes")
    texts = (file.read_bytes() for file in files if file.is_file())
    return {os.fsdecode(name) for text in texts for name in re.findall(rb"\sfilter=(\S+)", text)}


async def _own_settings(git: Git, filters: set[str]) -> set[str]:
    """The settings of filters that the repository itself has, and so the hub has not."""
    if not filters - {"lfs"}:
        return set()
    how = ("config", "--local", "-z", "--name-only", "--get-regexp", r"^filter\.")
    return set((await git.run(*how, ok=(0, 1))).names)


def _notices_of_filters(filters: set[str], config: dict[str, str], own: set[str]) -> list[str]:
    notices: list[str] = []
    if "lfs" in filters:
        installed = "filter.lfs.process" in config or "filter.lfs.smudge" in config
        text = (
            "content comes from your local store."
            if installed
            else "git-lfs is not set up, so pointers are shown."
        )
        notices.append(f"Git LFS: {text}")
    if mine := sorted(
        name for name in filters - {"lfs"} if any(key.startswith(f"filter.{name}.") for key in own)
    ):
        notices.append(
            f"content filters set in this repository ({_some(mine)}) are not run for subagents: they see files as they "
            "are committed, and --apply refuses what does not come out the same."
        )
    return notices


def case_clashes(paths: Iterable[str]) -> list[str]:
    """The names that would be one on a file system that ignores letter case, sorted."""
    seen: dict[str, set[str]] = {}
    for path in paths:
        seen.setdefault(path.casefold(), set()).add(path)
    return sorted(path for group in seen.values() if len(group) > 1 for path in group)


def _some(paths: list[str]) -> str:
    return ", ".join(shown(path) for path in paths[:3]) + (", …" if len(paths) > 3 else "")

"""The private bare repository of a session: hard-linked from the user's, so theirs is never written and ours survives.

Made once per session, in a folder of the state directory. Refs below `refs/agents/<session>/` are the record of the
run: `base`, `merged`, `agent/<id>/head`, `agent/<id>/turn/<n>`, `agent/<id>/old/<n>`, `backup/<n>`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from anyio import CapacityLimiter

from .commits import Signer, write_commit, write_ref
from .lock import FileLock
from .preflight import Place, read_config
from .run import Git, clean_environment, git_in

COPIED = re.compile(
    r"core\.(attributesfile|autocrlf|eol|longpaths|repositoryformatversion)"
    r"|filter\.lfs\..*|extensions\.(?!refstorage|relativeworktrees).*|remote\..*\.(url|promisor|partialclonefilter)"
)
"""Settings of the user's repository that shape file content, or let a partial clone find its old objects."""

PROBED = (
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
    "extensions.refstorage",
)
"""Settings that git found out about the disk on which the hub and the worktrees lie."""

CACHES = ("__pycache__/", "*.pyc", ".pytest_cache/", ".ruff_cache/", ".mypy_cache/", ".DS_Store")
"""What tools leave behind; without this, two subagents that ran the tests would conflict in files nobody wrote."""

ANONYMOUS = {"NAME": "decurion", "EMAIL": "decurion@localhost"}


@dataclass(frozen=True, slots=True)
class Hub:
    """One session's private repository at `path`; its worktrees and records lie beside it in `home`."""

    home: Path
    session_id: str
    lock: FileLock
    identity: tuple[tuple[str, str], ...]
    signer: Signer = field(default_factory=Signer, compare=False, repr=False)
    writers: CapacityLimiter = field(
        default_factory=lambda: CapacityLimiter(os.cpu_count() or 1), compare=False, repr=False
    )
    """Worktrees being filled at once: with one for each core the first is ready early, and none is later for it."""
    _trees: dict[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The bare repository itself."""
        return self.home / "hub.git"

    @property
    def git(self) -> Git:
        """A runner in the hub; commits carry the user's name, or ours where they have none."""
        return git_in(self.path, **dict(self.identity), GIT_DIR=str(self.path))

    def ref(self, *parts: str) -> str:
        """The full name of a ref of this session."""
        return "/".join(("refs/agents", ref_part(self.session_id), *parts))

    async def refs(self, *parts: str) -> dict[str, str]:
        """All refs of this session below a prefix: name without the prefix, commit."""
        prefix = self.ref(*parts) + "/"
        told = await self.git.run("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        pairs = (line.rsplit(" ", 1) for line in told.line.splitlines())
        return {name.removeprefix(prefix): commit for name, commit in pairs}

    async def write(self, commit: str, *parts: str, old: str | None = None) -> None:
        """Point a ref of this session at a commit; with `old`, only if it points there still."""
        expected = () if old is None else (old,)
        await self.git.run("update-ref", "--create-reflog", self.ref(*parts), commit, *expected)

    async def write_turn(self, commit: str, agent: str, turn: int) -> None:
        """Point the ref of an agent's turn, which is new, at a commit: as `write` does, mostly without a process."""
        parts = ("agent", agent, "turn", f"{turn:04}")
        if not write_ref(self.path, self.ref(*parts), commit):
            await self.write(commit, *parts)

    async def write_all(self, commits: Mapping[str, str]) -> None:
        """Point several refs of this session at commits, all in one step."""
        lines = (f"update {self.ref(name)} {commit}\n" for name, commit in commits.items())
        await self.git.run("update-ref", "--create-reflog", "--stdin", stdin="".join(lines).encode())

    async def drop(self, *names: str) -> None:
        """Delete refs of this session, all in one step."""
        lines = (f"delete {self.ref(name)}\n" for name in names)
        if names:
            await self.git.run("update-ref", "--stdin", stdin="".join(lines).encode())

    async def tree(self, commit: str, git: Git | None = None) -> str:
        """The tree of a commit, named by its full id; asked once, for it never changes."""
        if commit not in self._trees:
            self._trees[commit] = await (git or self.git).line("rev-parse", f"{commit}^{{tree}}")
        return self._trees[commit]

    async def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """Make a commit; no ref points at it yet."""
        made = await write_commit(self.git, self.signer, tree, parents, message)
        self._trees[made] = tree
        return made

    def note(self, commit: str, tree: str) -> None:
        """Take in what somebody else found out: the tree of a commit."""
        self._trees[commit] = tree

    def restore_config(self) -> bool:
        """Put the hub's settings back if a subagent changed them: our own commands must not run its programs.

        Returns whether they had been changed.
        """
        kept, now = self.home / "hub.config", self.path / "config"
        if not kept.exists() or (now.is_file() and now.read_bytes() == kept.read_bytes()):
            return False
        scratch = self.home / f"hub.config.{uuid4().hex}"
        shutil.copyfile(kept, scratch)
        scratch.replace(now)
        return True


def hub_at(home: Path, session_id: str, config: dict[str, str]) -> Hub:
    """Name the hub of a session; makes nothing. `config` is the user's, for who writes commits."""
    identity = {
        f"GIT_{role}_{what}": config.get(f"user.{what.lower()}") or ANONYMOUS[what]
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
        if not os.environ.get(f"GIT_{role}_{what}")
    }
    return Hub(home, session_id, FileLock(home / "hub.lock"), tuple(identity.items()))


async def make(hub: Hub, place: Place) -> bool:
    """Make the hub if it is not there; a crash in between leaves nothing that counts as one. Whether it is new."""
    if hub.path.exists():
        return False
    hub.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = hub.home / f"hub.{uuid4().hex}.tmp"
    try:
        await _clone(place, scratch)
        config = await _configure(scratch, place)
        (hub.home / "hub.config").write_bytes(config)
        (hub.home / "repository").write_bytes(os.fsencode(place.top))
        scratch.rename(hub.path)
        return True
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


async def _clone(place: Place, target: Path) -> None:
    # Without `--local` git falls back to copying where hard links are impossible (another disk). A source that
    # borrows objects would pass the borrowing on, and one with links inside is refused: both are copied whole.
    borrowed = (place.objects / "info" / "alternates").exists() or place.objects.is_symlink()
    how = ("--no-local",) if borrowed else ()
    wanted = ("--bare", "--no-tags", "--single-branch", "--template=", "--quiet")
    # A newer git may be told to keep refs in another way; what is read here as files must be files. Both ends ask once
    # more, and by another path, whether a repository of another user is trusted: the look before has found out.
    git = Git(target.parent, clean_environment(), ("init.defaultRefFormat=files", "safe.directory=*"))
    ends = ("--upload-pack", 'git -c "safe.directory=*" upload-pack')
    await git.run("clone", *wanted, *how, *ends, "--", str(place.top), str(target))


async def _configure(hub: Path, place: Place) -> bytes:
    """Write the hub's whole configuration at once; git would need one process per setting."""
    cloned = await read_config(git_in(hub, GIT_DIR=str(hub)))
    made = {"core.bare": "true", "core.repositoryformatversion": "0"}
    made.update({name: cloned[name] for name in PROBED if name in cloned})
    copied = {name: value for name, value in place.config.items() if COPIED.fullmatch(name)}
    if "extensions.partialclone" not in copied:
        copied = {name: value for name, value in copied.items() if not name.startswith("remote.")}
    dropped = {"extensions.worktreeconfig"}
    ours = {
        "core.hookspath": "/dev/null",
        "core.logallrefupdates": "always",
        "gc.auto": "0",
        "maintenance.auto": "false",
        "rerere.enabled": "true",
        "rerere.autoupdate": "true",
        "merge.conflictstyle": "zdiff3",
    }
    if any(name.startswith("filter.lfs.") for name in place.config):
        ours["lfs.storage"] = str(place.common_dir / "lfs")
    settings = {name: value for name, value in {**made, **copied, **ours}.items() if name not in dropped}
    content = os.fsencode("".join(_setting(name, value) for name, value in settings.items()))
    _exclude(hub, place)
    write_bytes(hub / "config", content)
    return content


def _exclude(hub: Path, place: Place) -> None:
    """Ignore what the user's repository ignores privately, and what tools leave behind; take over its attributes."""
    theirs = place.common_dir / "info" / "exclude"
    lines = theirs.read_bytes() if theirs.is_file() else b""
    (hub / "info").mkdir(exist_ok=True)
    (hub / "info" / "exclude").write_bytes(lines + b"\n" + "\n".join(CACHES).encode() + b"\n")
    with suppress(FileNotFoundError):
        shutil.copyfile(place.common_dir / "info" / "attributes", hub / "info" / "attributes")


def write_bytes(file: Path, content: bytes) -> None:
    """Replace a file's content."""
    scratch = file.with_name(f"{file.name}.{uuid4().hex}")
    scratch.write_bytes(content)
    scratch.replace(file)


def _setting(name: str, value: str) -> str:
    section, _, key = name.rpartition(".")
    head, _, sub = section.partition(".")
    quoted_sub = ' "' + sub.replace("\\", "\\\\").replace('"', '\\"') + '"' if sub else ""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[{head}{quoted_sub}]\n\t{key} = "{escaped}"\n'


def ref_part(text: str) -> str:
    """A name as one part of a ref and as a folder: itself where it is plain, else a plain form with a digest."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}", text):
        return text
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:40] or "agent"
    return f"{plain}-{sha256(os.fsencode(text)).hexdigest()[:8]}"

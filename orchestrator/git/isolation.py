"""One session's isolation, as the rest of the program sees it: prepare, open, finish, integrate, hand back, apply."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from . import apply as applying
from . import trees
from .errors import GitError, NotIsolatable, told
from .handback import Handed, hand_back
from .hub import Hub, hub_at, make, ref_part, write_bytes
from .integrate import Integrated, Integration
from .journal import recover
from .lock import try_lock
from .matrix import Merges
from .populate import Imports, Populate, populate
from .preflight import LEAST_FREE, Place, survey
from .snapshot import adopt, take
from .work import Work, changes
from .workbench import Gate, Resolve, Workbench
from .worktree import Record, Worktree, load, tree_folder

MERGE_TREE = "_merge"
"""The agent id under which the worktree for checks and resolutions goes."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a session isolates: `setup` is run in each worktree; `least_free` bytes must be free at the state folder."""

    setup: str | None = None
    setup_seconds: float = 600.0
    gate_seconds: float = 600.0
    gate_mode: Literal["each", "bisect"] = "bisect"
    least_free: int = LEAST_FREE


@dataclass(slots=True)
class Isolation:
    """One session's hub, worktrees and merged state. Make it with `prepare`, end it with `aclose`."""

    place: Place
    hub: Hub
    base: str
    head: str
    notices: tuple[str, ...]
    options: Options
    _running: int
    _merges: Merges
    _imports: Imports = field(default_factory=Imports)
    _left: dict[str, Work] = field(default_factory=dict[str, Work])
    _gone: list[Path] = field(default_factory=list[Path])

    @classmethod
    @told
    async def prepare(
        cls, workspace: Path, state_dir: Path, session_id: str, options: Options | None = None
    ) -> Isolation:
        """Make a session's hub and snapshot, or take up those of an interrupted session of this id.

        Raises:
            NotIsolatable: this place cannot be isolated as it is, or another process runs this session.
            GitError: git failed. In both cases nothing of the user's repository was changed.
        """
        chosen = options or Options()
        home = state_dir / "git"
        place = await survey(workspace, state_dir, chosen.least_free)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        running = try_lock(home / "run.lock")
        if running is None:
            raise NotIsolatable(f"session {session_id} is in use by another process.")
        try:
            hub = hub_at(home, session_id, place.config)
            notices = [*place.notices, *recover(home)]
            _clear_stale_locks(hub)
            trees.sweep(hub)
            refs = {} if await make(hub, place) else await hub.refs()
            if place.head and place.head_tree:
                hub.note(place.head, place.head_tree)
            base = refs.get("base")
            if base is None:
                shot = await take(
                    place, hub, *filter(None, [place.head]), message="The working tree at the start"
                )
                base = shot.commit
                await hub.write_all({"merged": base, "base": base})
                notices += shot.notices
        except BaseException:
            os.close(running)
            raise
        return cls(place, hub, base, refs.get("merged", base), tuple(notices), chosen, running, Merges(hub))

    @property
    def protected(self) -> tuple[Path, ...]:
        """Folders that no isolated subagent may write: the user's checkout and repository, and the hub."""
        folders = (self.place.top, self.place.git_dir, self.place.common_dir, self.hub.path)
        return tuple(dict.fromkeys(folders))

    def folder(self, agent_id: str) -> Path:
        """Where the tools of an agent are rooted once its worktree is made."""
        return tree_folder(self.hub, agent_id) / self.place.prefix

    @told
    async def open(self, agent_id: str) -> Worktree:
        """Make a worktree at the merged state, ready for work.

        Raises:
            GitError: nothing half-made is left. The work must not be done in the user's checkout instead.
        """
        self._work_file(agent_id).unlink(missing_ok=True)
        tree = await trees.add(self.hub, Record(agent_id, self.head, "", self.place.prefix), self.head)
        try:
            return await self._ready(tree)
        except (GitError, OSError):
            with suppress(GitError, OSError):  # on a full disk that fails, too; the first failure says why
                await trees.remove(tree, await tree.seal("An unfinished set-up"))
            raise

    async def _ready(self, tree: Worktree) -> Worktree:
        tree.path.mkdir(parents=True, exist_ok=True)
        how = Populate(self.options.setup, self.options.setup_seconds)
        return await populate(tree, self.place, how, self._imports)

    @told
    async def reopen(self, agent_id: str, turn: int | None = None) -> Worktree:
        """Take up an agent's worktree at its newest checkpoint, or at its finished work; a fresh one where it has none.

        `turn` is the newest turn that the agent itself knows of; the files are as they were after it.
        """
        restored = await trees.restore(self.hub, agent_id, turn)
        if restored is not None:
            return await self._ready(restored)
        done = await self.finished(agent_id)
        if done is None or done.empty:
            return await self.open(agent_id)
        record = Record(agent_id, done.base, "", self.place.prefix)
        return await self._ready(await trees.add(self.hub, record, done.commit, done.base))

    @told
    async def finish(
        self, tree: Worktree, message: str, paths: Sequence[str] = (), depends_on: Sequence[str] = ()
    ) -> Work:
        """Commit what a worktree holds and remove it if nothing can be lost by that. See `Worktree.seal`."""
        work = await self.settle(tree, message, paths, depends_on)
        await self.sweep()
        return work

    @told
    async def settle(
        self, tree: Worktree, message: str, paths: Sequence[str] = (), depends_on: Sequence[str] = ()
    ) -> Work:
        """Do as `finish` does, but leave the files of the worktree, which nobody finds any more, to `sweep`."""
        sealed = replace(await tree.seal(message), paths=tuple(paths), depends_on=tuple(depends_on))
        self._remember(sealed)  # before the tree goes: after a crash in between the agent counts as finished
        removal = await trees.put_away(tree, sealed)
        self._gone += [removal.gone] if removal.gone else []
        done = trees.with_removal(sealed, removal)
        return done if done == sealed else self._remember(done)

    async def sweep(self) -> None:
        """Delete the files of worktrees that `settle` put away."""
        while self._gone:
            await trees.delete(self._gone.pop())

    @told
    async def adopt(self, agent_id: str, paths: Sequence[str], message: str) -> Work:
        """Take in what an agent wrote in the user's checkout itself: these paths, from the workspace, as they are now."""
        commit = await adopt(self.place, self.hub, self.base, self._from_top(paths), message)
        ref = self.hub.ref("agent", ref_part(agent_id), "head")
        if commit != self.base:
            await self.hub.write(commit, "agent", ref_part(agent_id), "head")
        changed = await changes(self.hub.git, self.base, commit, self.place.top)
        return self._remember(
            Work(agent_id, self.base, commit, ref, message, changed, f"{ref} in {self.hub.path}")
        )

    def _from_top(self, paths: Sequence[str]) -> list[str]:
        return [os.path.normpath(f"{self.place.prefix or '.'}/{path}") for path in paths]

    @told
    async def finished(self, agent_id: str) -> Work | None:
        """The work of an agent that finished before a crash, or None: finished agents are not run again."""
        try:
            work = Work.from_json(json.loads(self._work_file(agent_id).read_bytes()))
        except FileNotFoundError:
            return None
        tree = load(self.hub, agent_id)
        if tree is not None and tree.root.is_dir():
            return self._remember(trees.with_removal(work, await trees.remove(tree, work)))
        return work

    def finished_works(self) -> tuple[Work, ...]:
        """All works of this session that are not empty, in the order in which they were finished."""
        files = sorted((self.hub.home / "works").glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        works = (Work.from_json(json.loads(file.read_bytes())) for file in files)
        return tuple(work for work in works if not work.empty)

    def _work_file(self, agent_id: str) -> Path:
        return self.hub.home / "works" / f"{ref_part(agent_id)}.json"

    def _remember(self, work: Work) -> Work:
        file = self._work_file(work.agent_id)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_bytes(file, json.dumps(work.to_json()).encode("ascii"))
        return work

    @told
    async def integrate(
        self, works: Sequence[Work], verify: str | None = None, resolve: Resolve | None = None
    ) -> Integrated:
        """Merge works into the merged state; may be called again with more, or with the same after a crash."""
        gate = Gate(verify, self.options.gate_seconds, self.options.gate_mode)
        done = await self._integration(gate).run(works, resolve)
        self.head = done.head
        self._left.update({left.work.agent_id: left.work for left in done.left})
        for work in done.merged:
            self._left.pop(work.agent_id, None)
        return done

    @told
    async def rehearse(self, works: Sequence[Work]) -> None:
        """Compute ahead what `integrate` will need for these works, while there is time. Nothing is merged by it."""
        await self._integration(Gate()).rehearse(works)

    def _integration(self, gate: Gate) -> Integration:
        async def bench() -> Workbench:
            return Workbench(self.hub, await self._merge_tree(), gate)

        return Integration(self._merges, self.base, self.head, gate, bench)

    async def _merge_tree(self) -> Worktree:
        found = load(self.hub, MERGE_TREE)
        if found is not None and found.complete:
            return found
        return await self.open(MERGE_TREE)

    @told
    async def hand_back(self) -> Handed:
        """Put the merged state, and each work that was left, into the user's repository as branches."""
        return await hand_back(self.place, self.hub, self.base, self.head, self._left)

    @told
    async def apply(self) -> applying.Applied:
        """Write the merged state into the user's checkout. See `apply.apply`."""
        return await applying.apply(self.place, self.hub, self.base, self.head)

    async def aclose(self) -> None:
        """Remove the worktree for checks and let go of the session."""
        try:
            await self.sweep()
            tree = load(self.hub, MERGE_TREE)
            if tree is not None and tree.root.is_dir():
                bench = Workbench(self.hub, tree, Gate())
                await bench.place(self.head)
                work = Work(MERGE_TREE, self.head, self.head, "", "", (), "")
                await trees.remove(tree, work)
        finally:
            self.release()

    def release(self) -> None:
        """Let go of the session and leave everything as it is; `prepare` takes it up again."""
        os.close(self._running)


@told
async def undo(state_dir: Path) -> applying.Undone:
    """Take back the newest `apply` of the session whose state lies in `state_dir`. See `apply.undo`."""
    return await applying.undo(state_dir / "git")


def undoable(state_dir: Path) -> tuple[str, ...]:
    """The files that `undo` would take back, or none."""
    journal = applying.newest(state_dir / "git")
    return tuple(item.path for item in journal.items) if journal else ()


def _clear_stale_locks(hub: Hub) -> None:
    """Remove lock files that killed git processes left in the hub; called while no other process runs the session."""
    if not hub.path.is_dir():
        return
    for lock in (
        *hub.path.glob("*.lock"),
        *hub.path.glob("refs/**/*.lock"),
        *hub.path.glob("worktrees/*/*.lock"),
    ):
        lock.unlink(missing_ok=True)

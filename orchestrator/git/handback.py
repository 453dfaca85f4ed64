"""Bring the result into the user's repository as branches; their checkout, index and other refs stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from .errors import GitError
from .hub import Hub, ref_part
from .integrate import Left
from .preflight import Place
from .work import Work

UNFINISHED = "tmp_pack_*"
"""Files in a repository's folder of packs that git has not finished writing."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a person finds in their repository.

    `branch` is empty where nothing was merged; `left` names the branches of works that were not; `notices` say what
    could not be handed over and how to fetch it.
    """

    branch: str
    commit: str
    left: Mapping[str, str]
    notices: tuple[str, ...] = ()

    def command_for(self, left: Left) -> str:
        """The command line with which a person merges a work that was left."""
        name = self.left.get(left.work.agent_id, "")
        if not name:
            return left.command
        return f"git switch {self.branch} && git merge {name}" if self.branch else f"git merge {name}"


async def hand_back(place: Place, hub: Hub, base: str, head: str, left: Mapping[str, Work]) -> Handed:
    """Write one branch for the merged state and one for each work that was left; may be repeated."""
    notices: list[str] = []
    session = ref_part(hub.session_id)
    branch = ""
    if head != base:
        branch = await _deliver(place, hub, head, f"decurion/{session}", notices)
    beside: dict[str, str] = {}
    for agent_id, work in left.items():
        name = await _deliver(place, hub, work.commit, f"decurion/{session}-{ref_part(agent_id)}", notices)
        if name:
            beside[agent_id] = name
    return Handed(branch, head, beside, tuple(notices))


async def _deliver(place: Place, hub: Hub, commit: str, wanted: str, notices: list[str]) -> str:
    """Give the branch that now points at a commit, or `""` with a notice where the repository cannot take it."""
    try:
        refs = await _refs(place)
        await _send(place, hub, commit, dict.fromkeys(refs.values()))
        branch, old = await _free_branch(place, refs, hub, wanted, commit)
        await place.git.run("update-ref", f"refs/heads/{branch}", commit, old)
    except GitError as error:
        await hub.write(commit, "result", ref_part(wanted))
        notices.append(
            f"{error}\nThe result is safe: git fetch {quote(str(hub.path))} {hub.ref('result', ref_part(wanted))}"
        )
        return ""
    if branch != wanted:
        notices.append(f"the branch {wanted} is taken, so the result is {branch}.")
    await hub.write(commit, "handed", ref_part(branch))
    return branch


async def _refs(place: Place) -> dict[str, str]:
    """What the user's repository holds on to by now, HEAD too: name, object."""
    told = await place.git.run("show-ref", "--head", ok=(0, 1))  # no ref at all is an answer, too
    pairs = (line.split(" ", 1) for line in told.line.splitlines())
    return {name: oid for oid, name in pairs}


async def _send(place: Place, hub: Hub, commit: str, theirs: Mapping[str, None]) -> None:
    """Copy what the user's repository lacks, to judge by what it holds on to.

    No fetch: that would write FETCH_HEAD, may collect garbage, and stumbles over shallow boundaries.
    """
    asked = "\n".join([*theirs, ""]).encode()
    told = await hub.git.run("cat-file", "--batch-check=%(objectname)", stdin=asked)
    known = [line for line in told.line.splitlines() if line in theirs]  # they may have moved on, or back
    wanted = "\n".join([commit, *(f"^{oid}" for oid in known)]) + "\n"
    pack = await hub.git.run("pack-objects", "--revs", "--stdout", "-q", stdin=wanted.encode())
    folder = place.objects / "pack"
    before = set(folder.glob(UNFINISHED))
    try:
        await place.git.run("index-pack", "--stdin", stdin=pack.stdout)
    except GitError:
        _sweep(set(folder.glob(UNFINISHED)) - before, pack.stdout)
        raise
    if "extensions.partialclone" not in place.config:
        await place.git.run("rev-list", "--objects", "--quiet", commit, "--not", "--all")


def _sweep(found: Iterable[Path], pack: bytes) -> None:
    """Remove what git began to write of a pack and left behind, for one, on a disk that it filled with it."""
    for file in found:
        with suppress(OSError):
            if pack.startswith(file.read_bytes()):
                file.unlink()


async def _is_ours(hub: Hub, branch: str, commit: str, there: str) -> bool:
    """Whether a branch points at what we handed over, or, where a crash came before that was noted, led up to."""
    refs = await hub.refs()
    if refs.get(f"handed/{ref_part(branch)}") == there:
        return True
    told = await hub.git.line("rev-list", "--first-parent", commit, f"^{refs['base']}")
    return there in told.splitlines()


async def _checked_out(place: Place, branch: str) -> bool:
    """Whether a person works on a branch: moving it would make their checkout look changed."""
    return bool(await place.git.line("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{branch}"))


async def _free_branch(
    place: Place, taken: Mapping[str, str], hub: Hub, wanted: str, commit: str
) -> tuple[str, str]:
    """A branch name that is free, or ours from before and only moved forward; with what it points at now."""
    stem = wanted if "refs/heads/decurion" not in taken else wanted.replace("/", "-", 1)
    number, name = 1, stem
    while any(ref == f"refs/heads/{name}" or ref.startswith(f"refs/heads/{name}/") for ref in taken):
        there = taken.get(f"refs/heads/{name}", "")
        if there == commit:
            return name, there
        if there and await _is_ours(hub, name, commit, there) and not await _checked_out(place, name):
            return name, there
        number += 1
        name = f"{stem}-{number}"
    return name, "0" * len(commit)

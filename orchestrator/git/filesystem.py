"""Replace files of the user's checkout one by one, so that each is at every moment the old one or the new one."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

MARK = ".decurion-"
"""Begins the names of files that are about to take another's place; one that is left over was never in use."""


@dataclass(frozen=True, slots=True)
class State:
    """What stands at a path: a file (`digest` of its bytes, permissions), a link (its target), or nothing."""

    kind: str  # "file", "link", "none"; "folder", "beyond" (a link above) and "other" are never touched
    digest: str = ""
    mode: int = 0
    mtime_ns: int = 0

    def same(self, other: State) -> bool:
        """Whether content, kind and the execute bit agree; times and other permissions are not compared."""
        return (self.kind, self.digest, bool(self.mode & 0o100)) == (
            other.kind,
            other.digest,
            bool(other.mode & 0o100),
        )


NOTHING = State("none")


def look(path: Path, top: Path) -> State:
    """See what stands at a path below `top`; links are not followed, so nothing stands behind one."""
    if link_above(path, top):
        return State("beyond")
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    if stat.S_ISLNK(status.st_mode):
        return State("link", os.fsencode(path.readlink()).hex(), 0, status.st_mtime_ns)
    if stat.S_ISDIR(status.st_mode):
        return State("folder")
    if not stat.S_ISREG(status.st_mode):
        return State("other")
    return State(
        "file", sha256(path.read_bytes()).hexdigest(), stat.S_IMODE(status.st_mode), status.st_mtime_ns
    )


def link_above(path: Path, top: Path) -> Path | None:
    """The link through which a path below `top` would lead, or None."""
    above = (folder for folder in path.parents if folder != top and folder.is_relative_to(top))
    return next((folder for folder in above if folder.is_symlink()), None)


def keep(source: Path, target: Path) -> None:
    """Copy a file or a link, with its times, to a place of ours."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
        return
    shutil.copyfile(source, target)
    shutil.copystat(source, target)


def put(source: Path, target: Path, wanted: State, former: State, *, restore: bool) -> None:
    """Set a file or link in the place of what stands at `target`, in one step.

    Permissions are those of `wanted` where an exact state is restored; else the former's, with the execute bit of
    `wanted`.
    """
    lay(source, target, wanted, former, restore=restore)
    scratch_of(target).replace(target)


def lay(source: Path, target: Path, wanted: State, former: State, *, restore: bool) -> None:
    """Write a file or link beside its place, where a rename makes it the successor; for `put`'s arguments.

    Raises:
        OSError: names the target; nothing is left beside it.
    """
    scratch = scratch_of(target)
    try:
        scratch.unlink(missing_ok=True)
        _write(source, scratch, wanted, wanted.mode if restore else _mode(wanted, former))
        if restore and wanted.kind == "file":
            os.utime(scratch, ns=(wanted.mtime_ns, wanted.mtime_ns))
    except OSError as error:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(target)) from error
    if wanted.kind == "file":
        _same_owner(target, scratch)


def _write(source: Path, scratch: Path, wanted: State, mode: int) -> None:
    if wanted.kind == "link":
        scratch.symlink_to(os.fsdecode(bytes.fromhex(wanted.digest)))
        return
    shutil.copyfile(source, scratch)
    scratch.chmod(mode)


def scratch_of(target: Path) -> Path:
    """The name under which the successor of a file is written, beside it."""
    return target.with_name(f"{MARK}{sha256(os.fsencode(target.name)).hexdigest()[:16]}")


def _mode(wanted: State, former: State) -> int:
    if former.kind != "file":
        return wanted.mode
    readers = (former.mode & 0o444) >> 2
    return former.mode | readers if wanted.mode & 0o100 else former.mode & ~0o111


def _same_owner(former: Path, scratch: Path) -> None:
    with suppress(OSError):
        status = former.lstat()
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(scratch, status.st_uid, status.st_gid)


def clear(path: Path, top: Path) -> None:
    """Remove a file and the folders that it leaves empty, as git does."""
    path.unlink(missing_ok=True)
    clear_folders(path, top)


def clear_folders(path: Path, top: Path) -> None:
    """Remove the folders above a path that are empty."""
    for folder in path.parents:
        if folder == top:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def fresh_folder(folder: Path) -> None:
    """Make a folder of ours, empty: one that an interrupted try left is taken away."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)

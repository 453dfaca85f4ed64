"""The one function that decides whether a path may be used: on resolved paths and whole components."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from decurion.hooks import ToolError

from .names import candidates, shown


@dataclass(frozen=True, slots=True)
class Place:
    """A path that was found to lie inside.

    `path` is resolved and holds no links. `shown` is for people and models: relative to the workspace, escaped where
    the name is odd.
    """

    path: Path
    shown: str


def inside(given: str, root: Path, *also: Path) -> Place:
    """Resolve a path against `root` and return it if it lies in `root` or one of the folders in `also`.

    The path need not exist. The root may itself be reached by a link. Dots and links are resolved as the kernel does
    it before anything is compared, so neither `..`, nor a link, nor a sibling with the same beginning leads out.

    Raises:
        ToolError: when the path is empty, cannot be a path, leads out, or passes a link that leads nowhere.
    """
    _check_text(given)
    top = os.path.realpath(root)
    spellings = [str(Path(top, name)) for name in candidates(given)]
    wanted = next(filter(os.path.lexists, spellings), spellings[0])
    resolved = os.path.realpath(wanted)
    below = _below(top, resolved)
    if below is None and all(_below(os.path.realpath(folder), resolved) is None for folder in also):
        raise ToolError(
            f"{shown(given)!r} leads out of the workspace; only paths inside {shown(top)} can be used"
        )
    path = Path(resolved)
    if resolved != wanted or not path.exists():
        _refuse_dangling(Path(wanted), given)
    return Place(path, shown(resolved if below is None else below or "."))


def _below(folder: str, path: str) -> str | None:
    """Return what a resolved path is called in a resolved folder (the folder itself: nothing), None outside of it."""
    inside_it = path == folder or path.startswith(folder if folder == os.sep else folder + os.sep)
    return path[len(folder) :].lstrip(os.sep) if inside_it else None


def _check_text(given: str) -> None:
    if not given.strip():
        raise ToolError("the path is empty; name a file or folder of the workspace")
    if "\0" in given:
        raise ToolError("the path holds a NUL character, which no path can")
    try:
        os.fsencode(given)
    except UnicodeEncodeError:
        raise ToolError("the path holds half a character (a lone surrogate); write it out") from None


def _refuse_dangling(wanted: Path, given: str) -> None:
    """Refuse a link without target on the way: making the file would make it somewhere else, or nowhere."""
    for part in (wanted, *wanted.parents):
        if part.is_symlink() and not part.exists():
            raise ToolError(
                f"{shown(given)!r} passes a link whose target does not exist ({shown(part.name)})"
            )

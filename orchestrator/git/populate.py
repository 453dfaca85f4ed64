"""What a fresh worktree needs besides its files: listed ignored files, a set-up command, its own imports."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from .commands import run_shell
from .errors import GitError
from .preflight import Place
from .run import shown
from .submodules import fill
from .worktree import Worktree

INCLUDE = ".worktreeinclude"
"""A file at the top of a repository: patterns, as in `.gitignore`, of ignored files that worktrees need."""

_FIND = (
    "import importlib.util, sys\n"
    "sys.path = [place for place in sys.path if place]\n"  # `pytest` and the like do not import from the folder
    "for name in sys.argv[1:]:\n"
    "    try: spec = importlib.util.find_spec(name)\n"
    "    except (ImportError, ValueError): spec = None\n"
    "    places = list(spec.submodule_search_locations or []) if spec else []\n"
    "    print((spec.origin or (places[0] if places else '')) if spec else '')\n"
)


@dataclass(frozen=True, slots=True)
class Populate:
    """How worktrees are made ready. `setup` is a shell command run in each; it may take `seconds`."""

    setup: str | None = None
    seconds: float = 600.0


class Imports:
    """Where Python finds the project, looked at once per session.

    An interpreter's start is the dearest part of a worktree, and the answer is the same in each.
    """

    def __init__(self) -> None:
        self._queue = anyio.Lock()
        self._needed: tuple[str, ...] | None = None
        self._warning: tuple[str, ...] = ()

    async def variables(self, worktree: Worktree, place: Place) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """The variables with which commands in a worktree import from it, and a warning where none help."""
        async with self._queue:
            if self._needed is None:
                needed, self._warning = await own_imports(worktree, place)
                self._needed = tuple(str(root.relative_to(worktree.root)) for root in needed)
        return _python_path([worktree.root / root for root in self._needed]), self._warning


async def populate(worktree: Worktree, place: Place, how: Populate, imports: Imports) -> Worktree:
    """Make a fresh worktree ready for work; gives it with its environment and notices.

    Raises:
        GitError: the set-up command failed; its last lines stand in the text.
    """
    notices = [*await fill(worktree, place), *await copy_included(place, worktree.root)]
    if how.setup:
        done = await run_shell(how.setup, worktree.path, worktree.command_environment(), how.seconds)
        if not done.ok:
            raise GitError(f"{how.setup} (set-up of a worktree)", done.code, done.tail)
    env, told = await imports.variables(worktree, place)
    ignored = tuple(await worktree.ignored()) if how.setup or notices else ()
    record = replace(worktree.record, env=env or None, ignored=ignored)
    ready = Worktree(worktree.hub, record, (*worktree.notices, *notices, *told))
    ready.save()
    return ready


async def copy_included(place: Place, root: Path) -> list[str]:
    """Copy the ignored files that the project's own list names, and nothing else; gives a line for each."""
    listing = place.top / INCLUDE
    if not listing.is_file():
        return []
    git = place.git
    wanted = await git.names("ls-files", "--others", "--ignored", f"--exclude-from={listing}", "-z")
    if not wanted:
        return []
    asked = b"\0".join(os.fsencode(path) for path in wanted)
    ignored = (await git.run("check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1))).names
    for path in ignored:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(place.top / path, root / path, follow_symlinks=False)
    return [f"copied {shown(path)}, which {INCLUDE} lists." for path in ignored]


async def own_imports(worktree: Worktree, place: Place) -> tuple[list[Path], tuple[str, ...]]:
    """Make sure that Python imports the project from the worktree: an editable install names the user's folder.

    Gives the folders that must come first on its path for that, and a warning where even they do not help.
    """
    roots = source_roots(worktree.path)
    names = sorted(name for packages in roots.values() for name in packages)
    python = shutil.which("python") or shutil.which("python3") or sys.executable
    if not names or not await _foreign(worktree, place, python, names, {}):
        return [], ()
    foreign = await _foreign(worktree, place, python, names, _python_path(roots))
    if not foreign:
        return list(roots), ()
    said = (
        f"Python imports {', '.join(foreign)} from your checkout, not from the worktree: checks may mislead."
    )
    return list(roots), (said,)


def _python_path(roots: Iterable[Path]) -> dict[str, str]:
    places = [*map(str, roots), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(places)} if list(roots) else {}


async def _foreign(
    worktree: Worktree, place: Place, python: str, names: list[str], env: Mapping[str, str]
) -> list[str]:
    done = await run_shell(
        [python, "-c", _FIND, *names], worktree.path, {**worktree.command_environment(), **env}, 30
    )
    if not done.ok:
        return []
    return _inside(place.top, zip(names, done.output.splitlines(), strict=False))


def _inside(top: Path, origins: Iterable[tuple[str, str]]) -> list[str]:
    here = top.resolve()
    return [name for name, origin in origins if origin and Path(origin).resolve().is_relative_to(here)]


def source_roots(path: Path) -> dict[Path, list[str]]:
    """Folders from which a project's own packages are imported, and the packages: `src/` before the top."""
    roots: dict[Path, list[str]] = {}
    for root in (path / "src", path):
        packages = [init.parent.name for init in root.glob("*/__init__.py")]
        modules = [file.stem for file in root.glob("*.py") if root.name == "src"]
        names = [
            name
            for name in (*packages, *modules)
            if name.isidentifier() and name not in {"tests", "test", "docs"}
        ]
        if names:
            roots[root] = names
    return roots

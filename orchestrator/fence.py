"""Keep isolated subagents out of the user's checkout: they have one of their own, with the same files.

File tools are rooted and refuse by themselves; this gate is for `bash`. It asks where a command would stand and which
paths it names, reading or writing: what is read in the wrong place is edited there next. Code that computes a path
cannot be seen here; against that stands the boundary below the shell.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from decurion.hooks import Decision, Event, PreToolUse, deny
from decurion.hooks.chain import Hook
from decurion.hooks.rules import live_places
from decurion.hooks.shell import read_command
from decurion.hooks.shell.events import ANYWHERE, ExecEvent

RULE = "own-checkout"


def fence_hook(workspace: Path, session_folder: Path, workplaces: Mapping[str, Path]) -> Hook:
    """Make the gate. `workplaces` says where agents work that do not work in the workspace itself."""
    protected = (repository_top(workspace), session_folder.resolve())
    trees = session_folder.resolve() / "git" / "trees"

    def run(event: Event) -> Decision | None:
        if not isinstance(event, PreToolUse) or event.call.name != "bash":
            return None
        place = workplaces.get(event.ref.agent_id)
        if place is None:
            return None
        own = _own_root(place.resolve(), trees)
        outside = first_outside(str(event.call.args.get("command", "")), place, own, protected)
        if not outside:
            return None
        return deny(
            f"`{outside}` is not in your checkout. You have your own at {place}, with all the project's files: "
            "use paths relative to it.",
            rule=RULE,
        )

    return Hook("own-checkout", frozenset({"PreToolUse"}), run)


def first_outside(command: str, place: Path, own: Path, protected: Iterable[Path]) -> str:
    """The first path that a command stands in or names and that is protected and not the agent's own, or `""`."""
    reading = read_command(command, live_places(str(place)))
    for event in reading.events:
        for path in _paths(event):
            real = Path(os.path.realpath(path))
            if not real.is_relative_to(own) and any(real.is_relative_to(folder) for folder in protected):
                return path
    return ""


def _paths(event: ExecEvent) -> Iterator[str]:
    """Where an event stands, and what its words would be as paths; the value behind `--option=` too."""
    folders = [folder for folder in event.cwds if folder != ANYWHERE]
    yield from folders
    words = [
        *(value.prefix for value in event.argv),
        *(redirect.target.prefix for redirect in event.redirects),
    ]
    for word in words:
        for text in (word, word.partition("=")[2]):
            if text.startswith("/"):
                yield text
            elif "/" in text:
                yield from (f"{folder}/{text}" for folder in folders)


def _own_root(place: Path, trees: Path) -> Path:
    """The top of the checkout in which a place lies; the place itself where it is none of ours."""
    if not place.is_relative_to(trees):
        return place
    return trees / place.relative_to(trees).parts[0]


def repository_top(workspace: Path) -> Path:
    """The folder of the repository around a workspace, or the workspace itself; without asking git."""
    here = workspace.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)

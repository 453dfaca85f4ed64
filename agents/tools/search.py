"""What `glob` and `grep` share: where to look, what to leave out, and how to say what was not looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from decurion.hooks import ToolError
from decurion.hooks.counts import counted

from .containment import Place, inside
from .names import shown
from .ripgrep import MAX_NAMES, Kind, Ran, ripgrep
from .tool import ToolContext

WORKTREES = (".decurion/worktrees", ".claude/worktrees")
"""Where copies of the workspace for other agents lie; their files would be found once for each copy."""
WILD = re.compile(r"[*?\[{\\]")
ALL_RULES, OWN_RULES, NO_RULES = "--ignore", "--no-ignore-parent", "--no-ignore"
"""Ripgrep's options: the ignore rules of all folders up to the root, of the searched folder and below, of none."""
UPWARDS = re.compile(r"(?:^|[/{,])\.\.(?:$|[/},])")
EVERYTHING = re.compile(r"/?(?:\*\*/)*\*{1,2}")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a search looks: `target` is a file's name in `folder`, or empty for all of it.

    `prefix` is how the folder is shown, empty for the workspace itself. `pattern` is a glob in gitignore's form,
    anchored at `folder` where it begins with a slash; empty for all files. `rules` is ripgrep's option for whose
    ignore rules hold.
    """

    folder: Path
    prefix: str
    target: str
    pattern: str
    rules: str

    @property
    def named(self) -> bool:
        """True where this very folder or file was named: it counts though it is ignored."""
        return bool(self.prefix or self.target)

    def show(self, name: str) -> str:
        """Return a name that ripgrep printed as a path of the workspace, fit to be shown."""
        return shown(str(Path(self.prefix) / name.removeprefix("./")))

    def options(self) -> list[str]:
        """Return ripgrep's options for what to leave out. Later globs win over earlier ones."""
        options = ["--hidden", "--no-require-git", "--sort=path", self.rules]
        if self.pattern and not EVERYTHING.fullmatch(self.pattern):
            options.append(f"--glob={self.pattern}")
        options.append("--glob=!.git")
        if not self.prefix:
            options += [f"--glob=!/{folder}" for folder in WORKTREES]
        return options

    def where(self) -> list[str]:
        """Return the arguments that name what to search."""
        return ["--", f"./{self.target}"]


def scope_of(ctx: ToolContext, path: str, pattern: str, *, include_ignored: bool) -> Scope:
    """Find out where to look; the folders a pattern names before its first wildcard become part of the place.

    Raises:
        ToolError: when the place does not exist or lies outside the workspace, or the pattern leads upwards.
    """
    if "\0" in pattern:
        raise ToolError("the pattern holds a NUL character, which no path can")
    root = inside(".", ctx.workspace).path
    place = inside(path or ".", ctx.workspace, ctx.scratch)
    if not place.path.exists():
        raise ToolError(
            f"{place.shown} does not exist, so nothing was searched; use glob to find the right name"
        )
    base, rest = _split(pattern, place.path)
    if base:
        place = _below(ctx, place, base)
    if UPWARDS.search(rest):
        raise ToolError(f"the pattern {pattern!r} leads upwards with '..'; name the folder in path instead")
    folder, target = (place.path, "") if place.path.is_dir() else (place.path.parent, place.path.name)
    shown_folder = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return Scope(
        folder=folder,
        prefix="" if folder == root else str(shown_folder),
        target=target,
        pattern="" if target else rest,
        rules=NO_RULES if include_ignored else ALL_RULES,
    )


def _split(pattern: str, folder: Path) -> tuple[str, str]:
    """Split a glob into what it names outright, a folder or file, and the rest, anchored if anything stood before it.

    What is there counts as named outright whatever its characters: `app/[id]/page.tsx` is one file.
    """
    if pattern.startswith("!"):
        return "", pattern
    named = folder / pattern
    if named.is_dir() or (re.search(r"[/*?\[{]", pattern) and named.is_file()):
        return pattern, ""
    parts = pattern.removeprefix("./").split("/")
    plain = next((number for number, part in enumerate(parts) if WILD.search(part)), len(parts) - 1)
    base = "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else "")
    rest = "/".join(parts[plain:])
    return base, f"/{rest}" if base and rest else rest


def _below(ctx: ToolContext, place: Place, base: str) -> Place:
    below = inside(base if base.startswith("/") else f"{place.path}/{base}", ctx.workspace, ctx.scratch)
    if not below.path.exists():
        raise ToolError(
            f"there is no folder {below.shown}, so nothing was searched; use glob to find the right name"
        )
    return below


class Findings(Protocol):
    """Collects what ripgrep answers."""

    @property
    def empty(self) -> bool:
        """True while nothing was found."""
        ...

    def take(self, record: bytes) -> bool:
        """Take one answer; False when there is no room for more."""
        ...


@dataclass(frozen=True, slots=True)
class Searched:
    """How a search ended, where it looked in the end, and whether there was any file to look at."""

    ran: Ran
    scope: Scope
    any_file: bool

    def nothing(self, pattern: str) -> str:
        """Say that nothing was found, or that nothing was searched, which is not the same."""
        if self.any_file:
            return f"No match for {pattern!r}."
        return f"Nothing was searched for {pattern!r}: {self.scope.show('.')} holds no file to look at."

    def notes(self, most: int, what: str, seconds: float) -> list[str]:
        """Say in one line each why there may be more than what was found; `what` is one of it, `most` how many are shown."""
        notes: list[str] = []
        if self.ran.timed_out:
            notes.append(
                f"partial: the time limit of {seconds:g} s was reached; narrow path, glob or pattern"
            )
        elif self.ran.stopped:
            notes.append(
                f"only the first {counted(most, f'{what} is', f'{what}s are')} shown; narrow path, glob or pattern, or raise limit"
            )
        left = self.ran.left_out
        skipped = (
            (left.ignored, "ignored (.gitignore and the like)", "include_ignored: true looks there too"),
            (left.large, "too large", "name the file in path to search it"),
            (left.links, "linked (links are not followed)", "name one in path if it stays in the workspace"),
        )
        notes += [self._skipped(kind, why, remedy) for kind, why, remedy in skipped if kind.count]
        complaints = [line.removeprefix("rg: ") for line in left.errors.splitlines() if line.strip()]
        return [*notes, *(f"not searched, {shown(line)}" for line in complaints[:MAX_NAMES])]

    def _skipped(self, kind: Kind, why: str, remedy: str) -> str:
        names = ", ".join(map(self.scope.show, kind.names)) + (", …" if kind.count > len(kind.names) else "")
        return f"not searched, {kind.count} {why}: {names}; {remedy}"


async def search(
    ctx: ToolContext, scope: Scope, args: Sequence[str], separator: bytes, findings: Findings
) -> Searched:
    """Search; where ignore rules leave nothing at all to look at, search again with fewer of them.

    The rules of folders above a worktree say nothing of it, and a folder that was named counts though it is ignored.

    Raises:
        ToolError: when ripgrep is missing or refuses the pattern or the glob.
    """
    seconds = ctx.limits.search_seconds
    size = f"--max-filesize={ctx.limits.search_file_bytes}"
    ran = await ripgrep(
        [*args, size, *scope.options(), *scope.where()], scope.folder, separator, findings.take, seconds
    )
    if not findings.empty or ran.partial or await _any_file(scope, seconds):
        return Searched(ran, scope, any_file=True)
    if scope.rules == ALL_RULES:
        return await search(ctx, replace(scope, rules=OWN_RULES), args, separator, findings)
    if scope.rules == OWN_RULES and scope.named:
        return await search(ctx, replace(scope, rules=NO_RULES), args, separator, findings)
    return Searched(ran, scope, any_file=False)


async def _any_file(scope: Scope, seconds: float) -> bool:
    seen: list[bytes] = []
    options = replace(scope, pattern="").options()

    def stop(record: bytes) -> bool:
        seen.append(record)
        return False

    await ripgrep(["--files", "--null", *options, *scope.where()], scope.folder, b"\0", stop, seconds)
    return bool(seen)

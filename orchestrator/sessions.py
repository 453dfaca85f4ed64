"""The sessions of a project on disk: found by id or prefix, listed with how they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from decurion.hooks import UsageError
from decurion.hooks.audit import project_dir

SAID = "options.json"
"""The name, in a session's folder, of what the command line said when it was started."""

LAST = "last"
"""What stands for the newest session on the command line."""

LEDGER = "campaign.jsonl"
"""The name, in the folder of a session that is a campaign, of its ledger."""

_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}\Z")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session as it lies on disk. `state` is `finished`, or `open` where it can be gone on with."""

    id: str
    folder: Path
    state: str
    status: str
    changed: datetime
    subagents: int
    prompt: str
    summary: str = ""
    go_on: str = "resume"
    """The command that goes on with it."""


def session_folders(workspace: Path) -> list[Path]:
    """Give the folders of a project's sessions, newest last."""
    project = Path(project_dir(str(workspace)))
    if not project.is_dir():
        return []
    # Other products' sessions, judged by `decurion hook`, lie here too, with ids and logs but no transcript of ours.
    return sorted(
        folder
        for folder in project.iterdir()
        if _ID.match(folder.name) and (folder / "audit.jsonl").is_file()
    )


def find_session(workspace: Path, wanted: str = "") -> Path:
    """Find one session by id or unique prefix; the newest where nothing is named.

    Raises:
        UsageError: there is none, or the prefix fits several.
    """
    folders = session_folders(workspace)
    if not folders:
        raise UsageError(f'There is no session of {workspace} yet. Start one: decurion run "…"')
    return pick(folders[::-1], wanted or LAST)


def pick(folders: Sequence[Path], wanted: str, what: str = "session") -> Path:
    """Find one of some sessions' folders, newest first, by id or unique prefix; `last` is the newest.

    Raises:
        UsageError: none fits, or several do; says which there are.
    """
    if wanted == LAST:
        return folders[0]
    fitting = [folder for folder in folders if folder.name.startswith(wanted)]
    exact = [folder for folder in fitting if folder.name == wanted]
    if len(fitting) == 1 or len(exact) == 1:
        return (exact or fitting)[0]
    known = ", ".join(folder.name for folder in (fitting or folders)[:5])
    problem = f"{len(fitting)} {what}s begin with" if fitting else f"No {what} begins with"
    raise UsageError(f"{problem} {wanted!r}; the newest: {known}")


def describe_session(folder: Path) -> SessionInfo:
    """Read how a session stands."""
    lead: object = _json(folder / "result.json").get("lead")
    ended = cast("dict[str, object]", lead) if isinstance(lead, dict) else {}
    status = str(ended.get("status", ""))
    over = status in ("completed", "blocked", "refused")
    return SessionInfo(
        id=folder.name,
        folder=folder,
        state="finished" if over else "open",
        status=status or "interrupted",
        changed=datetime.fromtimestamp((folder / "audit.jsonl").stat().st_mtime, UTC),
        subagents=len(list((folder / "subagents").glob("*.jsonl"))) if (folder / "subagents").is_dir() else 0,
        prompt=_first_prompt(folder),
        summary=str(ended.get("summary", "")),
        go_on="campaign resume" if (folder / LEDGER).is_file() else "resume",
    )


def find_resumable(workspace: Path, wanted: str) -> Path:
    """Find a session whose lead can be gone on with.

    Raises:
        UsageError: there is none, or it is a campaign, which has no lead.
    """
    folder = find_session(workspace, wanted)
    if (folder / LEDGER).is_file():
        raise UsageError(f"{folder.name} is a campaign: decurion campaign resume {folder.name}")
    return folder


def keep_said(folder: Path, said: Mapping[str, object]) -> None:
    """Keep what the command line said of a session.

    Raises:
        DecurionError: it cannot be written.
    """
    from decurion.agents.shared import write_private

    write_private(folder / SAID, json.dumps(dict(said), indent=2).encode("ascii"))


def said_before(folder: Path) -> dict[str, Any]:
    """Read what the command line said when a session was started, or last gone on with; empty where it is not known."""
    found = _json(folder / SAID)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}  # pyright: ignore[reportUnknownArgumentType] - options of many values are texts


def _first_prompt(folder: Path) -> str:
    from decurion.agents.transcript import read_transcript

    path = folder / "transcript.jsonl"
    messages = read_transcript(path).messages if path.is_file() else ()
    for message in messages[:1]:
        content: Any = message["content"]
        text = (
            content if isinstance(content, str) else "".join(str(block.get("text", "")) for block in content)
        )
        return text.strip().partition("\n")[0]
    return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        value: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - JSON keys are text

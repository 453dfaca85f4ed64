"""Finding logs: by path, by session id or its beginning, or the newest."""

from __future__ import annotations

from pathlib import Path

from decurion.hooks import UsageError
from decurion.hooks.audit import project_dir, state_dir

from ..sessions import LAST, pick

LOG = "audit.jsonl"


def all_logs() -> list[Path]:
    """Give the logs of all sessions of all projects, newest first."""
    found = Path(state_dir(), "projects").glob(f"*/*/{LOG}")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def find_log(wanted: str, workspace: Path | None = None) -> Path:
    """Find one log.

    Args:
        wanted: path of a log or of a session's folder, a session id or its beginning, or `last`.
        workspace: whose sessions `last` prefers; the current folder by default.

    Raises:
        UsageError: there is none, or the beginning fits several; says what there is.
    """
    path = Path(wanted).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if (
        path.exists()
        or path.suffix == ".jsonl"
        or (path.parent != Path() and path.with_suffix(".head").exists())
    ):
        return path
    logs = all_logs()
    if not logs:
        raise UsageError('There is no session yet. Start one: decurion run "…", or name the path of a log.')
    if wanted == LAST:
        return _newest(logs, workspace or Path.cwd())
    return pick([log.parent for log in logs], wanted) / LOG


def _in_folder(folder: Path) -> Path:
    if (folder / LOG).exists():
        return folder / LOG
    logs = sorted(folder.glob(f"*/{LOG}"), key=lambda path: path.stat().st_mtime_ns)
    if not logs:
        raise UsageError(f"There is no {LOG} in {folder}.")
    return logs[-1]


def _newest(logs: list[Path], workspace: Path) -> Path:
    own = Path(project_dir(str(workspace)))
    return next((log for log in logs if log.parent.parent == own), logs[0])

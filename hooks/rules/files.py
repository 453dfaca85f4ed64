"""The same law for the file tools: what they would read and write is judged as if a command did it."""

from __future__ import annotations

from ..decisions import Verdict
from ..frozen import replace
from ..shell.events import ExecEvent, Reading, Redirect, Written, literal
from .judge import JUDGE_FAILED, VERDICTS, Judgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..shell.events import Places
    from .judge import Judge

FILE_TOOLS = ("read_file", "write_file", "edit_file", "glob", "grep")
_WRITERS = frozenset({"write_file", "edit_file"})
_KEPT = 4096
"""Verdicts on paths that are remembered."""
_KEYS = ("file_path", "path", "notebook_path")


def judge_file(
    judge: Judge, tool: str, args: Mapping[str, Any], places: Places, agent_type: str
) -> Judgement:
    """Give the verdict on a file tool's call.

    Reading tools count as `cat PATH` (`grep -r` for searching), writing ones as a file written by the tool.
    """
    from time import perf_counter_ns

    began = perf_counter_ns()
    given = [args[key] for key in _KEYS if key in args]
    pattern = args.get("pattern") if tool == "glob" else None
    given += [pattern] if isinstance(pattern, str) and pattern.startswith(("/", "~", "..")) else []
    if not all(isinstance(path, str) for path in given):
        return Judgement(Verdict.DENY, JUDGE_FAILED, "the call's path is not a text, so it cannot be judged.")
    judgements = [_of_path(judge, tool, _expanded(path, places), places, agent_type) for path in given]
    found = max(judgements, key=lambda one: one.verdict, default=Judgement(Verdict.ALLOW))
    return replace(found, micros=(perf_counter_ns() - began) // 1000)


def _of_path(judge: Judge, tool: str, path: str, places: Places, agent_type: str) -> Judgement:
    """Give the verdict on one path: the same one as before where path, places and what links make of it are the same."""
    real = places.resolve(places.join(places.cwd, path)) if places.resolve is not None else ""
    key = (tool, path, real, agent_type, places.workspace, places.cwd, places.home, places.temp)
    found = judge.files.get(key)
    if found is None:
        if len(judge.files) >= _KEPT:
            judge.files.clear()
        found = judge.files[key] = _judged(judge, tool, path, places, agent_type)
    return found


def _judged(judge: Judge, tool: str, path: str, places: Places, agent_type: str) -> Judgement:
    from time import perf_counter_ns

    for rule, segment, _ in judge.hits(_reading(tool, path, places), places, agent_type, perf_counter_ns()):
        if rule.decision != "log":
            return Judgement(VERDICTS[rule.decision], rule.id, rule.message, segment, entry=rule.entry)
    return Judgement(Verdict.ALLOW)


def _expanded(path: str, places: Places) -> str:
    return places.home + path[1:] if path == "~" or path.startswith("~/") else path


def _reading(tool: str, path: str, places: Places) -> Reading:
    cwds = frozenset({places.cwd})
    word, segment = literal(path), f"{tool} {path}"
    if tool in _WRITERS:
        event = ExecEvent(literal(tool), tool, (), cwds, redirects=(Redirect(">", 1, word),), segment=segment)
        return Reading((event,), writes=(Written(word, by=event),))
    # Names alone are no secret: `glob` may look into a folder whose files `read_file` may not show.
    name = {"glob": "ls", "grep": "grep"}.get(tool, "cat")
    argv = (literal("-r"), literal("x"), word) if tool == "grep" else (word,)
    return Reading((ExecEvent(literal(name), name, argv, cwds, segment=segment),))

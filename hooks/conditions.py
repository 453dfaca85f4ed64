"""The `if` of a hook handler: one permission rule in Claude Code's syntax, such as `Bash(git push:*)`.

A condition only spares a hook program from being started, so every doubt counts as "it applies".
"""

from __future__ import annotations

import os
import posixpath
import re
from fnmatch import fnmatchcase

from .errors import ConfigError
from .events import Event, PostToolUse, PostToolUseFailure, PreToolUse
from .matchers import our_name, spellings
from .payload import Surroundings, tool_input

_RULE = re.compile(r"(?P<tool>[\w*.-]+)(?:\((?P<detail>.*)\))?\Z", re.DOTALL)
_PLAIN_COMMAND = re.compile(r"[\w\s./=:@,+%&|;-]*\Z")
_SEPARATORS = re.compile(r"&&|\|\||[;|&\n]")


def check_condition(condition: str) -> None:
    """Make sure that a condition can be read.

    Raises:
        ConfigError: it is no permission rule.
    """
    if condition and not _RULE.match(condition.strip()):
        raise ConfigError(f"the condition {condition!r} is no permission rule; write Tool or Tool(detail)")


def may_apply(condition: str, event: Event, place: Surroundings) -> bool:
    """Tell whether a hook with this condition has to be asked about an event."""
    rule = _RULE.match(condition.strip())
    if not rule or not isinstance(event, (PreToolUse, PostToolUse, PostToolUseFailure)):
        return True
    if not any(fnmatchcase(name, rule["tool"]) for name in spellings(event.call.name)):
        return False
    detail = (rule["detail"] or "").strip()
    if detail in {"", "*"}:
        return True
    args = tool_input(event.call, place.cwd)
    if our_name(event.call.name) == "bash":
        return _command_applies(detail, args.get("command"))
    if isinstance(path := args.get("file_path"), str):
        return _path_applies(detail, path, place)
    return True


def _command_applies(detail: str, command: object) -> bool:
    if not isinstance(command, str) or not _PLAIN_COMMAND.match(command):
        return True
    pattern = re.sub(r":\*\Z", " *", detail)
    parts = [" ".join(part.split()) for part in (command, *_SEPARATORS.split(command))]
    # A trailing ` *` also means "no arguments at all", and words may stand before the program (`sudo`, `A=1`).
    spelled = (pattern, pattern.removesuffix(" *"), f"* {pattern}", f"* {pattern.removesuffix(' *')}")
    return any(fnmatchcase(part, form) for part in parts for form in spelled)


def _path_applies(detail: str, path: str, place: Surroundings) -> bool:
    """Hold a path against a gitignore-like pattern; `*` crosses folders here, so the match is rather too wide."""
    if detail.startswith("//"):
        pattern = detail[1:]
    elif detail.startswith("~/"):
        pattern = posixpath.join(os.path.expanduser("~"), detail[2:])
    else:
        pattern = posixpath.join("*", detail.removeprefix("./").lstrip("/"))
    wide = pattern.replace("**/", "*").replace("**", "*").rstrip("/")
    real = os.path.realpath(posixpath.join(place.cwd, path))
    return any(fnmatchcase(one, form) for one in (path, real) for form in (wide, f"{wide}/*"))

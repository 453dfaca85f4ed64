r"""What a campaign is to do: from a TOML file, from the command line, or from both (the command line wins).

task = "Convert {path} from os.path to pathlib."
verify = "pytest -q {tests}"
parallel = 8

[targets]
each = ["src/**/*.py"]          # or: command = "git ls-files '*.py'", or: grep = "os\\.path"
exclude = ["src/vendor/**"]
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, cast, get_type_hints

from decurion.hooks import ConfigError, UsageError

PLACES = ("path", "paths", "name", "stem", "dir", "tests", "target")
"""What may stand in braces in `task` and `verify`; `{{path}}` is the plain text `{path}`."""

_PLACE = re.compile(r"\{\{(?P<plain>[A-Za-z_]\w*)\}\}|(?<!\$)\{(?P<name>[A-Za-z_]\w*)\}")


@dataclass(frozen=True, slots=True)
class Targets:
    """Where a campaign's targets come from.

    Exactly one of `each` (globs), `command` (a line of output is a target), `grep` (files whose text matches a regular
    expression, looked for in `inside`); less those that `exclude` matches.
    """

    each: tuple[str, ...] = ()
    command: str = ""
    grep: str = ""
    inside: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """One campaign.

    `task` and `verify` are templates over a group of targets (see `PLACES`); `tests` is a glob, itself a template,
    that finds the tests of a target. `verify_all` checks the merged whole. `group` targets go to one subagent,
    `parallel` subagents run at once, each is tried `1 + retries` times. The first `canary` groups must succeed
    before the rest starts. `budget_usd` ends the starting of new ones.
    """

    task: str
    targets: Targets = field(default_factory=Targets)
    verify: str = ""
    verify_all: str = ""
    tests: str = "**/test_{stem}.py"
    agent: str = "general"
    setup: str = ""
    group: int = 1
    parallel: int = 8
    retries: int = 1
    canary: int = 0
    budget_usd: float | None = None

    @property
    def digest(self) -> str:
        """What identifies the work: a resumed campaign must have the same task and targets."""
        told = json.dumps([self.task, asdict(self.targets), self.group, self.agent], ensure_ascii=True)
        return sha256(told.encode()).hexdigest()[:16]

    @property
    def last_check(self) -> str:
        """The check of the merged whole: as given, else the check of a target where it says nothing of one."""
        if self.verify_all or not self.verify:
            return self.verify_all
        return filled(self.verify, {}).strip() if named_in(self.verify) <= {"tests"} else ""


def load_plan(file: Path | None, given: Mapping[str, Any]) -> Plan:
    """Make a plan from a file and from what the command line gives (None and empty values give nothing).

    Raises:
        ConfigError: the file cannot be read or holds what a plan has not.
        UsageError: something is missing or contradictory.
    """
    data: dict[str, Any] = {} if file is None else _read(file)
    chosen = {name: value for name, value in given.items() if value is not None and value not in ("", ())}
    table: object = data.pop("targets", {})
    if not isinstance(table, dict):
        raise ConfigError('targets must be a table: [targets], then such as each = "src/**/*.py"', str(file))
    targets = {**cast("dict[str, Any]", table), **chosen.pop("targets", {})}
    values = {**data, **chosen}
    where = str(file) if file else ""
    typed = {"task": "", **_typed(Plan, values, where), "targets": Targets(**_typed(Targets, targets, where))}
    plan = Plan(**cast("dict[str, Any]", typed))
    return checked(plan)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError("there is no such plan", str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"the plan cannot be read: {error}", str(file)) from None


def _typed(kind: type[Plan | Targets], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Hold keys and types against the fields of a class; a single text stands for a list of one."""
    hints = get_type_hints(kind)
    known = {f.name for f in fields(kind)}
    typed: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"unknown key {name!r}; known are {', '.join(sorted(known))}", where)
        typed[name] = _value(name, value, hints[name], where)
    return typed


def _value(name: str, value: Any, hint: Any, where: str) -> Any:
    if hint == tuple[str, ...]:
        items: Sequence[Any] = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
            raise ConfigError(f"{name} must be a text or a list of texts", where)
        return tuple(items)
    wanted = {str: (str,), int: (int,)}.get(hint, (int, float))
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ConfigError(f"{name} must be {'a text' if hint is str else 'a number'}, not {value!r}", where)
    return value


def checked(plan: Plan) -> Plan:
    """Give the plan back if it can be carried out.

    Raises:
        UsageError: something is missing or contradictory.
    """
    if not plan.task.strip():
        raise UsageError("A campaign needs a task: --task 'In {path} …', or `task` in the plan.")
    sources = [name for name in ("each", "command", "grep") if getattr(plan.targets, name)]
    if len(sources) != 1:
        raise UsageError(
            "A campaign needs targets from exactly one of --each GLOB, --from-command COMMAND, --grep PATTERN"
            + (f", not from {' and '.join(sources)}." if sources else ".")
        )
    for name, least in (("group", 1), ("parallel", 1), ("retries", 0), ("canary", 0)):
        if getattr(plan, name) < least:
            raise UsageError(f"{name} must be at least {least}.")
    for template in (plan.task, plan.verify, plan.tests):
        _check_template(template)
    return plan


def _check_template(template: str) -> None:
    if unknown := sorted(named_in(template) - set(PLACES)):
        known = ", ".join(f"{{{name}}}" for name in PLACES)
        raise UsageError(
            f"{{{unknown[0]}}} means nothing in {template!r}; known are {known}. As plain text: {{{{{unknown[0]}}}}}."
        )


def named_in(template: str) -> set[str]:
    """The names in braces in a template."""
    return {match["name"] for match in _PLACE.finditer(template) if match["name"]}


def filled(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template; braces that hold no name, as in shell text, are left alone."""
    return _PLACE.sub(
        lambda match: values.get(match["name"], "") if match["name"] else f"{{{match['plain']}}}", template
    )


def places(group: Sequence[str], tests: Sequence[str] = (), *, quoted: bool = False) -> dict[str, str]:
    """The values of a group of targets for a template; quoted where the result is a shell command."""
    first = PurePosixPath(group[0])
    told = {
        "path": group[0],
        "target": group[0],
        "name": first.name,
        "stem": first.stem,
        "dir": str(first.parent),
    }
    if not quoted:
        return {**told, "paths": ", ".join(group), "tests": ", ".join(tests)}
    safe = {name: shlex.quote(value) for name, value in told.items()}
    return {**safe, "paths": shlex.join(group), "tests": shlex.join(tests)}


def from_json(data: Mapping[str, Any]) -> Plan:
    """Read back what `dataclasses.asdict` made of a plan."""
    told: Mapping[str, Any] = data["targets"]
    lists = {name: tuple(told[name]) for name in ("each", "inside", "exclude")}
    targets: dict[str, Any] = {**told, **lists}
    values: dict[str, Any] = {**data, "targets": Targets(**targets)}
    return Plan(**values)

"""The canary through programs: every configured command hook beside the law, and `decurion hook` itself."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio

from decurion.hooks import HookChain, PreToolUse, RunRef, ToolCall, Verdict
from decurion.hooks.audit import session_dir
from decurion.hooks.command import CommandHook, command_hooks
from decurion.hooks.files import project_files, read_json, user_files
from decurion.hooks.matchers import matches
from decurion.hooks.own import handler, is_own
from decurion.hooks.payload import Surroundings
from decurion.hooks.process import Ended, run_to_end
from decurion.hooks.rules import Law, Source, law_hook, live_places
from decurion.hooks.settings import Settings

from .canary import CONTROL, NAME, RULES, SPELLINGS, Canary
from .finding import Finding, verdict

SESSION = "doctor"


async def check_command_hooks(settings: Settings, project: Path, canary: Canary) -> AsyncGenerator[Finding]:
    """Ask each configured gate about the canary, beside the law: it must answer, and cannot overrule."""
    law = law_hook(Law.load(extra=(Source("canary", RULES, "project"),)), live_places(str(canary.workspace)))
    place = Surroundings(str(project), str(project))
    elsewhere = 0
    for hook in settings.hooks:
        if hook.event == "PreToolUse" and matches(hook.matcher, "bash"):
            chain = HookChain((law, *command_hooks([hook], lambda _ref: place)))
            yield await _beside_the_law(hook, chain)
        else:
            elsewhere += 1
    if elsewhere:
        yield Finding("note", "command hooks", f"{elsewhere} on other events or tools are not tried here")


async def _beside_the_law(hook: CommandHook, chain: HookChain) -> Finding:
    ref = RunRef(SESSION, "lead", "lead")
    began = time.monotonic()
    refused = await chain.ask(PreToolUse(ref, ToolCall("toolu_canary", "bash", {"command": NAME})))
    passed = await chain.ask(PreToolUse(ref, ToolCall("toolu_control", "bash", {"command": CONTROL})))
    millis = (time.monotonic() - began) * 500
    failures = [
        f"{one['failure']} {one['reason']}".strip() for one in (passed.detail or {}).get("failures", ())
    ]
    if refused.verdict < Verdict.DENY:
        failures.append("the canary was not refused beside it")
    return verdict(f"hook {hook.name}", failures, f"answers in {millis:.0f} ms, and the canary stays refused")


async def check_hook_program(project: Path, canary: Canary) -> AsyncGenerator[Finding]:
    """Start `decurion hook` for every spelling, as this installation and as each settings file starts it."""
    rules = canary.workspace / ".decurion" / "rules.toml"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text(RULES)
    found = {str(handler()["command"]): "decurion hook"} | _installed(project)
    for command, subject in found.items():
        yield await _every_spelling(command, subject, canary)
    if len(found) == 1 and not _installed(project):
        yield Finding(
            "note", "other products", "decurion hook is not installed (`decurion hook install --claude`)"
        )


def _installed(project: Path) -> dict[str, str]:
    """Give the commands under which settings files start us, with the file."""
    found: dict[str, str] = {}
    for path in (user_files()[0], *project_files(project)[:2]):
        groups: list[Any] = read_json(path).get("hooks", {}).get("PreToolUse", [])
        commands = [one.get("command") for group in groups for one in group.get("hooks", [])]
        found |= {command: f"decurion hook in {path}" for command in commands if is_own(command)}
    return found


async def _every_spelling(command: str, subject: str, canary: Canary) -> Finding:
    answers = await _all_asked(command, (*SPELLINGS, CONTROL), canary)
    control = answers.pop(CONTROL)
    failures = [
        f"`{text}`: exit status {ended.status}, {_said(ended)}"
        for text, ended in answers.items()
        if not _is_refusal(ended)
    ]
    if control.status or control.stdout:
        failures.append(f"`{CONTROL}` did not pass: {_said(control)}")
    log = Path(session_dir(str(canary.workspace), SESSION)) / "audit.jsonl"
    events = [json.loads(line)["event"] for line in log.read_bytes().splitlines()] if log.exists() else []
    if events.count("refused") != len(SPELLINGS) or events.count("planned") != 1:
        failures.append(f"{events.count('refused')} refusals of {len(SPELLINGS)} in the log")
    log.unlink(missing_ok=True)
    details = tuple(f"{_said(ended)}: {text}" for text, ended in answers.items())
    return verdict(
        subject, failures, f"{len(SPELLINGS)} spellings of the canary refused and recorded", details
    )


async def _all_asked(command: str, texts: tuple[str, ...], canary: Canary) -> dict[str, Ended]:
    """Ask about every command, as many at once as there are processors; the answers stand in the order asked."""
    answers: dict[str, Ended] = {}
    limiter = anyio.CapacityLimiter(os.cpu_count() or 1)

    async def ask(at: int, text: str) -> None:
        async with limiter:
            answers[text] = await _asked(command, text, f"toolu_{at}", canary)

    async with anyio.create_task_group() as group:
        for at, text in enumerate(texts):
            group.start_soon(ask, at, text)
    return {text: answers[text] for text in texts}


async def _asked(command: str, text: str, identity: str, canary: Canary) -> Ended:
    body = {
        "session_id": SESSION,
        "cwd": str(canary.workspace),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": text},
        "tool_use_id": identity,
    }
    return await run_to_end(
        ("sh", "-c", command), json.dumps(body).encode(), cwd=str(canary.workspace), env=dict(os.environ)
    )


def _is_refusal(ended: Ended) -> bool:
    if ended.status != 2:
        return False
    try:
        said = json.loads(ended.stdout)
    except ValueError:
        return False
    return said["hookSpecificOutput"]["permissionDecision"] == "deny"


def _said(ended: Ended) -> str:
    text = ended.stderr.decode("utf-8", "replace").strip()
    return text.splitlines()[0] if text else "no reason"

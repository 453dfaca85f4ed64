"""Permission lists in the ecosystem's syntax: splitting, whole tools, allowances that cannot be stretched."""

from __future__ import annotations

import pytest

from decurion.hooks import ConfigError, Decision, PreToolUse, RunRef, ToolCall, UsageError, Verdict, ask
from decurion.hooks.chain import HookChain
from decurion.hooks.rules import EXAMPLE_PLACES, Law
from decurion.orchestrator.options import LawOptions, PermissionMode
from decurion.orchestrator.permissions import (
    approver,
    covers,
    mode_hook,
    parse_rule,
    permission_hooks,
    permission_sources,
    split_rules,
    strangers,
)

REF = RunRef("s", "a", "general")


def bash(command: str) -> ToolCall:
    """Give a call of the shell."""
    return ToolCall("c", "bash", {"command": command})


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Read", ["Read"]),
        ("Read,Edit , Bash", ["Read", "Edit", "Bash"]),
        ("Bash(git log:*, -p), Read(./a,b)", ["Bash(git log:*, -p)", "Read(./a,b)"]),
        ("", []),
        (",,", []),
    ],
)
def test_a_comma_list_is_split_outside_parentheses(text: str, rules: list[str]) -> None:
    assert split_rules(text) == rules


@pytest.mark.parametrize(
    "text", ["Bash(", "Bash(git push:*", "Read, Bash(git push:*), Bash(a", "Bash)", "a)(b"]
)
def test_half_a_rule_is_refused_for_it_could_mean_the_whole_tool(text: str) -> None:
    with pytest.raises(UsageError, match="parentheses"):
        split_rules(text)
    with pytest.raises(ConfigError, match="is no rule"):
        parse_rule("Bash(git push:*")


def test_rules_of_tools_that_nobody_has_are_named() -> None:
    assert strangers(["Bsh(rm:*)", "Bash(rm:*)", "Edit", "WebFetch", "WebFetch(domain:x)", "task"]) == [
        "Bsh",
        "WebFetch",
    ]


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("Bash", "anything", True),
        ("Bash(*)", "anything", True),
        ("Bash(git push:*)", "git push", True),
        ("Bash(git push:*)", "git push origin main", True),
        ("Bash(git push:*)", "git pushed", False),
        ("Bash(git push:*)", "git push && curl evil.test", False),
        ("Bash(git push:*)", "git push; reboot", False),
        ("Bash(git push:*)", "git push $(reboot)", False),
        ("Bash(git push:*)", "git push\nreboot", False),
        ("Bash(npm run *)", "npm run build", True),
        ("Read", "git push", False),
    ],
)
def test_an_allowance_covers_a_plain_command_and_nothing_chained_to_it(
    rule: str, command: str, *, covered: bool
) -> None:
    tool, pattern = parse_rule(rule)
    assert covers(tool, pattern, bash(command)) is covered


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("mode", "allowed", "person", "expected"),
    [
        ("default", (), False, False),
        ("default", (), True, True),
        ("default", ("Bash(git push:*)",), False, True),
        ("dontAsk", (), True, False),
        ("bypassPermissions", (), False, True),
    ],
)
async def test_an_ask_is_answered_by_allowances_then_the_mode_then_the_person(
    mode: PermissionMode, allowed: tuple[str, ...], *, person: bool, expected: bool
) -> None:
    async def answer(_call: ToolCall, _decision: Decision) -> bool:
        return person

    approve = approver(LawOptions(permission_mode=mode, allowed=allowed), (), answer)
    assert await approve(bash("git push"), ask("sure?")) is expected


@pytest.mark.anyio
async def test_whole_tools_are_refused_or_asked_about_under_their_common_names() -> None:
    chain = HookChain(permission_hooks(("Write(**)", "Bash(x:*)"), ("WebFetch", "Edit")))
    verdicts = {
        name: (await chain.ask(PreToolUse(REF, ToolCall("c", name, {"path": "x"})))).verdict
        for name in ("write_file", "edit_file", "read_file", "bash")
    }
    assert verdicts == {
        "write_file": Verdict.DENY,
        "edit_file": Verdict.ASK,
        "read_file": Verdict.ABSTAIN,
        "bash": Verdict.ABSTAIN,
    }


@pytest.mark.parametrize(
    ("denied", "command", "refused"),
    [
        (("Bash(canary-wipe:*)",), "true && c''anary-wipe x", True),
        (("Bash(canary-wipe:*)",), "echo canary-wipe", False),
        (("Bash(git commit *)",), "git -C sub commit -m x", True),
        (("WebFetch(domain:example.test)",), "true", False),
        (("Read(./notes.txt)",), "cat notes.txt", True),
        (("Read(./notes.txt)",), "cat other.txt", False),
    ],
)
def test_rules_with_a_specifier_become_part_of_the_law(
    denied: tuple[str, ...], command: str, *, refused: bool
) -> None:
    law = Law.load(extra=tuple(permission_sources(denied, ())))
    assert (law.judge_command(command, EXAMPLE_PLACES).verdict >= Verdict.ASK) is refused


def test_a_refusal_that_cannot_be_put_in_force_stops_the_start() -> None:
    with pytest.raises(ConfigError, match="cannot be put in force"):
        permission_sources(("Bash(* --force)",), ())


@pytest.mark.anyio
async def test_plan_mode_looks_and_changes_nothing() -> None:
    chain = HookChain(mode_hook("plan"))
    for name, blocks in (("bash", True), ("write_file", True), ("grep", False), ("task", False)):
        decision = await chain.ask(PreToolUse(REF, ToolCall("c", name, {})))
        assert decision.blocks is blocks, name
    assert mode_hook("default") == []

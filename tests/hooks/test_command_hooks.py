"""Command hooks as real programs: what breaks refuses, what is late dies, what is big arrives."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.hooks import (
    HOOK_FAILED,
    Decision,
    Event,
    HookChain,
    PostToolUse,
    PreToolUse,
    RunRef,
    Stop,
    ToolCall,
    ToolResult,
    Verdict,
)
from decurion.hooks.command import CommandHook, command_hooks
from decurion.hooks.payload import Surroundings
from tests.gates import EIGHT_BEGAN

pytestmark = pytest.mark.anyio

LEAD = RunRef("s1", "a0", "lead")


@pytest.fixture
def place(tmp_path: Path) -> Surroundings:
    return Surroundings(str(tmp_path), str(tmp_path))


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """A word for the command lines of hooks; whoever still carries it at the end is alive."""
    word = f"mark-{tmp_path.name}-{time.monotonic_ns()}"
    yield word
    deadline = time.monotonic() + 60
    while (alive := _carrying(word)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive == []


def _carrying(word: str) -> list[str]:
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if word in line and state != "Z" and int(entry.name) != os.getpid():
            lines.append(line)
    return lines


def pre(name: str = "bash", **args: Any) -> PreToolUse:
    return PreToolUse(LEAD, ToolCall("c1", name, args or {"command": "touch ran"}))


async def decide(place: Surroundings, command: Any, event: Event | None = None, **options: Any) -> Decision:
    event = event or pre()
    hook = CommandHook(type(event).__name__, options.pop("matcher", ""), command, "settings.json", **options)
    return await HookChain(command_hooks([hook], lambda _ref: place)).ask(event)


BROKEN = (
    ("exit 1", "exit status 1"),
    ("exit 139", "exit status 139"),
    ("kill -SEGV $$", "killed by signal 11"),
    ("echo '{not json'", "invalid output"),
    ("no-such-program-anywhere", "cannot start"),
    (("no-such-program-anywhere", "x"), "cannot start"),
    (f"{shlex.quote(sys.executable)} missing_script.py", "cannot start"),
    ((sys.executable, "missing_script.py"), "cannot start"),
    ("sh missing_script.sh", "cannot start"),
    ("bash missing_script.sh", "cannot start"),
    ("if", "cannot start"),
    ("./settings.json", "cannot start"),
    ("yes | head -c 3000000", "invalid output"),
)


@pytest.mark.parametrize(("command", "kind"), BROKEN)
async def test_a_gate_that_breaks_refuses_and_says_how(place: Surroundings, command: Any, kind: str) -> None:
    decision = await decide(place, command)
    assert (decision.verdict, decision.rule) == (Verdict.DENY, HOOK_FAILED)
    assert kind in decision.reason
    assert "settings.json" in decision.reason
    assert decision.detail
    assert decision.detail["failures"][0]["failure"] == kind


@pytest.mark.parametrize(("command", "kind"), BROKEN)
async def test_the_same_failures_after_the_call_are_only_noted(
    place: Surroundings, command: Any, kind: str
) -> None:
    event = PostToolUse(LEAD, ToolCall("c1", "bash", {}), ToolResult("c1", "fine"))
    decision = await decide(place, command, event, gate=False)
    assert (decision.verdict, decision.context) == (Verdict.ABSTAIN, "")
    assert decision.detail
    assert decision.detail["failures"][0]["failure"] == kind


async def test_advisory_is_the_explicit_way_back_and_still_noted(place: Surroundings) -> None:
    decision = await decide(place, "exit 1", advisory=True)
    assert decision.verdict is Verdict.ABSTAIN
    assert decision.detail
    assert decision.detail["failures"][0]["failure"] == "exit status 1"
    assert (await decide(place, "exit 2", advisory=True)).verdict is Verdict.DENY


async def test_status_2_refuses_with_what_was_said_on_stderr(place: Surroundings) -> None:
    decision = await decide(place, "echo 'not on my watch' >&2; exit 2")
    assert (decision.verdict, decision.reason, decision.rule) == (Verdict.DENY, "not on my watch", None)


async def test_the_payload_arrives_whole_on_standard_input(place: Surroundings, tmp_path: Path) -> None:
    await decide(place, "cat > seen.json", pre("bash", command="echo \udc80 ü"), matcher="Bash")
    seen = json.loads((tmp_path / "seen.json").read_bytes())
    assert seen["tool_name"] == "Bash"
    assert seen["tool_input"] == {"command": "echo \udc80 ü"}


async def test_a_hook_that_reads_nothing_of_two_megabytes_is_no_error(place: Surroundings) -> None:
    big = pre("write_file", path="x", content="y" * 2_000_000)
    assert (await decide(place, "exit 0", big)).verdict is Verdict.ABSTAIN
    assert (await decide(place, "exec <&-; sleep 0.1; exit 0", big)).verdict is Verdict.ABSTAIN
    assert (await decide(place, "exit 2", big)).rule is None


async def test_a_hook_that_reads_everything_sees_every_byte(place: Surroundings) -> None:
    big = pre("write_file", path="x", content="y" * 2_000_000)
    size = "import json,sys; print(len(json.load(sys.stdin)['tool_input']['content']), file=sys.stderr); sys.exit(2)"
    assert (await decide(place, (sys.executable, "-c", size), big)).reason == "2000000"


async def test_a_big_result_passes_an_observer(place: Surroundings) -> None:
    event = PostToolUse(LEAD, ToolCall("c1", "read_file", {"path": "x"}), ToolResult("c1", "z" * 300_000))
    assert await decide(place, "exit 0", event, gate=False) == Decision()


async def test_a_chatty_hook_is_not_blocked_by_its_own_output(place: Surroundings) -> None:
    decision = await decide(place, "head -c 5000000 /dev/zero >&2; exit 2")
    assert decision.verdict is Verdict.DENY
    assert len(decision.reason) < 20_000


async def test_the_time_limit_ends_the_whole_group(place: Surroundings, mark: str) -> None:
    began = time.monotonic()
    decision = await decide(place, f"sh -c 'sleep 30; : {mark}' & sh -c 'sleep 30; : {mark}'", timeout=0.3)
    assert time.monotonic() - began < 25
    assert (decision.verdict, decision.rule) == (Verdict.DENY, HOOK_FAILED)
    assert "time limit" in decision.reason


async def test_what_a_hook_leaves_behind_is_ended_and_not_waited_for(place: Surroundings, mark: str) -> None:
    began = time.monotonic()
    assert (await decide(place, f"sh -c 'sleep 30; : {mark}' & exit 0")).verdict is Verdict.ABSTAIN
    assert time.monotonic() - began < 25


async def test_cancelling_the_agent_ends_its_hooks(place: Surroundings, mark: str) -> None:
    with anyio.move_on_after(0.3):
        await decide(place, f"sh -c 'sleep 30; : {mark}'; true")
        raise AssertionError("the hook answered")


@pytest.mark.parametrize(
    ("gate", "limit", "late"), [(EIGHT_BEGAN, 60.0, False), ("sleep 300", 1.0, True)], ids=["slow", "late"]
)
async def test_eight_calls_with_a_slow_gate_take_the_time_of_one(
    place: Surroundings, mark: str, gate: str, limit: float, late: bool
) -> None:
    """BUG-02: each limit starts with its hook, a late hook is no consent, and none is alive afterwards."""
    hook = CommandHook("PreToolUse", "Bash", f"{gate}; : {mark}; exit 2", "s.json", timeout=limit)
    chain = HookChain(command_hooks([hook], lambda _ref: place))
    decisions: list[Decision] = []

    async def one(number: int) -> None:
        decisions.append(await chain.ask(pre("bash", command=f"touch marker-{number}")))

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(one, number)
    assert [decision.verdict for decision in decisions] == [Verdict.DENY] * 8
    assert [decision.rule == HOOK_FAILED for decision in decisions] == [late] * 8


async def test_a_rewritten_path_comes_back_in_our_spelling(place: Surroundings, tmp_path: Path) -> None:
    said = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {"file_path": "/w/b", "content": ""},
        }
    }
    (tmp_path / "said.json").write_text(json.dumps(said))
    decision = await decide(place, "cat said.json", pre("write_file", path="a", content=""))
    assert decision.updated_args == {"path": "/w/b", "content": ""}


async def test_a_stop_gate_keeps_the_agent_working_with_a_reason(place: Surroundings) -> None:
    decision = await decide(
        place, """echo '{"decision": "block", "reason": "run the tests"}'""", Stop(LEAD, "done")
    )
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "run the tests")


async def test_a_hook_knows_the_project_and_starts_in_the_agents_folder(tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    place = Surroundings(str(worktree), str(tmp_path))
    decision = await decide(place, 'echo "$CLAUDE_PROJECT_DIR $PWD" >&2; exit 2')
    assert decision.reason == f"{tmp_path} {worktree}"


async def test_words_are_started_without_a_shell(place: Surroundings) -> None:
    decision = await decide(place, ("sh", "-c", 'echo "$1" >&2; exit 2', "sh", "$(touch ran); *"))
    assert decision.reason == "$(touch ran); *"


async def test_a_folder_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert (await decide(Surroundings(gone, gone), "exit 0")).rule == HOOK_FAILED


@pytest.mark.parametrize(
    ("condition", "event", "asked"),
    [
        ("Bash(git push:*)", pre("bash", command="git push origin"), True),
        ("Bash(git push:*)", pre("bash", command="git push"), True),
        ("Bash(git push:*)", pre("bash", command="cd x && git  push"), True),
        ("Bash(git push:*)", pre("bash", command="sudo git push"), True),
        ("Bash(git push:*)", pre("bash", command="git status"), False),
        ("Bash(git push *)", pre("bash", command="git pushy"), False),
        ("Bash(git push:*)", pre("bash", command="g''it push"), True),
        ("Bash(git push:*)", pre("bash", command="$(echo git push)"), True),
        ("Bash", pre("bash", command="ls"), True),
        ("Edit(src/**)", pre("edit_file", path="src/a/b.py"), True),
        ("Edit(src/**)", pre("edit_file", path="docs/b.md"), False),
        ("Read(./.env)", pre("read_file", path=".env"), True),
        ("Read(./.env)", pre("read_file", path="env"), False),
        ("Edit", pre("bash", command="ls"), False),
        ("mcp__db__*", pre("mcp__db__query", sql="x"), True),
    ],
)
async def test_a_condition_spares_a_hook_only_where_there_is_no_doubt(
    place: Surroundings, condition: str, event: PreToolUse, asked: bool
) -> None:
    decision = await decide(place, "exit 2", event, condition=condition)
    assert (decision.verdict is Verdict.DENY) is asked

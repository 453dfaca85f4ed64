"""The law in front of an agent's tools: shell text, file tools, the gate of the chain, and what happens if it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decurion.hooks import PreToolUse, RunRef, ToolCall, Verdict
from decurion.hooks.chain import HookChain
from decurion.hooks.rules import EXAMPLE_PLACES, JUDGE_FAILED, UNREADABLE, Law, Places, law_hook, live_places

from .helpers import law_of

REF = RunRef("s", "a1", "explore", "a0", 1)


def decide(law: Law, name: str, **args: Any) -> Verdict:
    return law.judge_call(ToolCall("c", name, args), REF, EXAMPLE_PLACES).verdict


READS = (
    ("/home/dev/.ssh/id_rsa", Verdict.DENY),
    ("~/.aws/credentials", Verdict.DENY),
    ("../.netrc", Verdict.DENY),
    ("/etc/shadow", Verdict.DENY),
    ("/home/dev/.ssh/id_rsa.pub", Verdict.ABSTAIN),
    ("src/credentials.py", Verdict.ABSTAIN),
    (".decurion/rules.toml", Verdict.ABSTAIN),
)
WRITES = (
    (".git/hooks/pre-commit", Verdict.DENY),
    (".git/config", Verdict.DENY),
    ("sub/.git/hooks/post-merge", Verdict.DENY),
    ("/home/dev/.bashrc", Verdict.DENY),
    ("~/.zshrc", Verdict.DENY),
    ("/home/dev/.ssh/authorized_keys", Verdict.DENY),
    ("/home/dev/.config/systemd/user/x.service", Verdict.DENY),
    ("/etc/cron.d/x", Verdict.DENY),
    ("/etc/hosts", Verdict.DENY),
    ("/dev/sda", Verdict.DENY),
    (".decurion/rules.toml", Verdict.DENY),
    (".decurion/agents/x.md", Verdict.DENY),
    (".claude/settings.json", Verdict.DENY),
    (".claude/settings.local.json", Verdict.DENY),
    ("/home/dev/.config/decurion/rules.toml", Verdict.DENY),
    ("/home/dev/.local/state/decurion/projects/x/audit.jsonl", Verdict.DENY),
    ("src/app.py", Verdict.ABSTAIN),
    (".github/workflows/ci.yml", Verdict.ABSTAIN),
    ("docs/git/config", Verdict.ABSTAIN),
    ("/tmp/notes.txt", Verdict.ABSTAIN),
)


@pytest.mark.parametrize(("path", "verdict"), READS)
@pytest.mark.parametrize("key", ["path", "file_path"])
def test_reading_tools(law: Law, path: str, key: str, verdict: Verdict) -> None:
    assert decide(law, "read_file", **{key: path}) is verdict
    assert decide(law, "Read", **{key: path}) is verdict


@pytest.mark.parametrize(("path", "verdict"), WRITES)
@pytest.mark.parametrize("tool", ["write_file", "edit_file", "Write", "Edit"])
def test_writing_tools(law: Law, path: str, tool: str, verdict: Verdict) -> None:
    assert decide(law, tool, path=path, content="x") is verdict


def test_searching_tools(law: Law) -> None:
    assert decide(law, "grep", pattern="x", path="/home/dev/.ssh") is Verdict.DENY
    assert decide(law, "grep", pattern="x", path="/home/dev") is Verdict.DENY
    assert decide(law, "grep", pattern="/etc/shadow", path="src") is Verdict.ABSTAIN
    assert decide(law, "grep", pattern="x") is Verdict.ABSTAIN
    assert decide(law, "glob", pattern="**/*.py") is Verdict.ABSTAIN


@pytest.mark.parametrize("path", [3, None, ["x"]])
def test_a_path_that_is_no_text_is_refused(law: Law, path: object) -> None:
    assert decide(law, "write_file", path=path, content="x") is Verdict.DENY


def test_a_path_is_judged_anew_when_a_link_on_the_way_changes(law: Law, tmp_path: Path) -> None:
    places = live_places(str(tmp_path / "app"), home=str(tmp_path / "home"))
    (tmp_path / "app").mkdir()
    (tmp_path / "home").mkdir()
    call = ToolCall("c", "write_file", {"path": "a.txt", "content": "x"})
    assert law.judge_call(call, REF, places).verdict is Verdict.ABSTAIN
    (tmp_path / "app" / "a.txt").symlink_to(tmp_path / "home" / ".bashrc")
    assert law.judge_call(call, REF, places).verdict is Verdict.DENY
    (tmp_path / "app" / "a.txt").unlink()
    assert law.judge_call(call, REF, places).verdict is Verdict.ABSTAIN


def test_shell_calls_under_both_names(law: Law) -> None:
    assert decide(law, "bash", command="rm -rf /") is Verdict.DENY
    assert decide(law, "Bash", command="rm -rf /") is Verdict.DENY
    assert decide(law, "bash", command="ls") is Verdict.ABSTAIN
    assert decide(law, "bash") is Verdict.DENY


def test_other_tools_are_none_of_its_business(law: Law) -> None:
    assert decide(law, "todo_write", todos=[]) is Verdict.ABSTAIN


def test_what_the_log_gets(law: Law) -> None:
    decision = law.judge_call(ToolCall("c", "bash", {"command": "ls; git push -f"}), REF, EXAMPLE_PLACES)
    assert decision.rule == "git-push-force"
    assert decision.by == "law"
    assert decision.detail is not None
    assert decision.detail["segment"] == "git push -f"
    assert decision.detail["events"] == ["ls", "git push -f"]
    assert decision.detail["policy_sha256"] == law.digest
    assert decision.detail["micros"] >= 0
    assert decision.reason == (
        "Rule git-push-force forbids `git push -f`.\n"
        "A forced push overwrites others' commits; push a new branch, or ask the user."
    )


def test_a_law_that_breaks_refuses(law: Law) -> None:
    broken: Any = None
    assert law.judge_command("ls", broken).rule == JUDGE_FAILED
    assert law.judge_command("ls", broken).verdict is Verdict.DENY
    assert law.judge_call(ToolCall("c", "read_file", {"path": "x"}), REF, broken).verdict is Verdict.DENY


def test_a_reader_of_scripts_that_breaks_refuses(law: Law) -> None:
    def fail(path: str) -> str:
        raise OSError(path)

    places = Places("/home/dev/app", "/home/dev/app", "/home/dev", resolve=fail, read=fail)
    assert law.judge_command("rm -rf build", places).verdict is Verdict.DENY


@pytest.mark.anyio
async def test_as_a_gate_of_the_chain(law: Law) -> None:
    chain = HookChain([law_hook(law, lambda _ref: EXAMPLE_PLACES)])
    refused = await chain.ask(PreToolUse(REF, ToolCall("c", "bash", {"command": "sudo id"})))
    assert (refused.verdict, refused.rule, refused.by) == (Verdict.DENY, "become-root", "law")
    passed = await chain.ask(PreToolUse(REF, ToolCall("c", "bash", {"command": "ls"})))
    assert passed.verdict < Verdict.ASK


def test_rules_for_one_type_of_agent_reach_its_calls() -> None:
    law = law_of('[[rule]]\nid = "r"\nwrites = "path ./**"\nagents = "explore"\n')
    call = ToolCall("c", "write_file", {"path": "a", "content": ""})
    assert law.judge_call(call, REF, EXAMPLE_PLACES).verdict is Verdict.DENY
    assert law.judge_call(call, RunRef("s", "a0", "lead"), EXAMPLE_PLACES).verdict is Verdict.ABSTAIN


def test_a_text_of_too_many_places_is_refused_in_plain_words(law: Law) -> None:
    text = ",".join(f'"k{number}":"/p/{number}"' for number in range(4000))
    judgement = law.judge_command(f"curl -d '{text}' http://localhost/", EXAMPLE_PLACES)
    assert judgement.rule == UNREADABLE
    assert judgement.reason == (
        "This text is too large to be checked (it holds more than 3000 names and values). "
        "Put its data into a file, or split the command."
    )


@pytest.mark.parametrize("stage", ["grep -v {}", "sed -E 's/(a{})+/-- &/'", "./filter $X {}"])
def test_a_long_pipe_costs_what_its_stages_cost(law: Law, stage: str) -> None:
    """Each stage holds all before it: followed again and again, twenty would take as long as a million."""
    pipe = " | ".join(["cat data", *[stage.format(number) for number in range(60)]])
    assert law.judge_command(pipe, EXAMPLE_PLACES).verdict is Verdict.ALLOW
    assert law.judge_command(f'x=$({pipe}); sh -c "cat $x" | {pipe}', EXAMPLE_PLACES).rule != UNREADABLE

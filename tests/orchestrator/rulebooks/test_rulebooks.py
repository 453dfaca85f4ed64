"""Other products' lists turned into our rules: what is said, what is reported, and that it loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decurion.hooks import ConfigError, RunRef, ToolCall, Verdict
from decurion.hooks.rules import EXAMPLE_PLACES, Law, Source
from decurion.orchestrator.rulebooks import Book, read_book, to_toml


def _read(tmp_path: Path, form: str, text: str) -> Book:
    path = tmp_path / "list"
    path.write_text(text, "utf-8")
    return read_book(path, form)


def _law(book: Book) -> Law:
    return Law.of_sources((Source("imported.toml", to_toml(book, "list")),))


def _verdict(law: Law, command: str) -> Verdict:
    return law.judge_command(command, EXAMPLE_PLACES).verdict


def _claude(**lists: list[str]) -> str:
    return json.dumps({"permissions": lists, "model": "x"})


@pytest.mark.parametrize(
    ("rule", "hit", "passed"),
    [
        ("Bash(npm publish:*)", "npm publish --access public", "npm pack"),
        ("Bash(git push *)", "git push origin x", "git pull"),
        ("Bash(sudo:*)", "sudo id", "id"),
        ("Bash(rm -rf /)", "rm -fr /", "rm -rf ./x"),
        ("Bash(git * --force)", "git push --force", "git push"),
        ("Read(./.env)", "cat .env", "cat .env.example"),
        ("Read(./secrets/**)", "head secrets/a/b", "head secret"),
        ("Read(*.pem)", "cat a/b.pem", "cat a/b.txt"),
        ("Read(~/.kube)", "cat ~/.kube/config", "cat ~/.kubernetes"),
        ("Read(//etc/passwd)", "cat /etc/passwd", "cat etc/passwd"),
        ("Read(./.env)", "grep x < .env", "grep x < a"),
        ("Edit(src/vendor/**)", "echo x > src/vendor/a", "echo x > src/a"),
        ("Write(/docs)", "cp a docs/b", "cp docs/b a"),
    ],
)
def test_claude_permissions(tmp_path: Path, rule: str, hit: str, passed: str) -> None:
    law = _law(_read(tmp_path, "claude", _claude(deny=[rule])))
    assert _verdict(law, hit) is Verdict.DENY
    assert _verdict(law, passed) is Verdict.ALLOW


def test_claude_path_rules_bind_the_file_tools(tmp_path: Path) -> None:
    law = _law(_read(tmp_path, "claude", _claude(deny=["Read(./.env)", "Edit(./lock)"])))
    ref = RunRef("s", "a", "lead")
    for call in (ToolCall("1", "Read", {"file_path": ".env"}), ToolCall("2", "Write", {"file_path": "lock"})):
        assert law.judge_call(call, ref, EXAMPLE_PLACES).verdict is Verdict.DENY


def test_claude_ask_stays_ask(tmp_path: Path) -> None:
    law = _law(_read(tmp_path, "claude", _claude(ask=["Bash(docker push:*)"])))
    assert _verdict(law, "docker push x") is Verdict.ASK


@pytest.mark.parametrize(
    "rule",
    [
        "WebFetch(domain:x.test)",
        "mcp__server__tool",
        "Agent(x)",
        "Bash",
        "Bash(*)",
        "Bash(* --help)",
        "Bash(a && b)",
        "Read",
        "!!",
    ],
)
def test_what_claude_rules_cannot_be_expressed_is_reported(tmp_path: Path, rule: str) -> None:
    book = _read(tmp_path, "claude", _claude(deny=[rule], allow=["Bash(ls)"]))
    assert book.count == 0
    assert [origin for origin, _ in book.left_out] == [f"deny {rule}", "allow Bash(ls)"]


CODEX = """
prefix_rule(
    pattern = ["git", ["push", "fetch"], "--force"],
    decision = "forbidden",
    justification = "history is shared",
    match = [["git", "push", "--force"], "git fetch --force"],
    not_match = ["git push"],
)
prefix_rule(pattern = ["gh", "pr", "view"], decision = "prompt")
prefix_rule(pattern = ["ls"], decision = "allow")
prefix_rule(["npm", "publish"], "forbidden")
host_executable(name = "git", paths = ["/usr/bin/git"])
PREFIX = ["rm"]
prefix_rule(pattern = PREFIX, decision = "forbidden")
"""


def test_codex_rules(tmp_path: Path) -> None:
    book = _read(tmp_path, "codex", CODEX)
    law = _law(book)
    assert _verdict(law, "git -C x push -f --force") is Verdict.DENY
    assert _verdict(law, "git push") is Verdict.ALLOW
    assert _verdict(law, "gh pr view 3") is Verdict.ASK
    assert _verdict(law, "npm publish") is Verdict.DENY
    assert "history is shared" in law.judge_command("git push --force", EXAMPLE_PLACES).reason
    assert len(book.left_out) == 4
    assert all(reason for _, reason in book.left_out)


def test_codex_examples_that_mean_something_else_here_are_dropped(tmp_path: Path) -> None:
    text = 'prefix_rule(pattern=["rm", "-rf"], decision="forbidden", not_match=["rm -r -f x"])'
    book = _read(tmp_path, "codex", text)
    assert book.notes
    assert _verdict(_law(book), "rm -r -f x") is Verdict.DENY


def test_codex_files_are_parsed_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    book = _read(tmp_path, "codex", f"open({str(mark)!r}, 'w')\n__import__('os').system('true')\n")
    assert not mark.exists()
    assert book.count == 0


GEMINI = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git push", "npm publish"]
decision = "deny"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "docker push"
decision = "ask_user"
subagent = "explore"
denyMessage = "not from here"

[[rule]]
toolName = "run_shell_command"
commandRegex = "rm .*"
decision = "deny"

[[rule]]
mcpName = "x"
toolName = "y"
decision = "deny"

[[rule]]
toolName = "read_file"
decision = "allow"
"""


def test_gemini_policies(tmp_path: Path) -> None:
    book = _read(tmp_path, "gemini", GEMINI)
    law = _law(book)
    assert _verdict(law, "git push") is Verdict.DENY
    assert _verdict(law, "docker push x") is Verdict.ALLOW
    judgement = law.judge_command("docker push x", EXAMPLE_PLACES, "explore")
    assert judgement.verdict is Verdict.ASK
    assert "not from here" in judgement.reason
    assert len(book.left_out) == 3


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("claude", "{"),
        ("claude", "[]"),
        ("claude", '{"permissions": {"deny": "x"}}'),
        ("codex", "prefix_rule("),
        ("codex", "\x00"),
        ("gemini", "= 3"),
        ("gemini", "rule = 3"),
    ],
)
def test_a_file_that_is_not_of_its_format_is_told(tmp_path: Path, form: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, form, text)
    assert caught.value.path


def test_odd_texts_survive_the_way_to_toml(tmp_path: Path) -> None:
    rule = 'Bash(tool "a\\b" é\u007f:*)'
    book = _read(tmp_path, "claude", _claude(deny=[rule]))
    assert _law(book).rules.rules

"""`decurion run` as a person runs it: a real process against a strict Messages API on loopback."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.messages_api import (
    Answer,
    Answering,
    Options,
    Refusal,
    Request,
    call,
    calls,
    say,
    serve_in_thread,
)
from tests.program import decurion as run
from tests.program import running_with, started


@contextmanager
def api(answer: Answering, options: Options | None = None) -> Generator[dict[str, str]]:
    """Serve, and give the environment that leads there."""
    with serve_in_thread(answer, options) as served:
        yield {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "test-key"}


async def delegate(request: Request) -> Answer:
    """Answer as a lead that delegates one part, and as a subagent that runs into the law once."""
    if any(tool["name"] == "task" for tool in request.body.get("tools", ())):
        if request.turn == 0:
            return calls(("todo_write", {"todos": [{"content": "delegate", "status": "in_progress"}]}))
        return call("task", {"description": "write out.txt"}) if request.turn == 1 else say("All done.")
    if request.turn == 0:
        return calls(
            ("write_file", {"path": "out.txt", "content": "hi\n"}), ("bash", {"command": "sudo true"})
        )
    return say("Wrote it.")


def test_a_task_is_done_printed_and_logged(tmp_path: Path) -> None:
    with api(delegate) as env:
        done = run(tmp_path, "run", "write", "a", "file", env=env)
    assert (done.returncode, done.stdout) == (0, "All done.\n"), done.stderr
    assert (tmp_path / "out.txt").read_text() == "hi\n"
    assert "REFUSED bash sudo true" in done.stderr
    assert "[>] delegate" in done.stderr
    shown = run(tmp_path, "audit", "show", "last", "--json")
    events = [json.loads(line)["event"] for line in shown.stdout.splitlines()]
    assert events[0] == "session_start"
    assert events[-1] == "session_end"
    assert {"prompt", "agent_start", "planned", "done", "refused", "model_request", "agent_end"} <= set(
        events
    )
    assert run(tmp_path, "audit", "verify", "last").returncode == 0


def test_stream_json_begins_with_init_and_ends_with_the_result(tmp_path: Path) -> None:
    with api(delegate) as env:
        done = run(tmp_path, "run", "-p", "--output-format", "stream-json", env=env, stdin="write a file")
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert (lines[0]["type"], lines[0]["subtype"]) == ("system", "init")
    assert {"session_id", "cwd", "model", "tools", "agents", "permission_mode"} <= lines[0].keys()
    result = lines[-1]
    assert (result["type"], result["subtype"], result["is_error"], result["result"]) == (
        "result",
        "success",
        False,
        "All done.",
    )
    assert [d["tool_name"] for d in result["permission_denials"]] == ["bash"]
    assert result["subagents"][0]["files_changed"][0]["path"] == "out.txt"
    children = [line for line in lines if line["type"] == "assistant" and line["parent_tool_use_id"]]
    assert len(children) == 2
    assert len({line["session_id"] for line in lines}) == 1


def test_effort_and_thinking_reach_the_requests_and_a_definition_goes_before_them(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if request.task != "look" and request.turn == 0:
            return call("task", {"description": "look", "subagent_type": "seer"})
        return say("Seen.")

    seer = {"description": "Looks.", "prompt": "Look.", "effort": "low", "thinking": "off"}
    chosen = (
        "--effort",
        "high",
        "--thinking",
        "2048",
        "--clear-above",
        "90000",
        "--agents",
        json.dumps({"seer": seer}),
    )
    with serve_in_thread(answer) as served:
        env = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "k"}
        done = run(tmp_path, "run", *chosen, "ask the seer", env=env)
        bodies = [request.body for request in served.requests]
    assert done.returncode == 0, done.stderr
    assert [body["output_config"]["effort"] for body in bodies] == ["high", "low", "high"]
    assert [body["thinking"]["type"] for body in bodies] == ["enabled", "disabled", "enabled"]
    assert {body["context_management"]["edits"][0]["trigger"]["value"] for body in bodies} == {90_000}
    assert bodies[0]["max_tokens"] == 16_000 + bodies[0]["thinking"]["budget_tokens"]


def test_json_is_one_object(tmp_path: Path) -> None:
    with api(delegate) as env:
        done = run(tmp_path, "run", "--output-format", "json", "--max-turns", "2", "write a file", env=env)
    result = json.loads(done.stdout)
    assert (done.returncode, result["subtype"], result["status"]) == (124, "error_max_turns", "max_turns")


@pytest.mark.parametrize(
    ("env", "args", "code", "said"),
    [
        ({}, (), 1, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_API_KEY": "  "}, (), 1, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "nonsense"}, (), 2, "ANTHROPIC_BASE_URL"),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://"}, (), 2, "ANTHROPIC_BASE_URL"),
        ({}, ("--cwd", "nowhere"), 2, "nowhere is not a folder"),
        ({}, ("--rules", sys.executable), 2, "not UTF-8"),
        ({}, ("--allowedTools", "Bash(git push:*"), 2, "parentheses"),
        ({}, ("--apply",), 2, "--worktree"),
        ({}, ("--max-turns", "0"), 2, "max-turns"),
        ({}, ("--agents", "{"), 2, "--agents"),
        ({}, ("--resume", "2020"), 2, "no session"),
        ({}, ("--effort", "huge"), 2, "low, medium, high"),
        ({}, ("--thinking", "12"), 2, "number of tokens"),
        (
            {"ANTHROPIC_API_KEY": "k"},
            ("--model", "own", "--max-budget-usd", "1"),
            2,
            "price of own is unknown",
        ),
    ],
)
def test_bad_input_gets_a_line_or_two_and_no_traceback(
    tmp_path: Path, env: dict[str, str], args: tuple[str, ...], code: int, said: str
) -> None:
    done = run(tmp_path, "run", *args, "do it", env=env)
    assert done.returncode == code, done.stderr
    assert said.lower() in done.stderr.lower()
    assert len(done.stderr.splitlines()) <= 2, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (".decurion/rules.toml", "deny = [\n", "rules.toml:"),
        (".decurion/rules.toml", 'denied = ["x"]\n', "denied"),
        (".claude/settings.json", '{"hooks": \n', "settings.json:"),
    ],
)
def test_broken_law_starts_no_session_and_names_the_line(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(text)
    done = run(tmp_path, "run", "do it", env={"ANTHROPIC_API_KEY": "k"})
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "There is no session" in run(tmp_path, "sessions").stdout


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Refusal(401, "authentication_error", "invalid x-api-key"), "ANTHROPIC_API_KEY"),
        (Refusal(404, "not_found_error", "model: claude-nothing"), "model"),
    ],
)
def test_what_the_api_refuses_is_said_in_words_after_one_request(
    tmp_path: Path, answer: Refusal, said: str
) -> None:
    async def refuse(_request: Request) -> Refusal:
        return answer

    with serve_in_thread(refuse) as served:
        env = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "sk-secret-key-of-the-test"}
        done = run(tmp_path, "run", "-p", "do it", env=env)
        assert len(served.message_requests) == 1
    assert done.returncode == 1
    assert said in done.stderr
    assert "sk-secret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("signals", "code"), [((signal.SIGINT, signal.SIGINT), 130), ((signal.SIGTERM,), 143)]
)
@pytest.mark.slow
def test_an_interrupt_ends_everything_at_once_and_the_session_can_be_gone_on_with(
    tmp_path: Path, signals: tuple[signal.Signals, ...], code: int
) -> None:
    """BUG-22."""
    mark = f"127.{code}"

    async def answer(request: Request) -> Answer:
        if any(tool["name"] == "task" for tool in request.body.get("tools", ())):
            if request.turn == 0:
                return calls(*[("task", {"description": f"child {n}"}) for n in (1, 2)])
            return say("went on")
        if request.turn == 0:
            name = request.task.replace(" ", "-")
            return call("bash", {"command": f"touch started-{name}; sleep {mark}; touch late-{name}"})
        return say("child done")

    with serve_in_thread(answer) as served:
        env = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "k"}
        with started(tmp_path, "run", "go", env=env) as running:
            deadline = time.monotonic() + 60
            while len(list(tmp_path.glob("started-*"))) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            for signum in signals:
                running.send(signum)
                time.sleep(0.05)
            sent = time.monotonic()
            done = running.ended()
        took, before = time.monotonic() - sent, len(served.message_requests)
        assert done.returncode == code, done.stderr
        assert took < 30
        assert not running_with(mark)
        assert list(tmp_path.glob("late-*")) == []
        assert len(served.message_requests) == before
        resumed = run(tmp_path, "resume", env=env)
        assert (resumed.returncode, resumed.stdout) == (0, "went on\n"), resumed.stderr
        assert served.refused == []
    assert run(tmp_path, "audit", "verify", "last").returncode == 0


def test_after_a_kill_the_open_task_gets_one_result_and_its_child_is_not_begun_again(tmp_path: Path) -> None:
    """BUG-23, and BUG-33: what the child had done before is not done twice."""
    killed: list[bool] = []

    async def answer(request: Request) -> Answer:
        if any(tool["name"] == "task" for tool in request.body.get("tools", ())):
            return (
                call("task", {"description": "child"}) if request.turn == 0 else say(f"told: {request.last}")
            )
        if request.turn == 0:
            return call("bash", {"command": "echo x >> ledger"})
        return say("child done", latency=0.0 if killed else 60.0)

    with serve_in_thread(answer) as served:
        env = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": "k"}
        with started(tmp_path, "run", "go", env=env) as running:
            deadline = time.monotonic() + 60
            while len(served.message_requests) < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            running.send(signal.SIGKILL)
            running.ended()
        killed.append(True)
        resumed = run(tmp_path, "resume", env=env)
        assert (resumed.returncode, resumed.stdout) == (0, "told: child done\n"), resumed.stderr
        assert served.refused == []
        assert len(served.message_requests) == 5
    assert (tmp_path / "ledger").read_text() == "x\n"
    assert run(tmp_path, "audit", "verify", "last").returncode == 0


@pytest.mark.parametrize(
    ("args", "reply", "code"),
    [
        (("--max-budget-usd", "0.000001"), call("bash", {"command": "true"}), 124),
        (("--disallowedTools", "Bash"), say("I will not", stop_reason="refusal"), 1),
    ],
    ids=["budget", "refusal"],
)
def test_the_exit_code_says_how_it_ended(
    tmp_path: Path, args: tuple[str, ...], reply: Answer, code: int
) -> None:
    async def answer(_request: Request) -> Answer:
        return reply

    with api(answer) as env:
        done = run(tmp_path, "run", "-p", *args, "do it", env=env)
    assert done.returncode == code, done.stderr
    assert done.stdout.strip()


def test_a_prompt_or_a_run_that_a_hook_ends_exits_as_blocked(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    command = """printf '{"continue": false, "stopReason": "closed on Mondays", "systemMessage": "come back later"}'"""
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
    settings.write_text(json.dumps({"hooks": hooks}))

    async def answer(_request: Request) -> Answer:
        return call("bash", {"command": "touch ran"})

    with api(answer) as env:
        done = run(tmp_path, "run", "-p", "--trust-project", "do it", env=env)
    assert done.returncode == 3, done.stderr
    assert "closed on Mondays" in done.stderr
    assert "come back later" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_what_a_session_prints_holds_none_of_the_environments_secrets(tmp_path: Path, form: str) -> None:
    """What a program prints is kept by whoever calls it; only the transcript, its owner's alone, has everything."""

    async def answer(request: Request) -> Answer:
        return say("Done.") if request.turn else call("bash", {"command": "echo v-5ecret-value; exit 3"})

    with api(answer) as env:
        done = run(
            tmp_path, "run", "--output-format", form, "go", env={**env, "ACME_TOKEN": "v-5ecret-value"}
        )
    assert done.returncode == 0, done.stderr
    assert "v-5ecret-value" not in done.stdout + done.stderr
    assert ("[redacted:env:ACME_TOKEN]" in done.stdout + done.stderr) == (form != "json")
    [transcript] = Path(os.environ["DECURION_STATE_DIR"]).glob("projects/*/*/transcript.jsonl")
    assert "v-5ecret-value" in transcript.read_text()
    assert transcript.stat().st_mode & 0o077 == 0

"""Real processes under the bash tool: BUG-47, 48, 49, 50, 52."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.agents.tools import Limits, Output, ToolContext, bash, read_file
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, content, context, mode, text

pytestmark = pytest.mark.anyio


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return context(tmp_path)


def shown(output: Output) -> str:
    assert isinstance(output.content, str)
    return output.content


def alive(pidfile: Path) -> bool:
    """Tell whether the process whose id a command wrote down still runs (one that only waits to be collected does not)."""
    try:
        stat = Path(f"/proc/{pidfile.read_text().strip()}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def call_named(ctx: ToolContext, command: str) -> None:
    await call(bash, ctx, command=command)


def still_alive(ctx: ToolContext) -> str:
    """Name what a stubborn command left behind."""
    pid = ctx.workspace / "pid"
    return "process" if pid.exists() and alive(pid) else "late" if (ctx.workspace / "late").exists() else ""


# ---- the time limit and who it reaches (BUG-47)

STUBBORN = {
    "plain": "echo $$ > pid; sleep 300",
    "background": "(echo $BASHPID > pid; sleep 300; touch late) & wait",
    "deaf": "trap '' TERM; echo $$ > pid; sleep 300; sleep 300; touch late",
    "own session": "setsid sh -c 'echo $$ > pid; sleep 300; touch late' & wait",
    "own session, deaf": "setsid sh -c 'trap \"\" TERM; echo $$ > pid; sleep 300; touch late' & wait",
    "no mark": "env -i setsid sh -c 'echo $$ > pid; /bin/sleep 300; touch late' & wait",
    "orphan": "(setsid sh -c 'echo $$ > pid; sleep 300; touch late' &) ; sleep 300",
    "orphan without mark": "(env -i setsid sh -c 'echo $$ > pid; /bin/sleep 300; touch late' &) ; sleep 300",
    "stopped": "sh -c 'echo $$ > pid; kill -STOP $$; touch late'",
}


def begun(ctx: ToolContext) -> bool:
    """Tell whether the process that a stubborn command is about has written down its id."""
    pid = ctx.workspace / "pid"
    return pid.exists() and pid.read_text() != ""


async def all_within(tmp_path: Path, limit: float) -> tuple[list[ToolContext], list[Output]]:
    """Run all kinds at once, as parallel agents would have them, each with the same time limit."""
    agents = [context(tmp_path, workspace=tmp_path / f"{kind} {limit:g}") for kind in STUBBORN]
    outputs: dict[str, Output] = {}

    async def run(agent: ToolContext, kind: str) -> None:
        outputs[kind] = await call(bash, agent, command=f"echo so far; {STUBBORN[kind]}", timeout=limit)

    async with anyio.create_task_group() as tasks:
        for agent, kind in zip(agents, STUBBORN, strict=True):
            agent.workspace.mkdir()
            tasks.start_soon(run, agent, kind)
    return agents, [outputs[kind] for kind in STUBBORN]


async def test_the_time_limit_ends_every_process_of_the_call(tmp_path: Path) -> None:
    """With the first limit that lets all of them begin: how long that takes is the machine's affair."""
    for limit in (0.5, 4, 30):
        agents, outputs = await all_within(tmp_path, limit)
        assert [still_alive(agent) for agent in agents] == [""] * len(agents)
        if all(map(begun, agents)):
            break
    for output in outputs:
        assert output.is_error
        assert shown(output).startswith("so far\n")
        assert f"[timed out after {limit:g} s; the command and all its processes were ended]" in shown(output)
        assert output.meta == {"exit_status": 124, "timed_out": True}


async def test_cancellation_ends_them_too(tmp_path: Path) -> None:
    agents = [context(tmp_path, workspace=tmp_path / kind) for kind in STUBBORN]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for agent, command in zip(agents, STUBBORN.values(), strict=True):
                agent.workspace.mkdir()
                tasks.start_soon(call_named, agent, command)
            while not all(map(begun, agents)):  # noqa: ASYNC110 - other processes
                await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
    assert [still_alive(agent) for agent in agents] == [""] * len(agents)


@pytest.mark.parametrize(
    "start",
    [
        "sleep 300 & ",
        "setsid sleep 300 & ",
        "setsid sleep 300 >/dev/null 2>&1 < /dev/null & ",
        "nohup sleep 300 >/dev/null & disown;",
    ],
)
async def test_what_is_left_in_the_background_is_ended_and_named(ctx: ToolContext, start: str) -> None:
    output = await call(bash, ctx, command=f"{start} echo $! > pid; echo done", timeout=60)
    assert shown(output).startswith("done\n[still running in the background")
    assert "sleep 300" in shown(output)
    assert not output.is_error
    assert not alive(ctx.workspace / "pid")


async def test_a_process_that_shed_mark_and_session_but_holds_the_output_is_ended(ctx: ToolContext) -> None:
    shed = "env -i setsid sh -c 'echo $$ > pid; exec /bin/sleep 300' &"
    begins = "until [ -s pid ]; do sleep 0.02; done"
    output = await call(bash, ctx, command=f"{shed} {begins}; echo done", timeout=60)
    assert "timed_out" not in output.meta
    assert "done" in shown(output)
    assert not alive(ctx.workspace / "pid")


async def test_a_short_afterthought_may_finish(ctx: ToolContext) -> None:
    assert await text(bash, ctx, command="echo hello > >(sleep 0.05; cat)") == "hello"


async def test_calls_side_by_side_do_not_end_each_others_processes(ctx: ToolContext) -> None:
    results: dict[str, str] = {}

    async def run(name: str, command: str) -> None:
        results[name] = await text(bash, ctx, command=command, timeout=0.3 if name == "short" else 60)
        (ctx.workspace / f"{name}-ended").touch()

    waits = "setsid sh -c 'until [ -e short-ended ]; do sleep 0.02; done' & wait $! && echo finished"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "short", "sleep 300")
        tasks.start_soon(run, "long", waits)
    assert results["long"] == "finished"


# ---- no keyboard (BUG-48)

ASKING = (
    "cat",
    "read x",
    "git init -q . && touch f && git add f && git commit",
    "git init -q . && git commit -q --allow-empty -m a && git commit -q --allow-empty -m b && git rebase -i HEAD~1",
    "exec 3</dev/tty && read -u 3 x",
    "python3 -c 'input()'",
    "seq 500 > f; less f",
    "git --paginate log",
)


@pytest.mark.parametrize("command", ASKING)
async def test_a_command_that_asks_ends_by_itself(ctx: ToolContext, command: str) -> None:
    output = await call(bash, ctx, command=command, timeout=60)
    assert "timed_out" not in output.meta


async def test_a_missing_editor_says_what_to_do(ctx: ToolContext) -> None:
    assert "git commit -m" in await text(bash, ctx, command=ASKING[2])


async def test_the_terminal_of_the_person_is_out_of_reach(tmp_path: Path) -> None:
    """Run under a pseudo-terminal: nothing is read from it, nothing written to it."""
    program = (
        "import anyio, pathlib\n"
        "from tests.agents.tools.kit import context, text\n"
        "from decurion.agents.tools import bash\n"
        f"ctx = context(pathlib.Path({str(tmp_path)!r}))\n"
        "command = 'read -t 2 x </dev/tty; echo \"got <$x>\"; echo gotcha >/dev/tty'\n"
        "out = anyio.run(lambda: text(bash, ctx, command=command))\n"
        f"pathlib.Path({str(tmp_path / 'out')!r}).write_text(out)\n"
    )
    typed, written = await anyio.to_thread.run_sync(under_a_terminal, program)
    assert typed == "typed by the person"
    assert "gotcha" not in written
    assert "got <>" in content(tmp_path / "out")


def under_a_terminal(program: str) -> tuple[str, str]:
    """Run a Python program on a pseudo-terminal; return a line that is typed, read back after it, and what it showed."""
    leader, follower = os.openpty()
    os.write(leader, b"typed by the person\n")
    command = ["setsid", "--ctty", "--wait", sys.executable, "-c", program]
    checkout = Path(__file__).parents[3]
    subprocess.run(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=checkout, timeout=60, check=True
    )
    typed = os.read(follower, 1000).decode().strip()
    os.set_blocking(leader, False)
    written = os.read(leader, 10_000).decode()
    os.close(leader)
    os.close(follower)
    return typed, written


# ---- bounded output (BUG-49)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def test_an_endless_printer_costs_little_memory(ctx: ToolContext) -> None:
    before = peak_bytes()
    output = await call(bash, ctx, command="yes", timeout=1)
    assert peak_bytes() - before < 50_000_000
    assert len(shown(output)) < 31_000
    assert "timed out" in shown(output)
    assert re.search(
        r"\[… [\d,]{7,} bytes left out here; the (whole|beginning of the) output is in ", shown(output)
    )


async def test_a_large_output_keeps_head_and_tail_and_counts_the_rest(ctx: ToolContext) -> None:
    before = peak_bytes()
    output = await call(bash, ctx, command="echo first; head -c 30000000 /dev/zero; echo last; exit 3")
    assert peak_bytes() - before < 50_000_000
    assert shown(output).startswith("first\n")
    assert shown(output).endswith("last\n[exit status 3]")
    assert output.meta["exit_status"] == 3
    total = 30_000_000 + len("first\nlast\n")
    assert output.meta["truncated"] == total - Limits().output_chars


async def test_the_whole_output_can_be_read_where_the_result_says(ctx: ToolContext) -> None:
    output = await call(bash, ctx, command="seq 20000")
    path = output.meta["full_output"]
    assert path in shown(output)
    assert content(path) == "".join(f"{n}\n" for n in range(1, 20001))
    assert mode(path) & 0o077 == 0
    assert "10000\t10000" in await text(read_file, ctx, path=path, offset=9999, limit=3)


async def test_a_small_output_is_complete_and_leaves_no_file(ctx: ToolContext) -> None:
    output = await call(bash, ctx, command="seq 200")
    assert shown(output) == "\n".join(map(str, range(1, 201)))
    assert output.meta == {"exit_status": 0}
    assert not ctx.scratch.exists()


async def test_an_unwritable_scratch_folder_costs_only_the_copy(ctx: ToolContext) -> None:
    ctx.scratch.write_text("a file where the folder should be")
    output = await call(bash, ctx, command="seq 20000")
    assert "kept nowhere" in shown(output)
    assert shown(output).endswith("20000")


# ---- every byte is text (BUG-50)


async def test_bytes_that_are_not_utf_8_do_not_end_the_output(ctx: ToolContext) -> None:
    assert (
        await text(bash, ctx, command=r"printf 'before\n\xff\xe4\nafter\n'") == "before\n\ufffd\ufffd\nafter"
    )


async def test_a_character_split_across_two_writes_arrives_whole(ctx: ToolContext) -> None:
    assert await text(bash, ctx, command=r"printf '\xf0\x9f'; sleep 0.1; printf '\x98\x80'") == "\U0001f600"


async def test_a_nul_is_visible_and_ends_nothing(ctx: ToolContext) -> None:
    assert await text(bash, ctx, command=r"printf 'a\0b\n'") == "a\u2400b"


async def test_colours_moves_and_progress_bars_are_removed(ctx: ToolContext) -> None:
    command = r"""for i in $(seq 500); do printf '\033[1;32mline %d\033[0m\033[K\n' $i; done
        for i in $(seq 0 100); do printf '\r%3d%%' $i; done; printf '\r100%% done\r\n\033]0;title\007end\n'"""
    lines = (await text(bash, ctx, command=command)).split("\n")
    assert lines == [*(f"line {n}" for n in range(1, 501)), "100% done", "end"]


# ---- fresh each time (BUG-52)


async def test_nothing_persists_and_agents_do_not_meet(ctx: ToolContext, tmp_path: Path) -> None:
    here = Path.cwd()
    agents = {name: context(tmp_path, workspace=tmp_path / name) for name in ("one", "two")}
    for agent in agents.values():
        agent.workspace.mkdir()
    seen: dict[str, list[str]] = {name: [] for name in agents}

    async def work(name: str) -> None:
        for _ in range(3):
            output = await text(
                bash, agents[name], command="mkdir -p sub && cd sub && pwd && export X=1 && echo ${X}"
            )
            seen[name].append(output)
            seen[name].append(await text(bash, agents[name], command="pwd; echo ${X:-unset}"))

    async with anyio.create_task_group() as tasks:
        for name in agents:
            tasks.start_soon(work, name)
    for name, lines in seen.items():
        assert lines == [f"{tmp_path / name / 'sub'}\n1", f"{tmp_path / name}\nunset"] * 3
    assert Path.cwd() == here


async def test_a_folder_that_vanished_is_no_trap(ctx: ToolContext) -> None:
    await call(bash, ctx, command="mkdir d && cd d && rmdir ../d")
    assert await text(bash, ctx, command="pwd") == str(ctx.workspace)
    await call(bash, ctx, command="cd .. && rm -r proj")
    with pytest.raises(ToolError, match="no longer exists"):
        await call(bash, ctx, command="pwd")


# ---- the environment


async def test_secrets_and_start_up_code_do_not_reach_a_command(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "evil.sh").write_text("echo started")
    hidden = {
        "ANTHROPIC_API_KEY": "sk-hidden",
        "ANTHROPIC_BASE_URL": "http://hidden",
        "DECURION_STATE_DIR": "/hidden",
        "GH_TOKEN": "hidden",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "DB_PASSWORD": "hidden",
        "STRIPE_KEY": "hidden",
        "DATABASE_URL": "postgres://me:hidden@localhost/db",
        "BASH_ENV": str(tmp_path / "evil.sh"),
        "PROMPT_COMMAND": "echo hidden",
        "LD_PRELOAD": "hidden.so",
        "GIT_DIR": "/hidden",
        "BASH_FUNC_ls%%": "() { echo hidden; }",
    }
    for name, value in hidden.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PROJECT_FLAG", "kept")
    output = await text(bash, ctx, command="env; ls")
    assert "hidden" not in output
    assert "started" not in output
    assert "PROJECT_FLAG=kept" in output.splitlines()


async def test_what_the_session_adds_stands(ctx: ToolContext, tmp_path: Path) -> None:
    added = context(tmp_path, environ={"TRACEPARENT": "00-1", "GH_TOKEN": "given on purpose"})
    assert await text(bash, added, command="echo $TRACEPARENT $GH_TOKEN") == "00-1 given on purpose"


# ---- the rest of the contract


@pytest.mark.parametrize(
    ("command", "status", "note"),
    [("exit 7", 7, "[exit status 7]"), ("kill -9 $$", 137, "[exit status 137, SIGKILL]"), ("true", 0, "")],
)
async def test_the_exit_status_is_told(ctx: ToolContext, command: str, status: int, note: str) -> None:
    output = await call(bash, ctx, command=command)
    assert output.meta == {"exit_status": status}
    assert shown(output) == "\n".join(filter(None, ("(no output)", note)))
    assert not output.is_error


async def test_streams_come_in_order(ctx: ToolContext) -> None:
    assert await text(bash, ctx, command="echo 1; echo 2 >&2; echo 3; echo 4 >&2") == "1\n2\n3\n4"


async def test_a_command_longer_than_an_argument_may_be_still_runs(ctx: ToolContext) -> None:
    word = "x" * 300_000
    assert await text(bash, ctx, command=f"cat <<'END' | wc -c\n{word}\nEND") == "300001"
    assert list(ctx.scratch.iterdir()) == []


async def test_a_command_that_holds_a_nul_is_refused(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="the command holds a NUL"):
        await call(bash, ctx, command="echo \0")


@pytest.mark.parametrize("limit", [0, -1, 601, 120_000, "5"])
async def test_a_time_limit_out_of_range_is_refused(ctx: ToolContext, limit: Any) -> None:
    with pytest.raises(ToolError, match="timeout"):
        await call(bash, ctx, command="true", timeout=limit)


async def test_a_missing_shell_is_told(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match="bash was not found"):
        await call(bash, ctx, command="true")

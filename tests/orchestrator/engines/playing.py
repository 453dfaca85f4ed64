"""A session whose lead hands out one piece of work, over a model that plays its parts, on either engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import anyio.lowlevel

from decurion.agents.catalogue import AgentDefinition
from decurion.agents.model import Message, ModelRequest, Progress, Reply, Usage
from decurion.agents.moments import Moment
from decurion.agents.tools import ToolContext, tool
from decurion.hooks import Decision, Event, Hook, PostToolUse, PreToolUse
from decurion.orchestrator.engines.inprocess import InProcess
from decurion.orchestrator.engines.workers import WorkerRunner
from decurion.orchestrator.options import EngineName, LawOptions, ModelOptions, SessionOptions, WorkOptions
from decurion.orchestrator.session import Finished, Session, open_session
from tests.orchestrator.git.repository import make_repository

Call = tuple[str, Mapping[str, Any]]
Line = str | Sequence[Call]

HAND = AgentDefinition(
    "hand", "does what it is told", "You do.", ("bash", "read_file", "write_file", "todo_write", "shout")
)


class Playing:
    """The lead gives one task to `hand` and says `done`; the hand plays `child`, one line a turn."""

    name = "claude-sonnet-5-5"

    def __init__(self, *child: Line) -> None:
        self.child = child
        self.asked: list[ModelRequest] = []
        self.heard: list[list[Message]] = []
        """The messages of each request as they were then."""

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
        self.asked.append(request)
        self.heard.append(list(request.messages))
        await anyio.lowlevel.checkpoint()
        task = [("task", {"description": "Do it.", "subagent_type": "hand"})]
        lines = self.child if request.ref.depth else (task, "done")
        turn = sum(message["role"] == "assistant" for message in request.messages)
        line = lines[min(turn, len(lines) - 1)]
        if isinstance(line, str):
            report(Progress("text", line))
            return Reply("m", self.name, ({"type": "text", "text": line},), "end_turn", Usage(1000, 100), {})
        blocks = tuple(
            {"type": "tool_use", "id": f"{request.ref.agent_type}_{turn}_{at}", "name": name, "input": args}
            for at, (name, args) in enumerate(line)
        )
        return Reply("m", self.name, blocks, "tool_use", Usage(1000, 100), {})

    async def aclose(self) -> None: ...


@dataclass
class Played:
    """What a session left behind."""

    finished: Finished
    records: list[dict[str, Any]]
    moments: list[Moment] = field(default_factory=list[Moment])

    def of_hand(self, *names: str) -> list[dict[str, Any]]:
        """The hand's records of some kinds, all of them without one."""
        mine = [record for record in self.records if record["agent_type"] == "hand"]
        return [record for record in mine if not names or record["event"] in names]


async def play(
    options: SessionOptions,
    model: Playing,
    proxied: Path | None = None,
    opened: Callable[[Session], None] = lambda _session: None,
) -> Played:
    """Run a session to its end. With `proxied`, a folder for an engine, subagents run as in a worker, but here."""
    moments: list[Moment] = []
    async with open_session(options, moments.append) as session, AsyncExitStack() as stack:
        if proxied:
            engine = await stack.enter_async_context(InProcess(proxied))
            runner = WorkerRunner(engine, own=frozenset(tool.name for tool in options.tools))
            session.team.shared = replace(session.shared, runner=runner)
        opened(session)
        finished = await session.run("Go.")
    return Played(finished, records_of(session.folder), moments)


def records_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_bytes().splitlines()]


def bash(command: str) -> list[Call]:
    return [("bash", {"command": command})]


def workers(parent: int | None = None) -> list[int]:
    """The worker programs that a process has started and that live."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            line = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if b"engines.worker" in line and fields[0] != "Z" and int(fields[1]) == (parent or os.getpid()):
            found.append(int(stat.parent.name))
    return found


@dataclass(frozen=True)
class Here:
    """A workplace that nobody looks after."""

    path: Path
    goes_back: bool = False

    async def ready(self) -> Mapping[str, str]:
        """It is there."""
        return {}

    async def checkpoint(self, turn: int) -> None: ...

    async def finish(self, message: str) -> None: ...


def kill_workers() -> None:
    """Kill all workers of this process."""
    for pid in workers():
        os.kill(pid, signal.SIGKILL)


@tool()
async def shout(ctx: ToolContext, text: Annotated[str, "what"]) -> str:
    """Say it loud, and in which process."""
    ctx.state["times"] = ctx.state.get("times", 0) + 1
    return f"{text.upper()} {os.getpid()} {ctx.state['times']} {ctx.workspace.name}"


def options(tmp_path: Path, model: Playing, engine: EngineName, *hooks: Hook, **more: Any) -> SessionOptions:
    work = tmp_path / "work"
    work.mkdir(parents=True, exist_ok=True)
    law = LawOptions(hooks=hooks)
    return SessionOptions(
        work,
        ModelOptions(client=model),
        law=law,
        work=WorkOptions(engine=engine),
        agents=(HAND,),
        tools=(shout,),
        **more,
    )


def isolated(tmp_path: Path, model: Playing, engine: EngineName, *hooks: Hook) -> SessionOptions:
    make_repository(tmp_path / "work", {"a.txt": "a\n"})
    chosen = options(tmp_path, model, engine, *hooks)
    return replace(chosen, work=replace(chosen.work, isolation="worktree"))


def gate(answer: Decision, word: str) -> Hook:
    """Answer for all commands that hold a word."""

    def run(event: Event) -> Decision | None:
        assert isinstance(event, PreToolUse)
        return answer if word in str(event.call.args.get("command")) else None

    return Hook("gate", frozenset({"PreToolUse"}), run)


def killer(times: int, call_id: str) -> Hook:
    """Kill the worker when a call has been done, so many times."""
    done: list[str] = []

    def run(event: Event) -> None:
        assert isinstance(event, PostToolUse)
        if event.call.id.startswith(call_id) and len(done) < times:
            done.append("")
            kill_workers()

    return Hook("killer", frozenset({"PostToolUse"}), run, kind="observer")


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, check=True).stdout

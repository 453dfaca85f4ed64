"""Ours against a plain loop on the SDK, side by side: `python bench/wire.py [repetitions]`, or `make bench-wire`.

Both speak to the same loopback API in another process, each in a fresh process, one after the other in turn; the
table gives medians and ratios. Ours runs whole sessions: hooks, law, audit log and transcripts on, streaming. The
plain loop is what the SDK's guide shows: `messages.create` with the growing history, not streaming, no log.
CPU is that of the client's process. What is loaded once in a process is left out of all but the start, for both.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import anyio

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent.parent))

from bench.elsewhere import elsewhere  # noqa: E402

MODEL = "claude-sonnet-5-5"
FILE = "".join(f"def add_{n}(a: int, b: int) -> int:\n    return a + b + {n}\n\n\n" for n in range(40))


class Scenario(NamedTuple):
    """One row: children and their turns, the API's latency, and whether the plain loop takes part."""

    name: str
    turns: int
    children: int = 0
    latency: float = 0.0

    @property
    def replies(self) -> int:
        """Replies in the whole run."""
        return (self.turns + 1) * max(1, self.children) + (2 if self.children else 0)

    @property
    def ideal(self) -> float:
        """Seconds that the latency alone takes."""
        return (self.turns + 1 + (2 if self.children else 0)) * self.latency


CPU = (Scenario("30 turns", 30), Scenario("lead + 8 x 20", 20, 8), Scenario("200 turns", 200))
FAN_OUT = (Scenario("100 x 10, 200 ms", 10, 100, 0.2), Scenario("1000 x 10, 200 ms", 10, 1000, 0.2))
WARM_UP = Scenario("warm-up", 2, 2)
"""Run before each measurement: the SDK loads most of itself with the first request."""


# ---- the plain loop ----


class Plain:
    """The loop of the SDK's guide, with cache marks if wanted."""

    def __init__(self, url: str, folder: Path, *, marks: bool = False) -> None:
        import anthropic

        self.client = anthropic.AsyncAnthropic(base_url=url, api_key="bench", max_retries=0)
        self.folder = folder
        self.mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"}} if marks else {}
        self.usage: list[Any] = []

    async def run(self, prompt: str, agent: str) -> str:
        """Talk as an agent with our prompt and our tools until there are no calls."""
        system, tools = parts_of(agent)
        marked: Any = [{"type": "text", "text": system, **self.mark}]
        offered: Any = [*tools[:-1], {**tools[-1], **self.mark}]
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
        while True:
            reply: Any = await self.client.messages.create(
                model=MODEL, max_tokens=16_000, system=marked, tools=offered, messages=self._marked(messages)
            )  # fmt: skip
            self.usage.append(reply.usage)
            messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return str(reply.content[-1].text)
            messages.append({"role": "user", "content": await self._results(calls)})

    def _marked(self, messages: list[Any]) -> list[Any]:
        if not self.mark:
            return messages
        last = messages[-1]
        return [
            *messages[:-1],
            {**last, "content": [*last["content"][:-1], {**last["content"][-1], **self.mark}]},
        ]

    async def _results(self, calls: list[Any]) -> list[Any]:
        found: dict[str, str] = {}

        async def one(call: Any) -> None:
            if call.name == "task":
                found[call.id] = await self.run(call.input["description"], "general")
            else:
                lines = (self.folder / call.input["path"]).read_text().splitlines()
                found[call.id] = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))

        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(one, call)
        return [{"type": "tool_result", "tool_use_id": call.id, "content": found[call.id]} for call in calls]


def parts_of(agent: str) -> tuple[str, list[dict[str, Any]]]:
    """The prompt and the tools of one of our agents, as the plain loop sends them."""
    from decurion.agents.catalogue import load_catalogue
    from decurion.agents.task import task_tool
    from decurion.agents.tools import TOOLS

    catalogue = load_catalogue(HERE.parent, user_folders=(), given=None)
    nobody: Any = None  # only the description is wanted
    offered = {**TOOLS, "task": task_tool(catalogue, nobody)} if agent == "lead" else TOOLS
    names = offered if agent == "lead" else catalogue.found[agent].tools
    fields = [
        (offered[name].name, offered[name].description, dict(offered[name].input_schema)) for name in names
    ]
    tools: list[dict[str, Any]] = [{"name": n, "description": d, "input_schema": s} for n, d, s in fields]
    return catalogue.found[agent].prompt, tools


# ---- one run, in a process of its own ----


async def _plain(url: str, folder: Path, scenario: Scenario, *, marks: bool = False) -> list[Any]:
    plain = Plain(url, folder, marks=marks)
    await plain.run("Do it all." if scenario.children else "Look through the files.", "lead")
    await plain.client.close()
    return plain.usage


async def _ours(url: str, folder: Path, scenario: Scenario) -> list[Any]:
    from decurion.orchestrator import Orchestrator
    from decurion.orchestrator.options import LimitOptions

    os.environ.update(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="bench", ANTHROPIC_MODEL=MODEL)
    limits = LimitOptions(running_at_once=max(8, scenario.children))
    prompt = "Do it all." if scenario.children else "Look through the files."
    finished = await Orchestrator(folder, limits=limits).run(prompt)
    assert finished.lead.status == "completed", finished.lead
    assert all(result.status == "completed" for result in finished.subagents), finished.subagents
    return [finished.lead.usage, *(result.usage for result in finished.subagents)]


def child(who: str, url: str, fields: str) -> None:
    """Run once and print what it took."""
    scenario = Scenario(**json.loads(fields))
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(
            DECURION_STATE_DIR=f"{place}/state", DECURION_CONFIG_DIR=f"{place}/config", HOME=place
        )
        folder = Path(place) / "work"
        folder.mkdir()
        for number in range(10):
            (folder / f"part_{number}.py").write_text(FILE)
        for module in ("anthropic", "decurion.agents.claude.model", "decurion.orchestrator.session"):
            import_module(module)  # not part of what is measured
        runs: dict[str, Callable[[str, Scenario], Coroutine[Any, Any, list[Any]]]] = {
            "ours": lambda url, scenario: _ours(url, folder, scenario),
            "plain": lambda url, scenario: _plain(url, folder, scenario, marks=False),
            "marked": lambda url, scenario: _plain(url, folder, scenario, marks=True),
        }
        with api(WARM_UP) as elsewhere:
            anyio.run(
                runs[who], elsewhere, WARM_UP
            )  # what is done once in a process is not what a turn costs
        cpu, wall = time.process_time(), time.perf_counter()
        usage = anyio.run(runs[who], url, scenario)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"cpu": cpu, "wall": wall, "mb": _peak_mb(), "usd": _usd(usage)}))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _usd(usage: list[Any]) -> float:
    from decurion.agents.model import Usage
    from decurion.agents.money import Prices

    total = sum(
        (Usage(*(getattr(u, name) or 0 for name in Usage.__dataclass_fields__)) for u in usage), Usage()
    )
    return Prices.load().cost(MODEL, total) or 0.0


# ---- the table ----


@contextmanager
def api(scenario: Scenario, told: dict[str, Any] | None = None) -> Generator[str]:
    """Run the API in a process of its own; at the end it must not have refused anything. `told` gets what it saw."""
    arguments = [str(scenario.turns), str(scenario.children), str(scenario.latency)]
    with elsewhere(str(HERE.with_name("wire_api.py")), *arguments) as (url, end):
        yield url
        seen = json.loads(end())
        assert seen["refused"] == 0, seen
        if told is not None:
            told.update(seen)


def measure(who: str, scenario: Scenario) -> dict[str, float]:
    """Run one contender once, against an API that knows no prefix yet."""
    with api(scenario) as url:
        command = [sys.executable, "-P", str(HERE), "child", who, url, json.dumps(scenario._asdict())]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and who == "plain":
        return dict.fromkeys(
            ("cpu", "wall", "mb", "usd"), float("nan")
        )  # a plain loop gives up at its first fault
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def compare(scenario: Scenario, repetitions: int, whos: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Run the contenders in turn; medians of each figure."""
    runs: dict[str, list[dict[str, float]]] = {who: [] for who in whos}
    for _ in range(repetitions):
        for who in whos:
            runs[who].append(measure(who, scenario))
    return {
        who: {key: statistics.median(run[key] for run in taken) for key in taken[0]}
        for who, taken in runs.items()
    }


SCRIPT = """
import anthropic
client = anthropic.Anthropic(base_url="{url}", api_key="bench", max_retries=0)
client.messages.create(model="{model}", max_tokens=100, messages=[{{"role": "user", "content": "Go."}}])
print("Done.")
"""


def start(who: str) -> tuple[float, float]:
    """Start a program; seconds to its first request, and to the first thing on the screen."""
    told: dict[str, Any] = {}
    with api(Scenario("start", 0), told) as url, tempfile.TemporaryDirectory() as place:
        env = {**os.environ, "HOME": place, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "bench"}
        env |= {
            "TERM": "xterm",
            "DECURION_STATE_DIR": f"{place}/state",
            "DECURION_CONFIG_DIR": f"{place}/config",
        }
        ours = [sys.executable, "-P", "-m", "decurion", "run", "Go.", "--model", MODEL, "-C", place]
        command = ours if who == "ours" else [sys.executable, "-c", SCRIPT.format(url=url, model=MODEL)]
        # Python's bytecode is compiled by now; so is the law, then.
        subprocess.run([*ours[:4], "check", "true"], capture_output=True, env=env, check=True)
        screen, program_side = os.openpty()
        began = time.monotonic()
        with subprocess.Popen(command, stdout=program_side, stderr=program_side, env=env) as program:
            os.close(program_side)
            os.read(screen, 1)
            shown = time.monotonic() - began
            _read_to_the_end(screen)
            assert program.wait() == 0
    return told["first"] - began, shown


def bare() -> float:
    """Seconds that an interpreter takes to do nothing, here and now."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-P", "-c", "pass"], check=True)
    return time.monotonic() - began


def _read_to_the_end(screen: int) -> None:
    """Read what a program shows until it ends, which on a terminal is an error of reading."""
    with os.fdopen(screen, "rb", buffering=0) as file, suppress(OSError):
        while file.read(65_536):
            pass


def main(repetitions: int) -> None:
    """Print the table."""
    print(f"{'CPU ms a turn':24} {'plain':>8} {'ours':>8} {'ratio':>7}")
    per_turn: dict[str, float] = {}
    for scenario in CPU:
        got = compare(scenario, max(5, repetitions), ("plain", "ours"))  # short, so each feels what else runs
        plain, ours = (got[who]["cpu"] / scenario.replies * 1000 for who in ("plain", "ours"))
        per_turn[scenario.name] = ours
        print(f"{scenario.name:24} {plain:8.2f} {ours:8.2f} {ours / plain:6.2f}x", flush=True)
    growth = (per_turn["200 turns"] - per_turn["30 turns"]) / (200 - 30) * 2 * 1000
    print(f"growth of ours: {max(0.0, growth):.1f} us a turn")
    print(f"\n{'cost of lead + 8 x 20':24} {'plain':>8} {'marked':>8} {'ours':>8}")
    got = compare(CPU[1], 1, ("plain", "marked", "ours"))
    print(
        f"{MODEL:24} " + " ".join(f"${got[who]['usd']:7.3f}" for who in ("plain", "marked", "ours")),
        flush=True,
    )
    print(f"\n{'fan-out':24} {'ideal s':>8} {'plain s':>8} {'ours s':>8} {'ours/ideal':>10} {'ours MB':>8}")
    for scenario in FAN_OUT:
        once = 1 if scenario.children > 100 else repetitions
        got = compare(scenario, once, ("plain", "ours"))
        ratio = got["ours"]["wall"] / scenario.ideal
        walls = f"{scenario.ideal:8.1f} {got['plain']['wall']:8.1f} {got['ours']['wall']:8.1f}"
        print(f"{scenario.name:24} {walls} {ratio:9.2f}x {got['ours']['mb']:8.0f}", flush=True)
    runs = [(start("plain"), start("ours"), bare()) for _ in range(max(5, repetitions))]
    columns = [(plain[0], ours[0], ours[1], nothing) for plain, ours, nothing in runs]
    plain, ours, shown, nothing = (statistics.median(times) for times in zip(*columns, strict=True))
    print(f"\nfirst request: script {plain:.2f} s, ours {ours:.2f} s ({ours / plain:.2f}x)")
    print(f"on the screen: {shown:.2f} s ({shown / nothing:.1f}x an interpreter that does nothing)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:5])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)

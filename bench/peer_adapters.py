"""The guards that `bench/peers.py` measures: versions, settings, and how each is asked.

An adapter is source text that defines `judge(command)`, which gives `allow`, `ask` or `deny`. It runs in the guard's
own environment, within one of the two loops, and calls the function behind the guard's hook program. The settings are
documented ones; where two are of interest, both are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard at one version, in one of its documented settings."""

    package: str
    version: str
    adapter: str  # source text that defines `judge(command)`, run in the guard's own environment
    setting: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    python: str = ""  # the only version that it has wheels for
    npm: bool = False
    here: bool = False  # it is this checkout, nothing is installed

    @property
    def name(self) -> str:
        """Name, version and setting, as the table shows them."""
        return f"{self.package} {self.version}{self.setting and f' ({self.setting})'}"


PYTHON_LOOP = """
import json, os, sys, time

{adapter}

given, answers = sys.stdin, sys.stdout
for line in given:
    command = json.loads(line)["cmd"]
    began = time.perf_counter()
    try:
        verdict = judge(command)
    except Exception:
        verdict = "ask"
    micros = (time.perf_counter() - began) * 1e6
    print(json.dumps({{"verdict": verdict, "micros": micros}}), file=answers)
"""

NODE_LOOP = """
import {{ createInterface }} from "node:readline";
{adapter}

for await (const line of createInterface({{ input: process.stdin }})) {{
    const {{ cmd }} = JSON.parse(line);
    const began = performance.now();
    let verdict = "ask";
    try {{ verdict = judge(cmd); }} catch {{ }}
    console.log(JSON.stringify({{ verdict, micros: (performance.now() - began) * 1e3 }}));
}}
"""

DECURION = """
from decurion.hooks.rules import EXAMPLE_PLACES, Law
law = Law.load(cache=False)

def judge(command):
    return law.judge_command(command, EXAMPLE_PLACES).verdict.name.lower()
"""

# Silence is what it answers to a harmless command.
SEATBELT = """
from seatbelt.hook import handle

def judge(command):
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": os.getcwd()}
    answer = handle({"hook_event_name": "PreToolUse", **call})
    return answer["hookSpecificOutput"]["permissionDecision"] if answer else "allow"
"""

NAH = """
from nah.hook import handle_bash

def judge(command):
    return handle_bash({"command": command})["decision"].replace("block", "deny")
"""

CLAUDE_SAFETY_GUARD = """
from claude_safety_guard.config import Config
from claude_safety_guard.guard import evaluate
from claude_safety_guard.hook import decide
settings = Config(ask_on_warn=True, fail_closed=True)

def judge(command):
    return decide(evaluate(command), config=settings).decision
"""

BLASTRADIUS = """
from blastradius.check import check_command
strict = "STRICT" in os.environ

def judge(command):
    found = check_command(command)
    return "deny" if found.blocked or strict and found.has_warnings else "allow"
"""

# With the configuration that its installer writes. Silence leaves it to the product, which asks: so says its manual.
BASHGATE = """
import contextlib, io
import bashgate
settings = os.path.join(os.path.dirname(bashgate.__file__), "bashgate.default.json")

def judge(command):
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": os.getcwd()}
    sys.stdin = io.StringIO(json.dumps(call))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        bashgate.cmd_hook(["--config", settings])
    answer = printed.getvalue()
    return json.loads(answer)["hookSpecificOutput"]["permissionDecision"] if answer else "ask"
"""

SH_GUARD = """
from sh_guard import classify
place = {"cwd": os.getcwd(), "project_root": os.getcwd(), "home_dir": os.environ["HOME"], "shell": "bash"}
words = {"safe": "allow", "risky": "ask", "blocked": "deny"}
lenient = "LENIENT" in os.environ

def judge(command):
    found = classify(command, place)
    return "allow" if lenient and found["level"] == "caution" else words[found["quick_decision"]]
"""

CC_SAFETY_NET = """
import { checkCommand } from "cc-safety-net/api";
const judge = (command) => checkCommand({ command, cwd: process.cwd() }).kind;
"""

PEERS = (
    # The preview counts what a deletion would hit; it costs time and changes no verdict.
    Guard("seatbelt-guard", "0.1.5", SEATBELT, env={"SEATBELT_PREVIEW": "off"}),
    Guard("cc-safety-net", "2.4.5", CC_SAFETY_NET, npm=True),
    Guard("cc-safety-net", "2.4.5", CC_SAFETY_NET, "strict", {"CC_SAFETY_NET_LEVEL": "strict"}, npm=True),
    Guard("cc-safety-net", "2.4.5", CC_SAFETY_NET, "paranoid", {"CC_SAFETY_NET_LEVEL": "paranoid"}, npm=True),
    Guard("nah", "0.11.0", NAH),
    Guard("sh-guard", "0.1.10", SH_GUARD, python="3.12"),
    Guard("sh-guard", "0.1.10", SH_GUARD, "danger and above", {"LENIENT": "1"}, python="3.12"),
    Guard("claude-safety-guard", "0.2.0", CLAUDE_SAFETY_GUARD),
    Guard("actenon-blastradius", "0.4.0", BLASTRADIUS),
    Guard("actenon-blastradius", "0.4.0", BLASTRADIUS, "strict", {"STRICT": "1"}),
    Guard("bashgate", "0.2.0", BASHGATE),
)

"""What is loaded when the first request leaves: a person waits for all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

LATER = {"rich", "structlog", "tenacity", "jsonschema", "pydantic", "duckdb", "opentelemetry"}
"""Nothing of these is needed before: the tree is drawn, the log written and the reply checked while the API thinks."""

OURS_LATER = (
    "decurion.orchestrator.engines.workers",
    "decurion.orchestrator.engines.pipe",
    "decurion.orchestrator.audit.tracer",
    "decurion.orchestrator.git.worktree",
)
"""What only sessions need that ask for it: worker programs, traces, checkouts."""

LAYERS_LATER = ("decurion.agents.", "decurion.hooks.rules", "decurion.hooks.shell", "anyio")
"""What comes after the first sign of life."""

PROGRAM = """
import gc, sys, types
from pathlib import Path
from decurion.agents.model import Reply, Usage

class Model:
    name = "m"

    def __init__(self, *_given):
        pass

    async def complete(self, _request, _report):
        Path(sys.argv[1]).write_text(f"{gc.isenabled()}\\n" + "\\n".join(sys.modules))
        return Reply("id", "m", ({"type": "text", "text": "All done."},), "end_turn", Usage(), {})

    async def aclose(self):
        pass

class Screen:
    def __init__(self, stream):
        self._stream, self._shown = stream, False

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        if not self._shown:
            self._shown = True
            Path(sys.argv[1] + "-at-first").write_text("\\n".join(set(sys.modules) - before))
        return self._stream.write(text)

sys.stderr = Screen(sys.stderr)
client = types.ModuleType("decurion.agents.claude.model")  # so that the SDK, which is needed, is not loaded here
client.ClaudeModel = Model
sys.modules[client.__name__] = client
from decurion.__main__ import main
before = set(sys.modules)
sys.exit(main(["run", "Go.", "-C", sys.argv[2]]))
"""


def test_what_draws_and_logs_is_loaded_after_the_first_request_has_left(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    screen, program_side = os.openpty()
    env = {**os.environ, "TERM": "xterm", "ANTHROPIC_API_KEY": "k"}
    command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "loaded"), str(tmp_path / "work")]
    with subprocess.Popen(
        command, stdin=program_side, stdout=program_side, stderr=program_side, env=env
    ) as program:
        os.close(program_side)
        shown = read_to_the_end(screen)
        assert program.wait() == 0, shown
    collecting, *loaded = (tmp_path / "loaded").read_text().splitlines()
    assert {name.partition(".")[0] for name in loaded} & LATER == set()
    assert [name for name in loaded if name.startswith(OURS_LATER)] == []
    assert collecting == "True"
    assert shown.startswith("starting …")
    at_first = (tmp_path / "loaded-at-first").read_text().splitlines()
    assert [name for name in at_first if name.startswith(LAYERS_LATER)] == []
    assert "lead" in shown  # and drawn it is
    assert "All done." in shown


def read_to_the_end(screen: int) -> str:
    """Read what a program shows until it ends, which on a terminal is an error of reading."""
    shown = b""
    with os.fdopen(screen, "rb", buffering=0) as file, suppress(OSError):
        while piece := file.read(65_536):
            shown += piece
    return shown.decode()

"""The loopback API of `bench/wire.py`, in a process of its own so that its work is not counted: it prints its address.

Arguments: turns of a child, children of the lead (0: the lead itself takes the turns), seconds before each reply.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import orjson

from decurion.agents.messages_api import Answer, Options, Refusal, Request, call, calls, say

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.elsewhere import be_api

CHILD = "Look through the files and say what they do. Part "


class Work:
    """A lead that hands out children, and children that read one file a turn."""

    def __init__(self, turns: int, children: int) -> None:
        self.turns = turns
        self.children = children
        self.first = 0.0

    async def __call__(self, request: Request) -> Answer | Refusal:
        """Answer by the history alone."""
        self.first = self.first or request.at
        if self.children and CHILD not in request.task:
            return self._lead(request)
        if request.turn >= self.turns:
            return say("That is all there is to see: small functions that add numbers, and their tests.")
        return call(
            "read_file", {"path": f"part_{request.turn % 10}.py"}, text="I will look at the next file now."
        )

    def _lead(self, request: Request) -> Answer:
        if request.turn:
            return say("All parts were looked through.")
        wanted = [("task", {"description": f"{CHILD}{number}."}) for number in range(self.children)]
        return calls(*wanted, text="I will hand this out.")


async def _main() -> None:
    turns, children, latency = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    work = Work(turns, children)
    api = await be_api(work, Options(record=False, latency=latency))
    told = {"refused": len(api.refused), "most_active": api.most_active, "first": work.first}
    print(orjson.dumps(told).decode(), flush=True)


if __name__ == "__main__":
    anyio.run(_main)

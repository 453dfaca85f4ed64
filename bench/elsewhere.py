"""A loopback API in a process of its own, so that its work is not counted as that of who asks it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from decurion.agents.messages_api import Answering, Api, Options


async def be_api(answer: Answering, options: Options) -> Api:
    """Be that process: print the address, and answer until standard input ends; gives what was seen."""
    from decurion.agents.messages_api import serve  # here, for whoever is measured has no use for a server

    async with serve(answer, options) as api:
        print(api.url, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
    return api


@contextmanager
def elsewhere(*command: str) -> Generator[tuple[str, Callable[[], str]]]:
    """Run a Python program that is such a process; gives its address, and what ends it and gives what it says then."""
    with subprocess.Popen(
        [sys.executable, "-P", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin
        assert program.stdout
        said, keeps_on = program.stdout, program.stdin

        def end() -> str:
            keeps_on.close()
            return said.read()

        yield said.readline().strip(), end
        keeps_on.close()

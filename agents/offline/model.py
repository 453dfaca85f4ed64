"""Who is speaking, and what comes next: one function from a request to its reply."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages_api import Answer, Request
from .conversation import read_conversation
from .lead import answer_lead
from .worker import answer_worker


@dataclass(frozen=True, slots=True)
class Manners:
    """How the scripted model behaves beyond its work."""

    latency: float = 0.0
    """Seconds before each reply, so that a person can follow."""
    clumsy: str = ""
    """A command that the subagent of the second part tries when its files are done, to show what the law does."""


CLUMSY_PART = "part 2 of "


async def answer(request: Request, manners: Manners | None = None) -> Answer:
    """Reply to one request. The same request always gets the same reply: nothing is kept between requests."""
    chosen = manners or Manners()
    talk = read_conversation(request)
    if "task" in talk.tools:
        return answer_lead(request, talk)
    clumsy = chosen.clumsy if CLUMSY_PART in talk.task.partition("\n")[0] else ""
    return answer_worker(request, talk, clumsy)

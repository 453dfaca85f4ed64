"""Agents whose replies come together: one goes on in each round of the event loop, unless too many wait."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from decurion.agents.claude.turnstile import Turnstile

pytestmark = pytest.mark.anyio


async def passed_by_round(turnstile: Turnstile, agents: int) -> list[int]:
    """Give how many went through in each round until all were through."""
    through, rounds = 0, list[int]()

    async def go() -> None:
        nonlocal through
        await turnstile.go_through()
        through += 1

    async with anyio.create_task_group() as group:
        for _ in range(agents):
            group.start_soon(go)
        while sum(rounds) < agents:
            await anyio.lowlevel.checkpoint()
            rounds.append(through - sum(rounds))
    return rounds


async def test_no_two_go_on_in_one_round() -> None:
    assert max(await passed_by_round(Turnstile(), 10)) == 1


async def test_a_long_line_is_not_joined() -> None:
    assert max(await passed_by_round(Turnstile(line=2), 10)) > 1


async def test_whoever_waits_goes_through_though_cancelled() -> None:
    turnstile, through = Turnstile(), list[int]()

    async def go(number: int) -> None:
        await turnstile.go_through()
        through.append(number)

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(go, number)
        await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert sorted(through) == [0, 1, 2]

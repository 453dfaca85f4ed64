"""Orders of one reply: overlapping claims one after the other, dependencies by label, the rest side by side."""

from __future__ import annotations

import anyio
import pytest

from decurion.agents.claims import Claims, may_share
from decurion.agents.task import Order
from decurion.hooks import ToolError

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("src/a.py", "src/a.py", True),
        ("./src/a.py", "src/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("src/*.py", "src/a.py", True),
        ("src", "src/deep/a.py", True),
        ("src/**", "src/deep/*.py", True),
        ("src/**", "tests/**", False),
        ("src/a*", "src/b*", False),
        ("**/x.py", "src/y*", True),
        ("srcs/a.py", "src", False),
    ],
)
def test_patterns_share_files_if_in_doubt(one: str, other: str, *, shared: bool) -> None:
    assert may_share(one, other) is may_share(other, one) is shared


async def trace(*orders: Order) -> list[str]:
    """Run orders side by side, each in two steps; give who did what, in order."""
    claims, done = Claims(), list[str]()

    async def work(order: Order) -> None:
        async with claims.turn_of(order):
            done.append(f"{order.title}+")
            await anyio.sleep(0.01)
            done.append(f"{order.title}-")

    async with anyio.create_task_group() as group:
        for order in orders:
            group.start_soon(work, order)
    return done


async def test_overlapping_orders_run_one_after_the_other_and_others_side_by_side() -> None:
    done = await trace(
        Order("", title="a", paths=("src/*.py",)),
        Order("", title="b", paths=("src/x.py",)),
        Order("", title="c", paths=("tests/*",)),
        Order("", title="d"),
    )
    first, second = sorted(("a", "b"), key=lambda name: done.index(f"{name}+"))
    assert done.index(f"{first}-") < done.index(f"{second}+")
    assert done.index("c+") < done.index(f"{first}-")
    assert done.index("d+") < done.index(f"{first}-")


async def test_an_order_waits_for_the_labels_it_depends_on_whatever_the_order() -> None:
    done = await trace(
        Order("", title="last", depends_on=("one", "two"), paths=("src/a.py",)),
        Order("", title="one", label="one", paths=("src/a.py",)),
        Order("", title="two", label="two"),
    )
    assert done[-2:] == ["last+", "last-"]


async def test_a_label_nobody_has_and_a_circle_are_errors_not_hangs() -> None:
    claims = Claims()
    with anyio.fail_after(60):
        with pytest.raises(ToolError, match="no task of this reply has the label"):
            async with claims.turn_of(Order("", depends_on=("nobody",))):
                pass
        with pytest.raises(ToolError, match="wait for each other"):
            async with claims.turn_of(Order("", label="me", depends_on=("me",))):
                pass


async def test_a_long_circle_is_broken_and_nobody_hangs() -> None:
    claims, failed, ran = Claims(), list[str](), list[str]()

    async def work(order: Order) -> None:
        try:
            async with claims.turn_of(order):
                ran.append(order.label)
        except ToolError:
            failed.append(order.label)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for label, needs in (("a", "b"), ("b", "c"), ("c", "a")):
                group.start_soon(work, Order("", label=label, depends_on=(needs,)))
    assert failed
    assert sorted(failed + ran) == ["a", "b", "c"]

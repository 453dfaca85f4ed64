"""Task groups whose errors arrive bare, so that one failure reads the same from parallel and sequential code."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def task_group() -> AsyncGenerator[TaskGroup]:
    """Open a task group; of several errors the first that is no cancellation is raised, outside its group.

    Idea: inspect_ai's `tg_collect`.
    """
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None


def first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give the first single error inside a group, cancellations last."""
    leaves = list(_leaves(errors))
    cancelled = anyio.get_cancelled_exc_class()
    return next((leaf for leaf in leaves if not isinstance(leaf, cancelled)), leaves[0])


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error

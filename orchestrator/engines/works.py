"""Find the function that a spec names, and run it within its limits."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import anyio

from decurion.agents.groups import first_error
from decurion.hooks import DecurionError
from decurion.hooks.counts import counted

from .protocol import Result, Spec, Work, Workplace


def find_work(name: str) -> Work:
    """Import the function named as `module:function`.

    Raises:
        DecurionError: there is none.
    """
    module, _, function = name.partition(":")
    try:
        return cast("Work", getattr(import_module(module), function))
    except (ImportError, AttributeError, ValueError) as error:
        raise DecurionError(f"There is no work {name!r}: {error}") from None


def _in_words(error: BaseException) -> str:
    """What happened, in one line; a task group's error is the one inside."""
    if isinstance(error, BaseExceptionGroup):
        error = first_error(cast("BaseExceptionGroup[BaseException]", error))
    if isinstance(error, DecurionError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def run_work(spec: Spec, place: Workplace) -> Result:
    """Run a spec's work to its end; whatever it raises is its result, only cancellation goes on."""
    try:
        work = find_work(spec.work)
        with anyio.move_on_after(spec.limits.wall_s):
            return Result("completed", await work(spec, place))
    except Exception as error:  # noqa: BLE001 - whatever the work raises is its result
        return Result("error", error=_in_words(error))
    return Result("timeout", error=f"it took longer than {counted(spec.limits.wall_s or 0, 'second')}")

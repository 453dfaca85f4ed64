"""From a tool's run to a result: what it raises is told to the model, unless the run must end."""

from __future__ import annotations

import anyio

from decurion.hooks import DecurionError, ToolCall, ToolError, ToolResult
from decurion.hooks.cancellation import is_cancelled

from .tools import Tool, ToolContext, output_of


async def outcome(tool: Tool, context: ToolContext, call: ToolCall) -> ToolResult:
    """Run the tool itself. What it raises becomes an error result, except where the run must end.

    Raises:
        DecurionError: anything but a `ToolError`: the log, the law or the configuration failed.
    """
    try:
        output = output_of(await tool.run(context, call.args))
    except ToolError as error:
        return ToolResult(call.id, str(error) or "ToolError", is_error=True)
    except DecurionError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model gets a result for its call
        return ToolResult(call.id, _named(error), is_error=True)
    except anyio.get_cancelled_exc_class() as error:
        if is_cancelled():
            raise
        return ToolResult(call.id, _named(error), is_error=True)
    return ToolResult(call.id, output.content or "(no output)", output.is_error, output.meta)


def _named(error: BaseException) -> str:
    """Say what an exception is even where it has no text of its own, as `KeyError()` and `TimeoutError()`."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

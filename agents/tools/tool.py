"""The seam between the dispatcher and everything an agent can do: a value, a context, an output.

Adding a tool is one file with an `@tool` function, its description beside it as Markdown, and one line in
`agents/tools/__init__.py`. A library user does the same without the Markdown: the docstring is what the model
reads, the signature is the schema.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from decurion.hooks import RunRef, ToolError

from .schema import check_against, name_of, schema_of, whole_numbers
from .skills import Skill
from .todo_list import TodoStore

Args = Mapping[str, Any]

ALIASES: Mapping[str, str] = {
    "file_path": "path",
    "filepath": "path",
    "filename": "path",
    "cmd": "command",
    "old_str": "old_string",
    "new_str": "new_string",
    "file_text": "content",
    "query": "pattern",
    "regex": "pattern",
    "include": "glob",
    "-i": "ignore_case",
    "-C": "context",
    "head_limit": "limit",
    "skill": "name",
}
"""What other agent products call the same arguments. Counts only where a tool has the second name and not the first."""

Content = str | tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a tool may take and give. Sizes of text are in characters, of files in bytes, times in seconds."""

    output_chars: int = 30_000
    """Longest text of one result; what is cut from a command's output stays in a file of `scratch`."""
    spill_chars: int = 3_000_000
    command_seconds: float = 120.0
    command_seconds_max: float = 600.0
    file_bytes: int = 10_000_000
    """Largest text file that is read or edited whole."""
    image_bytes: int = 3_750_000
    """Largest image; the API takes 5 MB of base64."""
    read_lines: int = 2_000
    read_chars: int = 60_000
    line_chars: int = 2_000
    search_seconds: float = 20.0
    search_hits: int = 200
    search_file_bytes: int = 10_000_000
    listed_files: int = 500


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of the agent that calls it. One for each agent; `ref` is replaced each turn.

    `workspace` is the folder that file tools may not leave and where commands start; it may be a worktree.
    `scratch` is a folder of the session, outside the workspace, for outputs too long to show; `read_file` may
    read it. `environ` is added to the cleaned environment of commands. `todo` is this agent's own list.
    `state` is the agent's drawer for whatever a tool wants to remember between its calls.
    """

    ref: RunRef
    workspace: Path
    scratch: Path
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)
    todo: TodoStore = field(default_factory=TodoStore)
    skills: tuple[Skill, ...] = ()
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    call_id: str = ""
    """The id of the call being run; set by the dispatcher for each call."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gives back: text or wire blocks for the model, `meta` for the log (keys: see `ToolResult`).

    `is_error` marks a result the model should read as a failure although there is output, a time limit for one.
    """

    content: Content
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_error: bool = False


Run = Callable[[ToolContext, Args], Awaitable[str | Output]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing an agent can do.

    `run` gets arguments that `prepare` has accepted. It raises `ToolError` for what the model can mend; any other
    exception is a fault of the tool. `read_only` tools of one reply may run side by side.
    `normalise` turns what models really send into the form of the schema, before the schema is asked.
    `example` is shown to a model that got the form wrong.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    run: Run
    read_only: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    normalise: Callable[[Args], Args] | None = None
    example: Args | None = None


def prepare(tool: Tool, args: Args) -> Args:
    """Return the arguments in the tool's own spelling, checked against its schema.

    Hooks, rules, the log and the tool itself all see what this returns.

    Raises:
        ToolError: names the argument that is wrong and shows the right form.
    """
    renamed = _rename(tool, args)
    _refuse_what_no_file_holds(tool, renamed)
    if tool.normalise is not None:
        renamed = tool.normalise(renamed)
    check_against(tool.name, tool.input_schema, renamed, tool.example)
    return whole_numbers(tool.input_schema, renamed)


def _rename(tool: Tool, args: Args) -> dict[str, Any]:
    """Put other names of arguments that models are used to into the tool's own spelling."""
    own = tool.input_schema.get("properties", {})
    renamed: dict[str, Any] = {}
    for given, value in args.items():
        meant = tool.aliases.get(given) or ALIASES.get(given, given)
        name = meant if given not in own and meant in own else given
        if name in renamed and renamed[name] != value:
            raise ToolError(f"{tool.name}: {name!r} was given twice with different values; give it once")
        renamed[name] = value
    return renamed


def _refuse_what_no_file_holds(tool: Tool, args: Args) -> None:
    """Refuse lone surrogates, which no file, command, log or later request can carry, and a NUL in a path."""
    for name, value in args.items():
        if name == "path" and "\0" in str(value):
            raise ToolError(f"{tool.name}: 'path' holds a NUL character, which no file name can")
        if isinstance(value, str) and value.isascii():
            continue
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ToolError(
                f"{tool.name}: {name!r} holds half a character (a lone surrogate); write the whole character"
            ) from None


def output_of(returned: str | Output) -> Output:
    """Give the short form, plain text, its full shape."""
    return Output(returned) if isinstance(returned, str) else returned


def tool(
    *,
    description: str | None = None,
    read_only: bool = False,
    aliases: Mapping[str, str] | None = None,
    normalise: Callable[[Args], Args] | None = None,
    example: Args | None = None,
) -> Callable[[Callable[..., Awaitable[str | Output]]], Tool]:
    """Make a `Tool` of an async function whose first parameter is the `ToolContext`.

    The other parameters become the schema: `Annotated[int, "what it means", {"minimum": 1}]` adds a description
    and keywords of JSON Schema; a parameter with a default may be left out.

    Raises:
        TypeError: at decoration, when a parameter has no annotation or one that JSON cannot carry.
    """

    def make(function: Callable[..., Awaitable[str | Output]]) -> Tool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{name_of(function)}: a tool is an async function")

        async def run(context: ToolContext, args: Args) -> str | Output:
            return await function(context, **args)

        return Tool(
            name=name_of(function),
            description=(description or inspect.getdoc(function) or "").strip(),
            input_schema=schema_of(function),
            run=run,
            read_only=read_only,
            aliases=dict(aliases or {}),
            normalise=normalise,
            example=example,
        )

    return make


def markdown(name: str) -> str:
    """Return the description that stands beside a tool's file."""
    return files("decurion.agents.tools").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()

"""The seam: a function becomes a tool, arguments are checked in one place."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest

from decurion.agents.tools import TOOLS, Output, ToolContext, output_of, prepare, tool
from decurion.agents.tools.schema import surely_fits
from decurion.hooks import ToolError
from tests.agents.tools.kit import call, context

pytestmark = pytest.mark.anyio


@tool(read_only=True)
async def count_lines(
    ctx: ToolContext,
    path: Annotated[str, "The file to count"],
    kind: Literal["all", "blank"] = "all",
    most: Annotated[int | None, {"minimum": 1}] = None,
    tags: list[str] | None = None,
    extra: dict[str, Any] | None = None,
) -> str:
    """Count the lines of a text file in the workspace.

    The docstring is what the model reads.
    """
    lines = (ctx.workspace / path).read_text().splitlines()
    count = len([line for line in lines if kind == "all" or not line.strip()])
    return f"{min(count, most or count)} {','.join(tags or [])}{extra or ''}"


def test_the_docstring_is_the_description_and_the_signature_the_schema() -> None:
    assert (count_lines.name, count_lines.read_only) == ("count_lines", True)
    assert count_lines.description == (
        "Count the lines of a text file in the workspace.\n\nThe docstring is what the model reads."
    )
    assert count_lines.input_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file to count"},
            "kind": {"enum": ["all", "blank"]},
            "most": {"anyOf": [{"type": "integer"}, {"type": "null"}], "minimum": 1},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "extra": {"anyOf": [{"type": "object", "additionalProperties": {}}, {"type": "null"}]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


async def test_a_call_reaches_the_function(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    (ctx.workspace / "f").write_text("a\n\nb\n")
    assert (await call(count_lines, ctx, path="f", kind="blank")).content == "1 "


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "count_lines: missing 'path'. Right form: "),
        ({"path": 5}, "'path': 5 is not of type 'string'"),
        ({"path": "f", "kind": "some"}, "'kind': 'some' is not one of ['all', 'blank']"),
        ({"path": "f", "lines": 3}, "unknown argument 'lines' (known: path, kind, most, tags, extra)"),
        ({"path": "f", "most": 0}, "'most': 0 is less than the minimum of 1"),
        ({"path": "f", "most": "2"}, "'most': \"2\" is not of type integer or null"),
        ({"path": "f", "tags": ["a", 1]}, "'tags'"),
        ({"kind": 1}, "missing 'path'"),
    ],
)
def test_a_wrong_argument_is_named_and_the_right_form_shown(args: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError) as error:
        prepare(count_lines, args)
    assert told in str(error.value)
    assert '"path": "string", "kind": "all|blank (optional)", "most": "integer|null (optional)"' in str(
        error.value
    )


def test_a_huge_wrong_value_does_not_fill_the_error() -> None:
    with pytest.raises(ToolError) as error:
        prepare(count_lines, {"path": ["x" * 100_000]})
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("read_file", {"file_path": "f"}, {"path": "f"}),
        ("bash", {"cmd": "true"}, {"command": "true"}),
        (
            "edit_file",
            {"filename": "f", "old_str": "a", "new_str": "b"},
            {"path": "f", "old_string": "a", "new_string": "b"},
        ),
        (
            "grep",
            {"query": "x", "-i": True, "include": "*.py"},
            {"pattern": "x", "ignore_case": True, "glob": "*.py"},
        ),
        ("read_file", {"path": "f", "file_path": "f"}, {"path": "f"}),
    ],
)
def test_names_of_arguments_that_models_are_used_to_are_taken(
    name: str, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert prepare(TOOLS[name], given) == meant


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("bash", {"command": "echo \ud83d"}),
        ("write_file", {"path": "f", "content": "x\udcff"}),
        ("edit_file", {"path": "f", "old_string": "a", "new_string": "\ud83d"}),
        ("grep", {"pattern": "\ud83d"}),
        ("read_file", {"path": "\ud83d"}),
        ("todo_write", {"todos": [{"content": "\ud83d", "status": "pending"}]}),
    ],
)
def test_half_a_character_reaches_no_tool(name: str, args: dict[str, Any]) -> None:
    """BUG-31: what cannot be encoded would spoil the log and every later request."""
    with pytest.raises(ToolError, match="holds half a character"):
        prepare(TOOLS[name], args)


@pytest.mark.parametrize("name", ["read_file", "edit_file", "grep"])
def test_a_nul_in_a_path_is_the_models_to_mend(name: str) -> None:
    """BUG-56: told as what it is, before the law is asked about a file that cannot be."""
    with pytest.raises(ToolError, match="'path' holds a NUL"):
        prepare(TOOLS[name], {"file_path": "a\0.txt"})


@pytest.mark.parametrize(("given", "meant"), [(5.0, 5), (1e3, 1000), (7, 7), (None, None)])
def test_a_whole_number_is_an_integer_however_it_is_written(given: float | None, meant: int | None) -> None:
    [*_, most] = prepare(count_lines, {"path": "f", "most": given}).values()
    assert most == meant
    assert not isinstance(most, float)


def test_a_schema_cannot_make_the_checker_fetch_anything() -> None:
    foreign = replace(count_lines, input_schema={"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(ToolError, match="schema of count_lines"):
        prepare(foreign, {})


def test_two_spellings_that_disagree_are_refused() -> None:
    with pytest.raises(ToolError, match="given twice"):
        prepare(TOOLS["read_file"], {"path": "f", "file_path": "g"})


def test_a_tools_own_name_wins_over_an_alias() -> None:
    @tool()
    async def mine(_ctx: ToolContext, query: str, file_path: str) -> str:
        """Take names that are aliases elsewhere."""
        return query + file_path

    assert prepare(mine, {"query": "a", "file_path": "b"}) == {"query": "a", "file_path": "b"}


def test_a_tool_may_have_aliases_of_its_own() -> None:
    @tool(aliases={"prompt": "description"}, description="given")
    async def mine(_ctx: ToolContext, description: str) -> Output:
        return Output(description)

    assert mine.description == "given"
    assert prepare(mine, {"prompt": "x"}) == {"description": "x"}


def test_what_cannot_be_a_tool_is_refused_where_it_is_made() -> None:
    def plain(_ctx: ToolContext) -> str:
        return "x"

    async def untyped(_ctx: ToolContext, *paths: str) -> str:
        return str(paths)

    async def odd(_ctx: ToolContext, path: Path) -> str:
        return str(path)

    with pytest.raises(TypeError, match="plain: a tool is an async function"):
        tool()(cast("Any", plain))
    with pytest.raises(TypeError, match="untyped: parameter 'paths' needs a type"):
        tool()(untyped)
    with pytest.raises(TypeError, match=r"odd: path: .* has no JSON form"):
        tool()(odd)


def test_text_is_short_for_an_output() -> None:
    assert output_of("x") == Output("x")
    assert output_of(Output("x", {"a": 1}, is_error=True)).is_error


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_is_described_beside_its_file(name: str) -> None:
    known = TOOLS[name]
    assert known.name == name
    assert (
        known.description == files("decurion.agents.tools").joinpath(f"{name}.md").read_text("utf-8").strip()
    )
    assert all("description" in part for part in known.input_schema["properties"].values())


def test_what_only_reads_may_run_side_by_side() -> None:
    assert sorted(name for name, known in TOOLS.items() if known.read_only) == [
        "glob",
        "grep",
        "load_skill",
        "read_file",
    ]


@pytest.mark.parametrize(
    ("schema", "args", "sure"),
    [
        ({"a": {"type": "string", "description": "A text"}}, {"a": "x"}, True),
        ({"a": {"type": "string"}}, {}, False),
        ({"a": {"type": "string"}}, {"a": "x", "b": 1}, False),
        ({"a": {"type": "integer"}}, {"a": True}, False),
        ({"a": {"type": "number"}}, {"a": 1}, True),
        ({"a": {"type": "integer"}}, {"a": 5.0}, False),
        ({"a": {"type": "integer", "minimum": 1}}, {"a": 5}, False),
        ({"a": {"type": ["string", "null"]}}, {"a": "x"}, False),
        ({"a": {"type": "array", "items": {"type": "string"}}}, {"a": ["x"]}, False),
        ({"a": True}, {"a": 1}, False),
    ],
)  # fmt: skip
def test_only_plain_types_are_taken_without_the_checker(
    schema: dict[str, Any], args: dict[str, Any], *, sure: bool
) -> None:
    """What is not surely right goes to jsonschema, which says what is wrong with it, if anything."""
    whole = {"type": "object", "properties": schema, "required": ["a"], "additionalProperties": False}
    assert surely_fits(whole, args) is sure
    assert not surely_fits({**whole, "minProperties": 2}, args)

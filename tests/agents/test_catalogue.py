"""Agent definitions: found in all their places, read generously, refused aloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.agents.catalogue import MAX_TURNS, load_catalogue, parse_definition
from decurion.hooks import ConfigError


def write(folder: Path, name: str, text: str) -> Path:
    """Write one definition file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


def definition(name: str, extra: str = "", body: str = "Work.") -> str:
    return f"---\nname: {name}\ndescription: does {name}\n{extra}---\n{body}\n"


def test_the_agents_that_ship_are_usable_as_they_are(tmp_path: Path) -> None:
    found = load_catalogue(tmp_path)
    assert {"general", "explorer", "refactorer", "tester", "reviewer", "lead"} <= set(found.found)
    assert found.found["explorer"].tools == ("read_file", "glob", "grep")
    assert "lead" not in [one.name for one in found.subagents()]
    assert found.refused == ()


def test_the_nearest_place_wins_and_the_others_are_named(tmp_path: Path) -> None:
    user = tmp_path / "user"
    for folder in (".agents/agents", ".claude/agents", ".decurion/agents"):
        write(tmp_path / folder, "x", definition("x", body=folder))
    write(user, "x", definition("x", body="user"))
    found = load_catalogue(tmp_path, user_folders=[user])
    assert found.found["x"].prompt == ".decurion/agents"
    assert [one.prompt for one in found.shadowed if one.name == "x"] == [
        ".claude/agents",
        ".agents/agents",
        "user",
    ]


def test_definitions_given_as_json_beat_every_file(tmp_path: Path) -> None:
    write(tmp_path / ".claude/agents", "x", definition("x"))
    found = load_catalogue(
        tmp_path, given='{"x": {"description": "d", "prompt": "given", "tools": ["Read"]}}'
    )
    assert (found.found["x"].prompt, found.found["x"].tools) == ("given", ("read_file",))


@pytest.mark.parametrize("given", ["{", "[]", '{"x": 1}', "{}"])
def test_json_that_is_no_object_of_definitions_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(ConfigError, match="--agents"):
        load_catalogue(tmp_path, given=given)


@pytest.mark.parametrize(
    ("extra", "tools"),
    [
        ("", ("bash", "read_file", "write_file", "edit_file", "glob", "grep")),
        ("tools: Read, Grep\n", ("read_file", "grep")),
        ("tools:\n  - Bash(git log:*)\n  - Edit\n", ("bash", "edit_file")),
        ('tools: "*"\ndisallowedTools: Bash, Write\n', ("read_file", "edit_file", "glob", "grep")),
        ("permissionMode: plan\n", ("read_file", "glob", "grep")),
        ("tools: todo_write, load_skill, read_file\n", ("todo_write", "load_skill", "read_file")),
        ("tools: []\n", ()),
    ],
)
def test_tools_are_read_in_every_common_form(extra: str, tools: tuple[str, ...]) -> None:
    assert parse_definition(definition("x", extra), "x.md").tools == tools


def test_task_is_never_among_the_tools_and_unknown_ones_are_said() -> None:
    one = parse_definition(definition("x", "tools: Task, Agent, task, WebFetch, Read\n"), "x.md")
    assert one.tools == ("read_file",)
    assert any("never gets `task`" in note for note in one.notes)
    assert any("WebFetch" in note for note in one.notes)


def test_a_pattern_that_narrows_a_tool_is_not_passed_over_in_silence() -> None:
    one = parse_definition(definition("x", "tools: Bash(git log:*), Read\n"), "x.md")
    assert one.tools == ("bash", "read_file")
    [note] = one.notes
    assert note.startswith("`Bash(git log:*)` gives all of `bash`")


@pytest.mark.parametrize("key", ["maxTurns", "max_turns"])
def test_the_turn_cap_can_be_lowered_and_never_raised(key: str) -> None:
    assert parse_definition(definition("x", f"{key}: 7\n"), "x.md").max_turns == 7
    assert parse_definition(definition("x", f"{key}: 700\n"), "x.md").max_turns == MAX_TURNS


def test_unknown_keys_are_kept_and_a_byte_order_mark_is_no_obstacle() -> None:
    one = parse_definition("\ufeff" + definition("x", "color: red\nmemory: user\n"), "x.md")
    assert one.extra == {"color": "red", "memory": "user"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no front matter", "begin with"),
        ("---\nname: x\n", "never closed"),
        ("---\nname: [x\n---\n", "line"),
        ("---\n- x\n---\n", "key: value"),
        ("---\ndescription: d\n---\n", "name"),
        ("---\nname: a/b\ndescription: d\n---\n", "name"),
        ("---\nname: x\n---\nbody", "description"),
        (definition("x", "maxTurns: many\n"), "maxTurns"),
        (definition("x", "maxTurns: true\n"), "maxTurns"),
        (definition("x", "isolation: container\n"), "isolation"),
        (definition("x", "tools: 7\n"), "tools"),
        (definition("x", "effort: huge\n"), "effort"),
        (definition("x", "thinking: 100\n"), "1,024"),
        (definition("x", "hooks: 7\n"), "hooks"),
        (definition("lead"), "user folder"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path / ".claude/agents", "broken", text)
    write(tmp_path / ".claude/agents", "fine", definition("fine"))
    found = load_catalogue(tmp_path)
    assert "fine" in found.found
    [refusal] = found.refused
    assert refusal.path == str(path)
    assert reason in refusal.reason


def test_binary_and_unreadable_files_are_refused_not_raised(tmp_path: Path) -> None:
    folder = tmp_path / ".agents/agents"
    folder.mkdir(parents=True)
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    (folder / "huge.md").write_bytes(b"x" * (1 << 20) + b"x")
    (folder / "gone.md").symlink_to(folder / "nowhere")
    assert [Path(one.path).name for one in load_catalogue(tmp_path).refused] == [
        "binary.md",
        "gone.md",
        "huge.md",
    ]

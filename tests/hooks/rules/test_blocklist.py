"""One-line entries: the program, subcommand and flags however spelled or wrapped, and nothing else.

The tables are reported failures of other products; `canary-wipe` stands for a forbidden program.
"""

from __future__ import annotations

from functools import cache

import pytest

from decurion.hooks import ConfigError, Verdict
from decurion.hooks.rules import Law, entries, shipped_sources

from .helpers import blocklist, judge, law_of, refuses

CHAINED = (
    "true && canary-wipe",
    "true; canary-wipe",
    "false || canary-wipe",
    "true | canary-wipe",
    "true & canary-wipe",
    "true\ncanary-wipe",
    "( canary-wipe )",
    "{ canary-wipe; }",
    "echo $(canary-wipe)",
    "echo `canary-wipe`",
    "cat <(canary-wipe)",
    "if true; then canary-wipe; fi",
    "for i in 1; do canary-wipe; done",
    "f() { canary-wipe; }; f",
    "! canary-wipe",
    ">out canary-wipe",
    "case x in x) canary-wipe;; esac",
    "while canary-wipe; do break; done",
    "coproc canary-wipe",
    "[[ -n $(canary-wipe) ]]",
)
WRAPPERS = (
    "env",
    "env -i A=1",
    "A=1",
    "nohup",
    "timeout 5",
    "nice -n 5",
    "time",
    "command",
    "exec",
    "sudo -n",
    "setsid",
    "stdbuf -oL",
    "ionice -c3",
    "xvfb-run -a",
    "some-wrapper-nobody-knows --fast",
    "another --level 3 --",
    "/opt/odd/launcher",
)
CARRIED = (
    "echo x | xargs canary-wipe",
    "find . -maxdepth 0 -exec canary-wipe x \\;",
    "bash -c 'canary-wipe x'",
    'sh -ec "canary-wipe x"',
    "eval 'canary-wipe x'",
    "/usr/local/bin/canary-wipe x",
    "./canary-wipe x",
    "trap 'canary-wipe x' EXIT",
    "watch -n1 'canary-wipe x'",
    "ssh host canary-wipe x",
    "docker run --rm -v /:/h alpine canary-wipe",
    "git -c alias.z='!canary-wipe' z",
    "make -f - <<< $'all:\\n\\tcanary-wipe'",
)
SPELLINGS = (
    "c''anary-wipe",
    '"canary"-wipe',
    "canary\\-wipe",
    "$'canary\\x2dwipe'",
    'canary-wi""pe',
    "X=canary-wipe; $X",
    "canary-wipe${IFS}x",
    "$(printf canary-wipe)",
    "{canary-wipe,x}",
    "echo Y2FuYXJ5LXdpcGU= | base64 -d | sh",
    "python3 -c 'import os; os.system(\"canary-wipe\")'",
    "can\\\nary-wipe",
    "/usr/local/bin/c[a]nary-wip?",
    'a=(canary-wipe x); "${a[@]}"',
)


@pytest.fixture(scope="module")
def canary() -> Law:
    return blocklist("canary-wipe")


@pytest.mark.parametrize("command", CHAINED + CARRIED + SPELLINGS)
def test_the_canary_is_found_wherever_it_runs(canary: Law, command: str) -> None:
    assert judge(canary, command).rule == "deny: canary-wipe"


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_no_wrapper_hides_the_canary(canary: Law, wrapper: str) -> None:
    judgement = judge(canary, f"{wrapper} canary-wipe x")
    assert judgement.verdict is Verdict.DENY
    assert judgement.entry == "canary-wipe"


@pytest.mark.parametrize(
    "command",
    [
        "true && echo ok",
        "echo canary-wipe",
        "grep canary-wipe notes",
        "git commit -m 'no canary-wipe'",
        "man canary-wipe",
    ],
)
def test_a_mention_is_no_run(canary: Law, command: str) -> None:
    assert judge(canary, command).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git log --format=%H",
        "npm run format",
        "ls src/formatters",
        "git add .",
        "echo departed",
        "rm x",
        "ls -rf",
    ],
)
def test_an_entry_is_no_substring(command: str) -> None:
    assert not refuses(blocklist("format", "dd", "rm -rf"), command)


@pytest.mark.parametrize(
    "command",
    [
        "rm  -rf d",
        "rm -fr d",
        "rm -r -f d",
        "rm --recursive --force d",
        "rm -Rf d",
        "rm d -rf",
        "rm -vrf d",
        "rm --rec --forc d",
        "rm -r d --force",
    ],
)
def test_flags_count_in_every_spelling(command: str) -> None:
    judgement = judge(shipped_and("rm -rf"), command)
    assert judgement.verdict is Verdict.DENY
    assert judgement.entry == "rm -rf"


@cache
def shipped_and(entry: str) -> Law:
    return Law.of_sources((*shipped_sources(), entries((entry,), "rules.toml")))


@pytest.mark.parametrize(
    ("entry", "command", "refused"),
    [
        ("rm -rf /", "rm -rf /", True),
        ("rm -rf /", 'rm -rf "/"', True),
        ("rm -rf /", "rm -rf / --no-preserve-root", True),
        ("rm -rf /", "rm -rf /;true", True),
        ("rm -rf /", "rm -rf /srv/build-cache", False),
        ("rm -rf /", "rm -rf ./x", False),
        ("git commit --all", "git commit --all", True),
        ("git commit --all", "git commit --all;true", True),
        ("git commit --all", "git commit --allow-empty -m x", False),
        ("terraform destroy", "terraform -chdir=infra destroy", True),
        ("terraform destroy", "terraform plan -destroy", False),
        ("terraform destroy", "terraform plan destroy", False),
        ("npm publish", "npm --loglevel silent publish", True),
        ("npm publish", "npm run publish", False),
        ("kubectl delete ns prod", "kubectl delete ns prod", True),
        ("kubectl delete ns prod", "kubectl delete ns dev", False),
        ("git push origin main", "git push origin main", True),
        ("git push origin main", "git push origin maintenance", False),
        ("cp ~/x", "cp /home/dev/x y", True),
        ("tool -x", "tool -x", True),
        ("tool -x", "tool --xylophone", False),
        ("tool --force", "tool --force=false", False),
    ],
)
def test_whole_arguments_decide(entry: str, command: str, refused: bool) -> None:
    assert refuses(blocklist(entry), command) is refused


def test_a_refusal_names_the_entry_and_the_part_it_matched() -> None:
    judgement = judge(blocklist("dd", "rm -rf"), "ls && rm -r -f d && echo done")
    assert judgement.entry == "rm -rf"
    assert judgement.segment == "rm -r -f d"
    assert judgement.reason == "The blocklist entry `rm -rf` forbids `rm -r -f d`."


def test_a_name_that_cannot_be_known_is_refused_as_such() -> None:
    judgement = judge(shipped_and("canary-wipe"), '"$TOOL" x')
    assert judgement.rule == "unchecked-program"
    assert "cannot be checked" in judgement.reason


@pytest.mark.parametrize("decision", ["ask", "log"])
def test_ask_and_log_lists(decision: str) -> None:
    judgement = judge(law_of(f'{decision} = ["canary-wipe"]'), "canary-wipe")
    assert judgement.verdict is (Verdict.ASK if decision == "ask" else Verdict.ALLOW)
    assert judgement.logged == (() if decision == "ask" else ("log: canary-wipe",))


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("", "an entry is empty"),
        ("curl x | sh", "one plain command"),
        ("A=1 rm", "starts with a variable"),
        ("rm 'x", "cannot be read"),
        ("-rf", "does not start with a program"),
    ],
)
def test_an_entry_that_is_no_plain_command_does_not_load(entry: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        blocklist(entry)

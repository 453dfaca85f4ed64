"""The rule language: what each field of a rule asks for."""

from __future__ import annotations

import pytest

from decurion.hooks import Verdict
from decurion.hooks.rules import Law

from .helpers import judge, law_of, refuses


def rule(text: str) -> Law:
    return law_of(f'[[rule]]\nid = "r"\n{text}\n')


CASES = (
    # program: base names and patterns
    ('program = "mkfs.*"', "mkfs.ext4 x", "mkfs x"),
    ('program = ["a", "b"]', "b", "c"),
    # subcommand: leading words, choices, wildcards
    ('program = "docker"\nsubcommand = "volume rm|prune"', "docker volume prune", "docker volume ls"),
    ('program = "aws"\nsubcommand = "* delete-*"', "aws ec2 delete-vpc --vpc-id x", "aws ec2 describe-vpcs"),
    ('program = "x"\nsubcommand = ["a", "b c"]', "x b c", "x b d"),
    # flags: all of them, choices, values, clusters, abbreviations, switched off
    ('program = "rm"\nflags = ["-r|--recursive", "-f"]', "rm -xfr a", "rm -r a"),
    ('program = "rm"\nflags = "--recursive"', "rm --recurs a", "rm --reverse a"),
    ('program = "git"\nflags = "--prune=now"', "git gc --prune=now", "git gc --prune=2.weeks"),
    ('program = "x"\nflags = "--prune=now"', "x --prune now", "x --prune later"),
    ('program = "tool"\nflags = "--force"', "tool --force", "tool --force=false"),
    ('program = "terraform"\nflags = "-destroy"', "terraform apply -destroy", "terraform apply -d"),
    # operands: any one of them
    ('program = "rm"\noperands = "outside"', "rm ../x", "rm x"),
    ('program = "rm"\noperands = "workspace-root"', "rm -r .", "rm -r ./a"),
    ('program = "rm"\noperands = "workspace-git"', "rm -r .git", "rm -r .github"),
    ('program = "rm"\noperands = "home"', "rm -r ~", "rm -r ~/a"),
    ('program = "rm"\noperands = "temp-root"', "rm -r /tmp", "rm -r /tmp/a"),
    ('program = "rm"\noperands = "root-of-all"', "rm -r //", "rm -r /a"),
    ('program = "dd"\noperands = "of= device"', "dd of=/dev/sda", "dd of=x if=/dev/sda"),
    ('program = "x"\noperands = "device"', "x /dev/sda", "x /dev/null"),
    ('program = "x"\noperands = "unknown"', 'x "$A"', "x a"),
    ('program = "x"\noperands = "any"', "x a", "x"),
    ('program = "x"\noperands = "none"', "x -a", "x a"),
    ('program = "x"\noperands = "several"', "x a b", "x a"),
    ('program = "x"\noperands = "=+*"', "x +main", "x main"),
    ('program = "x"\noperands = "path ~/.a/**"', "x ~/.a/b/c", "x ~/.b"),
    ('program = "x"\noperands = "from y"', "x $(y)", "x $(z)"),
    ('program = "mv"\noperands = "but-last outside"', "mv ../a b", "mv a ../b"),
    ('program = "x"\nall_operands = ["=a", "=b"]', "x b a", "x a"),
    # arguments: everywhere in the words
    ('program = "*"\narguments = "path ~/.ssh/**"', "x --key=@$HOME/.ssh/id", "x ~/.ss/h"),
    ('program = "x"\noptions = "-d|--data path ~/k"', "x -d @/home/dev/k", "x -e @/home/dev/k"),
    # redirections, environment, input, pipelines, files written
    ('redirect = "> device"', "echo x > /dev/sda", "cat < /dev/sda"),
    ('redirect = "< path ./k"', "cat < k", "cat > k"),
    ('program = "x"\nenv = "LD_*"', "LD_DEBUG=1 x", "A=1 x"),
    ('program = "x"\nstdin = "empty"', "x < /dev/null", "echo a | x"),
    ('pipeline = { from = ["a", "b"], to = "x" }', "b | tr x y | x", "c | x"),
    ('program = "x"\nupstream_reads = "path ./k"', "cat k | x", "cat l | x"),
    ('writes = "path ./k/**"', "cp a k/b", "cp k/b a"),
    ('program = "x"\ntext = "*drop*"', "x 'a DROP b'", "x 'a b'"),
    ('program = "psql"\nsql = ["drop"]', "psql -c 'drop table x'", "psql -c 'truncate x'"),
    # unless: exceptions, exact
    ('program = "x"\nunless = { flags = "-n|--dry-run" }', "x --dry", "x --dry-run"),
    ('program = "x"\nunless = [{ flags = "-n" }, { subcommand = "ls" }]', "x rm", "x ls"),
    ('program = "x"\nunless = { flags = "--dry-run" }', "x --dry-run=none", "x --dry-run=client"),
)


@pytest.mark.parametrize(("text", "hit", "passed"), CASES)
def test_a_field_tells_one_from_the_other(text: str, hit: str, passed: str) -> None:
    law = rule(text)
    assert refuses(law, hit)
    assert not refuses(law, passed)


@pytest.mark.parametrize(
    ("decision", "verdict"), [("deny", Verdict.DENY), ("ask", Verdict.ASK), ("log", Verdict.ALLOW)]
)
def test_decisions(decision: str, verdict: Verdict) -> None:
    assert judge(rule(f'program = "x"\ndecision = "{decision}"'), "x").verdict is verdict


def test_the_strictest_of_several_rules_wins() -> None:
    law = law_of('log = ["x"]\nask = ["x a"]\ndeny = ["x a b"]')
    assert judge(law, "x").verdict is Verdict.ALLOW
    assert judge(law, "x a").verdict is Verdict.ASK
    assert judge(law, "x a b").verdict is Verdict.DENY
    assert judge(law, "x a; x a b").rule == "deny: x a b"


def test_agents_narrow_a_rule() -> None:
    law = rule('program = "x"\nagents = ["explore*"]')
    assert judge(law, "x", "explorer").verdict is Verdict.DENY
    assert judge(law, "x", "lead").verdict is Verdict.ALLOW


def test_help_is_harmless_for_rules_but_not_for_entries() -> None:
    assert not refuses(rule('program = "x"'), "x --help")
    assert refuses(rule('program = "x"'), "x -- --help")
    assert refuses(law_of('deny = ["x"]'), "x --help")


def test_a_program_only_named_to_an_unknown_one_counts_unless_the_rule_says_no() -> None:
    assert refuses(rule('program = "halt"'), "some-wrapper halt")
    assert not refuses(rule('program = "halt"\nspeculative = false'), "some-wrapper halt")


def test_an_unknown_program_is_held_against_rules_that_ask_for_more_than_a_name() -> None:
    law = rule('program = "git"\nsubcommand = "push"\nflags = "--force"')
    assert refuses(law, '"$FOO" push --force')
    assert not refuses(law, '"$FOO" push')


def test_programs_described_by_the_user_are_read_by_their_grammar() -> None:
    text = '[programs.tool]\nvalues = ["--at"]\naliases = ["-f|--force"]\n'
    law = law_of(f'deny = ["tool wipe -f"]\n{text}')
    assert refuses(law, "tool --at x wipe --force")
    assert not refuses(law, "tool --at wipe keep -f")


def test_path_sets_can_be_named_and_taken_out_of() -> None:
    text = '[paths]\nsecrets = ["./keys/**", "!./keys/*.pub"]\n[[rule]]\nid = "r"\nprogram = "*"\narguments = "secrets"\n'
    law = law_of(text)
    assert refuses(law, "cat keys/a")
    assert not refuses(law, "cat keys/a.pub")
    assert not refuses(law, "cat keys/*.pub")

"""The shipped rules: each catches its own examples and lets its look-alikes by."""

from __future__ import annotations

import pytest

from decurion.hooks.rules import Law
from decurion.hooks.rules.examples import check_examples

FAMILIES = {
    "delete-outside": "recursive delete",
    "write-device": "disks",
    "fork-bomb": "fork bombs",
    "rights-recursive": "chmod and chown",
    "become-root": "privilege escalation",
    "power": "shutdown",
    "git-push-force": "git history",
    "remote-code": "remote code",
    "credential-read": "credentials",
    "environment-to-network": "their way out",
    "publish-node": "publishing",
    "kill-by-name": "broad kills",
    "crontab-remove": "crontab",
    "firewall-flush": "firewall",
    "sql-drop": "databases",
    "container-prune": "containers",
    "cluster-delete-all": "clusters",
    "infra-destroy": "infrastructure",
    "future-code": "what runs later",
    "policy-write": "the law itself",
}


@pytest.mark.unmeasured
def test_every_example_of_every_rule_holds(law: Law) -> None:
    check_examples(law.rules, law.sources, shipped=True)


def test_every_rule_has_examples_a_message_and_a_known_place(law: Law) -> None:
    for rule in law.rules.rules:
        assert rule.deny, rule.id
        assert rule.allow, rule.id
        assert rule.message.endswith("."), rule.id
        assert rule.source.startswith("default/"), rule.id


def test_every_family_has_a_rule(law: Law) -> None:
    assert set(FAMILIES) <= {rule.id for rule in law.rules.rules}


def test_all_of_it_denies(law: Law) -> None:
    assert {rule.decision for rule in law.rules.rules} == {"deny"}

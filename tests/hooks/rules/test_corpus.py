"""The corpus of bypass attempts and harmless look-alikes; judged, never executed."""

from __future__ import annotations

import pytest

from decurion.hooks import Verdict
from decurion.hooks.rules import JUDGE_FAILED, Law

from .conftest import Row, corpus
from .helpers import judge

FALSE_ALARMS = 2
"""How many harmless rows may be refused or asked about."""


def _shown(rows: list[Row]) -> str:
    return "\n".join(f"{row.rule}/{row.technique}: {row.cmd}" for row in rows)


def test_every_bypass_is_refused(law: Law) -> None:
    missed = [row for row in corpus() if row.should == "deny" and judge(law, row.cmd).verdict < Verdict.DENY]
    assert not missed, _shown(missed)


def test_look_alikes_pass(law: Law) -> None:
    alarms = [
        row for row in corpus() if row.should == "allow" and judge(law, row.cmd).verdict > Verdict.ALLOW
    ]
    assert len(alarms) <= FALSE_ALARMS, _shown(alarms)


def test_the_judge_itself_never_breaks(law: Law) -> None:
    assert not [row.cmd for row in corpus() if judge(law, row.cmd).rule == JUDGE_FAILED]


@pytest.mark.unmeasured
def test_every_refusal_says_what_matched_and_what_to_do(law: Law) -> None:
    for row in corpus():
        judgement = judge(law, row.cmd)
        if judgement.verdict >= Verdict.ASK:
            assert judgement.rule
            assert 1 <= len(judgement.reason.splitlines()) <= 2
            assert judgement.segment.strip()


@pytest.mark.unmeasured
def test_the_same_text_gets_the_same_verdict() -> None:
    one, other = Law.load(cache=False), Law.load(cache=False)
    for row in corpus()[::7]:
        first, second = judge(one, row.cmd), judge(other, row.cmd)
        assert (first.verdict, first.rule, first.segment) == (second.verdict, second.rule, second.segment)


@pytest.mark.parametrize(
    "text", ["\x00", "rm -rf /\x00", "rm -rf \udcff", "(" * 1_048_576, "echo 'open", "if true"]
)
def test_text_that_cannot_be_read_is_refused(law: Law, text: str) -> None:
    judgement = judge(law, text)
    assert judgement.verdict is Verdict.DENY
    assert judgement.reason[0].isupper()
    assert not judgement.reason.startswith("Refused")  # whoever refuses says so, once
    assert judgement.micros < 1_000_000

"""What must be true of a log beyond its chain: calls and agents pair up, and what a crash broke off is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.hooks.audit import verify

from .samples import LEAD, call, child, open_log


def test_a_call_without_its_done_is_named_once_the_session_has_ended(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "planned", tool_name="bash", tool_use_id="t1")
        assert verify(log.path).open_calls == 1
        assert verify(log.path).ok
        log.write(LEAD, "session_end", status="completed")
        assert [(p.kind, p.seq) for p in verify(log.path).problems] == [("unpaired", 1)]


def test_a_crash_marked_by_a_resume_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with open_log(path) as log:
        log.write(LEAD, "session_start", source="startup")
        log.write(LEAD, "planned", tool_name="bash", tool_use_id="t1")
    with open_log(path) as log:
        log.write(LEAD, "session_start", source="resume")
        call(log, LEAD, "t2", "true")
        log.write(LEAD, "session_end", status="completed")
    report = verify(str(path))
    assert (report.ok, report.interrupted) == (True, 1)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([("done", "t1")], "call t1 is done but was not planned"),
        ([("planned", "t1"), ("planned", "t1"), ("done", "t1")], "call t1 is planned twice"),
        ([("planned", "t1"), ("done", "t1"), ("done", "t1")], "call t1 is done but was not planned"),
    ],
)
def test_calls_pair_up(tmp_path: Path, events: list[tuple[str, str]], message: str) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        for event, name in events:
            log.write(LEAD, event, tool_use_id=name)
        assert [problem.message for problem in verify(log.path).problems] == [message]


def test_the_same_call_id_in_two_agents_is_two_calls(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(child(1), "planned", tool_use_id="t1")
        call(log, child(2), "t1", "true")
        log.write(child(1), "done", tool_use_id="t1")
        assert verify(log.path).ok


def test_agents_start_before_they_act_and_end(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "session_start", source="startup")
        log.write(child(1), "agent_start")
        call(log, child(2), "t1", "true")
        log.write(LEAD, "session_end", status="completed")
        found = [problem.message for problem in verify(log.path).problems]
    assert found == ["agent agent-1 started but has no end", "agent agent-2 acts but did not start"]


def test_a_log_of_another_product_need_not_name_the_starts_of_its_agents(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        call(log, child(1), "t1", "true")
        assert verify(log.path).ok


def test_an_agent_that_a_resume_goes_on_with_may_end_without_a_new_start(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "session_start", source="startup")
        log.write(child(1), "agent_start")
        log.write(LEAD, "session_start", source="resume")
        log.write(child(1), "agent_end", status="completed")
        log.write(child(2), "agent_end", status="completed")
        log.write(LEAD, "session_end", reason="completed")
        found = [problem.message for problem in verify(log.path).problems]
    assert found == ["agent agent-2 ends but did not start"]

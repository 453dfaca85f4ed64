"""BUG-67: tokens and cost are the sum over all accepted replies of all agents, each once, the four classes apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decurion.agents.model import Usage
from decurion.agents.money import Price, Prices
from decurion.hooks import RunRef
from decurion.orchestrator.audit.select import parse_line
from decurion.orchestrator.audit.summary import Summarizer, Summary
from tests.hooks.audit.samples import LEAD, child, open_log

PRICES = Prices({"m-1": Price(3.0, 15.0, 3.75, 0.30), "m-2": Price(1.0, 5.0, 1.25, 0.10)})


def reply(log: Any, ref: RunRef, name: str, usage: Usage, model: str = "m-1") -> None:
    log.write(
        ref, "model_request", id=name, model=model, stop_reason="tool_use", seconds=1.0,
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
    )  # fmt: skip


def sum_up(path: Path) -> Summary:
    summarizer = Summarizer(path, PRICES)
    for line in path.read_bytes().splitlines():
        record = parse_line(line)
        assert record is not None
        summarizer.add(record)
    return summarizer.summary


def test_all_agents_and_all_four_classes_count(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        reply(log, LEAD, "msg_1", Usage(3, 81, 109_075, 0))
        reply(log, child(1), "msg_2", Usage(10, 20, 0, 109_075))
        reply(log, child(2), "msg_3", Usage(7, 9, 100, 200), model="m-2")
    summary = sum_up(tmp_path / "audit.jsonl")
    assert summary.agents["lead"].tokens == {
        "input_tokens": 3, "output_tokens": 81, "cache_creation_input_tokens": 109_075, "cache_read_input_tokens": 0,
    }  # fmt: skip
    assert summary.tokens == 3 + 81 + 109_075 + 10 + 20 + 109_075 + 7 + 9 + 100 + 200
    expected = (
        3 * 3 + 81 * 15 + 109_075 * 3.75 + 10 * 3 + 20 * 15 + 109_075 * 0.3 + 7 + 9 * 5 + 125 + 20
    ) / 1e6
    assert summary.cost == pytest.approx(expected)


def test_a_reply_counts_once_however_often_it_was_recorded(tmp_path: Path) -> None:
    """A turn repeated after a broken stream, and a session that went on, write no old reply again; if they did, it counts once."""
    with open_log(tmp_path / "audit.jsonl") as log:
        reply(log, LEAD, "msg_1", Usage(1, 1))
        log.write(LEAD, "retry", reason="stream ended early")
        reply(log, LEAD, "msg_2", Usage(10, 10))
        log.write(LEAD, "session_start", source="resume")
        reply(log, LEAD, "msg_2", Usage(10, 10))
    assert sum_up(tmp_path / "audit.jsonl").tokens == 22


def test_an_unknown_price_is_unknown_and_not_zero(tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        reply(log, LEAD, "msg_1", Usage(1, 1))
        reply(log, child(1), "msg_2", Usage(1, 1), model="my-own-model")
    summary = sum_up(tmp_path / "audit.jsonl")
    assert summary.cost is None
    assert summary.agents["agent-1"].cost is None
    assert summary.agents["lead"].cost == pytest.approx(18 / 1e6)

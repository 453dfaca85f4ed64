"""What a person sees: the board's bookkeeping, the drawn tree, plain lines, JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

from rich.console import Console

from decurion.agents.model import Reply, Usage
from decurion.agents.moments import (
    AgentFinished,
    AgentStarted,
    CallChanged,
    Moment,
    Notice,
    Replied,
    ResultsReady,
    TextArrived,
    TodosChanged,
    TurnStarted,
    Waiting,
)
from decurion.agents.result import DeniedCall, SubagentResult
from decurion.agents.tools import TodoItem
from decurion.hooks import RunRef, ToolCall, ToolResult, replace
from decurion.orchestrator.session import Finished
from decurion.orchestrator.views import Board, PlainLines, StreamJson, result_message
from decurion.orchestrator.views.asking import question
from decurion.orchestrator.views.tree import Size, draw

LEAD = RunRef("s", "lead", "lead", turn=1)
CHILD = RunRef("s", "tester-1", "tester", "lead", 1, 4, "toolu_1")
REPLY = Reply("msg_1", "m", ({"type": "text", "text": "hi"},), "tool_use", Usage(10, 5), {})
BASH = ToolCall("c1", "bash", {"command": "pytest -q\nsecond line"})


def moments() -> Iterator[Moment]:
    """Give a session in short, up to its middle."""
    yield AgentStarted(LEAD, "do it all", None, "m")
    yield TurnStarted(LEAD)
    yield TextArrived(LEAD, "I will delegate")
    yield TodosChanged(
        LEAD,
        (
            TodoItem("look", "completed", "1"),
            TodoItem("delegate", "in_progress", "2", "Delegating"),
            TodoItem("report", "pending", "3"),
        ),
    )
    yield AgentStarted(CHILD, "run the tests", 30, "m")
    yield TurnStarted(CHILD)
    yield Replied(CHILD, REPLY, Usage(12_000, 345))
    yield CallChanged(CHILD, BASH, "started")
    yield CallChanged(CHILD, ToolCall("c2", "bash", {"command": "sudo x"}), "refused")


def board(*more: Moment) -> Board:
    """Give the board after the session in short, and what is added."""
    made = Board()
    for moment in (*moments(), *more):
        made.apply(moment)
    return made


def drawn(made: Board, width: int = 120, height: int = 40) -> str:
    """Draw a board as text."""
    console = Console(width=width, color_system=None, record=True, file=StringIO())
    console.print(draw(made, Size(width, height)))
    return console.export_text()


def test_the_tree_shows_each_agents_state_turn_tool_and_tokens() -> None:
    text = drawn(board())
    child = next(line for line in text.splitlines() if "tester-1" in line)
    assert "run the tests" in child
    assert "turn 4/30" in child
    assert "12.3k tokens" in child
    assert "1 refused" in child
    assert "bash pytest -q second line" in child


def test_a_narrow_screen_cuts_texts_and_never_the_mark() -> None:
    made = board(AgentFinished(CHILD, SubagentResult("tester-1", "tester", "completed", "ok", turns=4)))
    made.agents["tester-1"].ref = replace(CHILD, agent_id="refactorer-247790e8b5")
    made.agents["tester-1"].title = "a title that is long enough to fill it"
    assert all("✓" in drawn(made, width) for width in (80, 60, 40))


def test_the_leads_list_is_drawn_with_marks_and_the_active_form() -> None:
    lines = drawn(board()).splitlines()
    assert "[x] look" in lines
    assert "[>] delegate <- Delegating" in lines
    assert "[ ] report" in lines


def test_a_finished_agent_shows_its_status_and_a_waiting_one_why() -> None:
    result = SubagentResult("tester-1", "tester", "max_turns", "half", turns=30)
    assert "max_turns" in drawn(board(AgentFinished(CHILD, result)))
    assert "overloaded, 3 s" in drawn(board(Waiting(CHILD, 3.0, "overloaded")))


def test_hundreds_of_agents_fold_what_is_over_and_keep_what_is_at_work() -> None:
    made = board()
    for number in range(300):
        ref = replace(CHILD, agent_id=f"worker-{number:03}")
        made.apply(AgentStarted(ref, "t", 30, "m"))
        if number != 150:
            made.apply(AgentFinished(ref, SubagentResult(ref.agent_id, "w", "completed", "ok")))
    text = drawn(made)
    assert "worker-150" in text
    assert "more that are done" in text
    assert len(text.splitlines()) < 40


def test_a_small_screen_keeps_the_plan_and_those_at_work_in_sight() -> None:
    items = [TodoItem(f"step {n}", "completed" if n < 8 else "pending", str(n)) for n in range(20)]
    made = board(TodosChanged(LEAD, tuple(items)))
    for number in range(60):
        ref = replace(CHILD, agent_id=f"worker-{number:03}")
        made.apply(AgentStarted(ref, "t", 30, "m"))
        made.apply(AgentFinished(ref, SubagentResult(ref.agent_id, "w", "completed", "ok")))
    lines = drawn(made, 80, 24).splitlines()
    assert len(lines) < 24
    assert any("tester-1" in line and "1 refused, bash pytest -q" in line for line in lines)
    assert "[x] 8 completed" in lines
    assert "[ ] step 8" in lines
    assert any(line.endswith("and 2 more") for line in lines)


def test_calls_side_by_side_are_counted() -> None:
    more = (CallChanged(LEAD, ToolCall(f"t{n}", "task", {"title": f"part {n}"}), "started") for n in range(3))
    assert "3 at once: task part 0" in drawn(board(*more))


def test_columns_stand_below_each_other() -> None:
    lines = [line for line in drawn(board(), 80).splitlines() if "turn" in line]
    assert len(lines) == 2
    assert {len(line) for line in lines} == {80}


def test_what_a_model_wrote_moves_no_cursor() -> None:
    """Escape codes in a title, a command, a plan or an error are spelt out on the tree and in plain lines."""
    evil = "\x1b[2Jgone\u202e"
    told: list[str] = []
    more = (
        AgentStarted(replace(CHILD, agent_id="evil-1"), evil, 30, "m"),
        CallChanged(CHILD, ToolCall("c3", "bash", {"command": evil}), "refused"),
        TodosChanged(LEAD, (TodoItem(evil, "in_progress", "1", evil),)),
        ResultsReady(CHILD, (ToolResult("c", evil, is_error=True),), ()),
        TextArrived(LEAD, evil),
    )
    for moment in more:
        PlainLines(told.append)(moment)
    for text in (drawn(board(*more)), "".join(told)):
        assert "\\x1b[2Jgone\\u202e" in text
        assert not any(sign in text for sign in "\x1b\u202e")


def test_the_question_shows_the_whole_call_and_says_what_it_leaves_out() -> None:
    """Nobody can answer for the end of a command that they do not see."""
    command = "echo harmless " + "x" * 200 + " ; rm important\nline two\x1b[1A"
    shown = question(ToolCall("c", "bash", {"command": command, "description": "look"}))
    assert " ; rm important\n    line two\\x1b[1A" in shown
    assert "look" not in shown
    long = question(ToolCall("c", "write_file", {"path": "a", "content": "y" * 9_000}))
    assert '{"path":"a","content":"yyy' in long
    assert "characters are not shown" in long
    assert len(long) < 4_200


def test_a_moment_of_an_agent_nobody_announced_changes_nothing() -> None:
    made = Board()
    made.apply(TurnStarted(CHILD))
    assert made.agents == {}


def test_plain_lines_tell_what_matters_in_one_line_each() -> None:
    lines: list[str] = []
    listen = PlainLines(lines.append)
    failed = ResultsReady(
        CHILD, (ToolResult("c", "Refused: no\nmore", is_error=True), ToolResult("d", "fine")), ()
    )
    end = AgentFinished(
        CHILD, SubagentResult("tester-1", "tester", "completed", "All green.\nDetails", turns=4)
    )
    for moment in (*moments(), failed, end, Notice("careful"), Waiting(CHILD, 1.5, "429")):
        listen(moment)
    assert lines == [
        "plan:",
        "  [x] look",
        "  [>] delegate <- Delegating",
        "  [ ] report",
        "  (1/3 completed)",
        "[tester-1] started: run the tests (m)",
        "[tester-1] REFUSED bash sudo x",
        "[tester-1]   Refused: no",
        "[tester-1] completed after 4 turns: All green.",
        "careful",
        "[tester-1] waits 1.5 s: 429",
    ]


def test_stream_json_marks_a_subagents_messages_with_the_call_that_spawned_it() -> None:
    sent: list[dict[str, Any]] = []
    listen = StreamJson(lambda value: sent.append(dict(value)), "s")
    listen.init({"cwd": "/x"})
    results = ResultsReady(CHILD, (ToolResult("c1", "out"),), ("<reminder>r</reminder>",))
    for moment in (*moments(), results, Notice("n"), Waiting(CHILD, 2.0, "429")):
        listen(moment)
    kinds = [(one["type"], one.get("subtype")) for one in sent]
    assert kinds == [
        ("system", "init"),
        ("system", "task_started"),
        ("assistant", None),
        ("system", "permission_denied"),
        ("user", None),
        ("system", "notice"),
        ("system", "api_retry"),
    ]
    assert [one["parent_tool_use_id"] for one in sent if one["type"] in {"assistant", "user"}] == [
        "toolu_1"
    ] * 2
    assert [block["type"] for block in sent[4]["message"]["content"]] == ["tool_result", "text"]
    assert len({one["uuid"] for one in sent}) == len(sent)


def test_the_result_adds_up_all_agents_and_an_unknown_price_stays_unknown() -> None:
    lead = SubagentResult("lead", "lead", "completed", "done", turns=2, usage=Usage(1, 2, 3, 4), cost_usd=0.5)
    denied = DeniedCall("c", "bash", "sudo", "no")
    child = SubagentResult(
        "a", "t", "completed", "ok", usage=Usage(10, 20, 30, 40), cost_usd=0.25, denied=(denied,)
    )
    told = result_message(Finished("s", lead, (child,)), 1234)
    assert told["usage"] == {
        "input_tokens": 11,
        "output_tokens": 22,
        "cache_creation_input_tokens": 33,
        "cache_read_input_tokens": 44,
    }
    assert (told["total_cost_usd"], told["num_turns"], told["duration_ms"]) == (0.75, 2, 1234)
    assert told["permission_denials"] == [
        {"tool_name": "bash", "tool_use_id": "c", "rule": "sudo", "reason": "no"}
    ]
    unpriced = SubagentResult("b", "t", "completed", "ok")
    assert result_message(Finished("s", lead, (child, unpriced)), 0)["total_cost_usd"] is None

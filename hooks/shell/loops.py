"""Loops: over literals each value is tried in turn; where a count is unknown the body runs twice."""

from __future__ import annotations

from .arith import number
from .events import Value
from .expand import fields_of
from .machine import DONE, Frame, Machine, Outcome, State
from .tree import Call, CFor, Expr, For, Stmt, While
from .values import join

MAX_TURNS = 300
"""Turns of one loop that are followed one by one."""


def run_for(m: Machine, st: State, fr: Frame, command: For) -> Outcome:
    """`for x in …`: one turn for each word."""
    from .evaluator import run_stmts

    outs: list[Value] = []

    def turns(inside: State) -> Outcome:
        words = list(inside.positional) if command.items is None else fields_of(m, inside, fr, command.items)
        for item in words:
            inside.put(command.name, item)
            outs.append(run_stmts(m, inside, fr, command.body).out)
        if not words:
            run_stmts(m, inside.fork(), fr, command.body)
        return DONE

    m.worlds(st, turns)
    return Outcome(join(outs))


def run_cfor(m: Machine, st: State, fr: Frame, command: CFor) -> Outcome:
    """`for ((…))`: as many turns as the numbers say, or two."""
    from .evaluator import run_stmts

    init, cond, post = command.parts
    _number(m, st, fr, init)
    outs: list[Value] = []
    for turn in range(MAX_TURNS):
        holds = _number(m, st, fr, cond) if cond else None
        if holds == 0 or (holds is None and turn > 1):
            break
        outs.append(run_stmts(m, st, fr, command.body).out)
        _number(m, st, fr, post)
    if cond is None:
        _note_endless(m, st, fr, command.body)
    return Outcome(join(outs))


def _number(m: Machine, st: State, fr: Frame, expr: Expr | None) -> int | None:
    return number(m, st, fr, expr) if expr else None


def run_while(m: Machine, st: State, fr: Frame, command: While) -> Outcome:
    """`while` and `until`: as long as the condition's outcome is known (`read` from known text), else two turns."""
    from .evaluator import run_stmts

    outs: list[Value] = []
    before = st.fork()
    for turn in range(MAX_TURNS):
        unread = st.unread
        status = run_stmts(m, st, fr, command.cond).status
        if command.until and status is not None:
            status = not status
        if status is False and turn:
            break
        outs.append(run_stmts(m, st, fr, command.body).out)
        if turn and (st.unread is None or st.unread == unread):
            break
    if _always(command):
        _note_endless(m, st, fr, command.body)
    before.unread = st.unread
    st.merge(before)
    return Outcome(join(outs))


def _always(command: While) -> bool:
    word = _word(command.cond[-1]) if command.cond else ""
    return word in ({"false"} if command.until else {"true", ":", "1"})


def _word(stmt: Stmt) -> str:
    words = stmt.command.words if isinstance(stmt.command, Call) else ()
    return "".join(getattr(part, "text", "") for part in words[0]) if words else ""


def _note_endless(m: Machine, st: State, fr: Frame, body: tuple[Stmt, ...]) -> None:
    """An endless loop that only starts background jobs is a process bomb."""
    del st
    starts = any(stmt.background for stmt in body)
    waits = any(not stmt.background and _word(stmt) not in {":", "true", "echo"} for stmt in body)
    if starts and not waits and not m.fork_bomb:
        m.fork_bomb = fr.segment

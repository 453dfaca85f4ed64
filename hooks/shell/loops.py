"""Loops: over literals each value is tried in turn; where a count is unknown the body runs twice."""

from __future__ import annotations

from ..patterns import lazy
from .arith import number
from .events import Value
from .expand import fields_of
from .machine import DONE, MAX_STEPS, Frame, Machine, Outcome, Refused, State
from .options import values_of
from .rows import counted, is_number, to_try
from .tree import ArithCmd, Block, Call, CFor, Expr, For, Let, Stmt, While
from .values import join, unknown

MAX_TURNS = 40
"""Turns of one loop that are followed one by one; in those that follow, what changes counts as unknown."""


def run_for(m: Machine, st: State, fr: Frame, command: For) -> Outcome:
    """`for x in …`: one turn for each word; a word that may be several is taken for two, then for many."""
    from .evaluator import run_stmts

    outs: list[Value] = []

    def turns(inside: State) -> Outcome:
        words = list(inside.positional) if command.items is None else fields_of(m, inside, fr, command.items)
        tried = to_try(words, command.name)
        around, m.turns = m.turns, m.turns * max(len(tried), 1)
        if m.turns > MAX_STEPS:
            raise Refused("the loops inside one another turn too often to be judged")
        for item in tried:
            many = item.has_glob or any(hole.splits for hole in item.holes)
            before = inside.fork() if many else None
            inside.put(command.name, item)
            outs.append(run_stmts(m, inside, fr, command.body).out)
            if before is not None:
                _again(m, inside, fr, command.body, before, outs)
        m.turns = around
        if not words:
            run_stmts(m, inside.fork(), fr, command.body)
        return DONE

    m.worlds(st, turns)
    return Outcome(join(outs))


def _again(
    m: Machine, st: State, fr: Frame, body: tuple[Stmt, ...], before: State, outs: list[Value]
) -> None:
    """A loop whose turns cannot be counted: one more turn, then what still changes counts as unknown."""
    from .evaluator import run_stmts

    first = dict(st.vars)
    outs.append(run_stmts(m, st, fr, body).out)
    changed = [name for name, options in st.vars.items() if first.get(name) != options and name != "_"]
    for name in changed:
        if all(is_number(option) for option in st.vars[name]):
            st.vars[name] = (counted(name),)
            continue
        sources = tuple(
            event for option in st.vars[name] if isinstance(option, Value) for event in option.sources
        )
        st.vars[name] = (unknown(f"${name} after a loop", sources, variable=name),)
    if changed:
        outs.append(run_stmts(m, st, fr, body).out)
    st.merge(before)


def run_cfor(m: Machine, st: State, fr: Frame, command: CFor) -> Outcome:
    """`for ((…))`: as many turns as the numbers say, or until nothing new comes."""
    from .evaluator import run_stmts

    init, cond, post = command.parts
    _number(m, st, fr, init)
    outs: list[Value] = []
    before = st.fork()
    for turn in range(MAX_TURNS + 1):
        holds = _number(m, st, fr, cond) if cond and turn < MAX_TURNS else None
        if holds == 0:
            break
        outs.append(run_stmts(m, st, fr, command.body).out)
        _number(m, st, fr, post)
        if holds is None:
            _count_on(m, st, fr, post)
            _again(m, st, fr, command.body, before, outs)
            break
    if cond is None:
        _note_endless(m, st, fr, command.body)
    return Outcome(join(outs))


def _count_on(m: Machine, st: State, fr: Frame, post: Expr | None) -> None:
    """From here on the numbers that each turn changes may be any."""
    first = dict(st.vars)
    _number(m, st, fr, post)
    for name, options in list(st.vars.items()):
        if first.get(name) != options and all(is_number(option) for option in options):
            st.vars[name] = (counted(name),)


def _number(m: Machine, st: State, fr: Frame, expr: Expr | None) -> int | None:
    return number(m, st, fr, expr) if expr else None


def run_while(m: Machine, st: State, fr: Frame, command: While) -> Outcome:
    """`while` and `until`: as long as the condition is certain (numbers, `read` from known text), else as unknown."""
    from .evaluator import run_stmts

    outs: list[Value] = []
    before = st.fork()
    endless = _always(command)
    for turn in range(MAX_TURNS + 1):
        unread = st.unread
        status = run_stmts(m, st, fr, command.cond).status
        holds = not status if command.until and status is not None else status
        if holds is False and turn:
            break
        outs.append(run_stmts(m, st, fr, command.body).out)
        if turn == MAX_TURNS:
            _again(m, st, fr, command.cond + command.body, before, outs)
        elif holds is None or endless:
            known = st.unread is not None and st.unread != unread
            if not known:
                _again(m, st, fr, command.cond + command.body, before, outs)
                break
    if endless:
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
    if _leaves_running(body) and not m.fork_bomb:
        m.fork_bomb = fr.segment


_AT_ONCE = frozenset(": true echo printf let disown export set shift unset".split())
"""Programs that end at once, so that a loop goes on with the next turn."""


def _leaves_running(body: tuple[Stmt, ...]) -> bool:
    """Tell whether statements start something in the background and wait for nothing."""
    starts = False
    for stmt in body:
        command = stmt.command
        if stmt.background or (isinstance(command, Block) and _leaves_running(command.body)):
            starts = True
        elif isinstance(command, ArithCmd | Let) or (isinstance(command, Call) and not command.words):
            continue
        elif _word(stmt) not in _AT_ONCE:
            return False
    return starts


_LEFT_RUNNING = lazy(r"(?<![&>])&\s*$|(?<![&>])&\s*[;)}]")


def note_endless_input(m: Machine, fr: Frame, options: tuple[Value, ...], argv: list[Value]) -> None:
    """`yes | xargs -P0 …`: one process after the other, and nothing waits for them."""
    last = fr.stdin.upstream[-1] if fr.stdin.upstream else None
    if last is None or last.name != "yes":
        return
    many = any(
        value.text in {"0", "0%"}
        for value in (*values_of(options, "P", "max-procs"), *values_of(options, "j", "jobs"))
    )
    if many or any(_LEFT_RUNNING.search(value.text or "") for value in argv):
        m.fork_bomb = m.fork_bomb or fr.segment

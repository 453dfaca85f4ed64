"""Statements: what runs, in which folders, with which variables. Branches are followed on both sides.

Nothing is pruned by a condition: whatever stands in the text may run.
"""

from __future__ import annotations

from ..frozen import replace
from .code import run_code, run_shell, run_traps
from .conditions import compare
from .events import Hole, Stdin, Value, literal
from .expand import fields_of, pattern_of, value_of
from .globs import pattern_regex
from .loops import run_cfor, run_for, run_while
from .machine import DONE, MAX_DEPTH, Frame, Machine, Outcome, Refused, State
from .redirects import apply_redirects, record_output
from .simple import run_call, run_decl
from .state import Array
from .tree import (
    AndOr,
    ArithCmd,
    Block,
    Call,
    Case,
    CFor,
    Command,
    Coproc,
    Decl,
    Expr,
    For,
    Func,
    If,
    Let,
    Pipe,
    Stmt,
    Test,
    Timed,
    While,
)
from .values import EMPTY, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def run_body(m: Machine, st: State, fr: Frame, body: tuple[Stmt, ...]) -> Outcome:
    """Run a sub-shell's statements in its own state, then its traps: it takes over none."""
    st.traps = ()
    outcome = run_stmts(m, st, fr, body)
    return run_traps(m, st, fr, outcome)


def run_stmts(m: Machine, st: State, fr: Frame, stmts: tuple[Stmt, ...]) -> Outcome:
    """Run statements one after another; the output is all of theirs, the status the last one's."""
    if fr.depth > MAX_DEPTH:
        raise Refused("the command is nested too deeply to be judged")
    if len(stmts) == 1:
        return run_stmt(m, st, fr, stmts[0])
    outs: list[Value] = []
    status: bool | None = True
    for stmt in stmts:
        outcome = run_stmt(m, st, fr, stmt)
        outs.append(outcome.out)
        status = outcome.status
    return Outcome(join(outs), status)


def run_stmt(m: Machine, st: State, fr: Frame, stmt: Stmt) -> Outcome:
    """Run one statement with its redirections, in a forked state if in the background."""
    m.step()
    fr = fr.at(m.show(stmt.segment) or fr.segment)
    if stmt.background:
        inside = st.fork()
        fr = replace(fr, asynchronous=fr.asynchronous + 1)
        inside.traps = ()
        outcome = run_traps(m, inside, fr, _run_command(m, inside, fr, stmt))
        st.take_files(inside)
        return Outcome(outcome.out)
    outcome = _run_command(m, st, fr, stmt)
    if stmt.negated and outcome.status is not None:
        return Outcome(outcome.out, not outcome.status)
    return outcome


def _run_command(m: Machine, st: State, fr: Frame, stmt: Stmt) -> Outcome:
    command = stmt.command
    if command is None or isinstance(command, Call):
        return run_call(m, st, fr, stmt)
    if not stmt.redirects:
        return _RUN[type(command)](m, st, fr, command)
    unread, fds = st.unread, dict(st.fds)
    inner = apply_redirects(m, st, fr, stmt.redirects, keep=False)
    outcome = _RUN[type(command)](m, st, inner, command)
    st.unread, st.fds = unread, fds
    return record_output(m, st, inner, outcome, len(fr.redirects))


def _pipe(m: Machine, st: State, fr: Frame, command: Pipe) -> Outcome:
    stdin, outcome = fr.stdin, DONE
    start = len(m.trace)
    for index, stage in enumerate(command.stages):
        inside = st.fork()
        inside.unread = stdin.text if index else st.unread
        later = tuple(f"pipe:{_first_word(other)}" for other in command.stages[index + 1 :])
        inner = replace(
            fr,
            stdin=stdin,
            stdout_to=later + fr.stdout_to,
            asynchronous=fr.asynchronous + (len(command.stages) > 1),
        )
        outcome = run_stmt(m, inside, inner, stage)
        st.take_files(inside)
        st.traps = inside.traps
        stdin = Stdin("pipe", outcome.out, tuple(m.trace[start:]))
    return outcome


def _first_word(stmt: Stmt) -> str:
    words = stmt.command.words if isinstance(stmt.command, Call) else ()
    return "".join(getattr(part, "text", "?") for part in words[0]) if words else ""


def _and_or(m: Machine, st: State, fr: Frame, command: AndOr) -> Outcome:
    first = run_stmt(m, st, fr, command.left)
    if command.op == "&&":
        failed = st.fork()
        failed.cwds, failed.fallback = st.fallback or st.cwds, ()
        st.fallback = ()
        second = run_stmt(m, st, fr, command.right)
        if not failed.dead:
            mine = st.cwds
            st.merge(failed)
            # After `cd x && …` the shell is most likely in x; the other folder counts until the next `cd`.
            st.fallback = tuple(cwd for cwd in failed.cwds if cwd not in mine) + st.fallback
            st.cwds = mine
    else:
        other = st.fork()
        other.cwds, other.fallback = st.fallback or st.cwds, ()
        st.fallback = ()
        second = run_stmt(m, other, fr, command.right)
        st.merge(other)
    status = second.status if command.op == "&&" and first.status else None
    return Outcome(join((first.out, second.out)), status)


def _block(m: Machine, st: State, fr: Frame, command: Block) -> Outcome:
    if not command.subshell:
        return run_stmts(m, st, fr, command.body)
    inside = st.fork()
    outcome = run_body(m, inside, replace(fr, depth=fr.depth + 1), command.body)
    st.take_files(inside)
    st.unread = inside.unread
    return outcome


def _if(m: Machine, st: State, fr: Frame, command: If) -> Outcome:
    cond = run_stmts(m, st, fr, command.cond)
    other = st.fork()
    other.cwds, other.fallback, st.fallback = st.fallback or st.cwds, (), ()
    yes = run_stmts(m, st, fr, command.then)
    no = run_stmts(m, other, fr, command.other)
    st.merge(other)
    st.dead = st.dead and other.dead
    return Outcome(join((cond.out, yes.out, no.out)))


def _case(m: Machine, st: State, fr: Frame, command: Case) -> Outcome:
    value = value_of(m, st, fr, command.word)
    before = st.fork()
    outs: list[Value] = []
    certain = False
    for patterns, body in command.items:
        branch = before.fork()
        sure = any(_certainly(value, pattern_of(m, branch, fr, pattern)) for pattern in patterns)
        outs.append(run_stmts(m, branch, fr, body).out)
        if sure and not certain:
            certain = True
            for name in State.__slots__:
                setattr(st, name, getattr(branch, name))
        else:
            st.merge(branch)
    return Outcome(join(outs))


def _certainly(value: Value, pattern: Value) -> bool:
    import re

    source = pattern_regex(pattern, value.text)
    return (
        value.text is not None
        and source is not None
        and re.fullmatch(source, value.text, re.DOTALL) is not None
    )


def _func(m: Machine, st: State, fr: Frame, command: Func) -> Outcome:
    m.step()
    st.functions[command.name] = (command.body,)
    if command.name in {"command_not_found_handle", "command_not_found_handler"}:
        run_stmt(m, st.fork(), replace(fr, via=(*fr.via, command.name)), command.body)
    return Outcome(EMPTY, status=True)


def _arith(m: Machine, st: State, fr: Frame, command: ArithCmd) -> Outcome:
    from .arith import number

    result = number(m, st, fr, command.expr) if command.expr else None
    inner = command.source.strip("() \t\n")
    first = inner.partition(" ")[0]
    if " " in inner and first in m.guarded:
        # dash and ksh read `((rm -rf x))` as nested sub-shells.
        run_shell(m, st, fr, literal(inner))
    return Outcome(EMPTY, None if result is None else bool(result))


def _let(m: Machine, st: State, fr: Frame, command: Let) -> Outcome:
    from .arith import number

    for expr in command.exprs:
        number(m, st, fr, expr)
    return DONE


def _test(m: Machine, st: State, fr: Frame, command: Test) -> Outcome:
    return Outcome(EMPTY, _test_expr(m, st, fr, command.expr))


def _test_expr(m: Machine, st: State, fr: Frame, expr: Expr) -> bool | None:
    """Expand and evaluate everything, whatever the outcome; True or False where it is certain."""
    if expr.op in {"&&", "||", "!"}:
        found = [_test_expr(m, st, fr, arg) for arg in expr.args]
        if None in found:
            return None
        return not found[0] if expr.op == "!" else all(found) if expr.op == "&&" else any(found)
    if expr.op == "word":
        text = value_of(m, st, fr, expr.word).text
        return None if text is None else bool(text)
    values = [value_of(m, st, fr, arg.word) for arg in expr.args[:1]]
    right = expr.args[1] if len(expr.args) > 1 else None
    if right is not None and expr.op in {"=", "==", "!="}:
        pattern = pattern_of(m, st, fr, right.word)
        if pattern.has_glob or pattern.text is None:
            return None
        values.append(pattern)
    elif right is not None:
        values.append(value_of(m, st, fr, right.word))
    return compare(m, st, fr, expr.op, values)


def _timed(m: Machine, st: State, fr: Frame, command: Timed) -> Outcome:
    return run_stmt(m, st, replace(fr, via=(*fr.via, "time")), command.body) if command.body else DONE


def _coproc(m: Machine, st: State, fr: Frame, command: Coproc) -> Outcome:
    inside = st.fork()
    inner = replace(fr, via=(*fr.via, "coproc"), asynchronous=fr.asynchronous + 1)
    start = len(m.trace)
    inside.traps = ()
    outcome = run_traps(m, inside, inner, run_stmt(m, inside, inner, command.body))
    st.take_files(inside)
    out = Value((Hole("output of a coprocess", source=tuple(m.trace[start:])),))
    st.fds[63] = (None, Stdin("pipe", outcome.out if outcome.out.parts else out, tuple(m.trace[start:])))
    st.vars[command.name or "COPROC"] = (Array((("0", literal("63")), ("1", literal("60")))),)
    return DONE


_RUN: dict[type[Command], Callable[..., Outcome]] = {
    Pipe: _pipe,
    AndOr: _and_or,
    Block: _block,
    If: _if,
    Case: _case,
    Func: _func,
    ArithCmd: _arith,
    Let: _let,
    Test: _test,
    Timed: _timed,
    Coproc: _coproc,
    Decl: run_decl,
    For: run_for,
    CFor: run_cfor,
    While: run_while,
}


__all__ = ("fields_of", "run_body", "run_code", "run_stmt", "run_stmts", "run_traps")

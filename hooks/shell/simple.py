"""Simple commands and declarations: assignments, aliases, redirections, then the program."""

from __future__ import annotations

from ..frozen import frozen, replace
from . import quotes
from .arith import index_key, number, text_number
from .environment import assigned
from .events import ExecEvent, Glob, Hole, Value, literal
from .expand import fields_of, value_of
from .machine import DONE, Frame, Machine, Outcome, State
from .programs import make_event, run_argv
from .redirects import apply_redirects, record_output
from .state import Array, Unset
from .tree import Assign, Call, Decl, Expr, Stmt, Text
from .values import EMPTY, join, unknown


def run_call(m: Machine, st: State, fr: Frame, stmt: Stmt) -> Outcome:
    """Run a simple command, once for every combination of values its words may have."""
    call = stmt.command if isinstance(stmt.command, Call) else Call((), ())
    return m.worlds(st, lambda inside: _call(m, inside, fr, stmt, call))


def _call(m: Machine, st: State, fr: Frame, stmt: Stmt, call: Call) -> Outcome:
    start = len(m.trace)
    fields = fields_of(m, st, fr, call.words)
    if fields and not (stmt.redirects or call.assigns or st.aliases):
        outcome = run_argv(m, st, fr, fields)
        if m.processes:
            _finish_processes(m, outcome, start)
        return outcome
    aliased = _alias(m, st, call, fields)
    unread, fds = st.unread, dict(st.fds)
    keep = len(fields) == 1 and fields[0].text == "exec"
    inner = apply_redirects(m, st, fr, stmt.redirects, keep=keep)
    if aliased is not None:
        outcome = _run_alias(m, st, inner, aliased)
    elif fields:
        outcome = _with_env(m, st, inner, call, fields)
    else:
        outcome = _bare(m, st, inner, call, stmt)
    if not keep and not (fields and fields[0].text == "exec"):
        st.unread = unread if stmt.redirects else st.unread
        st.fds = {**st.fds, **fds} if stmt.redirects else st.fds
    _finish_processes(m, outcome, start)
    return record_output(m, st, inner, outcome, len(fr.redirects))


def _finish_processes(m: Machine, outcome: Outcome, start: int) -> None:
    pending, m.processes = m.processes, []
    for path, later in pending:
        touching = any(
            redirect.target.text == path for event in m.trace[start:] for redirect in event.redirects
        )
        if not touching:
            upstream = tuple(m.trace[start:])
            text = outcome.out if outcome.out.parts else unknown("what is written into >(…)", upstream)
            later(text, upstream)
        else:
            m.processes.append((path, later))


def _bare(m: Machine, st: State, fr: Frame, call: Call, stmt: Stmt) -> Outcome:
    start = len(m.trace)
    for item in call.assigns:
        assign(m, st, fr, item)
    if stmt.redirects:
        m.emit(make_event(m, st, fr, literal(":"), ":", []))
    status = True if len(m.trace) == start or stmt.redirects else None
    return Outcome(EMPTY, status)


def _with_env(m: Machine, st: State, fr: Frame, call: Call, fields: list[Value]) -> Outcome:
    if not call.assigns:
        return run_argv(m, st, fr, fields)
    saved = {item.name: st.vars.get(item.name) for item in call.assigns}
    before = st.env
    for item in call.assigns:
        assign(m, st, fr, item, exported=True)
    outcome = run_argv(m, st, fr, fields)
    st.env = before if st.env[: len(before)] == before else st.env
    for name, options in saved.items():
        if options is None:
            st.vars.pop(name, None)
        else:
            st.vars[name] = options
    return outcome


def assign(m: Machine, st: State, fr: Frame, item: Assign, *, exported: bool = False) -> None:
    """Carry out one assignment."""
    name = _target(st, item.name)
    if name in _SHELL_TABLES:
        _assign_table(m, st, fr, item, name)
        return
    if item.array is not None:
        st.vars[name] = (_array(m, st, fr, item, name),)
        return
    value = value_of(m, st, fr, item.value)
    if item.append:
        value = _appended(m, st, name, value)
    if item.index is not None or isinstance(st.vars.get(name, (None,))[0], Array):
        key = _key(m, st, fr, name, item.index)
        old = st.vars.get(name, (None,))[0]
        array = old if isinstance(old, Array) else Array((("0", old),) if isinstance(old, Value) else ())
        st.vars[name] = (array.with_item(key, value),)
        return
    if st.attributes.get(name) == "i":
        result = text_number(m, st, fr, value)
        value = unknown(f"${name}", digits=True) if result is None else literal(str(result))
    st.put(name, value)
    assigned(m, st, fr, name, value, exported=exported or name in st.exported)


_SHELL_TABLES = frozenset({"BASH_ALIASES", "BASH_CMDS"})
"""Arrays that are the shell's own tables of aliases and of `hash`: what is put there is as if it was declared."""


def _assign_table(m: Machine, st: State, fr: Frame, item: Assign, name: str) -> None:
    st.attributes[name] = "A"
    if item.array is not None:
        items = _array(m, st, fr, item, name).items
    else:
        items = ((_key(m, st, fr, name, item.index), value_of(m, st, fr, item.value)),)
    for key, value in items:
        if name == "BASH_ALIASES":
            st.aliases[key] = value
        else:
            st.hashed[key] = value.text or ""


def _target(st: State, name: str) -> str:
    attribute = st.attributes.get(name, "")
    return attribute[1:] if attribute.startswith("&") and attribute[1:] else name


def _key(m: Machine, st: State, fr: Frame, name: str, index: Expr | None) -> str:
    if index is None:
        return "0"
    if st.attributes.get(name) == "A" and index.op == "word":
        return value_of(m, st, fr, index.word).text or ""
    return index_key(m, st, fr, index)


def _appended(m: Machine, st: State, name: str, value: Value) -> Value:
    from .params import read

    old = read(m, st, name)
    if st.attributes.get(name) == "i":
        return unknown(f"${name}", digits=True)
    return value if isinstance(old, Unset) else join((old, value))


def _array(m: Machine, st: State, fr: Frame, item: Assign, name: str) -> Array:
    items: dict[str, Value] = {}
    old = st.vars.get(name, (None,))[0]
    if item.append and isinstance(old, Array):
        items.update(old.items)
    after = 1 + max((int(key) for key in items if key.isdigit()), default=-1)
    for index, word in item.array or ():
        if index is not None:
            key = _key(m, st, fr, name, index)
            items[key] = value_of(m, st, fr, word)
            after = int(key) + 1 if key.isdigit() else after
            continue
        for value in fields_of(m, st, fr, (word,)):
            items[str(after)] = value
            after += 1
    return Array(tuple(items.items()))


def run_decl(m: Machine, st: State, fr: Frame, command: Decl) -> Outcome:
    """`declare`, `export`, `local`, `readonly`, `typeset`: attributes and assignments."""
    return m.worlds(st, lambda inside: _declare(m, inside, fr, command))


def _declare(m: Machine, st: State, fr: Frame, command: Decl) -> Outcome:
    words: list[Value] = []
    for item in command.args:
        if item.naked:
            naked = (Text(item.name),) if item.name else item.value or ()
            words.extend(fields_of(m, st, fr, (naked,)))
        else:
            words.append(literal(item.name))
    flags = "".join((word.text or "")[1:] for word in words if (word.text or "").startswith("-"))
    m.emit(make_event(m, st, fr, literal(command.variant), command.variant, words))
    how = _how(command.variant, flags)
    for item in command.args:
        if not item.naked:
            _declare_one(m, st, fr, item, how)
    for word in words:
        _declare_naked(m, st, fr, word, how)
    return _listing(words, m.trace[-1])


def _listing(words: list[Value] | tuple[Value, ...], event: ExecEvent) -> Outcome:
    """`export -p` prints what there is; with names nothing is printed."""
    if all((word.text or "").startswith("-") for word in words):
        return Outcome(unknown(f"output of {event.name}", (event,)))
    return DONE


@frozen
class _How:
    """What a declare clause says of all its names."""

    flags: str
    local: bool
    exported: bool


def _how(variant: str, flags: str) -> _How:
    return _How(flags, variant == "local", variant == "export" or "x" in flags)


def _declare_naked(m: Machine, st: State, fr: Frame, word: Value, how: _How) -> None:
    """`export NAME`, `declare "$x"`, `export "$name=value"`: names and assignments that are words."""
    text = m.hide(word)
    name, equals, rest = text.partition("=")
    if text.startswith("-"):
        return
    if "[" in name:
        text_number(m, st, fr, m.value(name.partition("[")[2].rstrip("]+")))
        return
    if not name.rstrip("+").isidentifier():
        return
    if not equals:
        _declare_name(st, name, how)
        return
    value = (Text(rest, quoted=True),)
    item = Assign(name.rstrip("+"), value, append=name.endswith("+"))
    _declare_one(m, st, fr, item, how)


def _declare_name(st: State, name: str, how: _How) -> None:
    if "f" in how.flags:
        st.exported |= frozenset({f"{name}()"} if how.exported else ())
        return
    if how.local and st.locals is not None:
        st.locals.setdefault(name, st.vars.get(name))
        st.vars.setdefault(name, (EMPTY,))
    _set_attributes(st, name, how.flags)
    if how.exported:
        st.exported |= {name}
        options = st.vars.get(name, ())
        if options and isinstance(options[0], Value):
            st.env = (*st.env, (name, options[0]))


def _declare_one(m: Machine, st: State, fr: Frame, item: Assign, how: _How) -> None:
    if how.local and st.locals is not None:
        st.locals.setdefault(item.name, st.vars.get(item.name))
    if "n" in how.flags and item.value is not None:
        target = value_of(m, st, fr, item.value)
        st.attributes[item.name] = "&" + (target.text or "")
        text_number(m, st, fr, target) if "[" in (target.text or "") else None
        return
    _set_attributes(st, item.name, how.flags)
    if how.exported:
        st.exported |= {item.name}
    assign(m, st, fr, item, exported=how.exported)


def _set_attributes(st: State, name: str, flags: str) -> None:
    for flag in "iulA":
        if flag in flags:
            st.attributes[name] = flag
    if ("a" in flags or "A" in flags) and name not in st.vars:
        st.vars[name] = (Array(),)


def _alias(m: Machine, st: State, call: Call, fields: list[Value]) -> tuple[str, Value, list[Value]] | None:
    if not call.words or not st.aliases or len(call.words[0]) != 1 or call.assigns:
        return None
    first = call.words[0][0]
    if not isinstance(first, Text) or first.quoted or first.text not in st.aliases:
        return None
    del m
    return first.text, st.aliases[first.text], fields[1:]


def _run_alias(m: Machine, st: State, fr: Frame, aliased: tuple[str, Value, list[Value]]) -> Outcome:
    """Read the alias's text with the other words behind it. The name itself may also run: aliases can be off."""
    from .code import run_code

    name, text, rest = aliased
    known = st.aliases
    st.aliases = {key: value for key, value in known.items() if key != name}
    if name in m.guarded:
        run_argv(m, st.fork(), fr, [literal(name), *rest])
    code = join((text, *(requoted(value) for value in rest)), " ")
    outcome = run_code(m, st, replace(fr, via=(*fr.via, f"alias {name}")), code)
    st.aliases = {**known, **st.aliases}
    return outcome


def requoted(value: Value) -> Value:
    """A word as code that reads back as that word."""
    if not value.parts:
        return literal("''")
    return Value(
        tuple(
            quotes.quote(part) if isinstance(part, str) else part.pattern if isinstance(part, Glob) else part
            for part in value.parts
        )
    )


__all__ = ("Hole", "assign", "number", "requoted", "run_call", "run_decl")


def declare_words(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`declare` and its kin with words that were expanded first."""
    words, name = event.argv, event.name or ""
    flags = "".join((word.text or "")[1:] for word in words if (word.text or "").startswith("-"))
    how = _how(name, flags)
    for word in words:
        _declare_naked(m, st, fr, word, how)
    return _listing(words, event)

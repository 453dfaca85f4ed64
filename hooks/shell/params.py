"""Parameter expansion with all of bash's operators (bash manual, "Shell Parameter Expansion")."""

from __future__ import annotations

from ..frozen import replace
from . import quotes
from .arith import index_key, number
from .events import Hole, Value, literal
from .expand import atoms_from, atoms_of, pattern_of, value_of
from .lookup import field_separators, lookup
from .machine import Frame, Machine, State
from .state import UNSET, Array, Unset
from .texts import CASES, change_case, replace_text, slice_text, trim_text
from .tree import Expr, Param, Text
from .values import EMPTY, blur, join, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .expand import Atom
    from .tree import Word

MANY = frozenset({"@", "*"})


def expand_param(m: Machine, st: State, fr: Frame, param: Param) -> list[Atom]:
    """The atoms of one `$x` or `${x…}`."""
    if param.flag == "length":
        return atoms_from(_length(m, st, fr, param), quoted=param.quoted)
    if param.flag == "names":
        return atoms_from(
            join([literal(name) for name in sorted(st.vars) if name.startswith(param.name)], " "),
            quoted=False,
        )
    which = _index(m, st, fr, param)
    if param.name in MANY or which in MANY:
        return _many(m, st, fr, param, which or param.name)
    found = _indirect(m, st, param, which) if param.flag == "indirect" else read(m, st, param.name, which)
    if param.op in {"-", ":-", "=", ":=", "+", ":+", "?", ":?"}:
        return _default(m, st, fr, param, found)
    value = EMPTY if isinstance(found, Unset) else found
    return atoms_from(operate(m, st, fr, param, value), quoted=param.quoted)


def _index(m: Machine, st: State, fr: Frame, param: Param) -> str | None:
    if param.index is None:
        return None
    if param.index.op == "word":
        value = value_of(m, st, fr, param.index.word)
        if value.text in MANY:
            return value.text
    return index_key(m, st, fr, param.index)


def read(m: Machine, st: State, name: str, key: str | None = None) -> Value | Unset:
    """The value of a variable, positional or special parameter."""
    special = _special(st, name)
    if special is not None:
        return special
    attribute = st.attributes.get(name, "")
    if attribute.startswith("&") and attribute[1:] != name:
        target, _, index = attribute[1:].partition("[")
        return read(m, st, target, index.rstrip("]") or key)
    found = lookup(m, st, name)
    if isinstance(found, Array):
        wanted = key if key is not None else "0"
        return found.get(wanted) if wanted else _any_item(m, found)
    return found if isinstance(found, (Value, Unset)) else EMPTY


def _any_item(m: Machine, array: Array) -> Value:
    options = tuple(value for _key, value in array.items) or (EMPTY,)
    return m.pick(("item", options), options)


def _special(st: State, name: str) -> Value | Unset | None:
    if name.isdigit():
        number_ = int(name)
        if not number_:
            return st.script
        return st.positional[number_ - 1] if number_ <= len(st.positional) else UNSET
    if name == "#":
        return literal(str(len(st.positional)))
    if name in {"?", "$", "!"}:
        return unknown(f"${name}", variable=name, digits=True)
    return literal("hB") if name == "-" else None


def _indirect(m: Machine, st: State, param: Param, key: str | None) -> Value | Unset:
    if param.name in st.attributes and st.attributes[param.name].startswith("&"):
        return literal(st.attributes[param.name][1:])
    value = read(m, st, param.name, key)
    name = value.text if isinstance(value, Value) else None
    if not name:
        return unknown(f"${{!{param.name}}}")
    target, _, index = name.partition("[")
    return read(m, st, target, index.rstrip("]") or None)


def _many(m: Machine, st: State, fr: Frame, param: Param, which: str) -> list[Atom]:
    values = elements(m, st, param)
    if param.flag == "indirect":
        values = _keys(m, st, param.name)
    elif param.op == ":":
        values = _slice_list(m, st, fr, param, values)
    elif param.op in {"-", ":-", "+", ":+"}:
        chosen = (param.op in {"-", ":-"}) == (not values)
        if param.op in {"+", ":+"} or chosen:
            return atoms_of(m, st, fr, param.word if isinstance(param.word, tuple) else ()) if chosen else []
    elif param.op:
        values = [operate(m, st, fr, param, value) for value in values]
    if param.quoted and which == "*":
        ifs = field_separators(m, st)
        return atoms_from(join(values, ifs[:1]), quoted=True)
    atoms: list[Atom] = []
    for index, value in enumerate(values):
        if index:
            atoms.append(None)
        atoms.extend(atoms_from(value, quoted=param.quoted))
    return atoms


def elements(m: Machine, st: State, param: Param) -> list[Value]:
    """The list behind `$@`, `$*`, `${a[@]}`."""
    if param.name in MANY:
        return list(st.positional)
    name = param.name
    while st.attributes.get(name, "").startswith("&") and st.attributes[name][1:] != name:
        name = st.attributes[name][1:]
    found = lookup(m, st, name)
    if isinstance(found, Array):
        return [value for _key, value in found.items]
    return [found] if isinstance(found, Value) and found.parts else []


def _keys(m: Machine, st: State, name: str) -> list[Value]:
    found = lookup(m, st, name)
    return [literal(key) for key, _value in found.items] if isinstance(found, Array) else [literal("0")]


def _slice_list(m: Machine, st: State, fr: Frame, param: Param, values: list[Value]) -> list[Value]:
    start = _number(m, st, fr, param.word)
    length = _number(m, st, fr, param.word2)
    if start is None:
        return values
    if param.name in MANY:
        values = [st.script, *values] if not start else values
        start = max(start - 1, 0) if start > 0 else start
    stop = len(values) if length is None else start + length
    return values[start:stop]


def _number(m: Machine, st: State, fr: Frame, expr: object) -> int | None:
    return number(m, st, fr, expr) if isinstance(expr, Expr) else None


def _length(m: Machine, st: State, fr: Frame, param: Param) -> Value:
    if param.name in MANY or (param.index is not None and _index(m, st, fr, param) in MANY):
        return literal(str(len(elements(m, st, param))))
    found = read(m, st, param.name, _index(m, st, fr, param))
    text = found.text if isinstance(found, Value) else ""
    return unknown(f"${{#{param.name}}}", digits=True) if text is None else literal(str(len(text)))


def _default(m: Machine, st: State, fr: Frame, param: Param, found: Value | Unset) -> list[Atom]:
    """The operators that look at whether a variable is set. What is unknown may be either."""
    value = found if isinstance(found, Value) else None
    word = param.word if isinstance(param.word, tuple) else ()
    if value is not None and value.text is None and all(isinstance(part, Hole) for part in value.parts):
        states = (True, False)
        key = ("set", param.name, param.op, value)
        if m.crowded(key, 2):
            atoms_of(m, st, fr, word)  # what runs inside must be seen all the same
            return atoms_from(_with_fallback(value, word), quoted=param.quoted)
        is_set = m.pick(key, states)
    else:
        is_set = value is not None and (value.text != "" or not param.op.startswith(":"))
    kind = param.op[-1]
    if kind == "+":
        return (
            _as_quoted(atoms_of(m, st, fr, word), param) if is_set else atoms_from(EMPTY, quoted=param.quoted)
        )
    if kind == "?":
        return atoms_from(_filled(value) if value else unknown(f"${param.name}"), quoted=param.quoted)
    if is_set and value is not None:
        return atoms_from(_with_fallback(value, word), quoted=param.quoted)
    if kind == "=":
        st.put(param.name, value_of(m, st, fr, word))
    return _as_quoted(atoms_of(m, st, fr, word), param)


def _with_fallback(value: Value, word: Word) -> Value:
    hole = value.parts[0] if len(value.parts) == 1 else None
    default = word[0] if len(word) == 1 else None
    if isinstance(hole, Hole) and hole.variable and isinstance(default, Text):
        return Value((replace(hole, fallback=default.text),))
    return value


def _as_quoted(atoms: list[Atom], param: Param) -> list[Atom]:
    if param.quoted:
        return [atom and (atom[0], True, False) for atom in atoms]
    # The word of an unquoted expansion is split like its result; quoted pieces in it are not.
    return [atom and (atom[0], atom[1], not atom[1]) for atom in atoms]


def _filled(value: Value) -> Value:
    return Value(
        tuple(
            Hole(part.why, part.variable, part.source, part.splits, part.digits, filled=True)
            if isinstance(part, Hole)
            else part
            for part in value.parts
        )
    )


def _trimmed(value: Value, op: str, pattern: Value) -> Value:
    if op == "##" and pattern.show() == "*/" and value.has_glob and not value.holes:
        return value.base()  # the names that a pattern matches, without their folder
    return trim_text(value, op, pattern)


def operate(m: Machine, st: State, fr: Frame, param: Param, value: Value) -> Value:
    """Apply an operator to one value."""
    op = param.op
    if not op:
        return value
    if op in {"#", "##", "%", "%%"}:
        return _trimmed(value, op, pattern_of(m, st, fr, _word(param)))
    if op in {"/", "//"}:
        with_ = value_of(m, st, fr, param.word2 if isinstance(param.word2, tuple) else ())
        return replace_text(value, op, pattern_of(m, st, fr, _word(param)), with_)
    if op == ":":
        length = _number(m, st, fr, param.word2)
        return slice_text(value, _number(m, st, fr, param.word), length, has_length=param.word2 is not None)
    if op in CASES:
        return change_case(value, op)
    return _transform(m, st, fr, value, value_of(m, st, fr, _word(param)).text or "")


def _word(param: Param) -> Word:
    return param.word if isinstance(param.word, tuple) else ()


def _transform(m: Machine, st: State, fr: Frame, value: Value, kind: str) -> Value:
    if kind == "P":
        from .code import expand_text

        return expand_text(m, st, fr, value)
    if value.text is None:
        return value if kind in {"Q", "E", "K", "k"} else blur(value, "a transformed text")
    changes: dict[str, Callable[[str], str]] = {
        "E": quotes.ansi,
        "Q": quotes.quote,
        "U": str.upper,
        "L": str.lower,
        "u": CASES["^"],
    }
    change = changes.get(kind)
    return literal(change(value.text)) if change else blur(value, "a transformed text")

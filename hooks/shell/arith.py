"""Arithmetic, as far as it is needed: small integers, and the code that an array index can carry.

bash evaluates the *text* of a variable again: `x='a[$(cmd)]'; ((x))` runs cmd. So does `let`, `[[ -eq ]]`, an array
index, `test -v`, `printf -v`.
"""

from __future__ import annotations

import re

from ..patterns import lazy
from .events import Value, literal
from .machine import Frame, Machine, State
from .rows import counted
from .state import Unset
from .tree import Expr, Param
from .values import unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 1 << 62


def number_value(m: Machine, st: State, fr: Frame, expr: Expr | None) -> Value:
    """The result as a word: digits, known or not."""
    result = number(m, st, fr, expr) if expr else 0
    if result is not None:
        return literal(str(result))
    return unknown("a number", digits=True) if expr is None or expr.op == "word" else counted("")


def number(m: Machine, st: State, fr: Frame, expr: Expr) -> int | None:
    """Evaluate; None where unknown. Everything inside is expanded, so nothing that runs is missed."""
    m.step()
    if expr.op == "word":
        return _word(m, st, fr, expr)
    if expr.op in _ASSIGN or expr.op.startswith(("++", "--")):
        return _assign(m, st, fr, expr)
    if expr.op == "?" and len(expr.args) == 2 and expr.args[1].op == ":":
        return _choose(m, st, fr, expr)
    args = [number(m, st, fr, arg) for arg in expr.args]
    return _apply(expr.op, args)


def _choose(m: Machine, st: State, fr: Frame, expr: Expr) -> int | None:
    condition = number(m, st, fr, expr.args[0])
    results = [number(m, st, fr, arg) for arg in expr.args[1].args]
    return None if condition is None else results[0 if condition else 1]


def _apply(op: str, args: list[int | None]) -> int | None:
    known = [arg for arg in args if arg is not None]
    if len(known) != len(args):
        return None
    try:
        result = _UNARY[op](known[0]) if len(known) == 1 else _BINARY[op](known[0], known[1])
    except (ArithmeticError, ValueError, LookupError):
        return None
    return result if abs(result) < _LIMIT else None


_UNARY: dict[str, Callable[[int], int]] = {
    "-": lambda x: -x,
    "+": lambda x: x,
    "!": lambda x: int(not x),
    "~": lambda x: ~x,
}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: int(x / y) if abs(x) < 1 << 50 else x // y,
    "%": lambda x, y: x - y * int(x / y),
    "**": lambda x, y: x**y if 0 <= y < 64 and abs(x) < 1000 else 0,
    "<<": lambda x, y: x << y if 0 <= y < 63 else 0,
    ">>": lambda x, y: x >> y if 0 <= y < 63 else 0,
    "<": lambda x, y: int(x < y),
    ">": lambda x, y: int(x > y),
    "<=": lambda x, y: int(x <= y),
    ">=": lambda x, y: int(x >= y),
    "==": lambda x, y: int(x == y),
    "!=": lambda x, y: int(x != y),
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "&&": lambda x, y: int(bool(x and y)),
    "||": lambda x, y: int(bool(x or y)),
    ",": lambda _x, y: y,
}
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


def _assign(m: Machine, st: State, fr: Frame, expr: Expr) -> int | None:
    name = _name(expr.args[0])
    if name is None:
        for arg in expr.args:
            number(m, st, fr, arg)
        return None
    old = number(m, st, fr, expr.args[0]) if expr.op != "=" else 0
    if len(expr.args) > 1:
        new = number(m, st, fr, expr.args[1])
        result = new if expr.op == "=" else _apply(expr.op[:-1], [old, new])
    else:
        result = _apply(expr.op[0], [old, 1])
    if result is not None:
        st.put(name, literal(str(result)))
    else:
        st.put(name, unknown(f"${name}", digits=True) if expr.op == "=" else counted(name))
    return old if expr.op.endswith("post") else result


def _name(expr: Expr) -> str | None:
    from .tree import Text

    if expr.op != "word" or len(expr.word) != 1:
        return None
    part = expr.word[0]
    return part.text if isinstance(part, Text) and part.text.isidentifier() else None


def _word(m: Machine, st: State, fr: Frame, expr: Expr) -> int | None:
    if len(expr.word) == 1 and isinstance(expr.word[0], Param) and expr.word[0].index is not None:
        index_key(m, st, fr, expr.word[0].index)
    from .expand import value_of

    return text_number(m, st, fr, value_of(m, st, fr, expr.word))


_NUMBER = lazy(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+#\w+|\d+)")


def text_number(m: Machine, st: State, fr: Frame, value: Value, depth: int = 0) -> int | None:
    """Evaluate a text as arithmetic does: a number, a variable's name, or an index that runs code."""
    text = value.text
    if text is None:
        return None
    text = text.strip()
    if not text:
        return 0
    if _NUMBER.fullmatch(text):
        return parse_number(text)
    if "$" in text or "`" in text:
        from .code import expand_text

        expand_text(m, st, fr, value)
        return None
    name = re.match(r"[A-Za-z_]\w*", text)
    if name and depth < 8:
        from .params import read

        held = read(m, st, name[0])
        result = 0 if isinstance(held, Unset) else text_number(m, st, fr, held, depth + 1)
        return result if name[0] == text else None
    return None


def parse_number(text: str) -> int | None:
    """Read a number as bash writes it: decimal, octal, hexadecimal, `base#digits`; None if it is none."""
    sign = -1 if text.startswith("-") else 1
    body = text.lstrip("+-")
    try:
        if "#" in body:
            base, _, digits = body.partition("#")
            return sign * int(digits, int(base))
        if body[:2].lower() == "0x":
            return sign * int(body, 16)
        return sign * int(body, 8 if body.startswith("0") and len(body) > 1 else 10)
    except ValueError:
        return None


def index_key(m: Machine, st: State, fr: Frame, expr: Expr) -> str:
    """The key of an array element: the number if it is one, else the text; empty where unknown."""
    from .expand import value_of

    if expr.op == "word":
        value = value_of(m, st, fr, expr.word)
        result = text_number(m, st, fr, value)
        text = value.text
        if text is None:
            return ""
        named = text.isidentifier() and text not in st.vars
        return text if result is None or named else str(result)
    result = number(m, st, fr, expr)
    return "" if result is None else str(result)

"""Numbers of Python source: what operators make of them, and loops whose turns no number counts."""

from __future__ import annotations

import ast

from ..values import unknown


def number(op: ast.operator, left: int, right: int) -> object:
    """What an operator makes of two numbers."""
    table = {
        ast.Sub: lambda: left - right,
        ast.Mult: lambda: left * right if abs(left) + abs(right) < 1 << 40 else None,
        ast.BitXor: lambda: left ^ right,
        ast.Mod: lambda: left % right if right else None,
        ast.FloorDiv: lambda: left // right if right else None,
    }
    compute = next((found for kind, found in table.items() if isinstance(op, kind)), None)
    return compute() if compute else unknown("a Python number", digits=True)


def endless(node: ast.expr) -> bool:
    """Tell whether a loop over this never ends: `iter(int, 1)`, `itertools.count()`, `cycle`, `repeat(x)`."""
    if not isinstance(node, ast.Call):
        return False
    name = _name(node)
    given = len(node.args) + len(node.keywords)
    return name in {"count", "cycle"} or (name == "iter" and given == 2) or (name == "repeat" and given == 1)


_STARTERS = frozenset(
    "Popen fork forkpty start create_subprocess_exec create_subprocess_shell posix_spawn spawn".split()
)
_PAUSES = frozenset(
    "sleep wait waitpid wait3 wait4 accept join communicate recv recvfrom get input read readline select poll acquire"
    " run call check_call check_output result gather pause sigwait serve_forever listen".split()
)
"""Methods that a loop of a server or a supervisor stands still in."""


def stands_still(node: ast.AST) -> bool:
    """Tell whether a loop waits for something in each turn, or may be left."""
    for one in ast.walk(node):
        if isinstance(one, (ast.Break, ast.Return, ast.Raise, ast.Await, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(one, ast.Call) and _name(one) in _PAUSES:
            return True
    return False


def starts_processes(node: ast.AST) -> bool:
    """Tell whether something is started here that nobody waits for."""
    return any(
        isinstance(one, ast.Call) and (_name(one) in _STARTERS or _in_background(one))
        for one in ast.walk(node)
    )


def _in_background(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    text = first.value if isinstance(first, ast.Constant) else None
    return _name(call) in {"system", "popen"} and isinstance(text, str) and text.rstrip().endswith("&")


def _name(call: ast.Call) -> str:
    called = call.func
    return (
        called.attr
        if isinstance(called, ast.Attribute)
        else called.id
        if isinstance(called, ast.Name)
        else ""
    )

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
    called = node.func
    name = (
        called.attr
        if isinstance(called, ast.Attribute)
        else called.id
        if isinstance(called, ast.Name)
        else ""
    )
    given = len(node.args) + len(node.keywords)
    return name in {"count", "cycle"} or (name == "iter" and given == 2) or (name == "repeat" and given == 1)

"""Python expressions to texts, lists, module references and paths, as far as constants reach."""

from __future__ import annotations

import ast
import posixpath

from ...frozen import frozen
from ..events import Hole, Value, literal
from ..values import EMPTY, join, of, unknown
from .python_numbers import endless, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from .python_walk import Walker


@frozen
class Ref:
    """A dotted name: `os.system`, `pathlib.Path`, a method of something unknown (`?.rmtree`)."""

    name: str


@frozen
class PathText:
    """A `pathlib` path."""

    value: Value


@frozen
class Bound:
    """A method of a known text, list or path."""

    owner: object
    name: str


@frozen
class Opened:
    """A file opened by `open`, or a response: reading it gives `content`."""

    path: Value
    content: Value


Thing = object
"""What an expression comes to: a `Value`, one of the classes above, a list, a number or None."""


def is_items(thing: object) -> TypeGuard[list[object]]:
    """True for a list, tuple or set whose items are known."""
    return isinstance(thing, list)


class Evaluator:
    """Evaluates expressions for a walker."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker

    def value(self, node: ast.expr) -> object:
        """The value of an expression, its effects taken down."""
        self.walker.m.step()
        visit = getattr(self, f"_{type(node).__name__.lower()}", None)
        if visit is not None:
            return visit(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.comprehension):
                self.value(child.iter)
        return self.unknown(node)

    def unknown(self, node: ast.AST) -> Value:
        """An unknown value that shows its source."""
        try:
            shown = ast.unparse(node)[:60]
        except (ValueError, AttributeError, RecursionError):
            shown = "a Python value"
        return unknown(f"Python {shown}")

    def _constant(self, node: ast.Constant) -> object:
        if isinstance(node.value, str):
            return self.walker.m.value(node.value)
        if isinstance(node.value, bytes):
            return literal(node.value.decode("utf-8", "surrogateescape"))
        return node.value

    def _name(self, node: ast.Name) -> object:
        if node.id in self.walker.names:
            return self.walker.names[node.id]
        if f"def {node.id}" in self.walker.functions:
            return Ref(f"def {node.id}")
        stars = [name[1:] for name in self.walker.names if name.startswith("*")]
        if stars and node.id not in {"print", "open", "exec", "eval", "getattr", "__import__"}:
            return Ref(f"{stars[-1]}.{node.id}")
        return Ref(node.id)

    def _attribute(self, node: ast.Attribute) -> object:
        kept = (
            self.walker.names.get(f"{node.value.id}.{node.attr}")
            if isinstance(node.value, ast.Name)
            else None
        )
        if kept is not None:
            return kept
        owner = self.value(node.value)
        return self.attribute(owner, node.attr, node)

    def attribute(self, owner: object, name: str, node: ast.AST) -> object:
        """`owner.name`."""
        if isinstance(owner, Ref):
            full = f"{owner.name}.{name}"
            if full == "sys.argv":
                return self.walker.names["__argv__"]
            return Ref(full)
        if isinstance(owner, Opened) and name == "name":
            return owner.path
        if isinstance(owner, PathText) and name in {"parent", "name", "stem", "parents", "path"}:
            return self._of_path(owner, name, node)
        return Bound(owner, name)

    def _of_path(self, owner: PathText, name: str, node: ast.AST) -> object:
        text = owner.value.text
        if name == "path":
            return owner
        if text is None or name != "parent":
            return self.unknown(node)
        return PathText(literal(posixpath.dirname(text.rstrip("/")) or "."))

    def _call(self, node: ast.Call) -> object:
        target = self.value(node.func)
        args: list[object] = []
        for item in node.args:
            if isinstance(item, ast.Starred):
                found = self.value(item.value)
                args.extend(found if is_items(found) else [found])
            else:
                args.append(self.value(item))
        named = {item.arg or "**": self.value(item.value) for item in node.keywords}
        return self.walker.call(target, node, args, named)

    def _lambda(self, node: ast.Lambda) -> object:
        name = f"def lambda {len(self.walker.functions)}"
        self.walker.functions[name] = node
        return Ref(name)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> object:
        items: list[object] = []
        for item in node.elts:
            found = self.value(item.value if isinstance(item, ast.Starred) else item)
            items.extend(found if isinstance(item, ast.Starred) and is_items(found) else [found])
        return items

    _tuple = _list
    _set = _list

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> object:
        first = node.generators[0]
        items = self.lines_of(self.value(first.iter))
        if not is_items(items):
            items = (
                list(items.text)
                if isinstance(items, Value) and items.text is not None
                else [items if isinstance(items, Value) else self.unknown(node)]
            )
            items = [literal(item) if isinstance(item, str) else item for item in items]
        out: list[object] = []
        self.walker.loops += endless(first.iter)
        for item in items:
            self.walker.m.step()
            self.walker.bind(first.target, item)
            for rest in node.generators[1:]:
                self.value(rest.iter)
            out.append(self.value(node.elt))
        self.walker.loops -= endless(first.iter)
        return out

    def lines_of(self, items: object) -> object:
        """What a loop over standard input or a file goes through."""
        if isinstance(items, Ref) and items.name in {"sys.stdin", "sys.stdin.buffer"}:
            from .python_files import standard_input

            return [standard_input(self.walker)]
        if isinstance(items, Opened):
            text = items.content.text
            return items.content if text is None else [literal(line) for line in text.splitlines()]
        return items

    _generatorexp = _listcomp
    _setcomp = _listcomp

    def _joinedstr(self, node: ast.JoinedStr) -> object:
        return join([self.text(self.value(item)) for item in node.values])

    def _formattedvalue(self, node: ast.FormattedValue) -> object:
        return self.text(self.value(node.value))

    def text(self, thing: object) -> Value:
        """A value as text."""
        if isinstance(thing, (Value, PathText)):
            return thing if isinstance(thing, Value) else thing.value
        if isinstance(thing, (int, float)):
            return literal(str(thing))
        if isinstance(thing, Opened):
            return thing.content
        if is_items(thing):
            parts = [self.text(item) for item in thing]
            holes = tuple(event for part in parts for event in part.sources)
            return unknown("a Python list", holes)
        if isinstance(thing, Ref):
            from .python_texts import named_text

            return named_text(self.walker, thing.name)
        return unknown("a Python value")

    def _binop(self, node: ast.BinOp) -> object:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add):
            return self._add(left, right)
        if isinstance(left, Value):
            return self._text_operation(node, left, right)
        if isinstance(node.op, ast.Div) and not isinstance(left, (int, float)):
            return PathText(join_path([self.text(left), self.text(right)]))
        if isinstance(left, int) and isinstance(right, int):
            return number(node.op, left, right)
        return self.unknown(node)

    def _text_operation(self, node: ast.BinOp, left: Value, right: object) -> object:
        if isinstance(node.op, ast.Mult) and isinstance(right, int) and right < 1000:
            return join([left] * max(right, 0))
        if isinstance(node.op, ast.Mod):
            return self._percent(left, right)
        if isinstance(node.op, ast.Div):
            return PathText(join_path([left, self.text(right)]))
        return self.unknown(node)

    def _add(self, left: object, right: object) -> object:
        if is_items(left) and is_items(right):
            return left + right
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return left + right
        return join((self.text(left), self.text(right)))

    def _percent(self, left: Value, right: object) -> Value:
        if left.text is None:
            return left
        items = list(right) if is_items(right) else [right]
        pieces = left.text.replace("%d", "%s").replace("%r", "%s").split("%s")
        out: list[str | Hole] = []
        for index, piece in enumerate(pieces):
            out.append(piece.replace("%%", "%"))
            if index < len(pieces) - 1:
                value = self.text(items[index]) if index < len(items) else EMPTY
                out.extend(part for part in value.parts if isinstance(part, (str, Hole)))
        return of(out)

    def _subscript(self, node: ast.Subscript) -> object:
        owner = self.value(node.value)
        if isinstance(owner, Ref):
            found = self._of_reference(owner, self.value(node.slice))
            return found if found is not None else self.unknown(node)
        sequence = owner if is_items(owner) else owner.text if isinstance(owner, Value) else None
        if sequence is None:
            self.value(node.slice) if not isinstance(node.slice, ast.Slice) else None
            return owner if isinstance(owner, Value) else self.unknown(node)
        picked = self._picked(sequence, node.slice)
        if picked is None:
            return self.unknown(node)
        return literal(picked) if isinstance(picked, str) else picked

    def _of_reference(self, owner: Ref, index: object) -> object:
        """`os.environ[…]`, `sys.modules[…]`, `os.__dict__[…]`, programs of plumbum; None for anything else."""
        text = self.text(index)
        if owner.name == "os.environ":
            from .python_texts import variable

            return variable(self.walker, text)
        if owner.name == "sys.modules":
            return Ref(text.text or "?")
        if owner.name.endswith("__dict__"):
            return Ref(f"{owner.name.removesuffix('.__dict__')}.{text.text}" if text.text else "?")
        from .python_shells import subscript

        return subscript(self.walker, owner, index)

    def _picked(self, sequence: Any, index: ast.expr) -> object:
        try:
            if isinstance(index, ast.Slice):
                ends = [
                    self.value(part) if part is not None else None
                    for part in (index.lower, index.upper, index.step)
                ]
                return sequence[slice(*ends)]
            at = self.value(index)
            return sequence[at] if isinstance(at, int) else None
        except (IndexError, TypeError, ValueError):
            return None

    def _unaryop(self, node: ast.UnaryOp) -> object:
        found = self.value(node.operand)
        return -found if isinstance(node.op, ast.USub) and isinstance(found, int) else found

    def _ifexp(self, node: ast.IfExp) -> object:
        self.value(node.test)
        first = self.value(node.body)
        other = self.value(node.orelse)
        return first if isinstance(first, (Value, Ref)) else other

    def _boolop(self, node: ast.BoolOp) -> object:
        found = [self.value(item) for item in node.values]
        return found[-1]

    def _namedexpr(self, node: ast.NamedExpr) -> object:
        found = self.value(node.value)
        self.walker.bind(node.target, found)
        return found

    def _await(self, node: ast.Await) -> object:
        return self.value(node.value)

    def _dict(self, node: ast.Dict) -> object:
        return [self.value(item) for item in (*node.keys, *node.values) if item is not None]


def join_path(values: list[Value]) -> Value:
    """`os.path.join` on values."""
    out: list[Value] = []
    for value in values:
        if value.prefix.startswith("/"):
            out = []
        out.append(value)
    pieces: list[Value] = []
    for index, value in enumerate(out):
        if index and not (pieces and pieces[-1].suffix.endswith("/")):
            pieces.append(literal("/"))
        pieces.append(value)
    return join(pieces)

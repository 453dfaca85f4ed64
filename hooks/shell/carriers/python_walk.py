"""Walk Python statements in order, constants propagated, both sides of every branch taken."""

from __future__ import annotations

import ast
import contextlib

from ..code import note_fetched_code
from ..events import Value
from ..machine import Frame, Machine, State
from ..rows import counted, to_try
from ..values import EMPTY, join
from .python_calls import call
from .python_numbers import endless, stands_still, starts_processes
from .python_values import Evaluator, PathText, Ref, Thing, is_items

MAX_CALLS = 40


class Walker:
    """One walk over one piece of source."""

    def __init__(self, m: Machine, st: State, fr: Frame, args: tuple[Value, ...]) -> None:
        self.m, self.st, self.fr = m, st, fr
        self.names: dict[str, Thing] = {"__argv__": [Value(("-c",)), *args]}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.calls = 0
        self.loops = 0
        self.entered: list[ast.AST] = []
        self.out: Value = EMPTY
        self.certain = False
        self.evaluator = Evaluator(self)

    def body(self, nodes: list[ast.stmt]) -> None:
        """Walk statements."""
        for node in nodes:
            self.m.step()
            visit = getattr(self, f"_{type(node).__name__.lower()}", None)
            if visit is not None:
                visit(node)
            else:
                self._generic(node)

    def value(self, node: ast.expr | None) -> Thing:
        """Evaluate an expression, with its effects."""
        return self.evaluator.value(node) if node is not None else None

    def _generic(self, node: ast.AST) -> None:
        for field in ast.iter_child_nodes(node):
            if isinstance(field, ast.expr):
                self.value(field)
            elif isinstance(field, ast.stmt):
                self.body([field])
            else:
                self._generic(field)

    def _import(self, node: ast.Import) -> None:
        for item in node.names:
            self._own_module(item.name)
            name = item.asname or item.name.partition(".")[0]
            self.names[name] = Ref(item.name if item.asname else name)

    def _own_module(self, name: str) -> None:
        """What the command wrote into a module runs where it is imported."""
        from ..redirects import content_of

        path = Value((f"{name.replace('.', '/')}.py",))
        text = content_of(self.m, self.st, path) if self.st.files else None
        if text is not None:
            note_fetched_code(self.m, self.fr, text, "python")
        if text is not None and text.text is not None and self.calls < MAX_CALLS:
            self.calls += 1
            with contextlib.suppress(SyntaxError, ValueError):
                self.body(ast.parse(text.text).body)

    def _importfrom(self, node: ast.ImportFrom) -> None:
        self._own_module(node.module or "")
        for item in node.names:
            if item.name == "*":
                self.names[f"*{node.module}"] = Ref(node.module or "")
            else:
                self.names[item.asname or item.name] = Ref(f"{node.module}.{item.name}")

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.functions[f"def {target.id}"] = node.value
        found = self.value(node.value)
        for target in node.targets:
            self.bind(target, found)

    def _annassign(self, node: ast.AnnAssign) -> None:
        self.bind(node.target, self.value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            whole = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            self.names[node.target.id] = self.value(whole)
        else:
            self.value(node.value)

    def bind(self, target: ast.expr, found: Thing) -> None:
        """Bind names; `os.environ[…] = …` is an assignment of the environment."""
        if isinstance(target, ast.Name):
            self.names[target.id] = found
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = found if is_items(found) else []
            for index, item in enumerate(target.elts):
                rest = (
                    found if isinstance(found, Value) and found.is_opaque else self.evaluator.unknown(target)
                )
                self.bind(item, items[index] if index < len(items) else rest)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self.names[f"{target.value.id}.{target.attr}"] = found
        elif isinstance(target, ast.Subscript):
            self.value(target.value)

    def _for(self, node: ast.For) -> None:
        self.loops += endless(node.iter)
        self._turns(node)
        self.loops -= endless(node.iter)
        self.body(node.orelse)

    def _turns(self, node: ast.For) -> None:
        items = self.evaluator.lines_of(self.value(node.iter))
        if is_items(items) and items:
            for item in to_try(items):
                self.m.step()
                self.bind(node.target, item)
                self.body(node.body)
        else:
            self.bind(node.target, self._item_of(items, node.iter))
            self.body(node.body)

    _asyncfor = _for

    def _item_of(self, items: Thing, node: ast.expr) -> Thing:
        if isinstance(items, (Value, PathText)):
            return items
        return self.evaluator.unknown(node)

    def _while(self, node: ast.While) -> None:
        still = stands_still(node)
        self.loops += not still
        self.value(node.test)
        if not still and isinstance(node.test, ast.Constant) and node.test.value and starts_processes(node):
            self.m.fork_bomb = self.m.fork_bomb or self.fr.segment or "a loop that starts processes"
        self.body(node.body)
        steps = [
            one.target.id
            for one in node.body
            if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
        ]
        if steps:
            self.names.update({name: counted(name) for name in steps})
            self.body(node.body)
        self.loops -= not still
        self.body(node.orelse)

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.functions[f"def {node.name}"] = node
        self.names.pop(node.name, None)
        for decorator in node.decorator_list:
            self.value(decorator)

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> None:
        self.body(node.body)
        self.classes[node.name] = node

    def create(self, name: str, args: list[Thing], named: dict[str, Thing]) -> Thing:
        """Make something of a class in the source; whatever it can do may be done."""
        methods = [
            item
            for item in self.classes.pop(name).body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        kept = dict(self.names)
        for method in sorted(methods, key=lambda item: item.name != "__init__"):
            own = method.name == "__init__"
            self.enter(method, [Ref(f"?.{name}"), *args] if own else [], named if own else {}, keep=own)
        self.names = kept
        return Ref(f"?.{name}")

    def finish(self) -> None:
        """Take classes that nothing was made of for such that something will be made of."""
        for name in list(self.classes):
            self.create(name, [], {})

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            found = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, found)
        self.body(node.body)

    _asyncwith = _with

    def _return(self, node: ast.Return) -> None:
        self.names["__return__"] = self.value(node.value)

    def enter(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        args: list[Thing],
        named: dict[str, Thing],
        *,
        keep: bool = False,
    ) -> Thing:
        """Run a function defined in the source; with `keep`, what it leaves in attributes stays known."""
        self.calls += 1
        if self.calls > MAX_CALLS:
            return self.evaluator.unknown(function)
        saved = dict(self.names)
        again = function in self.entered
        self.loops += again
        self.entered.append(function)
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        self.names.update(zip(names, args, strict=False))
        self.names.update(named)
        if isinstance(function, ast.Lambda):
            result = self.value(function.body)
        else:
            self.body(function.body)
            result = self.names.get("__return__")
        self.entered.pop()
        self.loops -= again
        attributes = {name: thing for name, thing in self.names.items() if "." in name} if keep else {}
        self.names = {**saved, **attributes}
        return result

    def call(self, target: Thing, node: ast.Call, args: list[Thing], named: dict[str, Thing]) -> Thing:
        """Carry out a call."""
        if isinstance(target, Ref) and target.name == "print" and not self.fr.speculative:
            texts = [item if isinstance(item, Value) else self.evaluator.unknown(node) for item in args]
            self.out = join((self.out, join(texts, " "), Value(("\n",))))
            self.certain = all(isinstance(item, Value) and item.text is not None for item in args)
            return None
        if isinstance(target, Ref) and target.name in self.classes:
            return self.create(target.name, args, named)
        return call(self, target, node, args, named)

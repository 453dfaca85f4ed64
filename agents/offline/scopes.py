"""Which scope each use of one name of a file belongs to.

The rules are those of Python's reference, "Resolution of names": a function's own names hide the module's, a class
body's names are seen only in that body, a comprehension has names of its own, and so have the type parameters of a
function, a class or a `type` statement (Python 3.12), which see the class body around them.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from .source import FIELDS_ARE_TOKENS, Piece, Source

ScopeKind = Literal["module", "class", "function", "comprehension", "types"]
Resolved = Literal["module", "member", "local"]


@dataclass(slots=True, eq=False)
class Scope:
    """One scope, seen for one name: whether it binds the name, and where its text stands."""

    kind: ScopeKind
    parent: Scope | None
    start: int
    end: int
    binds: bool = False
    own: bool = False
    """Binds it by something else than an import."""
    field: bool = False
    """A class body that gives the name a value: an attribute or a field, not a method."""
    is_global: bool = False
    is_nonlocal: bool = False

    def binder(self) -> Scope:
        """The scope that gives the name its meaning when it is used here."""
        if self.parent is None or (self.binds and not (self.is_nonlocal or self.is_global)):
            return self
        outer = self.parent
        while outer.parent is not None and (self.is_global or self._does_not_see(outer)):
            outer = outer.parent
        return outer.binder()

    def _does_not_see(self, outer: Scope) -> bool:
        if outer.kind == "types":
            return not outer.binds
        return outer.kind == "class" and self.kind != "types"

    def resolve(self) -> Resolved:
        """Say what the name means when it is used here."""
        kind = self.binder().kind
        return "module" if kind == "module" else "member" if kind == "class" else "local"


@dataclass(slots=True)
class Uses:
    """What one file does with one name."""

    module: Scope
    scopes: list[Scope] = field(default_factory=list[Scope])
    placed: dict[int, Scope] = field(default_factory=dict[int, Scope])
    """Offsets of uses whose scope the syntax tree tells."""
    stored: set[int] = field(default_factory=set[int])
    """Those of them that give the name a value: definitions, assignments, parameters."""
    stored_attribute: bool = False
    """Assigned to as an attribute of some object."""
    match_classes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def scope_at(self, offset: int) -> Scope:
        """The scope of a use: what the syntax tree says, else the innermost one around it."""
        if offset in self.placed:
            return self.placed[offset]
        around = [scope for scope in self.scopes if scope.start <= offset < scope.end]
        return max(around, key=lambda scope: scope.start, default=self.module)


@lru_cache(maxsize=1024)
def uses_of(source: Source, name: str) -> Uses:
    """Find the scopes of a file as one name sees them."""
    walk = _Walk(source, name)
    walk.visit(source.tree)
    return walk.uses


class _Walk(ast.NodeVisitor):
    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name = source, name
        self.scope = Scope("module", None, 0, len(source.text) + 1)
        self.uses = Uses(self.scope, [self.scope])
        self._placing = True

    # ---- names ----

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self.name:
            stores = not isinstance(node.ctx, ast.Load)
            self._place(node, stores=stores)
            if stores:
                self._bind(self.scope, is_field=True)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent:
            scope = scope.parent
        if node.target.id == self.name:
            self._bind(scope, is_field=True)
            self._place(node.target, scope, stores=True)
        self.visit(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == self.name and isinstance(node.ctx, ast.Store):
            self.uses.stored_attribute = True
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.is_global |= self.name in node.names
        self.uses.module.own |= self.name in node.names

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.is_nonlocal |= self.name in node.names

    def visit_alias(self, node: ast.alias) -> None:
        if (node.asname or node.name.partition(".")[0]) == self.name:
            self.scope.binds = True

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name == self.name:
            self._bind(self.scope)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name == self.name:
            self._bind(self.scope)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name == self.name:
            self._bind(self.scope)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest == self.name:
            self._bind(self.scope)
        self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        self.uses.match_classes.append(self._span(node))
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # Before 3.12 the tree's positions inside f-strings are not those of the text.
        placing, self._placing = self._placing, self._placing and FIELDS_ARE_TOKENS
        self.generic_visit(node)
        self._placing = placing

    # ---- scopes ----

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        start = self._defined(node)
        self._visit_all([*node.decorator_list, *_defaults(node.args)])
        with self._type_parameters(node):
            self._visit_all([*(arg.annotation for arg in _arguments(node.args)), node.returns])
            self._enter("function", start, self._span(node)[1])
            self._parameters(node.args)
            self._visit_all(node.body)
            self._leave()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the visitor's protocol

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_all(_defaults(node.args))
        self._enter("function", *self._span(node))
        self._parameters(node.args)
        self.visit(node.body)
        self._leave()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        start = self._defined(node)
        self._visit_all(node.decorator_list)
        with self._type_parameters(node):
            self._visit_all([*node.bases, *node.keywords])
            self._enter("class", start, self._span(node)[1])
            self._visit_all(node.body)
            self._leave()

    def visit_TypeAlias(self, node: Any) -> None:
        self.visit(node.name)
        with self._type_parameters(node):
            self.visit(node.value)

    def _visit_type_parameter(self, node: Any) -> None:
        if node.name == self.name:
            self._bind(self.scope)
            self._place_piece(self._piece(node, node.name))
        self.generic_visit(node)

    visit_TypeVar = _visit_type_parameter  # noqa: N815 - the visitor's protocol
    visit_ParamSpec = _visit_type_parameter  # noqa: N815
    visit_TypeVarTuple = _visit_type_parameter  # noqa: N815

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        self._enter("comprehension", *self._span(node))
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._visit_all([first.target, *first.ifs, *others, *elements])
        self._leave()

    visit_ListComp = _visit_comprehension  # noqa: N815 - the visitor's protocol
    visit_SetComp = _visit_comprehension  # noqa: N815
    visit_GeneratorExp = _visit_comprehension  # noqa: N815
    visit_DictComp = _visit_comprehension  # noqa: N815

    # ---- helpers ----

    def _visit_all(self, nodes: Sequence[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
        """Note the definition's own name; give the offset behind it."""
        piece = self._piece(node, "def", "class", after=1)
        if node.name == self.name:
            self._bind(self.scope)
            self._place_piece(piece)
        return piece.end

    def _piece(self, node: ast.stmt, *words: str, after: int = 0) -> Piece:
        """Find the first piece of a node that is one of some words, or one behind it."""
        place = self.source.index_at(self._span(node)[0])
        while self.source.pieces[place].text not in words:
            place += 1
        return self.source.pieces[place + after]

    @contextmanager
    def _type_parameters(self, node: Any) -> Generator[None]:
        """Be in the scope of a definition's type parameters, if it has any; the tree places all names in it."""
        parameters = getattr(node, "type_params", [])
        if parameters:
            self._enter("types", 0, 0)
            self._visit_all(parameters)
        yield
        if parameters:
            self._leave()

    def _parameters(self, arguments: ast.arguments) -> None:
        for arg in _arguments(arguments):
            if arg.arg == self.name:
                self._bind(self.scope)
                self._place(arg, stores=True)

    def _bind(self, scope: Scope, *, is_field: bool = False) -> None:
        scope.binds = scope.own = True
        scope.field = scope.field or (is_field and scope.kind == "class")

    def _place(self, node: ast.expr | ast.arg, scope: Scope | None = None, *, stores: bool = False) -> None:
        if not self._placing:
            return
        at = self._span(node)[0]
        self.uses.placed[at] = scope or self.scope
        if stores:
            self.uses.stored.add(at)

    def _place_piece(self, piece: Piece) -> None:
        if self._placing:
            self.uses.placed[piece.start] = self.scope
            self.uses.stored.add(piece.start)

    def _enter(self, kind: ScopeKind, start: int, end: int) -> None:
        self.scope = Scope(kind, self.scope, start, end if self._placing else start)
        self.uses.scopes.append(self.scope)

    def _leave(self) -> None:
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    def _span(self, node: ast.stmt | ast.expr | ast.arg | ast.pattern) -> tuple[int, int]:
        if not self._placing:
            return 0, 0
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.source.offset(node.lineno, node.col_offset), self.source.offset(end_line, end_column)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*plain, *(arg for arg in (arguments.vararg, arguments.kwarg) if arg)]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]

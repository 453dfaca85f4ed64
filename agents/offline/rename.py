"""Renaming a symbol in one file: every use that can be the project's symbol, none that is provably another's.

What is left alone, and named in the report: names that this file imports from outside the project (`json.load` when
`load` is renamed) or never imports at all; a function's own variables and parameters where the symbol is a module's
or a class's; attributes of unknown objects where no class of the project has such a member; keyword arguments of
foreign functions. `__all__` is a list of names and is renamed with them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .imports import Import, imports_of, is_foreign
from .plans import Left, Plan, Span, in_text, plan_of
from .scopes import Scope, Uses, uses_of
from .source import Piece, Source
from .wording import Change, Order

KINDS = ("module", "member", "field", "local", "alias")
"""What a name can be in a project: of a module, of a class, of a class with a value, of a function, of an import."""

_BY_WORD = {
    "method": ("member",),
    "attribute": ("member",),
    "field": ("member",),
    "property": ("member",),
    "variable": ("module", "local"),
    "parameter": ("local",),
    "argument": ("local",),
    "": ("module", "member"),
    "symbol": ("module", "member"),
    "name": ("module", "member"),
    "identifier": ("module", "member"),
}
BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the whole project: which kinds of thing the name is there, and its top-level names."""

    kinds: frozenset[str] = frozenset(KINDS[:3])
    project: frozenset[str] = field(default_factory=frozenset[str])
    again: bool = False
    """The file may be half changed already: a use whose definition or import has the new name is meant, too."""


def kinds_in(source: Source, name: str) -> dict[str, int]:
    """Tell what a name is in one file, with the line of its first use; names it only imports or uses are none."""
    uses, found = uses_of(source, name), dict[str, int]()
    for piece in source.pieces:
        if piece.kind != "name" or piece.text != name:
            continue
        scope = uses.scope_at(piece.start)
        if not scope.own or scope.is_global or scope.kind == "module":
            continue
        kind = "member" if scope.kind == "class" else "local"
        found.setdefault("field" if scope.field and kind == "member" else kind, source.line_of(piece.start))
    first = next((p.start for p in source.pieces if p.kind == "name" and p.text == name), 0)
    if uses.module.own:
        found["module"] = source.line_of(first)
    if uses.stored_attribute:
        found.setdefault("member", source.line_of(first))
    for one in imports_of(source):
        if one.alias == name and (one.name or one.module) != name:
            found.setdefault("alias", source.line_of(one.start))
    return found


def targets(change: Change, kinds: frozenset[str]) -> frozenset[str]:
    """Which of the kinds a project has are meant by the words of a change."""
    has = {"member" if kind == "field" else kind for kind in kinds}
    wanted = has & set(_BY_WORD.get(change.kind, ("module",)))
    for fallback in ("module", "member", "local", "alias"):
        if not wanted and fallback in has:
            wanted = {fallback}
    return frozenset(wanted)


def plan_rename(source: Source, change: Change, order: Order, facts: Facts) -> Plan:
    """Find what a rename changes in one file."""
    judge = _Judge(source, change, facts)
    spans, left = in_text(source, change.old, change.new, order)
    for index, piece in enumerate(source.pieces):
        if piece.kind == "name" and piece.text == change.old:
            new, why = judge.judge(index)
            if why:
                left.append(Left(why, source.line_of(piece.start)))
            else:
                spans.append(Span(piece.start, piece.end, new))
    if judge.owns_module_name:
        exported = [Span(at, at + len(change.old), change.new) for at in _exported(source, change.old)]
        spans += exported
        lines = {source.line_of(span.start) for span in exported}
        left = [one for one in left if not (one.why.startswith("in strings") and one.line in lines)]
    code = any(span.new for span in spans)
    return plan_of(spans, left, _clashes(source, change) if code else ())


class _Judge:
    """Decides about each use of the name in one file."""

    def __init__(self, source: Source, change: Change, facts: Facts) -> None:
        self.source, self.change, self.facts = source, change, facts
        self.targets = targets(change, facts.kinds)
        self.uses: Uses = uses_of(source, change.old)
        self.imports = imports_of(source)
        self.tables: dict[str, Import] = {one.bound: one for one in self.imports}
        self.statements = {
            start: (one, start == one.start) for one in self.imports for start in _name_places(one)
        }
        self.stars = [
            one for one in self.imports if one.name == "*" and not is_foreign(one.module, facts.project)
        ]
        self.bound: dict[int, list[Import]] = {}
        """The imports that bind the name, by the scope they bind it in."""
        for one in self.imports:
            if one.bound == change.old:
                self.bound.setdefault(id(self._binder(one.start)), []).append(one)

    def _binder(self, offset: int) -> Scope:
        return self.uses.scope_at(offset).binder()

    @property
    def owns_module_name(self) -> bool:
        """Whether the name at the top of this file is the one to be renamed."""
        return not self._why_not(self.uses.module)

    def _why_not(self, scope: Scope) -> str:
        """Say why a name that is bound in a scope is not meant; empty if it is."""
        imports = self.bound.get(id(scope), [])
        if any(
            not one.alias and one.module.partition(".")[0] == self.change.old and "." in one.module
            for one in imports
        ):
            return "as the name of a package"
        if any(map(self._is_ours, imports)) and self.targets & {"module", "alias"}:
            return ""
        if scope.kind == "module":
            return self._why_not_module(scope, imports)
        if not scope.own:
            return "as a name that comes from elsewhere"
        if scope.kind == "class":
            return "" if "member" in self.targets else "as a member of a class"
        return "" if "local" in self.targets else "as a variable or parameter of a function"

    def _why_not_module(self, scope: Scope, imports: Sequence[Import]) -> str:
        if not scope.own and not imports and self._is_half_done():
            return ""
        if not scope.own and (imports or not self.stars):
            return "as a name that comes from elsewhere"
        return "" if self.targets & {"module", "alias"} else "as a name of the module"

    def _is_ours(self, one: Import) -> bool:
        if one.alias == self.change.old and one.name != self.change.old:
            return "alias" in self.targets
        return bool(one.name) and not is_foreign(one.module, self.facts.project)

    def judge(self, index: int) -> tuple[str, str]:
        """Give the new text of one use, or why it is left."""
        pieces, new = self.source.pieces, self.change.new
        piece = pieces[index]
        if piece.start in self.statements:
            return self._imported(*self.statements[piece.start])
        if self._in_import(index):
            return new, "as part of a module's path"
        if index and pieces[index - 1].text == ".":
            return new, self._attribute(index)
        if self._is_keyword(index):
            return new, self._keyword(index)
        return new, self._why_not(self._binder(piece.start))

    def _is_half_done(self) -> bool:
        new = self.change.new
        return self.facts.again and any(
            new == piece.text and uses_of(self.source, new).scope_at(piece.start).binder().binds
            for piece in self.source.pieces
            if piece.kind == "name"
        )

    def _imported(self, one: Import, is_name: bool) -> tuple[str, str]:  # noqa: FBT001 - which of its two names
        """Judge a name in an import statement: what the file calls it and what its module calls it may differ."""
        new = self.change.new
        why = self._why_not(self._binder(one.start)) if one.bound == self.change.old else ""
        if not is_name:
            return new, why
        is_ours = bool(one.name) and not is_foreign(one.module, self.facts.project)
        if is_ours and self.targets & {"module", "alias"}:
            return new, ""
        if one.bound == self.change.old and not one.alias and not why:
            return f"{self.change.old} as {new}", ""
        return new, "as an imported name" if is_ours else "as a name of a module outside the project"

    def _in_import(self, index: int) -> bool:
        at = self.source.pieces[index].start
        return any(
            self.source.offset(one.statement.lineno, one.statement.col_offset) <= at < one.end
            for one in self.imports
        )

    def _attribute(self, index: int) -> str:
        chain = chain_before(self.source.pieces, index - 1)
        one = self.tables.get(chain[0]) if chain else None
        if one is not None:
            if is_foreign(one.module, self.facts.project):
                return "as an attribute of a module outside the project"
            return "" if self.targets & {"module", "member"} else "as an attribute"
        return "" if "member" in self.targets else "as an attribute of some object"

    def _is_keyword(self, index: int) -> bool:
        pieces = self.source.pieces
        if pieces[index].start in self.uses.placed or index + 1 >= len(pieces):
            return False
        return pieces[index + 1].text == "=" and _meaningful_before(pieces, index).text in {"(", ","}

    def _keyword(self, index: int) -> str:
        pieces = self.source.pieces
        if any(start <= pieces[index].start < end for start, end in self.uses.match_classes):
            return "" if "member" in self.targets else "as an attribute in a pattern"
        opening = _opening_bracket(pieces, index)
        callee = chain_before(pieces, opening) if opening is not None else ()
        if self._is_outside(callee):
            return "as a keyword of a function outside the project"
        fields = "member" in self.targets and "field" in self.facts.kinds
        return "" if "local" in self.targets or fields else "as a keyword argument"

    def _is_outside(self, callee: Sequence[str]) -> bool:
        if not callee:
            return False
        one = self.tables.get(callee[0])
        if one is not None:
            return is_foreign(one.module, self.facts.project)
        return len(callee) == 1 and callee[0] in BUILTINS and not uses_of(self.source, callee[0]).module.own


def chain_before(pieces: Sequence[Piece], end: int) -> tuple[str, ...]:
    """The dotted names right before a place, outermost first; empty where something else stands there."""
    names: list[str] = []
    place = end - 1
    while place >= 0 and pieces[place].kind == "name":
        names.insert(0, pieces[place].text)
        if place == 0 or pieces[place - 1].text != ".":
            return tuple(names)
        place -= 2
    return ()


def _meaningful_before(pieces: Sequence[Piece], index: int) -> Piece:
    place = index - 1
    while place > 0 and (pieces[place].kind == "comment" or not pieces[place].text.strip()):
        place -= 1
    return pieces[place]


def _opening_bracket(pieces: Sequence[Piece], index: int) -> int | None:
    depth = 0
    for place in range(index - 1, -1, -1):
        text = pieces[place].text if pieces[place].kind == "op" else ""
        depth += (text in {")", "]", "}"}) - (text in {"(", "[", "{"})
        if depth < 0:
            return place
    return None


def _name_places(one: Import) -> Iterator[int]:
    """Offsets of the imported name and of its alias; of a plain import's dotted module none but a plain name's."""
    if one.name or "." not in one.module:
        yield one.start
    if one.alias:
        yield one.end - len(one.alias)


def _exported(source: Source, name: str) -> Iterator[int]:
    """Offsets of a name inside the strings that `__all__` is made of."""
    exports = (node for node in ast.walk(source.tree) if _is_exports(node))
    for literal in (inner for node in exports for inner in ast.walk(node)):
        if not isinstance(literal, ast.Constant) or literal.value != name:
            continue
        start = source.offset(literal.lineno, literal.col_offset)
        end = source.offset(literal.end_lineno or literal.lineno, literal.end_col_offset or 0)
        at = source.text.find(name, start, end)
        if at >= 0:
            yield at


def _is_exports(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.AnnAssign(target=ast.Name(id="__all__")) | ast.AugAssign(target=ast.Name(id="__all__")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"))):
            return True
        case _:
            return False


def _clashes(source: Source, change: Change) -> Iterator[str]:
    """Warn where the new name already meant something in the file."""
    pieces = source.pieces
    lines = [
        source.line_of(piece.start)
        for index, piece in enumerate(pieces)
        if piece.kind == "name" and piece.text == change.new and (index == 0 or pieces[index - 1].text != ".")
    ]
    if lines:
        shown = ", ".join(map(str, sorted(set(lines))[:5]))
        yield f"`{change.new}` was already a name there (line {shown}): look whether both mean the same"

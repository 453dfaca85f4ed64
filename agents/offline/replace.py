"""Replacing a module, or calls of a function, in one file: the uses, and the imports that give them their meaning.

A use is a chain of names (`requests.get`) whose first name an import of the file explains, whatever alias it has
there; a chain that no import explains is compared as it is written. Definitions stay: `def old` is not a use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import cast

from .chains import Chain, chains_of, is_declared
from .imports import Import, imports_of
from .plans import Left, Plan, Span, in_text, plan_of
from .scopes import uses_of
from .source import Piece, Source
from .wording import Change, Order

Statement = ast.Import | ast.ImportFrom
Names = tuple[str, str, str]
"""Module, name and alias of one imported name, as `Import` has them."""


def plan_replace(source: Source, change: Change, order: Order, path: str) -> Plan:
    """Find what a replacement changes in one file; `path` tells what its relative imports mean."""
    spans, left = in_text(source, change.old, change.new, order)
    work = _Replacing(source, change, path)
    spans += work.uses()
    spans += work.imports()
    return plan_of(spans, [*left, *work.left], work.notes)


class _Replacing:
    def __init__(self, source: Source, change: Change, path: str) -> None:
        self.source, self.old, self.new = source, change.old, change.new
        self.package = path.removesuffix(".py").split("/")[:-1]
        self.table = {one.bound: one for one in imports_of(source)}
        self.chains = tuple(chains_of(source, self.table))
        self.left: list[Left] = []
        self.notes: list[str] = []
        self._wanted: set[str] = set()
        """Modules that new uses need."""
        self._kept: set[int] = set()
        """Starts of imports that some use still needs."""

    # ---- uses ----

    def uses(self) -> list[Span]:
        """Give the changed uses, and learn which imports they need."""
        spans: list[Span] = []
        for chain in self.chains:
            span = self._use(chain)
            if span is not None:
                spans.append(span)
            elif chain.origin is not None and not self._import_turns(chain.origin):
                self._kept.add(chain.origin.start)
        return spans

    def _use(self, chain: Chain) -> Span | None:
        """Give the change of one use; None if it is not one, or if its changed import does all that is needed."""
        meaning = self._absolute(chain.meaning, chain.origin)
        if not _begins(meaning, self.old) and not self._is_ours_plainly(chain):
            return None
        if chain.origin is None:
            return self._unexplained(chain)
        head = self._absolute(chain.origin.meaning, chain.origin)
        if _begins(head, self.old):  # the import itself names what is replaced
            return self._renamed_head(chain, chain.origin, head)
        covered = len(self.old.split(".")) - len(head.split(".")) + 1
        if not self._import_turns(chain.origin):
            self._need(self.new.rpartition(".")[0])
        return Span(chain.pieces[0].start, chain.pieces[covered - 1].end, self.new)

    def _renamed_head(self, chain: Chain, origin: Import, head: str) -> Span | None:
        """A use through a name that the import gives: it changes only if the imported name itself does."""
        if origin.alias:
            return None
        first, last = chain.pieces[0], self.new.rpartition(".")[2]
        if origin.name:
            text = last if head == self.old else first.text
            return None if text == first.text else Span(first.start, first.end, text)
        if "." not in self.old and head == self.old:  # `import old`, used as `old.x`
            return Span(first.start, first.end, self.new)
        return None

    def _unexplained(self, chain: Chain) -> Span | None:
        """A use that no import explains: as it is written, and never a definition."""
        count = len(self.old.split("."))
        if ".".join(chain.words[:count]) != self.old:
            return None
        first, last = chain.pieces[0], chain.pieces[count - 1]
        if count == 1 and not self._is_free_use(first):
            self.left.append(
                Left("as a definition or a variable of its own", self.source.line_of(first.start))
            )
            return None
        module = self.new.rpartition(".")[0]
        known = self.new.partition(".")[0] in {self.old.partition(".")[0], *self.table}
        if module and not known and not uses_of(self.source, self.new.partition(".")[0]).module.binds:
            self._need(module)
        return Span(first.start, last.end, self.new)

    def _is_free_use(self, piece: Piece) -> bool:
        """Whether a plain name is read here, and means the module's or Python's own."""
        uses = uses_of(self.source, piece.text)
        if uses.scope_at(piece.start).resolve() != "module" or piece.start in uses.stored:
            return False
        return piece.start in uses.placed or not is_declared(self.source, piece)

    def _is_ours_plainly(self, chain: Chain) -> bool:
        """Whether a plain name means the one that an import brings in from wherever it stands."""
        return (
            "." not in self.old
            and chain.origin is not None
            and bool(chain.origin.name)
            and chain.origin.name == self.old
        )

    def _absolute(self, meaning: str, origin: Import | None) -> str:
        """Give a relative meaning from the top of the workspace, cut to fit what is looked for."""
        if origin is not None and self._is_plain_match(origin):
            return meaning.replace(origin.meaning, self.old, 1)
        dots = len(meaning) - len(meaning.lstrip("."))
        if not dots:
            return meaning
        full = [*self.package[: len(self.package) - dots + 1], *meaning.lstrip(".").split(".")]
        candidates = [".".join(full[skip:]) for skip in range(len(full))]
        fitting = (path for path in candidates if _begins(path, self.old) or _begins(self.old, path))
        return next(fitting, candidates[0])

    def _is_plain_match(self, origin: Import) -> bool:
        return "." not in self.old and bool(origin.name) and origin.name == self.old

    # ---- imports ----

    def imports(self) -> Iterator[Span]:
        """Give the changed import statements: those that name the old thing, and room for what is new."""
        for statement, parts in _statements(imports_of(self.source)):
            changed = [self._changed(one) for one in parts]
            if any(new != _names(one) for one, new in zip(parts, changed, strict=True)):
                yield from self._statement(statement, parts, changed)
            elif any(self.old in one.module.split(".") for one in parts):
                self.left.append(Left("as a part of a longer path", statement.lineno))
        if self._wanted:
            yield self._added()

    def _import_turns(self, one: Import) -> bool:
        changed = self._changed(one, used=True)
        return changed is not None and changed != _names(one)

    def _changed(self, one: Import, *, used: bool = False) -> Names | None:
        """Give module, name and alias as they are to be; None for an import that nothing needs any more."""
        same = _names(one)
        if one.name == "*":
            return (self._moved(one), "*", "") if _begins(self._absolute(one.module, one), self.old) else same
        meaning = self._absolute(one.meaning if one.name else one.module, one)
        if not _begins(meaning, self.old):
            gone = not used and self._covers(one) and one.start not in self._kept
            return None if gone else same
        if not one.name:
            return self.new + meaning[len(self.old) :], "", one.alias
        if meaning != self.old:
            return self._moved(one), one.name, one.alias
        module, _, name = self.new.rpartition(".")
        if not module and not self._is_plain_match(one):
            return None  # a plain name: nothing to import it from
        return module or one.module, name, one.alias

    def _moved(self, one: Import) -> str:
        """The module of a `from` import whose module, or one around it, is replaced."""
        if one.module.startswith(".") and "." not in self.old + self.new:
            dots = len(one.module) - len(one.module.lstrip("."))
            words = one.module[dots:].split(".")
            return "." * dots + ".".join(self.new if part == self.old else part for part in words)
        return self.new + self._absolute(one.module, one)[len(self.old) :]

    def _covers(self, one: Import) -> bool:
        """Whether an import was there for the old name alone, as far as the uses tell."""
        if one.name and "." not in self.old:
            return False
        return any(
            chain.origin is not None
            and chain.origin.start == one.start
            and _begins(self._absolute(chain.meaning, one), self.old)
            for chain in self.chains
        )

    def _need(self, module: str) -> None:
        there = (one.module == module and not one.name and not one.alias for one in imports_of(self.source))
        if module and not any(there):
            self._wanted.add(module)

    def _statement(
        self, statement: Statement, parts: Sequence[Import], changed: Sequence[Names | None]
    ) -> Iterator[Span]:
        """Rewrite one statement: in place where its shape allows, else the changed parts get lines of their own."""
        start, end = self._span(statement)
        pairs = list(zip(parts, changed, strict=True))
        kept = [new for one, new in pairs if new and new == _names(one)]
        if all(changed) and isinstance(statement, ast.Import):
            yield from (
                Span(one.start, one.end, _plain(new)) for one, new in pairs if new and new != _names(one)
            )
        elif all(changed) and len({new[0] for new in changed if new}) == 1:
            yield from self._in_place(start, parts, [new for new in changed if new])
        else:
            lines = [line for one, new in pairs if new and new != _names(one) for line in _written([new])]
            lines += [f"import {module}" for module in sorted(self._wanted)]
            self._wanted.clear()
            if kept and "\n" in self.source.text[start:end]:
                yield from self._without(start, [one for one, new in pairs if new != _names(one)], lines)
            else:
                yield self._lines(start, end, [*_written(kept), *lines])

    def _without(self, start: int, parts: Sequence[Import], lines: Sequence[str]) -> Iterator[Span]:
        """Take names out of a statement over several lines, comments kept, and put new lines before it."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        if lines:
            yield Span(start, start, "".join(f"{line}\n{text[line_start:start]}" for line in lines))
        for one in parts:
            end = one.end
            while text[end : end + 1] in {" ", ","}:
                end += 1
            begin = text.rfind("\n", 0, one.start) + 1
            alone = not text[begin : one.start].strip() and text[end : end + 1] == "\n"
            yield Span(begin, end + 1, "") if alone else Span(one.start, end, "")

    def _in_place(self, start: int, parts: Sequence[Import], changed: Sequence[Names]) -> Iterator[Span]:
        """Change the module and the names of a `from` statement, its shape kept."""
        if changed[0][0] != parts[0].module:
            yield Span(
                *self._module_pieces(self.source.text.index("from", start) + len("from")), changed[0][0]
            )
        for one, (module, name, _) in zip(parts, changed, strict=True):
            if name != one.name:
                yield Span(one.start, one.start + len(one.name), name)
            if name != one.name and module == one.module:
                self.notes.append(f"`{name}` is now imported from `{module}`, where `{one.name}` came from")

    def _module_pieces(self, at: int) -> tuple[int, int]:
        inner = [piece for piece in self.source.pieces if piece.start >= at]
        upto = next(index for index, piece in enumerate(inner) if piece.text == "import")
        return inner[0].start, inner[upto - 1].end

    def _lines(self, start: int, end: int, lines: Sequence[str]) -> Span:
        """Put lines in the place of a statement, in its indentation; no line at all takes the line with it."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        indent = text[line_start:start]
        if lines:
            return Span(start, end, f"\n{indent if not indent.strip() else ''}".join(lines))
        if indent.strip() or text[end : end + 1] not in {"\n", ""} or self._is_only_statement(start):
            return Span(start, end, "pass")
        return Span(line_start, min(end + 1, len(text)), "")

    def _is_only_statement(self, start: int) -> bool:
        """Whether a block would be empty without the statement."""
        blocks = (
            cast("list[ast.stmt]", getattr(node, name, None) or [])
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)
            for name in ("body", "orelse", "finalbody")
        )
        return any(len(body) == 1 and self._span(body[0])[0] == start for body in blocks)

    def _added(self) -> Span:
        """Add imports after the file's last import at the top, else after its docstring, else before everything."""
        lines = "".join(f"import {module}\n" for module in sorted(self._wanted))
        top = [one.statement for one in imports_of(self.source) if one.top and one.statement.col_offset == 0]
        body = self.source.tree.body
        docstring = body[:1] if body and ast.get_docstring(self.source.tree, clean=False) is not None else []
        after: ast.stmt | None = top[-1] if top else next(iter(docstring), None)
        if after is None:
            first = self.source.offset(body[0].lineno, 0) if body else 0
            return Span(first, first, lines)
        end = self.source.text.find("\n", self._span(after)[1])
        if end < 0:
            return Span(len(self.source.text), len(self.source.text), "\n" + lines.rstrip("\n"))
        return Span(end + 1, end + 1, lines if top else "\n" + lines)

    def _span(self, node: ast.stmt) -> tuple[int, int]:
        start = self.source.offset(node.lineno, node.col_offset)
        return start, self.source.offset(
            node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        )


def _begins(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix + ".")


def _names(one: Import) -> Names:
    return one.module, one.name, one.alias


def _plain(new: Names) -> str:
    module, _, alias = new
    return f"{module} as {alias}" if alias else module


def _written(parts: Sequence[Names]) -> list[str]:
    """Write imports of one statement again."""
    if not parts:
        return []
    module, name, _ = parts[0]
    if not name:
        return ["import " + ", ".join(map(_plain, parts))]
    names = (f"{name} as {alias}" if alias else name for _, name, alias in parts)
    return [f"from {module} import {', '.join(names)}"]


def _statements(imports: Sequence[Import]) -> Iterator[tuple[Statement, list[Import]]]:
    grouped: dict[int, list[Import]] = {}
    for one in imports:
        grouped.setdefault(id(one.statement), []).append(one)
    for parts in grouped.values():
        yield parts[0].statement, parts

"""What the import statements of a file bring in, and which modules are the project's own."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .source import Source


@dataclass(frozen=True, slots=True)
class Import:
    """One name of an import statement: `module` with its leading dots, `name` empty for a plain import."""

    module: str
    name: str
    alias: str
    start: int
    """Where the imported name (or module) stands in the text."""
    end: int
    """Where this part of the statement ends, its alias included."""
    statement: ast.Import | ast.ImportFrom
    top: bool
    """Whether it stands outside every function and class."""

    @property
    def bound(self) -> str:
        """The name it gives a meaning to in the file."""
        if self.alias:
            return self.alias
        return self.name or self.module.partition(".")[0]

    @property
    def meaning(self) -> str:
        """The dotted path that the bound name stands for."""
        if not self.name:
            return self.module if self.alias else self.bound
        return self.module + self.name if self.module.endswith(".") else f"{self.module}.{self.name}"


@lru_cache(maxsize=512)
def imports_of(source: Source) -> tuple[Import, ...]:
    """Give every name that import statements of a file bring in, in order."""
    found = list(_imports(source, source.tree.body, top=True))
    return tuple(sorted(found, key=lambda one: one.start))


def _imports(source: Source, body: Sequence[ast.AST], *, top: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _import(source, node, alias, (alias.name, "", alias.asname or ""), top=top)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                yield _import(source, node, alias, (module, alias.name, alias.asname or ""), top=top)
        else:
            inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
            yield from _imports(source, list(ast.iter_child_nodes(node)), top=top and not inner)


def _import(
    source: Source,
    node: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    names: tuple[str, str, str],
    *,
    top: bool,
) -> Import:
    start = source.offset(alias.lineno, alias.col_offset)
    end = source.offset(alias.end_lineno or alias.lineno, alias.end_col_offset or alias.col_offset)
    return Import(*names, start, end, node, top)


def is_foreign(module: str, project: frozenset[str]) -> bool:
    """Whether a module lies outside the project, whose own top-level names are given."""
    top = module.partition(".")[0]
    if not top:
        return False  # relative
    return top not in project


def project_names(paths: Sequence[str]) -> frozenset[str]:
    """The names under which modules of these files can be imported: their folders and themselves.

    A file named like a standard module counts only where it is found first, at the top of the workspace.
    """
    names: set[str] = set()
    for path in paths:
        parts = path.removesuffix(".py").split("/")
        near_top = len(parts) == 1 or (len(parts) == 2 and parts[0] in {"src", "lib"})
        names.update(part for part in parts if part not in sys.stdlib_module_names)
        if near_top or parts[-1] == "__init__":
            names.update(parts[-1:] if near_top else parts[:1])
    return frozenset(names)

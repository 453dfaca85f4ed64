"""Shell text to our tree, by way of shfmt's JSON (https://github.com/mvdan/sh, `shfmt --to-json`).

shfmt is a program (wheel `shfmt-py`): one start is about 2 ms. What it rejects is refused. Offsets in its JSON
count bytes of UTF-8. Line continuations outside single quotes are already gone in its literals.
"""

from __future__ import annotations

import re

from . import quotes
from .shfmt import Unreadable, tree_of
from .tree import (
    AndOr,
    Arith,
    ArithCmd,
    Assign,
    Block,
    Call,
    Case,
    CFor,
    Command,
    Coproc,
    Decl,
    Expr,
    Ext,
    For,
    Func,
    If,
    Let,
    Param,
    Part,
    Pipe,
    Proc,
    Redir,
    Stmt,
    Sub,
    Test,
    Text,
    Timed,
    While,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Json = dict[str, Any]


def read(text: str) -> tuple[Stmt, ...]:
    """Parse bash text.

    Raises:
        Unreadable: if shfmt rejects it, or it is too large.
        ConfigError: if shfmt cannot be found.
    """
    try:
        source, tree = tree_of(text.encode("utf-8"))
        return _Reader(source).stmts(tree.get("Stmts"))
    except RecursionError:
        raise Unreadable("the command is nested too deeply to be judged") from None


class _Reader:
    """One walk over one JSON tree."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: dict[str, Callable[[Json], Command]] = {
            "CallExpr": self._call,
            "DeclClause": lambda node: Decl(node["Variant"]["Value"], self._assigns(node.get("Args"))),
            "BinaryCmd": self._binary,
            "Block": lambda node: Block(self.stmts(node.get("Stmts"))),
            "Subshell": lambda node: Block(self.stmts(node.get("Stmts")), subshell=True),
            "IfClause": self._if,
            "WhileClause": self._while,
            "ForClause": self._for,
            "CaseClause": self._case,
            "FuncDecl": lambda node: Func(node["Name"]["Value"], self._stmt(node["Body"])),
            "TestClause": lambda node: Test(self._expr(node["X"])),
            "ArithmCmd": self._arith_command,
            "LetClause": lambda node: Let(tuple(self._expr(item) for item in node["Exprs"])),
            "TimeClause": lambda node: Timed(self._stmt(node["Stmt"]) if node.get("Stmt") else None),
            "CoprocClause": lambda node: Coproc(self._stmt(node["Stmt"]), _lit(node.get("Name"))),
        }

    def stmts(self, nodes: list[Json] | None) -> tuple[Stmt, ...]:
        return tuple(self._stmt(node) for node in nodes or ())

    def _stmt(self, node: Json) -> Stmt:
        command = node.get("Cmd")
        return Stmt(
            self._command(command) if command else None,
            tuple(self._redirect(item) for item in node.get("Redirs") or ()),
            self._segment(node),
            background=bool(node.get("Background") or node.get("Coprocess")),
            negated=bool(node.get("Negated")),
        )

    def _segment(self, node: Json) -> str:
        start, end = node["Pos"]["Offset"], node["End"]["Offset"]
        return self.source[start:end].decode("utf-8", "replace").rstrip(" \t\n;&")

    def _command(self, node: Json) -> Command:
        build = self.commands.get(node["Type"])
        if build is None:
            raise Unreadable(f"the shell form {node['Type']} cannot be judged")
        return build(node)

    def _call(self, node: Json) -> Command:
        assigns = self._assigns(node.get("Assigns"))
        words = tuple(self.word(word) for word in node.get("Args") or ())
        for index, item in enumerate(assigns):
            if not item.name.isidentifier() or not item.name.isascii():
                # shfmt takes `-x=1` for an assignment; for bash it is a word, and so is all behind it.
                return Call(assigns[:index], (*(_as_word(one) for one in assigns[index:]), *words))
        return Call(assigns, words)

    def _assigns(self, nodes: list[Json] | None) -> tuple[Assign, ...]:
        return tuple(self._assign(node) for node in nodes or ())

    def _assign(self, node: Json) -> Assign:
        array = node.get("Array")
        return Assign(
            _named(node.get("Name")),
            self.word(node["Value"]) if node.get("Value") else None,
            append=bool(node.get("Append")),
            index=self._maybe(node.get("Index")),
            array=tuple(self._element(item) for item in array.get("Elems") or ()) if array else None,
            naked=bool(node.get("Naked")),
        )

    def _element(self, node: Json) -> tuple[Expr | None, Word]:
        return self._maybe(node.get("Index")), self.word(node.get("Value"))

    def _binary(self, node: Json) -> Command:
        left, right = self._stmt(node["X"]), self._stmt(node["Y"])
        if node["Op"] not in {"|", "|&"}:
            return AndOr(node["Op"], left, right)
        return Pipe((*_stages(left), *_stages(right)))

    def _if(self, node: Json) -> Command:
        return If(self.stmts(node.get("Cond")), self.stmts(node.get("Then")), self._else(node.get("Else")))

    def _else(self, node: Json | None) -> tuple[Stmt, ...]:
        if node is None:
            return ()
        return (Stmt(self._if(node)),) if node.get("Cond") else self.stmts(node.get("Then"))

    def _while(self, node: Json) -> Command:
        return While(self.stmts(node.get("Cond")), self.stmts(node.get("Do")), until=bool(node.get("Until")))

    def _for(self, node: Json) -> Command:
        loop, body = node["Loop"], self.stmts(node.get("Do"))
        if loop["Type"] == "CStyleLoop":
            parts = (
                self._maybe(loop.get("Init")),
                self._maybe(loop.get("Cond")),
                self._maybe(loop.get("Post")),
            )
            return CFor(parts, body)
        position: Json = loop.get("InPos") or {}
        given = position.get("Line") or loop.get("Items")
        items = tuple(self.word(word) for word in loop.get("Items") or ()) if given else None
        return For(loop["Name"]["Value"], items, body, select=bool(node.get("Select")))

    def _case(self, node: Json) -> Command:
        items = tuple(
            (tuple(self.word(word) for word in item["Patterns"]), self.stmts(item.get("Stmts")))
            for item in node.get("Items") or ()
        )
        return Case(self.word(node["Word"]), items)

    def _arith_command(self, node: Json) -> Command:
        return ArithCmd(self._maybe(node.get("X")), self._segment(node))

    def _redirect(self, node: Json) -> Redir:
        name = _named(node.get("N"))
        body = node.get("Hdoc")
        return Redir(
            node["Op"],
            self.word(node["Word"]),
            int(name) if name.isdigit() else -1,
            name.strip("{}") if name.startswith("{") else "",
            self._heredoc(node, body) if node["Op"] in {"<<", "<<-"} else None,
        )

    def _heredoc(self, node: Json, body: Json | None) -> Word:
        delimiter = node["Word"].get("Parts") or ()
        exact = any(part["Type"] != "Lit" or "\\" in part["Value"] for part in delimiter)
        parts: list[Part] = []
        for part in (body or {}).get("Parts") or ():
            if part["Type"] == "Lit":
                parts.append(Text(part["Value"] if exact else quotes.heredoc(part["Value"]), quoted=True))
            else:
                parts.extend(self._part(part, quoted=True))
        return tuple(_strip_tabs(parts) if node["Op"] == "<<-" else parts)

    def word(self, node: Json | None) -> Word:
        parts: list[Part] = []
        for part in (node or {}).get("Parts") or ():
            parts.extend(self._part(part, quoted=False))
        return _joined(parts)

    def _part(self, node: Json, *, quoted: bool) -> list[Part]:
        kind = node["Type"]
        if kind == "Lit":
            if quoted:
                return [Text(quotes.double(node["Value"]), quoted=True)]
            return [Text(text, quoted=escaped) for text, escaped in quotes.bare(node["Value"])]
        if kind == "SglQuoted":
            text = node.get("Value", "")
            return [Text(quotes.ansi(text) if node.get("Dollar") else text, quoted=True)]
        if kind == "DblQuoted":
            inner = [part for item in node.get("Parts") or () for part in self._part(item, quoted=True)]
            return inner or [Text("", quoted=True)]
        return [self._expansion(node, kind, quoted=quoted)]

    def _expansion(self, node: Json, kind: str, *, quoted: bool) -> Part:
        if kind == "ParamExp":
            return self._param(node, quoted=quoted)
        if kind == "CmdSubst":
            return Sub(self.stmts(node.get("Stmts")), quoted)
        if kind == "ArithmExp":
            return Arith(self._maybe(node.get("X")), quoted)
        if kind == "ProcSubst":
            return Proc(node["Op"], self.stmts(node.get("Stmts")))
        if kind == "ExtGlob":
            return Ext(f"{node['Op']}{node['Pattern']['Value']})")
        raise Unreadable(f"the shell form {kind} cannot be judged")

    def _param(self, node: Json, *, quoted: bool) -> Param:
        op, word, word2 = self._operation(node)
        flag = "length" if node.get("Length") else "names" if node.get("Names") else ""
        return Param(
            _named(node.get("Param")),
            quoted,
            op,
            word,
            word2,
            self._maybe(node.get("Index")),
            flag or ("indirect" if node.get("Excl") else ""),
            short=bool(node.get("Short")),
        )

    def _operation(self, node: Json) -> tuple[str, Word | Expr | None, Word | Expr | None]:
        if "Repl" in node:
            change = node["Repl"]
            with_ = self.word(change["With"]) if change.get("With") else None
            return "//" if change.get("All") else "/", self.word(change.get("Orig")), with_
        if "Slice" in node:
            return ":", self._maybe(node["Slice"].get("Offset")), self._maybe(node["Slice"].get("Length"))
        if "Exp" in node:
            return node["Exp"]["Op"], self.word(node["Exp"].get("Word")), None
        return "", None, None

    def _maybe(self, node: Json | None) -> Expr | None:
        return self._expr(node) if node else None

    def _expr(self, node: Json) -> Expr:
        kind = node.get("Type", "Word")
        if kind == "Word":
            return Expr("word", word=self.word(node))
        if kind.startswith("Paren"):
            return self._expr(node["X"])
        args = tuple(self._expr(node[key]) for key in ("X", "Y") if node.get(key))
        return Expr(node["Op"] + ("post" if node.get("Post") else ""), args)


def _named(node: Json | None) -> str:
    return str(node.get("Value", "")) if node else ""


def _lit(node: Json | None) -> str:
    return "".join(part.get("Value", "") for part in (node or {}).get("Parts") or ())


def _as_word(item: Assign) -> Word:
    if item.array is not None or item.index is not None:
        raise Unreadable("the command holds an array element where a program would be")
    first = Text(f"{item.name}{'+' if item.append else ''}=")
    return _joined([first, *(item.value or ())])


def _stages(stmt: Stmt) -> tuple[Stmt, ...]:
    if isinstance(stmt.command, Pipe) and not (stmt.redirects or stmt.negated):
        return stmt.command.stages
    return (stmt,)


def _joined(parts: list[Part]) -> Word:
    out: list[Part] = []
    for part in parts:
        last = out[-1] if out else None
        if isinstance(part, Text) and isinstance(last, Text) and part.quoted == last.quoted:
            out[-1] = Text(last.text + part.text, part.quoted)
        else:
            out.append(part)
    return tuple(out)


def _strip_tabs(parts: list[Part]) -> list[Part]:
    stripped: list[Part] = []
    fresh = True
    for part in parts:
        if isinstance(part, Text):
            text = re.sub(r"(?m)^\t+" if fresh else r"(?<=\n)\t+", "", part.text)
            stripped.append(Text(text, quoted=True))
            fresh = part.text.endswith("\n")
        else:
            stripped.append(part)
            fresh = False
    return stripped

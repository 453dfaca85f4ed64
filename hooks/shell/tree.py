"""Our own small form of a shell program. `reader` makes it from shfmt's JSON, `plain` from simple text.

A word is a tuple of parts; quotes are gone, and each part says whether it stood in quotes. Statements carry their
source text, so that a refusal can show what it means.
"""

from __future__ import annotations

from ..frozen import frozen


@frozen
class Text:
    """Literal text, escapes already resolved. Unquoted text is still subject to braces, tilde and globs."""

    text: str
    quoted: bool = False


@frozen
class Param:
    """A parameter expansion. `op` is `:-`, `#`, `/`, `//`, `:`, `^^`, `@` and so on, or empty.

    `flag` is `length` for `${#x}`, `indirect` for `${!x}`, `names` for `${!x*}`; `short` says it is `$x`.
    """

    name: str
    quoted: bool = False
    op: str = ""
    word: Word | Expr | None = None
    word2: Word | Expr | None = None
    index: Expr | None = None
    flag: str = ""
    short: bool = False


@frozen
class Sub:
    """A command substitution."""

    body: tuple[Stmt, ...]
    quoted: bool = False


@frozen
class Arith:
    """An arithmetic expansion."""

    expr: Expr | None
    quoted: bool = False


@frozen
class Proc:
    """A process substitution; `op` is `<(` or `>(`."""

    op: str
    body: tuple[Stmt, ...]
    quoted: bool = False


@frozen
class Ext:
    """An extended glob such as `@(a|b)`, as written."""

    pattern: str
    quoted: bool = False


Part = Text | Param | Sub | Arith | Proc | Ext
Word = tuple[Part, ...]


@frozen
class Expr:
    """A node of an arithmetic or test expression: an operator with operands, or a word (`op` is `word`)."""

    op: str
    args: tuple[Expr, ...] = ()
    word: Word = ()


@frozen
class Assign:
    """`name=value`, `name+=value`, `name[index]=value`, `name=(…)`; `naked` is a declare clause's other word."""

    name: str
    value: Word | None = None
    append: bool = False
    index: Expr | None = None
    array: tuple[tuple[Expr | None, Word], ...] | None = None
    naked: bool = False


@frozen
class Redir:
    """One redirection. `fd` is -1 when not given; `name` is `x` of `{x}>file`; `body` a here-document."""

    op: str
    word: Word
    fd: int = -1
    name: str = ""
    body: Word | None = None


@frozen
class Call:
    """A simple command."""

    assigns: tuple[Assign, ...]
    words: tuple[Word, ...]


@frozen
class Decl:
    """`declare`, `export`, `local`, `readonly`, `typeset`, `nameref`."""

    variant: str
    args: tuple[Assign, ...]


@frozen
class Pipe:
    """Stages joined by `|` or `|&`."""

    stages: tuple[Stmt, ...]


@frozen
class AndOr:
    """`left && right` or `left || right`."""

    op: str
    left: Stmt
    right: Stmt


@frozen
class Block:
    """`{ …; }`, or `( … )` when `subshell`."""

    body: tuple[Stmt, ...]
    subshell: bool = False


@frozen
class If:
    """An if clause; an elif is an If in `other`."""

    cond: tuple[Stmt, ...]
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()


@frozen
class While:
    """A while or until loop."""

    cond: tuple[Stmt, ...]
    body: tuple[Stmt, ...]
    until: bool = False


@frozen
class For:
    """`for name in items` (None: the positional parameters) or `select`."""

    name: str
    items: tuple[Word, ...] | None
    body: tuple[Stmt, ...]
    select: bool = False


@frozen
class CFor:
    """`for ((init; cond; post))`."""

    parts: tuple[Expr | None, Expr | None, Expr | None]
    body: tuple[Stmt, ...]


@frozen
class Case:
    """A case clause: (patterns, body) in order."""

    word: Word
    items: tuple[tuple[tuple[Word, ...], tuple[Stmt, ...]], ...]


@frozen
class Func:
    """A function definition."""

    name: str
    body: Stmt


@frozen
class Test:
    """`[[ … ]]`."""

    expr: Expr


@frozen
class ArithCmd:
    """`(( … ))`, with its source text between the parentheses."""

    expr: Expr | None
    source: str = ""


@frozen
class Let:
    """`let …`."""

    exprs: tuple[Expr, ...]


@frozen
class Timed:
    """`time …`."""

    body: Stmt | None


@frozen
class Coproc:
    """`coproc …`."""

    body: Stmt
    name: str = ""


Command = (
    Call
    | Decl
    | Pipe
    | AndOr
    | Block
    | If
    | While
    | For
    | CFor
    | Case
    | Func
    | Test
    | ArithCmd
    | Let
    | Timed
    | Coproc
)


@frozen
class Stmt:
    """A command with what stands around it. `command` is None where only redirections stand."""

    command: Command | None
    redirects: tuple[Redir, ...] = ()
    segment: str = ""
    background: bool = False
    negated: bool = False

"""Words to values: tilde, parameters, substitutions, splitting, globs, quote removal, in bash's order.

A word first becomes atoms (text, hole or glob, each quoted or not; `None` ends a field), then fields.
"""

from __future__ import annotations

from ..patterns import lazy
from . import braces
from .events import Glob, Hole, Value, literal
from .globs import pieces
from .lookup import field_separators, home_of
from .machine import Frame, Machine, Refused, State
from .tree import Arith, Ext, Param, Proc, Sub, Text, Word
from .values import of, split_holes, strip_newlines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Part

    Piece = str | Glob | Hole
    Atom = tuple[Piece, bool, bool] | None
    """Piece, whether quoted, whether it comes from an expansion and is therefore split."""


def fields_of(m: Machine, st: State, fr: Frame, words: tuple[Word, ...]) -> list[Value]:
    """Expand words to fields, as for the arguments of a command."""
    fields: list[Value] = []
    ifs = None
    for word in words:
        first = word[0] if len(word) == 1 and not m.holes else None
        single = _as_it_stands(first) if isinstance(first, Text) else None
        if single is not None:
            fields.append(single)
            continue
        ifs = field_separators(m, st) if ifs is None else ifs
        try:
            alternatives = braces.expand(word)
        except braces.TooMany:
            raise Refused("a brace word makes too many words") from None
        for alternative in alternatives:
            fields.extend(_fields(atoms_of(m, st, fr, alternative), ifs))
    return fields


def _as_it_stands(part: Text) -> Value | None:
    """Give the value of text that is nothing but itself; most words are met again, so the short ones are kept."""
    text = part.text
    found = _literals.get(text)
    if found is None:
        found = literal(text), _EXPANDS.search(text) is not None
        if len(text) <= _SHORT:
            if len(_literals) >= _KEPT:
                _literals.clear()
            _literals[text] = found
    value, expands = found
    return None if expands and not part.quoted else value


_literals: dict[str, tuple[Value, bool]] = {}
_SHORT, _KEPT = 80, 2048
_EXPANDS = lazy(r"^~|=~|[*?\[{]")
"""What in plain text is more than itself: a tilde, a glob, a brace."""


def value_of(m: Machine, st: State, fr: Frame, word: Word | None) -> Value:
    """Expand a word to one value without splitting or globbing, as in an assignment."""
    pieces_: list[Piece] = []
    for atom in atoms_of(m, st, fr, word or ()):
        if atom is None:
            pieces_.append(" ")
        else:
            pieces_.append(
                atom[0].pattern if isinstance(atom[0], Glob) and atom[0].pattern[-1:] == ")" else atom[0]
            )
    return of(pieces_)


def pattern_of(m: Machine, st: State, fr: Frame, word: Word | None) -> Value:
    """Expand a word to a pattern: unquoted glob characters are pieces."""
    found: list[Piece] = []
    for atom in atoms_of(m, st, fr, word or ()):
        if atom is None:
            found.append(" ")
        elif isinstance(atom[0], str) and not atom[1]:
            found.extend(pieces(atom[0]))
        else:
            found.append(atom[0])
    return of(found)


def atoms_of(m: Machine, st: State, fr: Frame, word: Word) -> list[Atom]:
    """Everything a word consists of after expansion, before splitting."""
    atoms: list[Atom] = []
    for index, part in enumerate(word):
        if not index and isinstance(part, Text) and not part.quoted and part.text.startswith("~"):
            atoms.extend(_tilde(m, st, part, word))
        elif not index and isinstance(part, Text) and not part.quoted and "=~" in part.text:
            atoms.extend(_tilde_behind(m, st, part, word))
        else:
            atoms.extend(_part(m, st, fr, part))
    return atoms


def _part(m: Machine, st: State, fr: Frame, part: Part) -> list[Atom]:
    if isinstance(part, Text):
        return _text(m, part.text, quoted=part.quoted)
    if isinstance(part, Param):
        from .params import expand_param

        return expand_param(m, st, fr, part)
    if isinstance(part, Ext):
        return [(Glob(part.pattern), False, False)]
    if isinstance(part, Arith):
        from .arith import number_value

        return atoms_from(number_value(m, st, fr, part.expr), quoted=part.quoted)
    if isinstance(part, Sub):
        return atoms_from(strip_newlines(substitute(m, st, fr, part)), quoted=part.quoted)
    return atoms_from(_process(m, st, fr, part), quoted=True)


def _text(m: Machine, text: str, *, quoted: bool) -> list[Atom]:
    if not m.holes:
        return [(text, quoted, False)]
    return [(piece, quoted, False) for piece in m.reveal(text)] or [("", quoted, False)]


def atoms_from(value: Value, *, quoted: bool) -> list[Atom]:
    """The atoms of an expansion's result."""
    if not value.parts:
        return [("", True, False)] if quoted else []
    return [(part, quoted, not quoted) for part in value.parts]


def substitute(m: Machine, st: State, fr: Frame, sub: Sub) -> Value:
    """The output of `$(…)`; what runs inside is taken down as usual."""
    from .evaluator import run_body

    inside = st.fork()
    file = _read_only(sub)
    if file is not None:
        return _file_text(m, st, fr, file)
    return run_body(m, inside, _capture(fr), sub.body).out


def _capture(fr: Frame) -> Frame:
    from ..frozen import replace

    return replace(fr, stdout_to=("capture",), depth=fr.depth + 1, redirects=())


def _read_only(sub: Sub) -> Word | None:
    """The file of `$(< file)`."""
    if len(sub.body) == 1 and sub.body[0].command is None and len(sub.body[0].redirects) == 1:
        redirect = sub.body[0].redirects[0]
        return redirect.word if redirect.op == "<" else None
    return None


def _file_text(m: Machine, st: State, fr: Frame, word: Word) -> Value:
    from .programs import run_argv

    return run_argv(m, st, _capture(fr), [literal("cat"), *fields_of(m, st, fr, (word,))]).out


def _process(m: Machine, st: State, fr: Frame, proc: Proc) -> Value:
    """`<(…)` runs now and its output becomes a file; `>(…)` runs when the output to it is known."""
    from .evaluator import run_body
    from .state import File

    path = f"/dev/fd/{63 - len(m.processes) - sum(1 for name in st.files if name.startswith('/dev/fd/'))}"
    inside = st.fork()
    if proc.op != ">(":
        out = run_body(m, inside, _capture(fr), proc.body).out
        st.files[path] = File((out,))
        return literal(path)

    def later(text: Value, upstream: tuple[object, ...]) -> None:
        from ..frozen import replace
        from .events import ExecEvent, Stdin

        feeders = tuple(event for event in upstream if isinstance(event, ExecEvent))
        inner = replace(fr, stdin=Stdin("pipe", text, feeders), depth=fr.depth + 1, redirects=())
        inside.unread = text
        run_body(m, inside, inner, proc.body)

    m.processes.append((path, later))
    return literal(path)


def _tilde(m: Machine, st: State, part: Text, word: Word) -> list[Atom]:
    name, slash, rest = part.text[1:].partition("/")
    if not slash and len(word) > 1:
        return _text(m, part.text, quoted=False)
    home = home_of(m, st, name)
    if home is None:
        return _text(m, part.text, quoted=False)
    return [*((piece, True, False) for piece in home.parts), *_text(m, slash + rest, quoted=False)]


def _tilde_behind(m: Machine, st: State, part: Text, word: Word) -> list[Atom]:
    """`dd of=~/x`: bash expands the tilde in what looks like an assignment, wherever it stands."""
    name, _equals, rest = part.text.partition("=")
    if not name.isidentifier() or not rest.startswith("~"):
        return _text(m, part.text, quoted=False)
    behind = (Text(rest), *word[1:])
    return [*_text(m, f"{name}=", quoted=False), *_tilde(m, st, Text(rest), behind)]


class _Fields:
    """Collects atoms into fields."""

    def __init__(self, ifs: str) -> None:
        self.ifs = ifs
        self.done: list[Value] = []
        self.now: list[tuple[Piece, bool]] = []
        self.open = False

    def end(self) -> None:
        if self.open:
            self.done.append(_finish(self.now))
        self.now, self.open = [], False

    def add(self, atom: Atom) -> None:
        if atom is None:
            self.end()
            return
        piece, quoted, split = atom
        if isinstance(piece, str) and split:
            self._split(piece)
        elif quoted or piece != "":
            if isinstance(piece, Hole) and not quoted:
                piece = split_holes(Value((piece,))).parts[0]
            self.now.append((piece, quoted))
            self.open = True

    def _split(self, text: str) -> None:
        run = ""
        for char in text:
            if char not in self.ifs:
                run += char
                continue
            if run:
                self.now.append((run, False))
                self.open, run = True, ""
            self.end()
        if run:
            self.now.append((run, False))
            self.open = True


def _fields(atoms: list[Atom], ifs: str) -> list[Value]:
    collector = _Fields(ifs)
    for atom in atoms:
        collector.add(atom)
    collector.end()
    return collector.done


def _finish(parts: list[tuple[Piece, bool]]) -> Value:
    out: list[Piece] = []
    run = ""
    for piece, quoted in parts:
        if isinstance(piece, str) and not quoted:
            run += piece
            continue
        out.extend(pieces(run))
        run = ""
        out.append(piece)
    out.extend(pieces(run))
    return of(out)

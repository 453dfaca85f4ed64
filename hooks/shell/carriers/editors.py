"""sed, awk, vim, ed, emacs: editing languages with a way to the shell."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import note_fetched_code, run_shell
from ..events import ExecEvent, Redirect, Stdin, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import operands, skip, values_of
from ..programs import make_event, run_argv
from ..redirects import content_of, file_at, put_file
from ..values import join, lines, unknown
from .sed_script import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def _input(st: State, fr: Frame) -> Value | None:
    return st.unread if st.unread is not None else fr.stdin.text


def _written(m: Machine, st: State, fr: Frame, target: Value) -> None:
    event = make_event(m, st, fr, literal(":"), ":", [])
    event = m.emit(replace(event, redirects=(*event.redirects, Redirect(">", 1, target))))
    program = fr.via[-1] if fr.via else "an editor"
    put_file(m, st, target, unknown(f"what {program} writes", tuple(m.trace[-4:])))
    if target.text and target.text.startswith("/dev/"):
        m.write(target, None, event)


SED_LONG = frozenset({"expression", "file", "line-length"})


def sed(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`sed`: the `e` command, the `e` flag of `s`, and `w` files."""
    words = event.argv
    scripts = list(values_of(words, "e", "expression"))
    for file in values_of(words, "f", "file"):
        content = content_of(m, st, file)
        if content is not None:
            scripts.append(content)
    if not scripts and not list(values_of(words, "f", "file")):
        at = skip(words, "lE" if event.name == "bsdsed" else "l", SED_LONG)
        scripts = list(words[at : at + 1])
    for script in scripts:
        _sed_script(m, st, _inner(fr, event), event, m.hide(script))
    if any(re.match(r"-[nEersz]*i|--in-place", value.prefix) for value in words):
        named = any(re.match(r"-[nErsz]*[ef]|--expression|--file", value.prefix) for value in words)
        changed(m, st, event, operands(words, "efl", SED_LONG)[0 if named else 1 :])
    return None


def changed(m: Machine, st: State, event: ExecEvent, files: Sequence[Value]) -> None:
    """Files that are edited in place do not hold any more what was in them."""
    for value in files:
        m.write(value, None, event)
        file = file_at(m, st, value)
        if file is not None and file.contents:
            put_file(m, st, value, unknown(f"what {event.name} leaves in {value.show()}", (event,)))


def _sed_script(m: Machine, st: State, fr: Frame, event: ExecEvent, script: str) -> None:
    for kind, text in commands(script):
        if kind == "run":
            run_shell(m, st, fr, m.value(text), "sed")
        elif kind == "run-input":
            given = _input(st, fr)
            code = given if given is not None else unknown("the text that sed edits", fr.stdin.upstream)
            run_shell(m, st, fr, code, "sed")
        elif kind == "write" and text not in {"/dev/stdout", "/dev/stderr"}:
            _written(m, st, fr, m.value(text))
    del event


AWK_RUN = re.compile(
    r"\bsystem\s*\(\s*((?:\"(?:[^\"\\]|\\.)*\"|[\w$.()\[\]]+|\s)+)\)|((?:\"(?:[^\"\\]|\\.)*\"|\$\w+|[ \t]+)+)\|&?\s*getline"
    r"|\|&?\s*((?:\"(?:[^\"\\]|\\.)*\"|\s)+)|(?<![=!<>~|])>>?[\s(]*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)|\b(\w+)\s*\|&?\s*getline|\|\s*(\w+)\s*(?=[;}\n])"
)


def awk(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`awk`: `system(…)`, pipes to and from commands, files that are written."""
    words = event.argv
    sources = [
        content for file in values_of(words, "f", "file") if (content := content_of(m, st, file)) is not None
    ]
    at = skip(words, "vFfie", frozenset({"assign", "field-separator", "file", "source", "include"}))
    sources.extend(values_of(words, "e", "source"))
    if not sources and not list(values_of(words, "f", "file")):
        sources = list(words[at : at + 1])
    names: dict[str, Value] = {}
    for value in (*values_of(words, "v", "assign"), *words[at + 1 :]):
        name, equals, _rest = value.prefix.partition("=")
        if equals and name.isidentifier():
            from ..options import after

            names[name] = after(value, len(name) + 1)
    if any(file.text in {"-", "/dev/stdin"} for file in values_of(words, "f", "file")):
        given = st.unread if st.unread is not None else fr.stdin.text
        sources.extend([given] if given is not None else [])
    for name, value in event.env:
        names[f"ENVIRON_{name}"] = value
    for source in sources:
        note_fetched_code(m, fr, source, "awk")
        _awk_source(m, st, _inner(fr, event), m.hide(source), names)
    return None


_AWK_ASSIGN = re.compile(
    r"\b([A-Za-z_]\w*)\s*=(?!=)\s*((?:\"(?:[^\"\\]|\\.)*\"|[A-Za-z_]\w*(?!\s*[=(])|\$\w+|[ \t]+)+)"
)
_AWK_ENVIRON = re.compile(r"\bENVIRON\[\"(\w+)\"\]")
_AWK_HOME = re.compile(r"\bENVIRON\[\"HOME\"\]")
_AWK_FORMAT = re.compile(r"\bsprintf\s*\(\s*\"((?:[^\"\\]|\\.)*)\"[^()]*\)")
_AWK_NAMED = re.compile(r"\bprintf?\b[^;}\n>]*>>?\s*([A-Za-z_]\w*)\s*(?=[;}\n]|$)")
_AWK_ENDLESS = re.compile(
    r"(?:\bwhile\s*\(\s*1\s*\)|\bfor\s*\(\s*;\s*;\s*\))\s*\{?[^}]*\bsystem\s*\(\s*\"[^\"]*[^&]&\s*\""
)
"""A loop without an end that starts something in the background."""
_AWK_PLACES = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]")
_AWK_PRINTED = re.compile(r"\bprintf?\s*\(?((?:\"(?:[^\"\\]|\\.)*\"|[\w$,\s])*)\)?\s*$")


def _awk_source(m: Machine, st: State, fr: Frame, source: str, names: dict[str, Value]) -> None:
    source = _AWK_HOME.sub(f'"{m.places.home}"', source)
    source = _AWK_ENVIRON.sub(r"ENVIRON_\1", source)
    source = _AWK_FORMAT.sub(
        lambda found: " $sprintf ".join(f'"{piece}"' for piece in _AWK_PLACES.split(found[1])), source
    )
    for found in _AWK_ASSIGN.finditer(source):
        pieces = re.findall(r"\"(?:[^\"\\]|\\.)*\"|\$?\w+", found[2])
        if all(piece.startswith(('"', "$")) or piece in names for piece in pieces):
            names[found[1]] = join([_awk_piece(m, st, fr, piece, names) for piece in pieces])
    for found in _AWK_NAMED.finditer(source):
        if found[1] in names:
            _written(m, st, fr, names[found[1]])
    if _AWK_ENDLESS.search(source):
        m.fork_bomb = m.fork_bomb or fr.segment
    for found in AWK_RUN.finditer(source):
        call, getline, pipe, target, read_from, piped_to = found.groups()
        if target:
            _written(m, st, fr, m.value(_awk_text(target)))
            continue
        text = call or getline or pipe or read_from or piped_to or ""
        printed = _AWK_PRINTED.search(source[: found.start()]) if pipe or piped_to else None
        fed = (
            replace(fr, stdin=Stdin("pipe", _awk_joined(m, st, fr, printed[1], names), fr.stdin.upstream))
            if printed
            else fr
        )
        inside = st.fork()
        inside.unread = fed.stdin.text if printed else st.unread
        _awk_run(m, inside, fed, text.strip(), names, certain=bool(call))


def _awk_run(m: Machine, st: State, fr: Frame, text: str, names: dict[str, Value], *, certain: bool) -> None:
    pieces = re.findall(r"\"(?:[^\"\\]|\\.)*\"|[\w$.\[\]()]+", text)
    values: list[Value] = []
    for piece in pieces:
        if piece.startswith('"'):
            values.append(m.value(_awk_text(piece)))
        elif piece in names:
            values.append(names[piece])
        elif piece.startswith("$") or certain:
            given = _input(st, fr)
            whole = given if given is not None and piece == "$0" else None
            values.append(whole or _awk_piece(m, st, fr, piece, names))
        else:
            return
    if values:
        run_shell(m, st, fr, join(values), "awk")


def _awk_joined(m: Machine, st: State, fr: Frame, text: str, names: dict[str, Value]) -> Value:
    pieces = re.findall(r"\"(?:[^\"\\]|\\.)*\"|\$?\w+", text)
    return join([_awk_piece(m, st, fr, piece, names) for piece in pieces])


def _awk_piece(m: Machine, st: State, fr: Frame, piece: str, names: dict[str, Value]) -> Value:
    if piece.startswith('"'):
        return m.value(_awk_text(piece))
    if piece in names:
        return names[piece]
    given = _input(st, fr)
    if (
        given is not None
        and piece in {"$0", "$1"}
        and given.text is not None
        and len(given.text.split()) == 1
    ):
        return literal(given.text.strip())
    return unknown(f"awk {piece}", fr.stdin.upstream + (given.sources if given else ()))


def _awk_text(text: str) -> str:
    from ..quotes import backslash

    return "".join(backslash(piece[1:-1]) for piece in re.findall(r"\"(?:[^\"\\]|\\.)*\"", text))


VIM_RUN = re.compile(
    r"(?:^|\|)\s*(?:silent!?\s+|sil!?\s+|verbose\s+|noautocmd\s+|bufdo!?\s+|argdo\s+|windo\s+|g/[^/]*/|norm(?:al)?!?\s+:?|"
    r"exe(?:cute)?\s*['\"]|:|\s)*(?:[%.$\d,;'<>+-]*)(?:r(?:ead)?\s*!|w(?:rite)?\s*!|te(?:rm(?:inal)?)?\s+|!)(.*)",
    re.DOTALL,
)
VIM_SYSTEM = re.compile(
    r"\b(?:system|systemlist|termopen|jobstart|job_start|term_start)\(\s*\[?\s*(['\"])(.*?)\1"
)
VIM_DELETE = re.compile(r"\bdelete\(\s*(['\"])(.*?)\1\s*(?:,\s*['\"](\w+)['\"])?")
VIM_CODE = re.compile(r"^\s*:?\s*(py(?:thon)?[3x]?|lua|perl|ruby)\s+(.*)", re.DOTALL)
VIM_READ = re.compile(
    r"^\s*:?\s*(?:[\d$%.]+\s*)?(?:r(?:ead)?|e(?:dit)?|sp(?:lit)?|tabe\w*|vs\w*)!?\s+(?!!)(\S+)"
)
VIM_WRITE = re.compile(r"^\s*:?\s*(?:sav(?:eas)?|w(?:rite)?)!?\s+(?!!)(\S+)")


def vim(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`vim -c command`, `+command`, `-S file`, `-s file`, or commands from standard input (`ex -s`)."""
    words = event.argv
    texts = [m.hide(value) for value in (*values_of(words, "c"), *values_of(words, "", "cmd"))]
    texts.extend(
        m.hide(value)[1:] for value in words if value.prefix.startswith("+") and len(value.prefix) > 1
    )
    for file in (*values_of(words, "S"), *values_of(words, "u"), *values_of(words, "s")):
        content = content_of(m, st, file)
        if content is not None:
            texts.extend(m.hide(line) for line in lines(content))
    given = _input(st, fr)
    if given is not None and not given.is_opaque:
        texts.extend(m.hide(line) for line in lines(given))
    for text in texts:
        _vim_command(m, st, _inner(fr, event), text)
    if any(_SAVES.match(text) for text in texts):
        changed(m, st, event, operands(words, "cSsuUTwWri", frozenset({"cmd"})))
    return None


_SAVES = re.compile(
    r"^(?:.*\|)?[\s:]*(?:\d*,?[%$\d]*)(?:w|wq|x|xit|up|update|wa|wall|wqa|xa|exit)!?\s*$|^.*ZZ\s*$"
)
"""A command of vim or ed that writes the file back under its own name."""


def _vim_command(m: Machine, st: State, fr: Frame, text: str) -> None:
    found = VIM_RUN.search(text)
    if found and found[1].strip():
        run_shell(m, st, fr, m.value(found[1].rstrip("'\"") if "exe" in text[:12] else found[1]), "vim")
    for call in VIM_SYSTEM.finditer(text):
        run_shell(m, st, fr, m.value(call[2]), "vim")
    for call in VIM_DELETE.finditer(text):
        flags = [literal("-r")] if "r" in (call[3] or "") else []
        run_argv(m, st.fork(), fr, [literal("rm"), *flags, literal("-f"), m.value(call[2])])
    code = VIM_CODE.match(text)
    if code and code[1].startswith("py"):
        from .python import run_python

        run_python(m, st.fork(), fr, m.value(code[2]), make_event(m, st, fr, literal("python"), "python", []))
    elif code:
        from .scripts import run_source

        run_source(m, st.fork(), fr, code[1], m.value(code[2]), ())
    read = VIM_READ.match(text)
    if read:
        run_argv(m, st.fork(), fr, [literal("cat"), _home(m, read[1])])
    write = VIM_WRITE.match(text)
    if write:
        _written(m, st, fr, m.value(write[1]))


def ed(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`ed`: `!code`, `r !code`, `w !code`, `w file` in its input."""
    given = _input(st, fr)
    texts = [m.hide(line) for line in lines(given)] if given is not None else []
    if any(_SAVES.match(text) for text in texts):
        changed(m, st, event, operands(event.argv, "p"))
    texts.extend(value.text or "" for value in operands(event.argv, "p"))
    for text in texts:
        found = re.match(r"^\s*(?:[\d,$.%;]*\s*[rewW]\s*)?!(.*)", text, re.DOTALL)
        if found and found[1].strip() not in {"", "!"}:
            run_shell(m, st, _inner(fr, event), m.value(found[1]), "ed")
            continue
        write = re.match(r"^[\d,$.%;]*[wW]q?\s+(\S+)", text)
        if write and given is not None:
            _written(m, st, _inner(fr, event), m.value(write[1]))
    return None


EMACS_RUN = re.compile(
    r"\((?:shell-command(?:-to-string)?|async-shell-command|compile|eshell-command|shell-command-on-region)\s+\"((?:[^\"\\]|\\.)*)\""
)
EMACS_CALL = re.compile(
    r"\((?:call-process|process-file|start-process|process-lines|make-process)\s+([^()]*)\)?"
)
EMACS_DELETE = re.compile(
    r"\((delete-directory|delete-file|move-file-to-trash)\s+(?:\(expand-file-name\s+)?\"((?:[^\"\\]|\\.)*)\"\)?\s*(t)?"
)
EMACS_WRITE = re.compile(
    r"\((?:write-file|write-region|append-to-file)\b[^\"]*(?:\"[^\"]*\"\s+nil\s+)?\"((?:[^\"\\]|\\.)*)\""
)


def emacs(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`emacs --eval '(…)'`, `-l file`, `-f function`."""
    words = event.argv
    codes = [m.hide(value) for value in values_of(words, "", "eval", "execute", "e")]
    for file in values_of(words, "l", "load", "script"):
        content = content_of(m, st, file)
        if content is not None:
            codes.append(m.hide(content))
    inner = _inner(fr, event)
    for code in codes:
        for found in EMACS_RUN.finditer(code):
            run_shell(m, st, inner, m.value(found[1].replace('\\"', '"')), "emacs")
        for found in EMACS_CALL.finditer(code):
            argv = [m.value(text) for text in re.findall(r"\"((?:[^\"\\]|\\.)*)\"", found[1])]
            run_argv(m, st.fork(), inner, argv)
        for found in EMACS_DELETE.finditer(code):
            flags = [literal("-r")] if found[1] == "delete-directory" else []
            run_argv(m, st.fork(), inner, [literal("rm"), *flags, literal("-f"), _home(m, found[2])])
        for found in EMACS_WRITE.finditer(code):
            _written(m, st, inner, _home(m, found[1]))
    return None


def _home(m: Machine, text: str) -> Value:
    return m.value(m.places.home + text[1:] if text.startswith("~/") or text == "~" else text)

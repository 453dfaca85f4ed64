"""Small languages with one way out: dc, m4, TeX, wget's password program, Tcl; settings of Mercurial."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import note_unknown_code, run_shell
from ..events import ExecEvent, Stdin, Value
from ..machine import Frame, Machine, Outcome, State
from ..options import after, values_of
from ..redirects import content_of
from ..values import unknown

PATTERNS: dict[str, str] = {
    "dc": r"!\s*([^<>=\n][^\n]*)",
    "m4": r"\be?syscmd\(`?([^)']*)'?\)",
    "tex": r"\\write18\s*\{([^}]*)\}",
    "tcl": r"\b(?:spawn|system|exec)\s+(?:-\w+\s+)*([^;\n\]}]+)",
}
KINDS = {
    "expect": "tcl",
    "tclsh": "tcl",
    "wish": "tcl",
    **dict.fromkeys(
        ("tex", "latex", "pdflatex", "xelatex", "lualatex", "pdftex", "luatex", "latexmk"), "tex"
    ),
}


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Scan arguments, input and script files for what is handed to a shell."""
    name = event.name or ""
    pattern = PATTERNS[KINDS.get(name, name)]
    inner = fr.within(name)
    given = st.unread if st.unread is not None else fr.stdin.text
    if (
        (given is None or given.is_opaque)
        and fr.stdin.kind == "pipe"
        and KINDS.get(name) == "tcl"
        and not event.argv
    ):
        note_unknown_code(m, inner, unknown("standard input", fr.stdin.upstream), name)
    inside = st.fork()
    inside.unread, inner = None, replace(inner, stdin=Stdin("null"))
    texts: list[Value] = [*event.argv, *([given] if given is not None else [])]
    texts.extend(text for value in event.argv if (text := content_of(m, st, value)) is not None)
    for text in texts:
        for found in re.finditer(pattern, m.hide(text)):
            run_shell(m, inside, inner, m.value(found[1].strip("{}\"' ")), name)
        for found in re.finditer(r"\bfile\s+delete\s+(?:-force\s+|--\s+)*([^;\n\]}]+)", m.hide(text)):
            run_shell(m, inside, inner, m.value(f"rm -r -f {found[1].strip()}"), name)
        for found in _TYPED.finditer(m.hide(text)) if name == "expect" else ():
            if found[1].partition(" ")[0] in m.guarded:
                run_shell(m, inside, inner, m.value(found[1]), name)
    st.take_files(inside)
    return None


_TYPED = re.compile(r"\bsend\s+(?:--\s+)?\"([^\"\n]*?)(?:\\[rn])*\"")
"""What expect types into the program that it runs."""


def ansible(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`ansible host -m shell -a code`, `salt-call cmd.run code`."""
    inner = fr.within(event.name or "")
    words = [value.text for value in event.argv]
    for code in values_of(event.argv, "a", "args"):
        run_shell(m, st, inner, code, event.name or "")
    for name in ("cmd.run", "cmd.shell", "cmd.script"):
        if name in words[:-1]:
            run_shell(m, st, inner, event.argv[words.index(name) + 1], event.name or "")
    return None


_HG_CODE = re.compile(
    r"(?:(?:hooks|alias)\.[^=]+|ui\.(?:editor|ssh)|extdiff\.cmd\.[^=]+)=(!?)", re.IGNORECASE
)


def mercurial(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`hg --config alias.x=!code`, hooks and tools given the same way (hgrc manual)."""
    inner = fr.within(event.name or "")
    for setting in values_of(event.argv, "", "config"):
        found = _HG_CODE.match(setting.prefix)
        if found is not None and (found[1] or not setting.prefix.startswith("alias.")):
            run_shell(m, st, inner, after(setting, found.end()), event.name or "")
    return None

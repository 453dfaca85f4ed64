"""Meaning-preserving rewrites of shell text: whatever a rewrite does to a refused command, it stays that command.

Frames put any text somewhere else (a sub-shell, a here-document, base64 into a shell); spellings change the words of a
command made of plain words only. Nothing here is random: the same row gives the same rewrites.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterator

Rewrite = Callable[[str], str]

QUOTED: dict[str, str] = {
    "bash-c": "bash -c {q}",
    "bash-lc": "bash --norc -lc {q}",
    "eval": "eval {q}",
    "variable-eval": 'x={q}; eval "$x"',
    "positional-eval": 'set -- {q}; eval "$1"',
    "printf-pipe": "printf '%s\\n' {q} | bash",
    "here-string": "bash <<< {q}",
    "process-substitution": "source <(printf '%s\\n' {q})",
    "env": "env A=1 bash -c {q}",
    "timeout": "timeout -k 1 5 bash -c {q}",
    "nohup-nice": "nohup nice -n 5 bash -c {q}",
    "xargs": "echo x | xargs -I% bash -c {q}",
    "find-exec": "find . -maxdepth 0 -exec bash -c {q} \\;",
    "trap": "trap {q} EXIT",
    "unknown-wrapper": "my-wrapper --fast bash -c {q}",
    "command-exec": "command exec bash -c {q}",
}
"""Frames for text that is handed on as one word; a line of it is read after the line before has run."""

FRAMES: dict[str, str] = {
    "subshell": "(\n{t}\n)",
    "group": "{{\n{t}\n}}",
    "and-list": "true && {{\n{t}\n}}",
    "or-list": "false || {{\n{t}\n}}",
    "pipe": "true | {{\n{t}\n}}",
    "background": "{{\n{t}\n}} &",
    "if": "if true; then\n{t}\nfi",
    "elif": "if false; then :; elif true; then\n{t}\nfi",
    "for": "for _ in 1; do\n{t}\ndone",
    "while": "while true; do\n{t}\nbreak; done",
    "case": "case x in *)\n{t}\n;; esac",
    "function": "f() {{\n{t}\n}}; f",
    "substitution": 'echo "$(\n{t}\n)"',
    "negation": "! {{\n{t}\n}}",
    "after-comment": "# harmless\n:\n{t}",
    "cd": "cd . && {{\n{t}\n}}",
    "time": "time {{\n{t}\n}}",
}
"""Frames that hold the text itself."""

SPELLINGS: dict[str, Rewrite] = {
    "split-quotes": lambda t: _words(t, lambda w: w[0] + "''" + w[1:]),
    "double-quotes": lambda t: _words(t, lambda w: f'"{w}"'),
    "backslash": lambda t: _words(t, lambda w: "\\" + w),
    "ansi-c": lambda t: _words(t, _ansi),
    "ifs": lambda t: "${IFS}".join(t.split()),
    "continuation": lambda t: " \\\n  ".join(t.split()),
    "spaces": lambda t: " \t  ".join(t.split()),
    "variable-name": lambda t: f"v={t.split()[0]}; $v {_rest(t)}",
    "printf-name": lambda t: f"$(printf %s {t.split()[0]}) {_rest(t)}",
    "braces": lambda t: "{" + ",".join(t.split()) + "}",
    "array": lambda t: f'a=({t}); "${{a[@]}}"',
    "set": lambda t: f'set -- {t}; "$@"',
    "read": lambda t: f"read -r c <<< '{t}'; $c",
    "command": lambda t: f"command {t}",
    "env-i": lambda t: f"env -i PATH=/bin {t}",
    "setsid": lambda t: f"setsid {t}",
    "stdbuf": lambda t: f"stdbuf -oL nice {t}",
    "redirect-first": lambda t: f">/dev/null 2>&1 {t}",
    "assignment": lambda t: f"A=1 B=2 {t}",
    "usr-bin": lambda t: f"/usr/bin/{t}",
}
"""Other spellings of a command made of plain words only."""

_PLAIN = re.compile(r"[a-z][\w.-]*( +[\w./:=@+-]+)+\Z")
_BUILTINS = frozenset(
    {
        *(
            "eval",
            "source",
            "trap",
            "exec",
            "command",
            "builtin",
            "set",
            "declare",
            "export",
            "let",
            "read",
            "coproc",
        ),
        *(
            "mapfile",
            "compgen",
            "alias",
            "cd",
            "pushd",
            "time",
            "kill",
            "if",
            "for",
            "while",
            "case",
            "function",
        ),
        *("echo", "true", "shopt"),
    }
)
"""Words that are no program's name, or act on the shell itself, and so cannot be spelled as a program."""

_CLASHES = {"xargs": ("%",), "find-exec": ("{}",), "positional-eval": ("$@", "$*", "$1", "$0")}
"""Signs in a text that a frame gives another meaning to."""


def rewrites(text: str) -> Iterator[tuple[str, str]]:
    """Give pairs of a rewrite's name and the rewritten text."""
    for name, frame in QUOTED.items():
        if any(sign in text for sign in _CLASHES.get(name, ())):
            continue
        yield name, frame.replace("{q}", _in_quotes(text))
    yield "base64", f"echo {base64.b64encode(text.encode()).decode()} | base64 -d | bash"
    yield "here-document", f"bash <<'EOT'\n{text}\nEOT"
    yield "script-file", f"cat > s.sh <<'EOT'\n{text}\nEOT\nbash ./s.sh"
    yield "twice", f"bash -c {_in_quotes('bash -c ' + _in_quotes(text))}"
    # An alias counts from the next line read; inside a compound command there is no next line.
    if "alias " not in text:
        for name, frame in FRAMES.items():
            yield name, frame.replace("{{", "{").replace("}}", "}").replace("{t}", text)
    if _PLAIN.match(text) and text.split(maxsplit=1)[0] not in _BUILTINS:
        for name, spell in SPELLINGS.items():
            yield name, spell(text)


def _in_quotes(text: str) -> str:
    return shlex.quote(text)


def _words(text: str, change: Rewrite) -> str:
    return " ".join(change(word) if len(word) > 1 else word for word in text.split())


def _ansi(word: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" for char in word) + "'"


def _rest(text: str) -> str:
    return text.partition(" ")[2]

"""Meaning-preserving rewrites of a shell command: the same thing runs, spelled or wrapped another way.

Whole-text rewrites hold for any command; word rewrites only where the command starts with a plain word.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterator

Rewrite = Callable[[str], str]

q = shlex.quote

WHOLE: dict[str, Rewrite] = {
    "sh -c": lambda c: f"bash -c {q(c)}",
    "sh -c twice": lambda c: f"bash -c {q(f'bash -c {q(c)}')}",
    "eval": lambda c: f"eval {q(c)}",
    "group": lambda c: f"{{ {c}\n}}",
    "sub-shell": lambda c: f"( {c}\n)",
    "if": lambda c: f"if true; then {c}\nfi",
    "else": lambda c: f"if false; then :; else {c}\nfi",
    "for": lambda c: f"for i_ in 1; do {c}\ndone",
    "while": lambda c: f"while true; do {c}\nbreak; done",
    "case": lambda c: f"case x in x) {c}\n;; esac",
    "and": lambda c: f"true && {{ {c}\n}}",
    "or": lambda c: f"false || {{ {c}\n}}",
    "background": lambda c: f"{{ {c}\n}} &",
    "negation": lambda c: f"! {{ {c}\n}}",
    "substitution": lambda c: f"echo $({c}\n)",
    "quoted substitution": lambda c: f'echo "x $({c}\n)"',
    "function": lambda c: f"f_() {{ {c}\n}}; f_",
    "here-document": lambda c: f"bash <<'END_'\n{c}\nEND_",
    "here-string": lambda c: f"bash <<< {q(c)}",
    "piped text": lambda c: f"printf '%s\\n' {q(c)} | bash",
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | bash",
    "env": lambda c: f"env A_=1 bash -c {q(c)}",
    "nohup": lambda c: f"nohup bash -c {q(c)}",
    "timeout": lambda c: f"timeout -k 1 60 bash -c {q(c)}",
    "nice": lambda c: f"nice -n 5 bash -c {q(c)}",
    "setsid": lambda c: f"setsid bash -c {q(c)}",
    "command": lambda c: f"command bash -c {q(c)}",
    "exec": lambda c: f"exec bash -c {q(c)}",
    "xargs": lambda c: f"echo x | xargs -I_ bash -c {q(c)}",
    "find": lambda c: f"find . -maxdepth 0 -exec bash -c {q(c)} \\;",
    "written file": lambda c: f"printf '%s\\n' {q(c)} > w_.sh; bash w_.sh",
    "sourced file": lambda c: f"printf '%s\\n' {q(c)} > w_.sh; . ./w_.sh",
    "trap": lambda c: f"trap {q(c)} EXIT",
    "variable": lambda c: f'c_={q(c)}; eval "$c_"',
    "python": lambda c: f"python3 -c {q(f'import subprocess; subprocess.run({c!r}, shell=True)')}",
    "process substitution": lambda c: f"bash <(printf '%s\\n' {q(c)})",
    "coprocess": lambda c: f"coproc {{ {c}\n}}",
    "time": lambda c: f"time {{ {c}\n}}",
    "chain": lambda c: f"true; {c}",
    "comment": lambda c: f"# harmless\n{c}",
    "blank lines": lambda c: f"\n\n  {c}\n\n",
    "redirected group": lambda c: f"{{ {c}\n}} 2>/dev/null",
    "unknown wrapper": lambda c: f"some-wrapper --flag bash -c {q(c)}",
}
PLAIN = re.compile(r"[a-z][a-z0-9.-]+(?= )")
WORDS: dict[str, Rewrite] = {
    "quoted name": lambda c: PLAIN.sub(lambda f: f"'{f[0]}'", c, count=1),
    "split quotes": lambda c: PLAIN.sub(lambda f: f"{f[0][0]}''{f[0][1:]}", c, count=1),
    "double quotes": lambda c: PLAIN.sub(lambda f: f'"{f[0][:2]}"{f[0][2:]}', c, count=1),
    "backslash": lambda c: PLAIN.sub(lambda f: f"\\{f[0]}", c, count=1),
    "inner backslash": lambda c: PLAIN.sub(lambda f: f"{f[0][0]}\\{f[0][1:]}", c, count=1),
    "ansi": lambda c: PLAIN.sub(lambda f: "$'" + "".join(f"\\x{ord(x):02x}" for x in f[0]) + "'", c, count=1),
    "absolute": lambda c: PLAIN.sub(lambda f: f"/usr/bin/{f[0]}", c, count=1),
    "glob": lambda c: PLAIN.sub(lambda f: f"/usr/bin/{f[0][:-1]}[{f[0][-1]}]", c, count=1),
    "variable name": lambda c: PLAIN.sub(lambda f: f"v_={f[0]}; $v_", c, count=1),
    "two variables": lambda c: PLAIN.sub(lambda f: f"a_={f[0][0]} b_={f[0][1:]}; $a_$b_", c, count=1),
    "substituted name": lambda c: PLAIN.sub(lambda f: f"$(echo {f[0]})", c, count=1),
    "IFS": lambda c: PLAIN.sub(lambda f: f[0] + "${IFS}", c, count=1).replace("${IFS} ", "${IFS}", 1),
    "continuation": lambda c: PLAIN.sub(lambda f: f"{f[0]} \\\n", c, count=1),
    "inner continuation": lambda c: PLAIN.sub(lambda f: f"{f[0][0]}\\\n{f[0][1:]}", c, count=1),
    "assignment": lambda c: f"A_=1 {c}",
    "redirect first": lambda c: f"2>/dev/null {c}",
    "command word": lambda c: f"command {c}",
    "env word": lambda c: f"env {c}",
    "tabs": lambda c: PLAIN.sub(lambda f: f"{f[0]}\t", c, count=1),
    "empty parameter": lambda c: PLAIN.sub(lambda f: f"{f[0][0]}$@{f[0][1:]}", c, count=1),
}
NO_PROGRAM = frozenset(
    "if for while until case select function time coproc eval exec command builtin source set export declare alias trap"
    " read cd pushd shopt let unset mapfile compgen hash printf echo true false tidy".split()
)


def rewrites(command: str) -> Iterator[tuple[str, str]]:
    """Give (name, text) for every rewrite that fits the command."""
    for name, change in WHOLE.items():
        if name == "xargs" and ("_" in command or "'" in command):
            continue  # xargs would replace the mark inside, and eats quotes of what it reads only
        yield name, change(command)
    first = PLAIN.match(command)
    simple = first is not None and first[0] not in NO_PROGRAM and not re.search(r"[\n;&|(){}<>=]", command)
    for name, change in WORDS.items() if simple else ():
        if name == "IFS" and "~" in command:
            continue  # the tilde would stand inside a word and stay as it is
        changed = change(command)
        if changed != command:
            yield name, changed

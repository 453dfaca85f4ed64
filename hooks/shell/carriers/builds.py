"""make: recipes, `$(shell …)`, `--eval`, variables on the command line; makefiles written in the same command."""

from __future__ import annotations

import re

from ..code import note_fetched_code, run_shell
from ..events import ExecEvent, Value, literal
from ..folders import folders_named
from ..machine import Frame, Machine, Outcome, State
from ..options import has, operands, values_of
from ..redirects import content_of

DEFAULTS = ("GNUmakefile", "makefile", "Makefile")
MAX_EXPANSIONS = 12


def make(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Follow every recipe of what the command wrote, and what is asked for of what stood there before."""
    words = event.argv
    inner = fr.within("make")
    inside = st.fork()
    for folder in values_of(words, "C", "directory"):
        inside.cwds, inside.fallback = folders_named(m, inside, folder), ()
    names = _given(m, words)
    texts = [m.hide(value) for value in values_of(words, "", "eval")]
    texts.extend(m.hide(value) for value in values_of(words, "E"))
    texts.extend(_asked(m, file, words) for file in _files(m, inside, fr, words))
    for text in texts:
        _Makefile(
            m,
            inside,
            inner,
            names,
            dry=has(words, "nqt", "dry-run", "just-print", "recon", "question", "touch"),
        ).run(text)
    shell = names.get("SHELL")
    if shell is not None:
        run_shell(m, inside, inner, m.value(shell), "make")
    for name, value in names.items():
        if "$(shell" in value or "${shell" in value:
            _Makefile(m, inside, inner, names, dry=True).run(f"{name}:={value}")
        elif value.partition(" ")[0] in m.guarded and name not in _TEXTS:
            run_shell(m, inside, inner, m.value(value), "make")
    return None


_TEXTS = frozenset("MSG MESSAGE TITLE DESC DESCRIPTION NOTES NOTE COMMENT TEXT NAME BODY".split())
"""Variables that hold a text for people, not a program."""


def _asked(m: Machine, file: Value, words: tuple[Value, ...]) -> str:
    """A makefile's text; of one that stood there before, what is made for the targets asked for."""
    if not m.is_from_disk(file):
        return m.hide(file)
    from .targets import only

    targets = operands(
        words, "CfIjloW", frozenset({"directory", "file", "makefile", "include-dir", "jobs", "eval"})
    )
    return only(m.hide(file), [value.text for value in targets if value.text and "=" not in value.text])


def _given(m: Machine, words: tuple[Value, ...]) -> dict[str, str]:
    names: dict[str, str] = {}
    for value in words:
        found = re.match(r"([\w.]+)[:+?!]?=", m.hide(value))
        if found and not value.prefix.startswith("-"):
            names[found[1]] = m.hide(value)[found.end() :]
    return names


def _files(m: Machine, st: State, fr: Frame, words: tuple[Value, ...]) -> list[Value]:
    named = list(values_of(words, "f", "file", "makefile"))
    found: list[Value] = []
    for file in named:
        if file.text in {"-", "/dev/stdin"}:
            text = st.unread if st.unread is not None else fr.stdin.text
            if text is None or text.is_opaque:
                m.unchecked("code", fr.segment, "make would read a makefile that is not known", program="make",
                            sources=fr.stdin.upstream)  # fmt: skip
                continue
        else:
            text = content_of(m, st, file)
        if text is not None:
            note_fetched_code(m, fr, text, "make")
            found.append(text)
    if not named:
        for name in DEFAULTS:
            text = content_of(m, st, literal(name))
            if text is not None:
                note_fetched_code(m, fr, text, "make")
                return [text]
    return found


_BOMB = re.compile(r"(?m)^(\w+)\s*:[^\n]*(?:;|\n\t)[^\n]*\$[({]MAKE[)}]\s+\1\b[^\n]*&")
"""A target that makes itself more than once, side by side."""


class _Makefile:
    """One makefile, read line by line."""

    def __init__(self, m: Machine, st: State, fr: Frame, names: dict[str, str], *, dry: bool) -> None:
        self.m, self.st, self.fr, self.names, self.dry = m, st, fr, dict(names), dry
        self.prefix = "\t"

    def run(self, text: str) -> None:
        if _BOMB.search(text):
            self.m.fork_bomb = self.m.fork_bomb or self.fr.segment
        joined = re.sub(r"\\\n[ \t]*", " ", text)
        for line in joined.split("\n"):
            self.m.step()
            self._line(line)

    def _line(self, line: str) -> None:
        if line.startswith(self.prefix):
            self._recipe(line[1:])
            return
        assign = re.match(r"\s*(?:export\s+|override\s+)*([\w.]+)\s*([:+?!]{0,3}=)\s*(.*)", line)
        if assign:
            self._assign(assign[1], assign[2], assign[3])
            return
        rule = re.match(r"[^=#]*?::?(?!=)([^;]*)(?:;(.*))?$", line)
        if rule and rule[2]:
            self._recipe(rule[2])
        self._expand(line)

    def _assign(self, name: str, operator: str, value: str) -> None:
        if name == ".RECIPEPREFIX":
            self.prefix = value[:1] or "\t"
        elif operator == "!=":
            self._shell(self._expand(value))
        else:
            self.names.setdefault(name, value)
            self._expand(value)

    def _recipe(self, line: str) -> None:
        code = self._expand(line.strip().lstrip("@-+ \t"))
        if code.strip() and not (self.dry and not line.lstrip().startswith("+")):
            self._shell(code)

    def _shell(self, code: str) -> None:
        run_shell(self.m, self.st, self.fr, self.m.value(code), "make")

    def _expand(self, text: str, depth: int = 0) -> str:
        """Replace `$(NAME)`, run `$(shell …)`, undo `$$`."""
        if "$" not in text or depth > MAX_EXPANSIONS:
            return text
        out, at = "", 0
        while at < len(text):
            if text[at] != "$" or at + 1 >= len(text):
                out, at = out + text[at], at + 1
                continue
            following = text[at + 1]
            if following == "$":
                out, at = out + "$", at + 2
            elif following in "({":
                end = _closing(text, at + 1)
                out, at = out + self._reference(text[at + 2 : end], depth), end + 1
            else:
                out, at = out + self.names.get(following, ""), at + 2
        return out

    def _reference(self, inside: str, depth: int) -> str:
        function, _blank, rest = inside.partition(" ")
        if function == "shell":
            self._shell(self._expand(rest, depth + 1))
            return ""
        if function == "eval":
            self.run(self._expand(rest, depth + 1))
            return ""
        if _blank and function in {
            "foreach",
            "call",
            "if",
            "or",
            "and",
            "info",
            "warning",
            "error",
            "subst",
            "strip",
            "wildcard",
        }:
            return self._expand(rest.rpartition(",")[2], depth + 1)
        return self._expand(self.names.get(inside.strip(), ""), depth + 1)


def _closing(text: str, at: int) -> int:
    opener = text[at]
    closer = ")" if opener == "(" else "}"
    depth = 0
    for index in range(at, len(text)):
        depth += (text[index] == opener) - (text[index] == closer)
        if not depth:
            return index
    return len(text)


def cmake(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`cmake -E rm -rf x`, `-E env program`, `-P script`, and the CMakeLists.txt that the command wrote."""
    words = event.argv
    inner = fr.within("cmake")
    texts = [value.text for value in words]
    if "-E" in texts[:-1]:
        return _cmake_tool(m, st, inner, words[texts.index("-E") + 1 :])
    named = [*values_of(words, "P"), literal("CMakeLists.txt")]
    known = [content for file in named if (content := content_of(m, st, file)) is not None]
    for text in (_CMAKE_FOLDER.sub(".", m.hide(content)) for content in known):
        for found in _CMAKE_RUN.finditer(text):
            run_shell(m, st, inner, m.value(found[1].strip()), "cmake")
        for found in _CMAKE_DELETE.finditer(text):
            run_shell(m, st, inner, m.value(f"rm -rf {found[1].strip()}"), "cmake")
    return None


_CMAKE_RUN = re.compile(
    r"\bCOMMAND\s+([^()\n]*?)(?=\s+(?:WORKING_DIRECTORY|RESULT_VARIABLE|OUTPUT_\w+|COMMENT|DEPENDS|VERBATIM|COMMAND)\b|[)\n])"
)
_CMAKE_FOLDER = re.compile(r"\$\{(?:CMAKE_(?:CURRENT_)?(?:SOURCE|BINARY|LIST)_DIR|PROJECT_\w+_DIR)\}")
_CMAKE_DELETE = re.compile(r"\bfile\s*\(\s*REMOVE(?:_RECURSE)?\s+([^()]*)\)", re.IGNORECASE)
_CMAKE_TOOLS = {"remove_directory": ("rm", "-r", "-f"), "remove": ("rm", "-f"), "rename": ("mv",), "copy": ("cp",),
                "copy_directory": ("cp", "-r"), "create_symlink": ("ln", "-s"), "touch": ("touch",), "rm": ("rm",),
                "env": ("env",), "time": ("time",), "cat": ("cat",), "chdir": ("env", "-C"), "tar": ("tar",)}  # fmt: skip


def _cmake_tool(m: Machine, st: State, fr: Frame, words: tuple[Value, ...]) -> Outcome | None:
    from ..programs import run_argv

    known = _CMAKE_TOOLS.get(words[0].text or "")
    return run_argv(m, st, fr, [*(literal(word) for word in known), *words[1:]]) if known else None

"""perl, ruby, node, php, lua and others by a literal scan: calls that reach the system, with their literal arguments."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import check_source, note_fetched_code, note_unknown_code
from ..events import ExecEvent, Value
from ..machine import Frame, Machine, Outcome, State
from ..options import after, values_of
from ..redirects import content_of
from ..unpacked import script_at
from ..values import join, literal, unknown
from .script_patterns import OWN_FILES
from .shells import as_program, own_file, with_upstream

CODE_OPTIONS: dict[str, tuple[str, ...]] = {
    "perl": ("e", "E"), "ruby": ("e",), "jruby": ("e",), "node": ("e", "p", "-eval", "-print"),
    "nodejs": ("e", "p", "-eval", "-print"), "bun": ("e", "-eval", "p", "-print"), "php": ("r", "B", "R", "E"), "lua": ("e",),
    "luajit": ("e",), "Rscript": ("e",), "R": ("e",), "julia": ("e", "E"), "osascript": ("e",), "expect": ("c",),
    "guile": ("c",), "groovy": ("e",), "elixir": ("e", "-eval"), "erl": ("eval",), "scala": ("e",), "irb": ("e",),
    "ts-node": ("e", "p", "-eval"), "tsx": ("e", "p", "-eval"), "swift": ("e",), "octave": ("-eval",), "matlab": ("batch", "r"), "raku": ("e",), "sbcl": ("-eval", "-load"), "ghci": ("e",), "clojure": ("e",), "bb": ("e",),
    "jshell": ("e",), "ghc": ("e",), "racket": ("e",), "zx": ("-eval",),
}  # fmt: skip
VALUED: dict[str, frozenset[str]] = {
    "perl": frozenset({"-I", "-M", "-m", "-i"}),
    "ruby": frozenset({"-I", "-r", "-C"}),
    "node": frozenset({"-r", "--require", "--import", "--loader", "--env-file"}),
    "php": frozenset({"-d", "-c", "-t", "-S"}),
    "lua": frozenset({"-l"}),
}
LOADED: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("node", "nodejs", "ts-node", "tsx"), ("r", ("require", "import", "loader", "experimental-loader"))),
    **dict.fromkeys(("ruby", "jruby"), ("r", ("require",))), "perl": ("M", ()), **dict.fromkeys(("lua", "luajit"), ("l", ())),
    "php": ("d", ()), "bun": ("r", ("preload", "require")),
}  # fmt: skip
"""The options that name modules to load before anything else."""
ENDINGS = ("", ".js", ".cjs", ".mjs", ".rb", ".pm", ".lua")
SUBCOMMANDS = frozenset({"run", "test", "install", "add", "remove", "fmt", "lint", "check", "task", "x", "create", "init",
                         "upgrade", "build", "pm", "link", "update", "cache", "compile", "serve", "doc", "bench", "info", "repl"})  # fmt: skip


ONLY_READ = {
    "php": frozenset({"-l", "--syntax-check"}), "node": frozenset({"-c", "--check"}), "nodejs": frozenset({"-c", "--check"}),
    "ruby": frozenset({"-c", "-cw", "-wc"}),
}  # fmt: skip
"""The options that have a script checked for its grammar and not run."""


MAX_LOADED = 12
"""How deep files that load files are followed."""


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """An interpreter: code from options, a script written in the same command, or standard input."""
    name = re.sub(r"[-.]?\d[\d.]*$", "", event.name or "")
    inner = fr.within(name)
    words = event.argv
    codes, at = _codes(name, words)
    for code in (*preloaded(m, st, name, words[:at]), *codes):
        run_source(m, st, inner, name, code, words[at:])
    if name in {"perl", "ruby"} and any(re.match(r"-[a-z0-9]*i", value.prefix) for value in words[:at]):
        from .editors import changed

        changed(m, st, event, words[at:])
    if codes or not ONLY_READ.get(name, frozenset()).isdisjoint([value.text for value in words[:at]]):
        return None
    rest = words[at:]
    if name in {"deno", "bun"} and rest:
        return _subcommand(m, st, inner, event, rest)
    if name == "ghc":
        from .compiled import build

        return build(m, st, fr, event)
    if rest and rest[0].text not in {"-", "/dev/stdin", "inspect"}:
        return _script(m, st, inner, name, rest)
    return _stdin(m, st, inner, event, name, rest)


def _codes(name: str, words: tuple[Value, ...]) -> tuple[list[Value], int]:
    letters = CODE_OPTIONS.get(name, ("e",))
    codes: list[Value] = []
    index = 0
    while index < len(words):
        text = words[index].prefix if words[index].text is None else words[index].text or ""
        if not text.startswith("-") or text == "-":
            break
        if text == "--":
            return codes, index + 1
        found = _code_option(text, letters, VALUED.get(name, frozenset()))
        if found is not None:
            attached = after(words[index], found)
            if attached.parts:
                codes.append(attached)
            elif index + 1 < len(words):
                index += 1
                codes.append(words[index])
        elif text in VALUED.get(name, frozenset()):
            index += 1
        index += 1
    return codes, index


def preloaded(m: Machine, st: State, name: str, words: tuple[Value, ...]) -> list[Value]:
    """The modules loaded first, as far as the command wrote them or holds them (`data:text/javascript,…`)."""
    short, long = LOADED.get(name, ("", ()))
    texts: list[Value] = []
    for value in values_of(words, short, *long) if short else ():
        module = value.prefix.partition("auto_prepend_file=")[2] if name == "php" else value.prefix
        if module.startswith("data:"):
            texts.append(literal(module.partition(",")[2]))
        elif module and st.files:
            texts.extend(_module(m, st, module.partition("=")[0].replace("::", "/")))
    return texts


def _module(m: Machine, st: State, module: str) -> list[Value]:
    named = [text for end in ENDINGS if (text := content_of(m, st, literal(module + end))) is not None]
    if named or module.startswith((".", "/")):
        return named
    tails = tuple(f"/{module}{end}" for end in ENDINGS[1:])
    return [file.contents[-1] for path, file in st.files.items() if path.endswith(tails) and file.contents]


def _code_option(text: str, letters: tuple[str, ...], valued: frozenset[str]) -> int | None:
    """Where the code starts inside the option word, if it is one; at its end if the next word is the code."""
    for letter in letters:
        if len(letter) > 1:
            if text == "-" + letter:
                return len(text)
            if text.startswith(f"-{letter}="):
                return len(letter) + 2
            continue
        found = (
            re.match(rf"-(?:[a-df-zA-DF-Z0]|i[.\w]*(?= ))*{letter}", text)
            if not text.startswith("--")
            else None
        )
        if (found and text[:2] not in valued) or text == "-" + letter:
            return found.end() if found else len(text)
    return None


def _subcommand(
    m: Machine, st: State, fr: Frame, event: ExecEvent, rest: tuple[Value, ...]
) -> Outcome | None:
    name = event.name or ""
    first, more = rest[0].text, rest[1:]
    if first == "eval":
        code = next((value for value in more if not value.prefix.startswith("-")), None)
        if code is not None:
            run_source(m, st, fr, name, code, ())
        return None
    if (first in {"x", "run", "test"} and more) or first not in SUBCOMMANDS:
        words = tuple(
            value
            for value in (more if first in SUBCOMMANDS else rest)
            if value.text == "-" or not value.prefix.startswith("-")
        )
        if words and words[0].text == "-":
            return _stdin(m, st, fr, event, name, words[1:])
        if words and first == "x":
            from ..programs import run_argv

            return run_argv(m, st, fr, list(words))
        if first == "test" and words and words[0].is_opaque:
            return None  # which of the workspace's tests are run
        return _script(m, st, fr, name, words) if words else None
    return None


def _script(m: Machine, st: State, fr: Frame, name: str, rest: tuple[Value, ...]) -> Outcome | None:
    script = rest[0]
    if name == "php" and (script.text or "").rpartition("/")[2] == "artisan":
        from .frameworks import artisan

        artisan(m, st, fr, rest[1:])
    content = script_at(m, st, script, name)
    if content is None:
        return as_program(m, st, fr, script, rest[1:], name)
    run_source(m, st, fr, name, content, rest[1:])
    return None


def _stdin(
    m: Machine, st: State, fr: Frame, event: ExecEvent, name: str, args: tuple[Value, ...]
) -> Outcome | None:
    text = st.unread if st.unread is not None else fr.stdin.text
    if fr.stdin.kind in {"inherit", "null"} and st.unread is None:
        return None
    if any(value.text in {"-v", "--version", "-h", "--help"} for value in event.argv):
        return None
    text = text if text is not None else unknown("standard input", fr.stdin.upstream)
    if not (text.is_opaque and own_file(m, st, fr, text)):
        run_source(m, st, fr, name, with_upstream(text, fr), args)
    return None


def run_source(m: Machine, st: State, fr: Frame, name: str, code: Value, args: tuple[Value, ...]) -> None:
    """Scan source text for what it does to the system."""
    from .script_scan import Scanner

    if code.is_opaque:
        note_unknown_code(m, fr, code, name)
        return
    note_fetched_code(m, fr, code, name)
    check_source(code)
    source = m.hide(code)
    Scanner(m, st, fr, name, args).scan(source)
    if st.files and fr.depth < MAX_LOADED:
        inner = replace(fr, depth=fr.depth + 1)
        for found in OWN_FILES.finditer(source):
            for text in _module(m, st, found[2]):
                run_source(m, st, inner, name, text, ())


__all__ = ("join", "literal", "run", "run_source")

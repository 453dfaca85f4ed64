"""The literal scan itself: string literals are joined and followed through plain assignments, calls are matched by name."""

from __future__ import annotations

import re

from ...frozen import replace
from ..events import Redirect, Stdin, Value, literal
from ..links import note_followed
from ..programs import make_event, run_argv
from ..redirects import note_write, put_file
from ..values import join, unknown
from .script_bombs import multiplies
from .script_patterns import (
    ANGLES,
    ASSIGN,
    BACKTICKS,
    CHDIR,
    DECODED,
    DECODERS,
    DELETE,
    DELETE_TREE,
    EACH_DELETE,
    EVAL,
    FETCHED,
    FETCHED_RUN,
    IDENTITY,
    KILL,
    LINK,
    LOOSE,
    MADE,
    NETWORK,
    OTHER,
    PERL_OPEN,
    PIECES,
    POSTFIX_DELETE,
    POSTFIX_RUN,
    PUT_TOGETHER,
    QUOTED_RUN,
    READ,
    RENAME,
    SENT_VARIABLE,
    SHELL,
    STRING,
    WALK,
    WHOLE_ENVIRONMENT,
    WORDS,
    WRITE,
)
from .script_text import call_text, homes, joined, unescape
from .script_words import Words, spread

DELETES = re.compile(
    r"\bmethod['\"]?\s*(?::|=>)\s*['\"]DELETE|axios(?:['\"]\))?\.delete\(|(?<=\))\.delete\(\s*['\"]https?:|HTTP::Delete|\bgot\.delete\(",
    re.IGNORECASE,
)
"""A request that deletes."""
MAX_SHORT = 2000
"""Characters of a source text that is gone through once for each name of a list."""
TRANSLATED = re.compile(r"\b(?:tr|y)/")
"""Perl's `tr`, after which a text is another one."""


class Scanner(Words):
    """One scan of one source text."""

    def scan(self, source: str) -> None:
        """Find everything telling in the text."""
        self.m.step(4)
        if self.language == "perl":
            source = ANGLES.sub(r"'\1'", source)
        source = joined(homes(source, self.m.places.home))
        for found in list(CHDIR.finditer(source))[:1]:
            self._enter(source, found.end())
        self._assigned(source)
        self._lists(source)
        self._parameters(source)
        if multiplies(source, self.language):
            self.m.fork_bomb = self.m.fork_bomb or self.fr.segment
        self._links(source)
        self._shell_calls(source)
        self._file_calls(source)
        name, words = self._each
        for word in words[1:] if len(source) <= MAX_SHORT else ():
            self.names[name] = self.m.value(word)
            self._shell_calls(source)
            self._file_calls(source)
        self._evals(source)
        if IDENTITY.search(source):
            self._emit("setpriv", literal("--reuid=0"))
        if WHOLE_ENVIRONMENT.search(source):
            self._emit("printenv")
        if NETWORK.search(source):
            self._network(source)
            if FETCHED.search(source) and FETCHED_RUN.search(source):
                why = f"{self.language} would run code that it fetches first"
                self.m.unchecked(
                    "code", self.fr.segment, why, program=self.language, sources=tuple(self.m.trace[-1:])
                )

    def _assigned(self, source: str) -> None:
        if self.language == "perl" and TRANSLATED.search(source):
            return
        for found in ASSIGN.finditer(source):
            value, end = self._literal(source, found.end())
            if value is not None and self._changed(source, end):
                value = unknown(f"{self.language} {found[1]}, which is made of another text")
            if value is not None:
                self.names[found[1]] = value
        for name, body in WORDS.findall(source):
            self._named_lists[name] = [text[1:-1] for text in re.findall(STRING, body)]
            self.names[name] = join([self._quoted(text) for text in re.findall(STRING, body)], " ")

    def _enter(self, source: str, at: int) -> None:
        """Go on in the folder that the source changes to."""
        from ..folders import folders_named

        value, _end = self._literal(source, at + len(source[at:]) - len(source[at:].lstrip("( \t")))
        if value is not None:
            self.st = self.st.fork()
            self.st.cwds, self.st.fallback = folders_named(self.m, self.st, value), ()

    def _shell_calls(self, source: str) -> None:
        from ..code import run_shell

        for found in SHELL.finditer(source):
            self._shell_call(source, found)
        if self.language in {"perl", "ruby", "php"}:
            for found in BACKTICKS.finditer(source):
                code = self._filled(found[1], PIECES.get(self.language))
                run_shell(self.m, self.st, self.fr, code, self.language)
            for found in QUOTED_RUN.finditer(source):
                code = next((group for group in found.groups()[:4] if group is not None), found[6] or "")
                run_shell(self.m, self.st, self.fr, self.m.value(code), self.language)
        for found in re.finditer(r"(?<![\w])\$(?:\([^)]*\))?`([^`]*)`", source):
            run_shell(self.m, self.st, self.fr, self.m.value(found[1]), self.language)
        for found in PERL_OPEN.finditer(source):
            self._perl_open(source, found.end())
        for found in POSTFIX_RUN.finditer(source):
            run_shell(self.m, self.st, self.fr, self.m.value(unescape(found[1][1:-1])), self.language)

    def _shell_call(self, source: str, found: re.Match[str]) -> None:
        from ..code import run_shell

        name = found[0].rpartition(".")[2]
        own = self.language in {"perl", "ruby", "php"} and source[found.start() - 1 : found.start()] != "."
        starts = name not in LOOSE or (name == "exec" and (own or "child_process" in source))
        if starts and DECODED.search(call_text(source, found.end())):
            why = f"{self.language} would run a command that it decodes first"
            self.m.unchecked("code", self.fr.segment, why, program=self.language)
            return
        words, known = self._arguments(source, found.end())
        loose = name in LOOSE or name == "exec"
        if not words:
            return
        if loose and not (known and re.match(r"\s*[({]|\s+\*?['\"]|\s+%[wW]|\s+qw", source[found.end() :])):
            return
        if re.match(r"\s*\([^)'\"]*\)\s*\{", source[found.end() :]):
            return
        if not known and (words[0].text is None):
            self._unknown_call(source, found, words)
            return
        single = len(words) == 1 and not name.startswith(("execFile", "Command"))
        if single and not (name.startswith("spawn") and " " not in (words[0].text or " ")):
            run_shell(self.m, self.st, self.fr, words[0], self.language)
        else:
            run_argv(self.m, self.st.fork(), self.fr, words, functions=False)
            if len(words) > 1 and " " in (words[0].text or ""):
                run_shell(self.m, self.st, self.fr, words[0], self.language)

    def _unknown_call(self, source: str, found: re.Match[str], words: list[Value]) -> None:
        if self.args and re.match(
            r"\s*\(?\s*(?:\*?ARGV|@ARGV|\.\.\.?process\.argv|\$argv|arg)", source[found.end() :]
        ):
            run_argv(self.m, self.st.fork(), self.fr, list(self.args), functions=False)
            return
        if found[0] in {
            "system",
            "exec",
            "shell_exec",
            "passthru",
            "os.execute",
            "io.popen",
            "execSync",
            "popen",
            "qx",
        }:
            why = f"{self.language} would run a command that is not known: {words[0].show()}"
            self.m.unchecked("code", self.fr.segment, why, program=self.language, sources=words[0].sources)

    def _perl_open(self, source: str, at: int) -> None:
        from ..code import run_shell

        words, _known = self._arguments(source, at)
        mode = words[0].text or "" if words else ""
        target = words[1] if len(words) > 1 else literal(mode.lstrip("<>+|- ").rstrip("| "))
        if mode.startswith(("|", "-|")) or mode.endswith("|") or mode in {"-|", "|-"}:
            code = join(words[1:], " ") if len(words) > 1 else target
            printed = Stdin("pipe", unknown(f"what {self.language} prints"))
            fed = replace(self.fr, stdin=printed) if mode.startswith("|") else self.fr
            inside = self.st.fork()
            inside.unread = fed.stdin.text
            run_shell(self.m, inside, fed, code, self.language)
        elif ">" in mode or "+" in mode:
            self._write(target, append=">>" in mode)
        else:
            self._emit("cat", target)

    def _file_calls(self, source: str) -> None:
        self._deletions(source)
        for found in WRITE.finditer(source):
            for word in self._first(source, found.end())[:1]:
                self._write(word, append="append" in found[0])
                words, known = self._arguments(source, found.end())
                if known and len(words) > 1 and words[1].text and words[0] == word:
                    put_file(self.m, self.st, word, words[1], append="append" in found[0])
        for found in READ.finditer(source):
            self._read_call(source, found.end())
        self._renames(source)
        quoted = [found.span() for found in re.finditer(STRING, source)]
        for found in (*OTHER.finditer(source), *KILL.finditer(source)):
            if not any(start < found.start() < end for start, end in quoted):
                self._other_call(source, found)
        if WALK.search(source) and (changes := list(OTHER.finditer(source))):
            name = "chown" if "own" in changes[0][0] else "chmod"
            for root in self._roots(source):
                self._emit(name, literal("-R"), literal("777"), root)

    def _deletions(self, source: str) -> None:
        flags = (literal("-r"), literal("-f"))
        trees, single = (
            [
                found
                for found in pattern.finditer(source)
                if source[found.end() :].lstrip()[:1] not in {",", "}"}
            ]
            for pattern in (DELETE_TREE, DELETE)
        )
        for found in trees:
            for word in self._first(source, found.end()):
                self._emit("rm", *flags, spread(word))
        for found in single:
            for word in self._first(source, found.end()) or self._topic():
                self._emit("rm", flags[1], spread(word))
        for found in (*POSTFIX_DELETE.finditer(source), *EACH_DELETE.finditer(source)):
            self._emit("rm", *flags, self.m.value(unescape(found[1][1:-1])))
        if (trees or single) and WALK.search(source):
            for root in self._roots(source):
                self._emit("rm", *flags, root)

    def _topic(self) -> list[Value]:
        """What `unlink` without a name deletes: the line just read, where lines are fed to the program."""
        fed = self.language == "perl" and self.fr.stdin.upstream
        return [unknown("perl $_", self.fr.stdin.upstream)] if fed else []

    def _roots(self, source: str) -> list[Value]:
        """The folders named in a text that goes through a tree and deletes what it comes upon."""
        texts = [
            unescape(found[0][1:-1])
            for found in re.finditer(STRING, source)
            if source[: found.start()].rstrip()[-1:] not in {"+", "."}
        ]
        return [self.m.value(text) for text in texts if text.startswith(("/", "~", "..")) or text == "."]

    def _links(self, source: str) -> None:
        for found in LINK.finditer(source):
            words, known = self._arguments(source, found.end())
            if known and len(words) > 1:
                argv = [literal("ln"), literal("-s"), *words[:2]]
                run_argv(self.m, self.st, self.fr, argv, functions=False)

    def _renames(self, source: str) -> None:
        for found in RENAME.finditer(source):
            words, known = self._arguments(source, found.end())
            if known and len(words) > 1:
                self._emit("cp" if "copy" in found[0] or "cp" in found[0] else "mv", *words[:2])
                note_write(self.m, self.st, words[1])

    def _read_call(self, source: str, at: int) -> None:
        for word in self._first(source, at)[:1]:
            mode = self._arguments(source, at)[0][1:2]
            if mode and re.match(r"[waxc>]|r[bt]?\+", mode[0].text or ""):
                self._write(word, append=(mode[0].text or "")[:1] == "a")
            else:
                self._emit("cat", word)

    def _write(self, path: Value, *, append: bool) -> None:
        self._emit(":", redirect=Redirect(">>" if append else ">", 1, path))
        note_write(self.m, self.st, path, append=append)

    def _other_call(self, source: str, found: re.Match[str]) -> None:
        words, known = self._arguments(source, found.end())
        if not known:
            return
        if "ch" not in found[0]:
            self._emit("kill", *words)
        elif len(words) > 1:
            last = self.language in {"ruby", "perl"}
            path, mode = (words[-1], words[0]) if last else (words[0], words[1])
            flag = [literal("-R")] if found[0].endswith("_R") else []
            self._emit("chown" if "own" in found[0] else "chmod", *flag, mode, path)

    def _first(self, source: str, at: int) -> list[Value]:
        words, known = self._arguments(source, at)
        if (
            not known
            and self.args
            and words
            and re.match(r"\s*\(?\s*(?:\*?ARGV|@ARGV|\$ARGV|process\.argv|\$argv|shift|arg)", source[at:])
        ):
            return list(self.args)
        return [word for word in words if word.text != ""]

    def _emit(self, name: str, *words: Value, redirect: Redirect | None = None) -> None:
        event = make_event(self.m, self.st, self.fr, literal(name), name, list(words))
        event = replace(event, redirects=(*event.redirects, redirect)) if redirect else event
        note_followed(self.m, self.st, event)
        self.m.emit(event)

    def _evals(self, source: str) -> None:
        if self.language == "php" and PUT_TOGETHER.search(source):
            why = "php would call a function whose name is put together"
            self.m.unchecked("code", self.fr.segment, why, program="php")
        for found in EVAL.finditer(source):
            tail = source[found.end() : found.end() + 400]
            value, end = self._literal(source, found.end())
            made_of = value is not None and self.language not in {"perl", "php"} and MADE.match(source, end)
            decoded = bool(made_of) or DECODED.search(call_text(source, found.end())) is not None
            made = value is not None and value.is_opaque
            if value is not None and value.text and not decoded and value.text != source:
                self.scan(self.m.hide(value))
            elif decoded or made or DECODERS.search(tail) or FETCHED.search(tail):
                why = f"{self.language} would run code that it decodes or fetches first"
                self.m.unchecked(
                    "code", self.fr.segment, why, program=self.language, sources=self.fr.stdin.upstream
                )

    def _network(self, source: str) -> None:
        words = [self.m.value(unescape(text[1:-1])) for text in re.findall(STRING, source)]
        secrets = [event for event in self.m.trace[-8:] if event.name == "cat"]
        secrets += [event for event in self.m.trace[-8:] if event.name == "printenv"]
        extra = [unknown("what is sent", tuple(secrets))] if secrets else []
        extra += [unknown(f"${name}", variable=name) for name in SENT_VARIABLE.findall(source)]
        method = [literal("-X"), literal("DELETE")] if DELETES.search(source) else []
        self._emit("curl", *method, *words, *extra)

"""Programs that run a command line later, elsewhere in time, as another user, or inside a terminal."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Value, literal
from ..machine import DONE, Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv
from ..redirects import content_of
from ..values import join, lines, unknown
from .shells import own_file, read_stdin, with_upstream


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def watch(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`watch [options] words`: the words joined are given to `sh -c`."""
    at = skip(event.argv, "nq", frozenset({"interval", "equexit"}))
    rest = event.argv[at:]
    if not rest:
        return None
    if has(event.argv[:at], "x", "exec"):
        return run_argv(m, st.fork(), _inner(fr, event), list(rest))
    return run_shell(m, st, _inner(fr, event), join(rest, " "), "watch")


def script(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`script -c code`, `script file program` (BSD)."""
    words = event.argv
    for code in values_of(words, "c", "command"):
        run_shell(m, st, _inner(fr, event), code, "script")
    at = skip(
        words,
        "cEBIOTmo",
        frozenset({"command", "log-in", "log-out", "log-io", "log-timing", "echo", "output-limit"}),
    )
    rest = list(words[at + 1 :])
    if rest:
        run_argv(m, st.fork(), _inner(fr, event), rest)
    elif not list(values_of(words, "c", "command")):
        return read_stdin(m, st, _inner(fr, event), event, ())
    return None


def su(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`su`, `runuser`, `sg`: `-c code`, or the words behind `--`."""
    words = event.argv
    for code in values_of(words, "c", "command", "session-command"):
        run_shell(m, st, _inner(fr, event), code, event.name or "su")
    texts = [value.text for value in words]
    if "--" in texts:
        rest = list(words[texts.index("--") + 1 :])
        if rest:
            run_argv(m, st.fork(), _inner(fr, event), rest)
    elif not list(values_of(words, "c", "command", "session-command")):
        return read_stdin(m, st, _inner(fr, event), event, ())
    elif event.name == "sg" and len(words) > 1 and "-c" not in texts:
        run_shell(m, st, _inner(fr, event), words[-1], "sg")
    return None


def at(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`at`, `batch`: code from standard input or `-f file`."""
    words = event.argv
    if has(words, "lcrd"):
        return None
    file = next(values_of(words, "f"), None)
    if file is not None:
        content = content_of(m, st, file)
        if content is not None:
            run_shell(m, st, _inner(fr, event), content, "at")
        return None
    if fr.stdin.kind != "inherit" or st.unread is not None:
        text = st.unread if st.unread is not None else fr.stdin.text
        text = text if text is not None else unknown("standard input", fr.stdin.upstream)
        if not own_file(m, st, fr, text):
            run_shell(m, st, _inner(fr, event), with_upstream(text, fr), "at")
    return None


_FIELDS = re.compile(r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.*)", re.DOTALL)


def crontab(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`crontab FILE` or `crontab -`: each line's command will run."""
    words = event.argv
    rest = [value for value in words[skip(words, "u", dash=False) :] if value.text != "-i"]
    if has(words, "e") and not has(words, "l"):
        _edited_alone(m, event)
    if not rest or has(words, "lre"):
        return None
    if rest[0].text in {"-", "/dev/stdin"}:
        text = st.unread if st.unread is not None else fr.stdin.text
    else:
        text = content_of(m, st, rest[0])
    for line in lines(text) if text is not None else ():
        found = _FIELDS.fullmatch(m.hide(line))
        if found and not line.prefix.lstrip().startswith("#") and "=" not in line.prefix.split(" ")[0]:
            code = m.value(found[1])
            if not code.is_opaque:
                run_shell(m, st, _inner(fr, event), code, "cron")
    return None


_BY_HAND = re.compile(
    r"(?:\S*/)?(?:vim?|nvim|gvim|nano|pico|emacs(?:client)?|code|subl|micro|joe|ne|kak|hx|helix|mcedit|kate|gedit|ed|cat|less|more|true|:)\b[^;&|]*"
)
"""An editor that a person works with, or that changes nothing."""


def _edited_alone(m: Machine, event: ExecEvent) -> None:
    """`EDITOR='truncate -s 0' crontab -e` installs a table as `crontab FILE` does."""
    for name, value in event.env:
        if name in {"EDITOR", "VISUAL", "CRONTAB_EDITOR"} and not _BY_HAND.fullmatch(value.show()):
            m.emit(replace(event, argv=(literal("-"),)))
            return


def tmux(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`tmux new-session 'code'`, `run-shell`, `send-keys … Enter`, `if-shell`, `pipe-pane`; `;` starts another."""
    words = event.argv
    for index, value in enumerate(words):
        if value.text == ";" and index:
            tmux(m, st, fr, replace(event, argv=words[:index]))
            return tmux(m, st, fr, replace(event, argv=words[index + 1 :]))
    at_ = skip(words, "cfLST")
    if at_ >= len(words):
        return None
    sub, rest = words[at_].text or "", words[at_ + 1 :]
    if re.fullmatch(
        r"new(-s.*|-w.*|w)?|neww|split-?w.*|splitw|respawn-?[pw].*|display-?popup|popup|run(-shell)?|if(-shell)?|pipe-?p.*",
        sub,
    ):
        operands = rest[skip(rest, "ceFnstxyl") :]
        inner = _inner(fr, event)
        if len(operands) == 1 or sub.startswith(("run", "if", "pipe")):
            for value in operands[:2]:
                run_shell(m, st, inner, value, "tmux")
        elif operands:
            run_argv(m, st.fork(), inner, list(operands))
    elif sub in {"send-keys", "send"}:
        keys = [
            value
            for value in rest[skip(rest, "tN") :]
            if value.text not in {"Enter", "C-m", "C-c", "KPEnter"}
        ]
        if keys:
            run_shell(m, st, _inner(fr, event), join(keys, ""), "tmux")
    return None


def screen(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`screen -dm program`, `screen -X stuff 'code'`."""
    words = event.argv
    texts = [value.text for value in words]
    if "stuff" in texts:
        code = words[texts.index("stuff") + 1 :]
        if code and code[0].text is not None:
            run_shell(
                m,
                st,
                _inner(fr, event),
                literal(code[0].text.replace("\\n", "\n").replace("^M", "\n")),
                "screen",
            )
        return None
    rest = list(words[skip(words, "cehpsStTX") :])
    if rest:
        run_argv(m, st.fork(), _inner(fr, event), rest)
    return None


def gdb(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`gdb -ex '!code'`, `-ex 'shell code'`, `-ex 'python …'`, `--args program`."""
    words = event.argv
    texts = [value.text for value in words]
    inner = _inner(fr, event)
    for value in values_of(words, "", "ex", "eval-command", "iex", "init-eval-command"):
        text = value.text or ""
        found = re.match(r"\s*(?:!|shell\s+|make\s+|pipe\s+|\|\s*)(.*)", text, re.DOTALL)
        if found:
            run_shell(m, st, inner, literal(found[1]), "gdb")
        python = re.match(r"\s*(?:python|py|pi)\s+(.*)", text, re.DOTALL)
        if python:
            from .python import run_python

            run_python(m, st, inner, literal(python[1]), event)
        call = re.search(r"(?:call|print|p)\s.*?system\s*\(\s*\"((?:[^\"\\]|\\.)*)\"", text)
        if call:
            run_shell(m, st, inner, literal(call[1].replace('\\"', '"')), "gdb")
    if "--args" in texts or "-args" in texts:
        start = texts.index("--args") if "--args" in texts else texts.index("-args")
        run_argv(m, st.fork(), inner, list(words[start + 1 :]))
    return None


__all__ = ("DONE", "Value", "at", "crontab", "gdb", "screen", "script", "su", "tmux", "watch")

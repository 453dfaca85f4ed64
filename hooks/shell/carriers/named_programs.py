"""Options that name a program or a command line: `sort --compress-program`, `rg --pre`, `split --filter` and others."""

from __future__ import annotations

import re

from ..code import run_shell
from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, State
from ..options import after, operands, values_of
from ..redirects import content_of

OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("sort", "gsort"), ("", ("compress-program", "compress-prog", "compress-pro", "compress"))),
    **dict.fromkeys(("split", "gsplit"), ("", ("filter",))),
    "rg": ("", ("pre", "hostname-bin")),
    **dict.fromkeys(("bat", "batcat", "delta", "ag", "ack", "gh", "journalctl", "systemctl"), ("", ("pager",))),
    **dict.fromkeys(("mysql", "mariadb"), ("", ("pager",))),
    **dict.fromkeys(("fzf", "sk", "skim"), ("", ("preview",))),
    "nano": ("s", ("speller",)),
    **dict.fromkeys(("yt-dlp", "youtube-dl"), ("", ("exec", "exec-before-download", "downloader", "netrc-cmd"))),
    **dict.fromkeys(("dpkg", "dpkg-reconfigure"), ("", ("pre-invoke", "post-invoke", "status-logger"))),
    "tcpdump": ("z", ()),
    "aria2c": ("", ("on-download-complete", "on-download-start", "on-download-error", "on-bt-download-complete")),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "apt-cache"), ("", ())),
    "java": ("", ()),
    "logrotate": ("", ()),
}  # fmt: skip
"""Program to the short and long options whose value is a command line."""

_FZF = re.compile(
    r"(?:execute(?:-silent|-multi)?|reload(?:-sync)?|become|transform[\w-]*|(?:change-)?preview)(?:\(([^)]*)\)|:(.*))"
)
_APT = re.compile(r"(?i)(?:[\w-]+::)*(?:(?:pre|post)-(?:invoke|install-pkgs)[\w-]*(?:-success)?)(?:::)?=")
_JAVA = re.compile(r"-XX:On(?:OutOfMemory)?Error=")
_ROTATED = re.compile(r"(?ms)^\s*(?:pre|post|first|last)(?:rotate|action|remove)\s*$(.*?)^\s*endscript\b")


def follow(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    """Run what such options of a program name, on the program's operands."""
    name, words = event.name or "", event.argv
    inner = fr.within(name)
    short, long = OPTIONS[name]
    for code in values_of(words, short, *long):
        run_shell(m, st, inner, _on_operands(name, words, code), name)
    for code in _SPECIAL[name](m, st, words) if name in _SPECIAL else ():
        run_shell(m, st, inner, code, name)


def _on_operands(name: str, words: tuple[Value, ...], code: Value) -> Value:
    """`rg --pre X … PATH` runs X on each file."""
    if name != "rg" or not code.text or " " in code.text:
        return code
    from ..simple import requoted
    from ..values import join

    files = [value for value in operands(words, "efgtjABCm")[1:] if value is not code]
    return join([code, *(requoted(value) for value in files)], " ")


def _bound(m: Machine, st: State, words: tuple[Value, ...]) -> list[Value]:
    del st
    texts = [m.hide(value) for value in values_of(words, "", "bind")]
    return [m.value(found[1] or found[2] or "") for text in texts for found in _FZF.finditer(text)]


def _invoked(m: Machine, st: State, words: tuple[Value, ...]) -> list[Value]:
    del m, st
    given = values_of(words, "o", "option")
    return [after(value, found.end()) for value in given if (found := _APT.match(value.prefix))]


def _on_error(m: Machine, st: State, words: tuple[Value, ...]) -> list[Value]:
    del m, st
    return [after(value, found.end()) for value in words if (found := _JAVA.match(value.prefix))]


def _rotated(m: Machine, st: State, words: tuple[Value, ...]) -> list[Value]:
    texts = [text.text or "" for value in words if (text := content_of(m, st, value)) is not None]
    return [literal(found[1]) for text in texts for found in _ROTATED.finditer(text)]


_SPECIAL = {
    **dict.fromkeys(("fzf", "sk", "skim"), _bound),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "apt-cache"), _invoked),
    "java": _on_error,
    "logrotate": _rotated,
}

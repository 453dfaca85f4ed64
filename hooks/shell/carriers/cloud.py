"""Clients of hosts and clouds that run a command line on a machine of theirs."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Value, literal
from ..files import fetch
from ..machine import Frame, Machine, Outcome, State
from ..options import skip, values_of
from ..values import join

CODE_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gcloud": ("", ("command",)),
    "fly": ("C", ("command",)),
    "flyctl": ("C", ("command",)),
    "eb": ("c", ("command",)),
    "cf": ("c", ("command",)),
    "az": ("", ("scripts", "command-line", "exec-command")),
    "doctl": ("", ("ssh-command",)),
    "aws": ("", ("command",)),
    "ibmcloud": ("c", ("command",)),
    "copilot": ("c", ("command",)),
}
"""The options whose value is code, where one of `RUNNING` is among the words."""
RUNNING = frozenset(
    "ssh run-command console exec svc ssh-command send-command execute-command invoke machine container".split()
)
BEHIND = {
    "heroku": frozenset({"run", "run:detached", "run:inside", "ps:exec"}),
    "railway": frozenset({"run", "ssh"}),
    "kamal": frozenset({"exec"}),
    "hcloud": frozenset({"ssh"}),
    "render": frozenset({"ssh"}),
    "dokku": frozenset({"run", "enter"}),
    "scalingo": frozenset({"run"}),
    "clever": frozenset({"ssh"}),
    "platform": frozenset({"ssh"}),
    "terminus": frozenset({"ssh"}),
}
"""The subcommands behind which the rest is a command line."""
VALUED = frozenset("app remote size env exit-code service project environment reuse roles hosts".split())


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`heroku run code`, `fly ssh console -C code`, `gcloud compute ssh x --command code`, `aws ssm send-command`."""
    name = event.name or ""
    words = event.argv
    inner = replace(fr, via=(*fr.via, name), depth=fr.depth + 1, remote=f"host of {name}")
    texts = [value.text for value in words]
    if name == "aws":
        fetch(m, st, event)
        _send_command(m, st, inner, texts)
    short, long = CODE_OPTIONS.get(name, ("", ()))
    if RUNNING & {text for text in texts if text}:
        for code in values_of(words, short, *long):
            run_shell(m, st, inner, code, name)
        if name == "gcloud" and "--" in texts:
            run_shell(m, st, inner, join(words[texts.index("--") + 1 :], " "), name)
    for index, text in enumerate(texts):
        if text in BEHIND.get(name, ()):
            _behind(m, st, inner, name, words[index + 1 :])
            break
    return None


def _behind(m: Machine, st: State, fr: Frame, name: str, rest: tuple[Value, ...]) -> None:
    rest = rest[skip(rest, "asre", VALUED) :]
    if name in {"hcloud", "dokku"}:
        rest = rest[1:]
    if rest:
        run_shell(m, st, fr, join(rest, " "), name)


def _send_command(m: Machine, st: State, fr: Frame, texts: list[str | None]) -> None:
    if "send-command" not in texts:
        return
    for text in texts:
        found = re.search(r"\bcommands\"?\s*[=:]\s*(.*)", text or "", re.DOTALL)
        if found:
            quoted = re.findall(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", found[1])
            for code in [one or two for one, two in quoted] or [found[1]]:
                run_shell(m, st, fr, literal(code), "aws")


__all__ = ("run",)

"""Package managers that run programs: npx, npm exec, yarn, poetry run, uv run and the like."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import note_fetched_code, run_shell
from ..events import ExecEvent, Value, literal
from ..folders import folders_named
from ..machine import Frame, Machine, Outcome, State
from ..options import skip, values_of
from ..programs import run_argv
from ..redirects import content_of

NPM_LONG = frozenset({"package", "call", "prefix", "workspace", "loglevel", "registry", "filter", "dir", "cwd", "userconfig",
                      "script-shell", "node-options", "shell"})  # fmt: skip
RUNS_SCRIPTS = frozenset({"run", "run-script", "test", "t", "tst", "start", "stop", "restart", "install", "i", "ci", "publish",
                          "pack", "rebuild", "version", "add", "build", "dev", "lint"})  # fmt: skip

OWN_COMMANDS = frozenset("publish unpublish npm node set config cache remove up upgrade why link unlink init info list ls audit dedupe"
                         " store env deploy patch import outdated prune version plugin constraints explain global self-update"
                         " licenses login logout owner tag team bin check create import pnp".split())  # fmt: skip


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def npm(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """npm, pnpm, yarn, npx, bunx."""
    words = event.argv
    inner = _inner(fr, event)
    inside = st.fork()
    for folder in values_of(words, "C", "prefix", "dir", "cwd"):
        inside.cwds, inside.fallback = folders_named(m, inside, folder), ()
    at = skip(words, "pcCwF", NPM_LONG)
    rest = words[at:]
    if event.name in {"npx", "bunx", "pnpx"}:
        _call_option(m, inside, inner, words[:at])
        return _package(m, inside, inner, rest)
    if not rest:
        return None
    sub = rest[0].text or ""
    if event.name == "npm" and sub != (whole := _spelled_out(sub)):
        sub, rest = whole, (literal(whole), *rest[1:])
        m.emit(replace(event, argv=(*words[:at], *rest)))
    if sub in {"exec", "x", "dlx", "create"}:
        _call_option(m, inside, inner, words)
        inner_at = skip(rest[1:], "pc", NPM_LONG)
        return _package(m, inside, inner, rest[1 + inner_at :]) if sub != "create" else None
    if sub == "pkg" or sub in {"set-script", "config", "set"}:
        _settings(m, inside, inner, rest)
        return None
    if sub in RUNS_SCRIPTS or event.name in {"yarn", "pnpm"}:
        _scripts(m, inside, inner, rest)
    return _other_program(m, inside, inner, event, rest) if event.name in {"yarn", "pnpm"} else None


NPM_COMMANDS = (
    "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec explain"
    " explore find-dupes fund get help help-search init install install-ci-test install-test link ll login logout ls org"
    " outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run run-script sbom search"
    " set shrinkwrap star stars start stop team test token trust undeprecate uninstall unpublish unstar update version view"
    " whoami add author c clean-install clean-install-test create dist-tags find hlep home i ic in info innit ins inst"
    " install-clean isntall isntall-clean issues it la list ln ogr r rb remove rm rum s se show sit t tst udpate un unlink"
    " up upgrade urn v verison why x"
).split()


def _spelled_out(sub: str) -> str:
    """Take any beginning of a command's name that no other one shares, as npm does."""
    if not sub or sub in NPM_COMMANDS:
        return sub
    fitting = [name for name in NPM_COMMANDS if name.startswith(sub)]
    return fitting[0] if len({name.rstrip("s") for name in fitting}) == 1 else sub


def _other_program(
    m: Machine, st: State, fr: Frame, event: ExecEvent, rest: tuple[Value, ...]
) -> Outcome | None:
    """`yarn workspace a npm publish` is yarn's own command there; `pnpm prisma …` runs the package's program."""
    sub = rest[0].text or ""
    if event.name == "yarn" and sub == "workspace":
        return run_argv(m, st, fr, [event.program, *rest[2:]], functions=False) if rest[2:] else None
    if event.name == "yarn" and sub == "workspaces":
        behind = rest[2:]
        at = skip(behind, "j", frozenset({"jobs", "include", "exclude", "from", "since"}))
        return run_argv(m, st, fr, [event.program, *behind[at:]], functions=False) if behind[at:] else None
    if sub in RUNS_SCRIPTS or sub in OWN_COMMANDS:
        return None
    return run_argv(m, st.fork(), replace(fr, speculative=True), list(rest), functions=False)


def _call_option(m: Machine, st: State, fr: Frame, words: tuple[Value, ...]) -> None:
    for code in (*values_of(words, "c", "call"), *values_of(words, "", "shell-mode")):
        run_shell(m, st, fr, code, "npm exec")


def _package(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> Outcome | None:
    words = list(rest)
    if words and words[0].text == "--":
        words.pop(0)
    if not words:
        return None
    text = words[0].text
    if text and len(words) == 1 and " " in text.strip():
        return run_shell(m, st, fr, words[0], "npm exec")
    if text and re.search(r".@[\w.^~-]+$", text):
        text = text.rpartition("@")[0]
        words[0] = literal(text)
    scoped = re.fullmatch(r"@([\w.-]+?)s?/([\w.-]+)", text or "")
    if scoped:
        words[0] = literal(scoped[1] if scoped[2] == "cli" else scoped[2])
    return run_argv(m, st, fr, words, functions=False)


def _settings(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    for value in rest[1:]:
        found = re.match(r"scripts?\.[\w:.-]+=|script-shell=|editor=|git=", m.hide(value))
        if found:
            run_shell(m, st, fr, m.value(m.hide(value)[found.end() :]), "npm script")
    keys = [value.text for value in rest]
    for key in ("script-shell", "editor", "git", "shell"):
        if key in keys[:-1]:
            run_shell(m, st, fr, rest[keys.index(key) + 1], f"npm {key}")
    if rest[0].text == "set-script" and len(rest) > 2:
        run_shell(m, st, fr, rest[2], "npm script")


def _scripts(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    """Scripts of a package.json: all of them where the command itself wrote it, else those that run."""
    content = content_of(m, st, literal("package.json"))
    if content is None or fr.via.count("npm script") > 1:
        return
    import json

    note_fetched_code(m, fr, content, "npm")
    text = m.hide(content)
    try:
        scripts: dict[str, object] = dict(json.loads(text).get("scripts", {}))
    except (ValueError, AttributeError, TypeError):
        scripts = dict(re.findall(r'"([\w:.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"', text))
    inner = replace(fr, via=(*fr.via, "npm script"))
    asked = _asked(rest) if m.is_from_disk(content) else set(scripts)
    for name, code in scripts.items():
        if isinstance(code, str) and name in asked:
            run_shell(m, st, inner, m.value(code), "npm script")


def _asked(rest: tuple[Value, ...]) -> set[str]:
    """The scripts that a subcommand runs, with those that npm runs around them."""
    words = [value.text or "" for value in rest if not value.prefix.startswith("-")]
    first = words[0] if words else ""
    name = (
        words[1]
        if first in {"run", "run-script"} and len(words) > 1
        else {"t": "test", "tst": "test", "i": "install", "ci": "install"}.get(first, first)
    )
    extra = {"prepare", "prepublish"} if name in {"install", "publish", "pack"} else set[str]()
    return {name, f"pre{name}", f"post{name}", *extra}


RUNNERS: dict[str, tuple[frozenset[str], str, str]] = {
    "poetry": (frozenset({"run"}), "C", "directory project"),
    "pipenv": (frozenset({"run"}), "", ""),
    "uv": (
        frozenset({"run"}),
        "pwC",
        "with python package directory project extra group env-file with-requirements with-editable index-url",
    ),
    "rye": (frozenset({"run"}), "", "pyproject"),
    "pdm": (frozenset({"run"}), "p", "project"),
    "hatch": (frozenset({"run"}), "e", "env"),
    "bundle": (frozenset({"exec"}), "", "gemfile"),
    "composer": (frozenset({"exec", "run", "run-script"}), "d", "working-dir"),
    "pipx": (frozenset({"run"}), "", "spec python pip-args"),
    "conda": (frozenset({"run"}), "np", "name prefix cwd"),
    "mamba": (frozenset({"run"}), "np", "name prefix cwd"),
    "cargo": (frozenset({"watch"}), "", ""),
    "tox": (frozenset({"exec", "e"}), "e", "env"),
    "pixi": (frozenset({"run", "exec"}), "e", "environment manifest-path spec"),
    "devbox": (frozenset({"run"}), "c", "config"),
    "rtx": (frozenset({"exec", "x"}), "", ""),
    "volta": (frozenset({"run"}), "", "node npm yarn"),
}


def runner(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`poetry run program`, `uv run program`, `uvx program`, `bundle exec program`, `cargo watch -x`."""
    words = event.argv
    inner = _inner(fr, event)
    if event.name == "uv" and [value.text for value in words[:2]] == ["tool", "run"]:
        event, words = replace(event, name="uvx"), words[2:]
    if event.name == "uvx":
        at = skip(words, "pw", frozenset({"from", "with", "python"}))
        return _package(m, st, inner, words[at:])
    subcommands, short, long = RUNNERS.get(event.name or "", (frozenset[str](), "", ""))
    valued = frozenset(long.split())
    at = skip(words, short, valued)
    if at >= len(words) or words[at].text not in subcommands:
        return None
    rest = words[at + 1 :]
    if event.name == "cargo":
        for code in values_of(rest, "s", "shell"):
            run_shell(m, st, inner, code, "cargo watch")
        return None
    tail = list(rest[skip(rest, short, valued) :])
    if tail and event.name == "hatch" and ":" in (tail[0].text or ""):
        tail[0] = literal((tail[0].text or "").partition(":")[2])
    if tail and (tail[0].text == "-" or (tail[0].text or "").endswith(".py")):
        tail.insert(0, literal("python"))
    return _package(m, st, inner, tuple(tail))

"""Tools that load files by themselves: what the command wrote into those is followed where the tool is run.

A tool reads its own configuration, tests and sources without being told. Only what such a file surely does counts:
a library's function that deletes what it is given does nothing by being there.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..code import note_fetched_code, run_shell
from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, State
from ..programs import run_argv
from ..tables import LOADERS, SHELLS
from .script_sources import language_of
from .scripts import run_source

_JS = r".*\.[cm]?[jt]sx?|\.\w+rc(?:\.\w+)?"
_LOADED: dict[str, str] = {
    **dict.fromkeys(("poe", "hatch", "pdm", "poetry", "taskipy", "uv"), r"pyproject\.toml|hatch\.toml"),
    "tox": r"tox\.ini|setup\.cfg|pyproject\.toml", "nox": r"noxfile\.py", **dict.fromkeys(("invoke", "inv"), r"tasks\.py"),
    "fab": r"fabfile\.py", **dict.fromkeys(("pip", "pip3", "python-build"), r"setup\.py"),
    "pre-commit": r"\.pre-commit-config\.yaml", "lefthook": r"\.?lefthook\.ya?ml",
    "ninja": r"build\.ninja", **dict.fromkeys(("cmake", "ctest"), r"CMakeLists\.txt|.*\.cmake|CMakePresets\.json"),
    "meson": r"meson\.build", **dict.fromkeys(("gradle", "gradlew"), r".*\.gradle(?:\.kts)?"),
    **dict.fromkeys(("ant", "mvn", "mvnw"), r"build\.xml|pom\.xml"), "direnv": r"\.envrc",
    **dict.fromkeys(("foreman", "honcho", "overmind", "hivemind"), r"Procfile.*"), "pm2": r"ecosystem\..*",
    "rake": r"(?i:rakefile(?:\.rb)?)|.*\.rake", "thor": r"Thorfile", "guard": r"Guardfile", "vagrant": r"Vagrantfile",
    "task": r"(?i:taskfile)\.ya?ml", "go": r".*\.go", **dict.fromkeys(("cargo", "rustc"), r".*\.rs"),
    "nim": r".*\.nims?", "zig": r".*\.zig", **dict.fromkeys(("dotnet", "csi"), r".*\.csx?"), **dict.fromkeys(("ocaml", "dune"), r".*\.ml"),
    **dict.fromkeys(("scala", "scala-cli", "sbt", "amm"), r".*\.(?:scala|sc|sbt)"), **dict.fromkeys(("java", "kotlin"), r".*\.(?:java|kts?)"),
    **dict.fromkeys(("stack", "cabal"), r".*\.hs"), **dict.fromkeys(("mix", "elixir"), r".*\.exs?"), "make": r".*\.(?:c|cc|cpp|cxx)",
    **dict.fromkeys(("rspec", "cucumber", "bundle"), r".*\.rb|Gemfile"), **dict.fromkeys(("phpunit", "pest"), r".*\.php"),
    **dict.fromkeys(("gulp", "jest", "vite", "vitest", "eslint", "mocha", "webpack", "rollup", "babel", "next", "nuxt", "playwright",
                     "cypress", "prettier", "stylelint", "grunt", "karma", "ava", "tap", "esbuild", "parcel", "tsup", "turbo", "nx",
                     "lint-staged", "semantic-release", "release-it", "commitlint", "postcss", "tailwindcss", "storybook", "astro"), _JS),
    **dict.fromkeys(("docker", "docker-compose", "podman", "podman-compose"), r"(?:docker-)?compose\.ya?ml"),
    **dict.fromkeys(("pytest", "py.test", "unittest"), r".*\.py"), **dict.fromkeys(("terraform", "tofu"), r".*\.tf"),
    **dict.fromkeys(("gdb", "lldb", "sqlite3", "tmux", "ssh", "scp", "sftp", "git", "ansible-playbook", "supervisord", "packer",
                     "skaffold", "tilt", "salt-call", "chef-client", "puppet", "forever", "circusd", "nodemon", "naught"), r"(?!)"),
}  # fmt: skip
"""Tool to the names of files it loads unasked; a file named among its arguments is loaded too."""
_GIVEN_BY = {"ssh": "-F", "scp": "-F", "sftp": "-F", "git": "include.path=", "tmux": "-f", "sqlite3": ".read", "docker": "-f", "podman": "-f",
             "docker-compose": "-f", "podman-compose": "-f"}  # fmt: skip
_PAGES = (".md", ".rst", ".html", ".adoc", ".csv", ".json")
"""What is read by people or as data."""
_MARKS = re.compile(
    r"[:=!\"'`\[\],(){}]+|\b(?:COMMAND|ProxyCommand|LocalCommand|platform shell|shell|command|run-shell|exec)\b"
)
_LISTS = re.compile(r"\[([^\[\]]*)\]")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s,\"']+)")
_GENERATED = re.compile(r"(?m)^//go:generate\s+(.*)$")
_LOCAL_COMMAND = re.compile(r"(?m)^.*\bcommand\s*=\s*(.*)$")
"""What a configuration of Terraform runs on this machine; the rest is for others."""
_LINES = 400
"""Lines of a file of settings that are looked at."""


def follow(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    """Judge what the command wrote and this tool loads; what it runs itself in turn is followed once more."""
    if fr.via.count(event.name or "") > 1:
        return
    wanted = re.compile(_LOADED[event.name or ""])
    named = _named(m, event)
    inner = fr.within(event.name or "")
    mark = m.mark()
    fetched: list[Value] = []
    for path, file in list(st.files.items()):
        base = path.rpartition("/")[2]
        if file.contents and (
            wanted.fullmatch(base) or (base and re.search(rf"(?<![\w.-]){re.escape(base)}(?![\w-])", named))
        ):
            _file(m, st.fork(), inner, base, file.contents[-1])
            if _RUN_UNASKED.fullmatch(base):
                fetched.append(file.contents[-1])
    if event.name == "ansible-playbook":
        _absent(m, st, inner, named)
    m.keep_certain(mark)
    for content in fetched:
        note_fetched_code(m, inner, content, event.name or "")


_RUN_UNASKED = re.compile(
    r"(?i)[a-z]+file(?:\.\w+)?|.*\.config\.[cm]?[jt]s|(?:setup|conftest|tasks|noxfile)\.py|\.envrc|build\.rs|\.\w+rc\.c?js"
)
"""Settings that are programs themselves."""


def _named(m: Machine, event: ExecEvent) -> str:
    """The words that may name a file to load: those of the option for it, where a tool has one."""
    option = _GIVEN_BY.get(event.name or "")
    words = [m.hide(value) for value in event.argv]
    if option is not None:
        words = [
            word
            for last, word in pairwise(("", *words))
            if last == option or word.startswith(option) or option in word[1:]
        ]
    return " ".join(word for word in words if not word.endswith(_PAGES))


def _absent(m: Machine, st: State, fr: Frame, named: str) -> None:
    """`file: {path: x, state: absent}` of a playbook deletes x."""
    texts = [
        file.contents[-1]
        for path, file in st.files.items()
        if file.contents and path.rpartition("/")[2] in named
    ]
    for text in texts:
        for task in re.split(r"(?m)^\s*- ", m.hide(text)):
            found = re.search(r"(?:path|dest)\s*[:=]\s*[\"']?([^\s\"',}]+)", task)
            if found and re.search(r"state\s*[:=]\s*[\"']?absent", task):
                run_argv(m, st.fork(), fr, [literal("rm"), literal("-r"), literal("-f"), m.value(found[1])])


def _file(m: Machine, st: State, fr: Frame, base: str, content: Value) -> None:
    language = language_of(base)
    if language == "python":
        from .python import run_every_function

        event = ExecEvent(literal("python"), "python", (), st.folders, segment=fr.segment)
        run_every_function(m, st, fr, content, event)
    elif language == "sh":
        run_shell(m, st, fr, content, base)
    elif language:
        run_source(m, st, fr, language, content, ())
    text = m.hide(content)
    if base.endswith(".tf"):
        text = "\n".join(_LOCAL_COMMAND.findall(text))
    for path in _deleted(text, base):
        run_argv(m, st.fork(), fr, [*map(literal, ("rm", "-r", "-f")), m.value(homes(path, m.places.home))])
    if not language or language == "go":
        _settings(m, st, fr, text if not language else "\n".join(_GENERATED.findall(text)))


def _deleted(text: str, base: str) -> list[str]:
    """What a Gradle script deletes, and an Ant or Maven file; what properties stand for counts as inside the project."""
    if base.endswith((".gradle", ".gradle.kts")):
        calls = _GRADLE_DELETE.findall(text)
        return [one or other for call in calls for one, other in re.findall(r"\"([^\"]*)\"|'([^']*)'", call)]
    if not base.endswith(".xml"):
        return []
    whole = " ".join(found[0] for found in _XML_DELETE.finditer(text))
    return [found[1] for found in re.finditer(r"\b(?:dir|file)\s*=\s*[\"']([^\"']+)[\"']", whole)]


def homes(path: str, home: str) -> str:
    """Write the home for the properties that stand for it; others are folders of the project."""
    path = re.sub(r"\$\{?(?:System\.\w+[(\[]['\"]?)?(?:user\.home|env\.HOME|HOME)['\"]?[)\]]?\}?", home, path)
    return re.sub(r"^\$\{?[\w.]+\}?", "build", path)


_GRADLE_DELETE = re.compile(r"\bdelete\s*\(?\s*((?:(?:file|files|fileTree)\s*\(\s*)?[\"'][^\n]*)")
_XML_DELETE = re.compile(r"<delete\b[^>]*/>|<delete\b.*?</delete>", re.DOTALL)


def _settings(m: Machine, st: State, fr: Frame, text: str) -> None:
    """Every piece of a line that starts with a program that rules speak of, and every list that does."""
    for line in text.split("\n")[:_LINES]:
        m.step()
        pieces = [line, *_MARKS.split(line)] if _MARKS.search(line) else [line]
        for piece in dict.fromkeys(pieces):
            if _starts(m, piece):
                _try(m, st, fr, piece.strip())
        for found in _LISTS.finditer(line):
            words = [one or other or bare for one, other, bare in _QUOTED.findall(found[1])]
            if words and _starts(m, words[0]):
                run_argv(m, st.fork(), fr, [m.value(word) for word in words])


def _starts(m: Machine, piece: str) -> bool:
    first = piece.strip().partition(" ")[0].rpartition("/")[2]
    return first in m.guarded or (first in SHELLS and len(first) > 1)


def _try(m: Machine, st: State, fr: Frame, code: str) -> None:
    from ..machine import Refused

    try:
        run_shell(m, st, fr, m.value(code))
    except Refused as refused:
        if "cannot be read" not in str(refused):
            raise


__all__ = ("LOADERS", "follow")

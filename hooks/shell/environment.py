"""Variables that make something run when they are set: prompts, start-up files, pagers, loaders."""

from __future__ import annotations

from ..frozen import replace
from ..patterns import lazy
from .events import INHERIT, Value, literal
from .machine import Frame, Machine, State

COMMANDS = frozenset({
    "PROMPT_COMMAND", "EDITOR", "VISUAL", "FCEDIT", "PAGER", "MANPAGER", "BROWSER", "SYSTEMD_PAGER", "SYSTEMD_EDITOR",
    "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS",
    "GIT_PROXY_COMMAND", "SSH_ASKPASS", "SUDO_ASKPASS", "RSYNC_RSH", "CVS_RSH", "SVN_EDITOR", "SVN_SSH", "HGEDITOR",
    "KUBE_EDITOR", "GH_EDITOR", "GH_PAGER", "GH_BROWSER", "AWS_PAGER", "PSQL_PAGER", "PSQL_EDITOR", "DELTA_PAGER",
    "BAT_PAGER", "SUDO_EDITOR", "CRONTAB_EDITOR", "MAILER", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "DIFFPROG",
    "TEXEDIT", "LESSEDIT", "XDG_OPEN", "GCM_CREDENTIAL", "FZF_DEFAULT_COMMAND", "FZF_CTRL_T_COMMAND", "NPM_CONFIG_SCRIPT_SHELL",
    "npm_config_script_shell", "npm_config_editor", "RIPGREP_PRE", "ANSIBLE_PAGER", "PERLDOC_PAGER", "DEBUGINFOD",
})  # fmt: skip
"""Their value is a command line that some program hands to a shell."""

EXPANDED = frozenset({"PS0", "PS1", "PS2", "PS4"})
FILES = frozenset({"BASH_ENV", "ENV"})
LOADERS = frozenset({
    "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "PERL5DB", "PYTHONINSPECT_LIB", "NODE_REPL_EXTERNAL_MODULE",
})  # fmt: skip
HARMLESS_PRELOAD = lazy(
    r"(?:.*/)?(?:libjemalloc|libtcmalloc|libeatmydata|libfaketime|libSegFault|libasan|libtsan|mimalloc)[\w.+-]*"
)
USUALLY_EXPORTED = frozenset({"PATH", "HOME", "SHELL", "USER", "LANG", "TERM", "EDITOR", "PAGER", "VISUAL"})


def assigned(m: Machine, st: State, fr: Frame, name: str, value: Value, *, exported: bool) -> None:
    """Follow what an assignment makes run."""
    if exported or name in USUALLY_EXPORTED:
        st.env = (*((key, old) for key, old in st.env if key != name), (name, value))
    if name in _SPECIAL:
        _follow(m, st, fr, name, value)


def _follow(m: Machine, st: State, fr: Frame, name: str, value: Value) -> None:
    from .code import expand_text, run_shell

    if not value.parts:
        return
    inner = fr.within(name)
    if name in LOADERS:
        if not (value.text and HARMLESS_PRELOAD.fullmatch(value.text)):
            m.unchecked("environment", fr.segment, f"{name} loads code into every program", program=name)
    elif name in FILES:
        from .carriers.shells import source_file

        source_file(m, st.fork(), inner, value, name)
    elif name in EXPANDED:
        expand_text(m, st.fork(), inner, value)
    elif name in OPTIONS:
        _option_code(m, st, inner, name, value)
    elif value.is_opaque and not value.sources:
        return
    else:
        run_shell(m, st, inner, value, name)


_PROGRAMS = {
    "PERL5OPT": "perl", "RUBYOPT": "ruby", "TAR_OPTIONS": "tar", "ZIPOPT": "zip", "NODE_OPTIONS": "node", "BUN_OPTIONS": "bun",
    "MAKEFLAGS": "make", "GNUMAKEFLAGS": "make", "MANOPT": "man", "JAVA_TOOL_OPTIONS": "java", "_JAVA_OPTIONS": "java",
    "JDK_JAVA_OPTIONS": "java", "MAVEN_OPTS": "java", "GRADLE_OPTS": "java", "FZF_DEFAULT_OPTS": "fzf", "BAT_OPTS": "bat",
}  # fmt: skip
"""Variables that hold more arguments for a program."""
_CODE_IN_OPTIONS = ("eval", "-M", "-r", "action", "command", "TT", "$(", "import", "loader", "-P", "pager", "OnError",
                    "OnOutOf", "agent", "preview", "bind")  # fmt: skip
_FROM_ELSEWHERE = lazy(
    r"(?:-javaagent:|-agentpath:|--(?:require|import|preload|(?:experimental-)?loader)[= ]|-r ?|-M)(~?/[^\s'\"]+)"
)
STARTS = {"PYTHONSTARTUP": "python3", "LUA_INIT": "lua"}
"""Variables that name what an interpreter runs before anything else."""
OPTIONS = frozenset({"LESSOPEN", "LESSCLOSE", "LESS", *_PROGRAMS, *STARTS})
_SPECIAL = COMMANDS | EXPANDED | FILES | LOADERS | OPTIONS


def _option_code(m: Machine, st: State, fr: Frame, name: str, value: Value) -> None:
    from .code import run_shell
    from .programs import run_argv
    from .values import join

    text = value.text or ""
    inside = st.fork()
    inside.unread = None
    fr = replace(fr, stdin=INHERIT)
    if name in {"LESSOPEN", "LESSCLOSE"}:
        run_shell(m, st, fr, literal(text.lstrip("|-")), name)
    elif name == "LESS":
        run_argv(m, inside, fr, [literal("less"), value])
    elif name in STARTS:
        _start(m, inside, fr, name, text)
    elif any(mark in text for mark in _CODE_IN_OPTIONS):
        run_shell(m, inside, fr, join((literal(_PROGRAMS[name]), value), " "), name)
        for found in _FROM_ELSEWHERE.finditer(text):
            _note_foreign(m, fr, name, found[1])


def _start(m: Machine, st: State, fr: Frame, name: str, text: str) -> None:
    from .programs import run_argv

    program = [literal(STARTS[name])]
    if name == "LUA_INIT" and not text.startswith("@"):
        run_argv(m, st, fr, [*program, literal("-e"), literal(text)])
        return
    path = text.removeprefix("@")
    run_argv(m, st, fr, [*program, literal(path)])
    _note_foreign(m, fr, name, path)


def _note_foreign(m: Machine, fr: Frame, name: str, path: str) -> None:
    """A variable that loads code from a scratch folder, or from somewhere of the person's, swaps what runs."""
    from .redirects import inside_workspace

    path = (
        m.places.join("/", m.places.home + path[1:] if path.startswith("~") else path)
        if path[:1] in "/~"
        else ""
    )
    folders = (*m.places.temp, m.places.home)
    if path and not inside_workspace(m, path) and any(path.startswith(f"{folder}/") for folder in folders):
        m.unchecked("environment", fr.segment, f"{name} loads code from {path}", program=name)

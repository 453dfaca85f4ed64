"""Variables that make something run when they are set: prompts, start-up files, pagers, loaders."""

from __future__ import annotations

from ..frozen import replace
from ..patterns import lazy
from .events import Value, literal
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
    inner = replace(fr, via=(*fr.via, name), depth=fr.depth + 1)
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


OPTIONS = frozenset(
    {"LESSOPEN", "LESSCLOSE", "PERL5OPT", "RUBYOPT", "MAKEFLAGS", "GNUMAKEFLAGS", "TAR_OPTIONS", "ZIPOPT"}
)
_SPECIAL = COMMANDS | EXPANDED | FILES | LOADERS | OPTIONS


def _option_code(m: Machine, st: State, fr: Frame, name: str, value: Value) -> None:
    from .code import run_shell
    from .programs import run_argv
    from .values import fields

    text = value.text or ""
    if name in {"LESSOPEN", "LESSCLOSE"}:
        run_shell(m, st, fr, literal(text.lstrip("|-")), name)
        return
    program = {"PERL5OPT": "perl", "RUBYOPT": "ruby", "TAR_OPTIONS": "tar", "ZIPOPT": "zip"}.get(name, "make")
    if any(mark in text for mark in ("eval", "-M", "-r", "action", "command", "TT", "$(")):
        run_argv(m, st.fork(), fr, [literal(program), *fields(value)])

"""Programs that run the rest of their arguments: how far their own options reach."""

from __future__ import annotations

import re

from ..frozen import replace
from .events import ExecEvent, Value, literal
from .machine import DONE, Frame, Machine, Outcome, State
from .options import has, skip, values_of
from .programs import run_argv, scan_tail
from .tables import DATA, HANDLERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Spec = tuple[str, str, int]

_SPECS: dict[str, Spec] = {
    "nice": ("n", "adjustment", 0),
    "ionice": ("cnpPu", "class classdata pid", 0),
    "timeout": ("ks", "kill-after signal", 1),
    "gtimeout": ("ks", "kill-after signal", 1),
    "timelimit": ("tTsS", "", 0),
    "time": ("fo", "format output", 0),
    "gtime": ("fo", "format output", 0),
    "stdbuf": ("ioe", "input output error", 0),
    "chrt": ("TPDp", "sched-runtime sched-period sched-deadline", 1),
    "taskset": ("p", "", 1),
    "flock": ("wE", "timeout wait conflict-exit-code", 1),
    "strace": ("abeEIoOpPsSuUX", "output trace expr attach", 0),
    "ltrace": ("aAeFlnopsuxX", "output library", 0),
    "unshare": ("RSGwl", "root wd setuid setgid map-user map-group propagation", 0),
    "nsenter": ("tSGrw", "target setuid setgid root wd", 0),
    "setpriv": ("", "ruid euid reuid rgid egid regid groups securebits bounding-set inh-caps ambient-caps pdeathsig", 0),
    "systemd-run": ("pEuMHt", ("property setenv unit machine host description slice uid gid nice on-active on-boot"
                    " on-calendar working-directory service-type timer-property path-property"), 0),
    "systemd-inhibit": ("", "what who why mode", 0),
    "xvfb-run": ("efnpsw", "error-file auth-file server-num xauth-protocol server-args wait", 0),
    "sudo": ("ACDghpRrtTuU", ("user group host prompt chdir chroot role type close-from other-user command-timeout"
             " preserve-env-list"), 0),
    "doas": ("Cu", "", 0),
    "pkexec": ("", "user", 0),
    "gosu": ("", "", 1),
    "su-exec": ("", "", 1),
    "setuidgid": ("", "", 1),
    "s6-setuidgid": ("", "", 1),
    "envdir": ("", "", 1),
    "envuidgid": ("", "", 1),
    "chpst": ("ubnPlLmdofcrte/", "", 0),
    "softlimit": ("adfmnosrtclp", "", 0),
    "setarch": ("", "", 0),
    "numactl": ("iNCmpl", "interleave cpunodebind physcpubind membind localalloc preferred", 0),
    "prlimit": ("pno", "pid output", 0),
    "cpulimit": ("lpePm", "limit pid exe path monitor", 0),
    "proot": ("rbqwkmi", "rootfs bind qemu pwd cwd kernel-release mount", 0),
    "fakeroot": ("lsib", "lib faked", 0),
    "faketime": ("p", "", 1),
    "proxychains": ("f", "", 0),
    "proxychains4": ("f", "", 0),
    "rlwrap": ("aAbcCDefFgHlmMNoOpPqsStwWz", "", 0),
    "cgexec": ("g", "", 0),
    "perf": ("eFcogGpCmI", "event output", 0),
    "aws-vault": ("", "duration prompt backend", 0),
    "entr": ("", "", 0),
    "watchexec": ("ewidsfN", "exts watch ignore delay-run signal filter shell", 0),
    "nodemon": ("wedx", "watch ext exec delay ignore", 0),
    "retry": ("tdm", "times delay until max", 0),
    "hyperfine": ("wmMrpsSnN", ("warmup min-runs max-runs runs prepare setup shell export-json export-csv cleanup"
                  " parameter-list conclude ignore-failure"), 0),
    "sshpass": ("pfdP", "", 0),
    "choom": ("np", "adjust pid", 0),
    "uclampset": ("mMp", "", 0),
    "runcon": ("turl", "type user role range", 0),
    "sandbox-exec": ("fnpD", "", 0),
    "nq": ("", "", 0),
    "dotenv": ("feco", "file env", 0),
    "firejail": ("", "", 0),
}  # fmt: skip
"""Short options with a value, long ones, and how many operands come before the program."""

CODE_IN = {
    "flock": ("c", "command"),
    "nodemon": ("x", "exec"),
    "hyperfine": ("p", "prepare", "setup", "cleanup"),
    "watchexec": ("", "shell-command"),
    "sg": ("c", "command"),
    "capsh": ("", "print-none"),
    "firejail": ("", "shell-none"),
}
SUBCOMMANDS = {
    "aws-vault": "exec", "op": "run", "doppler": "run", "infisical": "run", "direnv": "exec", "dotenv": "run",
    "perf": "record stat trace top", "foreman": "run", "honcho": "run", "rye": "run", "pyenv": "exec", "rbenv": "exec",
    "nodenv": "exec", "asdf": "exec", "mise": "exec x", "dotenvx": "run",
}  # fmt: skip
"""Where the program to run stands behind this subcommand; other subcommands do not run anything."""
BARE = frozenset({"dotenv"})
"""Names of two programs: one with the subcommand, one without."""
OPERANDS_AFTER = {"aws-vault": 1, "direnv": 1}
JOINED = frozenset(
    {
        "entr",
        "onchange",
        "reflex",
        "hyperfine",
        "caffeinate",
        "chronic",
        "ifne",
        "unbuffer",
        "xvfb-run",
        "dbus-launch",
    }
)


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Skip the wrapper's own options, run what is behind them; if that is nothing known, look at every tail."""
    name = event.name or ""
    words = event.argv
    short, long, before = _SPECS.get(name, ("", "", 0))
    inner = fr.within(name)
    if name in CODE_IN:
        _code_options(m, st, inner, event, name)
    base = _behind_subcommand(name, words)
    if base is None:
        return None
    rest = words[base:]
    at = skip(rest, short, frozenset(long.split())) + before
    tail = list(rest[at:])
    if tail and tail[0].text == "--":
        tail.pop(0)
    tail, inner, st = _adjusted(m, st, inner, name, tail)
    if not tail:
        return _own_shell(m, st, inner, event) if name in STARTS_SHELL else None
    outcome = _tail(m, st, inner, name, tail)
    first = (tail[0].text or "").rpartition("/")[2]
    if first not in HANDLERS and first not in m.guarded and first not in DATA:
        # Perhaps an option's value was taken for the program: look further.
        scan_tail(m, st, fr, event)
    return outcome


STARTS_SHELL = frozenset(
    {"unshare", "nsenter", "fakeroot", "proot", "bwrap", "firejail", "sudo", "doas", "sg", "newgrp"}
)
"""Programs that start a shell where no program is named; it reads standard input."""


def _own_shell(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    from .carriers.shells import read_stdin

    return read_stdin(m, st, fr, event, ())


def _behind_subcommand(name: str, words: tuple[Value, ...]) -> int | None:
    wanted = SUBCOMMANDS.get(name, "").split()
    if not wanted:
        return 0
    at = skip(words)
    if at >= len(words) or words[at].text not in wanted:
        return 0 if name in BARE else None
    return at + 1 + OPERANDS_AFTER.get(name, 0)


def _tail(m: Machine, st: State, fr: Frame, name: str, tail: list[Value]) -> Outcome:
    from .code import run_shell

    text = tail[0].text or ""
    if len(tail) == 1 and " " in text.strip() and (name in JOINED or "/" not in text.partition(" ")[0]):
        return run_shell(m, st, fr, tail[0], name)
    return run_argv(m, st, fr, tail, functions=False)


def _adjusted(
    m: Machine, st: State, fr: Frame, name: str, tail: list[Value]
) -> tuple[list[Value], Frame, State]:
    del m
    while tail and name in {"sudo", "doas", "pkexec", "systemd-run", "cross-env", "env-cmd", "setarch"}:
        text = tail[0].prefix
        if not re.match(r"[A-Za-z_]\w*=", text):
            break
        tail = tail[1:]
    if (
        name in {"setarch", "linux32", "linux64", "arch"}
        and tail
        and re.fullmatch(r"(?:-\w+|x86_64|i[36]86|linux(?:32|64)|aarch64|uname26)", tail[0].text or "")
    ):
        tail = tail[1:]
    return tail, fr, st


def _code_options(m: Machine, st: State, fr: Frame, event: ExecEvent, name: str) -> None:
    from .code import run_shell

    short, *long = CODE_IN[name]
    for code in values_of(event.argv, short, *long):
        run_shell(m, st, fr, code, name)


def env(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`env`: `-C folder`, `-S text`, `-u name`, assignments, then the program."""
    from .code import run_code
    from .folders import folders_named

    words = list(event.argv)
    inside = st.fork()
    inner = fr.within("env")
    for folder in values_of(words, "C", "chdir"):
        inside.cwds, inside.fallback = folders_named(m, inside, folder), ()
    split = next(values_of(words, "S", "split-string"), None)
    at = skip(words, "CuS", frozenset({"chdir", "unset", "split-string", "argv0"}))
    rest = words[at:]
    if split is not None:
        from .simple import requoted
        from .values import join

        code = join((split, *(requoted(value) for value in rest)), " ")
        return run_code(m, inside, inner, literal("env ") if not code.parts else _env_line(code), "env -S")
    while len(rest) > 1 and _from_env_file(rest[0]):
        rest = rest[1:]
    rest = env_assignments(m, inside, inner, rest)
    if not rest:
        return None
    outcome = run_argv(m, inside, inner, rest, functions=False)
    st.take_files(inside)
    return outcome


def _from_env_file(word: Value) -> bool:
    """True for `$(cat .env | xargs)`: assignments by custom, and nothing else."""
    return word.is_opaque and any(
        re.search(r"(?:^|/)\.env[\w.-]*$", value.text or "") for event in word.sources for value in event.argv
    )


def _env_line(code: Value) -> Value:
    from .values import of

    return of(("env ", *code.parts))


def env_assignments(m: Machine, st: State, fr: Frame, words: list[Value]) -> list[Value]:
    """Carry out leading `NAME=value` words; return the rest."""
    from .environment import assigned
    from .options import after

    rest = list(words)
    if rest and rest[0].text == "-":
        rest.pop(0)
    while rest:
        name, equals, _value = rest[0].prefix.partition("=")
        if not equals or not name:
            break
        value = after(rest.pop(0), len(name) + 1)
        imported = re.fullmatch(r"BASH_FUNC_(.+?)(?:%%|\(\))", name)
        if imported:
            _import_function(m, st, imported[1], value)
        elif name.isidentifier():
            st.put(name, value)
        assigned(m, st, fr, name, value, exported=True)
    return rest


def _import_function(m: Machine, st: State, name: str, value: Value) -> None:
    """`BASH_FUNC_name%%='() { … }'` in the environment is a function in every bash."""
    from .tree import Func

    for stmt in m.parse(f"{name} {m.hide(value)}"):
        if isinstance(stmt.command, Func):
            st.functions[name] = (stmt.command.body,)
            st.exported |= {f"{name}()"}


def chroot(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`chroot FOLDER program`: the folder becomes `/`."""
    words = event.argv
    at = skip(words, "", frozenset({"userspec", "groups"}))
    if len(words) < at + 2:
        return _own_shell(m, st, replace(fr, via=(*fr.via, "chroot")), event)
    root = words[at].text or "/"
    path = m.places.join(st.cwds[0] if st.cwds else "/", root)
    mounts = (("/", path),) if path != "/" else fr.mounts
    inner = replace(fr, via=(*fr.via, "chroot"), depth=fr.depth + 1, mounts=mounts)
    inside = st.fork()
    inside.cwds, inside.fallback = ("/",), ()
    return run_argv(m, inside, inner, list(words[at + 1 :]), functions=False)


def loader(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """The dynamic loader run as a program: `ld-linux.so [options] program`."""
    at = skip(event.argv, "", frozenset({"library-path", "preload", "audit", "argv0", "inhibit-rpath"}))
    rest = list(event.argv[at:])
    inner = fr.within(event.name or "")
    return run_argv(m, st, inner, rest, functions=False) if rest else None


__all__ = ("DONE", "chroot", "env", "has", "loader", "run")

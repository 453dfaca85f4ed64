"""ssh and its kin, rsync, and programs that join a network to a program."""

from __future__ import annotations

import posixpath
import re

from ...frozen import replace
from ..code import run_code, run_shell
from ..events import ExecEvent, Value, literal
from ..files import place
from ..machine import Frame, Machine, Outcome, State
from ..options import after, operands, skip, values_of
from ..programs import run_argv
from ..redirects import put_file
from ..values import join, unknown

SSH_VALUED = "BbcDEeFIiJLlmOopQRSWw"


def _inner(fr: Frame, event: ExecEvent, remote: str = "") -> Frame:
    return replace(fr, via=(*fr.via, event.name or ""), depth=fr.depth + 1, remote=remote or fr.remote)


def ssh(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`ssh host words`: joined, they are a shell's text there; `-o ProxyCommand=` runs here."""
    words = event.argv
    for option in values_of(words, "o"):
        _option(m, st, _inner(fr, event), option)
    at = skip(words, SSH_VALUED, frozenset({"ssh", "port", "client", "server"}))
    if at >= len(words):
        return None
    host = words[at].show().rpartition("@")[2]
    inner = _inner(fr, event, remote=host)
    inside = st.fork()
    inside.unread = st.unread
    rest = words[at + 1 :]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    if rest:
        outcome = run_code(m, inside, inner, join(rest, " "), "ssh")
        return Outcome(unknown("output of ssh", (event,))) if outcome.out.text != "" else outcome
    given = st.unread if st.unread is not None else fr.stdin.text
    if fr.stdin.kind in {"text", "pipe", "file"} and given is not None and not given.is_opaque:
        run_code(m, inside, inner, given, "ssh")
    return None


def _option(m: Machine, st: State, fr: Frame, option: Value) -> None:
    found = re.match(r"(?i)(ProxyCommand|LocalCommand|KnownHostsCommand|PKCS11Provider)[ =]+", option.prefix)
    if found:
        run_shell(m, st, fr, after(option, found.end()), found[1])


def rsync(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`rsync -e program`, `--rsync-path=code`."""
    for code in values_of(event.argv, "e", "rsh", "rsync-path"):
        run_shell(m, st, _inner(fr, event), code, "rsync")
    _copied(
        m,
        st,
        event,
        operands(event.argv, "efBMT", frozenset({"rsh", "exclude", "include", "filter", "files-from"})),
    )
    return None


def _copied(m: Machine, st: State, event: ExecEvent, words: list[Value]) -> None:
    """Local copies keep what they are; what comes from another machine is unknown."""
    if len(words) < 2 or ":" in words[-1].prefix:
        return
    for source in words[:-1]:
        if ":" in source.prefix:
            name = posixpath.basename((source.text or "").rpartition(":")[2])
            fetched = unknown(f"what {event.name} fetches", (event,))
            for target in (words[-1], literal(posixpath.join(words[-1].text or ".", name))):
                put_file(m, st, target, fetched)
        else:
            place(m, st, event, source, words[-1])


def scp(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`scp -S program`, `-o ProxyCommand=`; `sftp -b file` and its input may hold `!code`."""
    for program in values_of(event.argv, "S"):
        run_shell(m, st, _inner(fr, event), program, "scp")
    for option in values_of(event.argv, "o"):
        _option(m, st, _inner(fr, event), option)
    if event.name == "scp":
        _copied(m, st, event, operands(event.argv, "cDFiJloPSX"))
    if event.name in {"sftp", "ftp", "lftp", "tftp", "smbclient", "ncftp"}:
        from .databases import bang

        _put(m, st, fr, event)
        bang(m, st, fr, event)
    if event.name in {"lftp", "tftp"}:
        from ..files import run as file_effects

        return file_effects(m, st, fr, event)
    return None


def _put(m: Machine, st: State, fr: Frame, event: ExecEvent) -> None:
    """What sftp and its like are told to send counts as its arguments."""
    given = st.unread if st.unread is not None else fr.stdin.text
    texts = [given, *values_of(event.argv, "ec"), *event.argv[1:]]
    text = "\n".join(m.hide(one) for one in texts if one is not None)
    for found in re.finditer(r"(?m)(?:^|;)\s*-?@?(?:m|re)?(?:put|send)\s+(?:-\w+\s+)*([^\s;]+)", text):
        name = re.sub(r"^~(?=/)", m.places.home, found[1].strip("'\"")).rstrip("*")
        m.emit(replace(event, argv=(*event.argv, m.value(name))))


_CROWD_VALUED = {"pssh": "hHlptoexOAPiI", "parallel-ssh": "hHlptoexOAPi", "pdsh": "wxlfturgRM", "clush": "wxgGXlf", "fab": "Hurie",
                 "plink": "lPpwiDLR", "dsh": "mgf", "mpssh": "fup"}  # fmt: skip


def crowd(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`pssh -h hosts code`, `pdsh -w hosts code`, `plink host code`: a command line for one or many machines."""
    name = event.name or ""
    words = operands(
        event.argv, _CROWD_VALUED[name].replace("i", "") if name != "plink" else _CROWD_VALUED[name]
    )
    rest = words[1:] if name == "plink" else words
    if rest:
        inside = st.fork()
        run_code(m, inside, _inner(fr, event, remote=f"hosts of {name}"), join(rest, " "), name)
    return None


_EXEC = re.compile(r"(?i)\b(EXEC|SYSTEM|SHELL):(\"[^\"]*\"|'[^']*'|[^,]*)")


def socat(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`socat … EXEC:program`: with a network on the other side, that is a shell for strangers."""
    network = any(
        re.match(r"(?i)(?:TCP|UDP|OPENSSL|SSL|SOCKS|PROXY|VSOCK|SCTP)", value.prefix) for value in event.argv
    )
    for value in event.argv:
        for found in _EXEC.finditer(value.text or ""):
            code = found[2].strip("\"'")
            _join_network(m, st, fr, event, literal(code), network=network)
    return None


def _join_network(m: Machine, st: State, fr: Frame, event: ExecEvent, code: Value, *, network: bool) -> None:
    from ..events import Stdin

    text = unknown("what comes over the network", (event,))
    stdin = Stdin("pipe", text, (event,)) if network else fr.stdin
    inside = st.fork()
    inside.unread = text if network else st.unread
    run_code(m, inside, replace(_inner(fr, event), stdin=stdin), code, event.name or "")


def netcat(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`nc -e program`, `-c code`, `--sh-exec code`, `--exec program`."""
    for code in (*values_of(event.argv, "e", "exec", "sh-exec", "lua-exec"), *values_of(event.argv, "c")):
        if code.text and not code.text.startswith("-"):
            _join_network(m, st, fr, event, code, network=True)
    return None


__all__ = ("crowd", "netcat", "rsync", "run_argv", "scp", "socat", "ssh")

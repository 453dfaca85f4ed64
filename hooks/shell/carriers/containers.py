"""Containers and clusters: the program that runs inside, with the host's folders that it sees."""

from __future__ import annotations

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv

RUN_SHORT = "aceHhlmpuvwP"
RUN_LONG = frozenset(
    "add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-shares"
    " cpus cpuset-cpus cpuset-mems device device-cgroup-rule dns dns-option dns-search domainname entrypoint env env-file expose"
    " gpus group-add health-cmd health-interval health-retries health-timeout hostname ip ip6 ipc isolation kernel-memory label"
    " label-file link log-driver log-opt mac-address memory memory-reservation memory-swap mount name network network-alias net"
    " oom-score-adj pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal stop-timeout"
    " storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir index service-ports".split()
)
GLOBAL_SHORT = "cHlfp"
GLOBAL_LONG = frozenset("config context host log-level tlscacert tlscert tlskey file project-name project-directory env-file profile"
                        " ansi parallel namespace kubeconfig cluster user as container server token request-timeout"
                        " root runroot connection url identity storage-driver".split())  # fmt: skip
EXEC_LONG = frozenset(
    "container namespace pod-running-timeout filename env user workdir index env-file detach-keys".split()
)


def _inner(fr: Frame, event: ExecEvent, where: str, mounts: tuple[tuple[str, str], ...] = ()) -> Frame:
    return replace(
        fr, via=(*fr.via, event.name or ""), depth=fr.depth + 1, remote=f"container {where}", mounts=mounts
    )


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """docker, podman, compose, kubectl and kin."""
    follow = _NAMED.get(event.name or "", _docker)
    return follow(m, st, fr, event, event.argv)


def _docker(m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]) -> Outcome | None:
    at = skip(words, GLOBAL_SHORT, GLOBAL_LONG)
    if at < len(words) and words[at].text in {"container", "compose"}:
        compose = words[at].text == "compose"
        inner_at = skip(words[at + 1 :], "fp", GLOBAL_LONG)
        words, at = words[at + 1 + inner_at :], 0
        if compose:
            return _compose(m, st, fr, event, words)
    if event.name in {"docker-compose", "podman-compose"}:
        return _compose(m, st, fr, event, words[at:])
    if at >= len(words):
        return None
    sub, rest = words[at].text, words[at + 1 :]
    if sub in {"run", "create"}:
        return _run(m, st, fr, event, rest)
    if sub == "exec":
        at = skip(rest, "euwd"[:3], EXEC_LONG)
        return _inside(m, st, _inner(fr, event, _shown(rest, at)), rest[at + 1 :])
    return None


def _shown(words: tuple[Value, ...], at: int) -> str:
    return words[at].show() if at < len(words) else ""


def _run(m: Machine, st: State, fr: Frame, event: ExecEvent, rest: tuple[Value, ...]) -> Outcome | None:
    at = skip(rest, RUN_SHORT, RUN_LONG)
    options = rest[:at]
    mounts = _mounts(m, st, options)
    command = list(rest[at + 1 :])
    entry = next(values_of(options, "", "entrypoint"), None)
    if entry is not None and entry.parts:
        command.insert(0, entry)
    inner = _inner(fr, event, f"new {_shown(rest, at)}", mounts)
    program = IMAGES.get(_image_name(rest, at))
    if program is not None and entry is None and not (command and command[0].text == program):
        command.insert(0, literal(program))
    folder = next((value.text for value in values_of(options, "w", "workdir") if value.text), "/")
    return _inside(m, st, inner, tuple(command), folder)


IMAGES = {
    **{name: name for name in ("terraform", "tofu", "terragrunt", "git", "kubectl", "helm", "curl", "rclone", "pulumi", "twine", "aws")},
    "aws-cli": "aws", "opentofu": "tofu", "azure-cli": "az", "k8s": "kubectl", "restic": "restic", "ansible": "ansible",
}  # fmt: skip
"""Images whose entry point is the program they are named after."""


def _image_name(words: tuple[Value, ...], at: int) -> str:
    text = words[at].text or "" if at < len(words) else ""
    return text.rpartition("/")[2].partition(":")[0].partition("@")[0]


def _inside(
    m: Machine, st: State, fr: Frame, command: tuple[Value, ...], folder: str = "/"
) -> Outcome | None:
    if not command:
        return None
    inside = st.fork()
    inside.cwds, inside.fallback = (folder,), ()
    inside.unread = st.unread
    return run_argv(m, inside, fr, list(command), functions=False)


def _mounts(m: Machine, st: State, options: tuple[Value, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of a folder inside and the host folder behind it."""
    found: list[tuple[str, str]] = []
    for value in values_of(options, "v", "volume"):
        host, colon, rest = value.show().partition(":")
        if colon and (host.startswith(("/", ".", "~"))):
            found.append((rest.partition(":")[0] or "/", _host(m, st, host)))
    for value in values_of(options, "", "mount"):
        pairs = {item.partition("=")[0]: item.partition("=")[2] for item in value.show().split(",")}
        host = pairs.get("source", pairs.get("src", ""))
        inside = pairs.get("target", pairs.get("destination", pairs.get("dst", "")))
        if host.startswith(("/", ".", "~")) and inside:
            found.append((inside, _host(m, st, host)))
    return tuple(found)


def _host(m: Machine, st: State, host: str) -> str:
    if host.startswith("~"):
        host = m.places.home + host[1:]
    return m.places.join(st.cwds[0] if st.cwds else "/", host)


def _compose(m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]) -> Outcome | None:
    if not words or words[0].text not in {"run", "exec"}:
        return None
    rest = words[1:]
    at = skip(rest, "euwpvl", RUN_LONG | EXEC_LONG)
    mounts = _mounts(m, st, rest[:at])
    return _inside(m, st, _inner(fr, event, _shown(rest, at), mounts), rest[at + 1 :])


def _kubectl(m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]) -> Outcome | None:
    at = skip(words, "ns", GLOBAL_LONG)
    if at >= len(words) or words[at].text not in {"exec", "debug", "run", "rsh"}:
        return None
    texts = [value.text for value in words]
    if "--" in texts:
        return _inside(m, st, _inner(fr, event, "pod"), words[texts.index("--") + 1 :])
    rest = words[at + 1 :]
    first = skip(rest, "cnf", EXEC_LONG)
    behind = rest[first + 1 :]
    return _inside(m, st, _inner(fr, event, "pod"), behind[skip(behind, "cnf", EXEC_LONG) :])


def _behind_dashes(
    m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]
) -> Outcome | None:
    """`lxc exec name -- program`, `distrobox enter name -- program`: the home folder may be shared."""
    for code in values_of(words, "c", "command"):
        run_shell(m, st, _inner(fr, event, "machine"), code, event.name or "")
    texts = [value.text for value in words]
    shared = ((m.places.home, m.places.home),) if event.name in {"distrobox", "toolbox"} else ()
    if "--" in texts:
        return _inside(
            m, st, _inner(fr, event, "machine", shared), words[texts.index("--") + 1 :], st.cwds[0]
        )
    if event.name == "systemd-nspawn":
        at = skip(words, "DMuE", frozenset({"directory", "machine", "user", "bind", "setenv", "chdir"}))
        root = next((value.text for value in values_of(words, "D", "directory") if value.text), None)
        mounts = (("/", root),) if root else ()
        return _inside(m, st, _inner(fr, event, "machine", mounts), words[at:])
    return None


def _k3s(m: Machine, st: State, fr: Frame, event: ExecEvent, words: tuple[Value, ...]) -> Outcome | None:
    """`k3s kubectl …`, `minikube kubectl -- …`."""
    texts = [value.text for value in words]
    if "kubectl" not in texts:
        return _behind_dashes(m, st, fr, event, words) if event.name == "minikube" else None
    rest = [value for value in words[texts.index("kubectl") :] if value.text != "--"]
    return run_argv(m, st, fr.within(event.name or ""), rest)


_NAMED = {
    "kubectl": _kubectl,
    "oc": _kubectl,
    "k3s": _k3s,
    "microk8s": _k3s,
    "minikube": _k3s,
    **dict.fromkeys(
        ("lxc", "lxc-attach", "vagrant", "distrobox", "toolbox", "systemd-nspawn", "crictl"),
        _behind_dashes,
    ),
}

__all__ = ("has", "literal", "run")

"""Text that is run as code: in this shell or one of its own; what is unknown is taken down as unchecked."""

from __future__ import annotations

from ..frozen import replace
from .events import ExecEvent, Value
from .expand import value_of
from .machine import MAX_DEPTH, MAX_SOURCE, Frame, Machine, NoShell, Outcome, Refused, State
from .tree import (
    Call,
)
from .values import join, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def check_source(code: Value) -> None:
    """Refuse source text of another language that is too long to be read in time.

    Raises:
        Refused: always, then.
    """
    if sum(len(part) for part in code.parts if isinstance(part, str)) > MAX_SOURCE:
        raise Refused("source text inside the command is too long to be judged")


def run_traps(m: Machine, st: State, fr: Frame, outcome: Outcome) -> Outcome:
    """Run what `trap` left for the end of a shell."""
    if not st.traps:
        return outcome
    for _round in range(3):
        traps, st.traps = st.traps, ()
        for code in traps:
            done = run_code(m, st, replace(fr, via=(*fr.via, "trap")), m.value(code))
            outcome = Outcome(join((outcome.out, done.out)))
    return outcome


def run_code(m: Machine, st: State, fr: Frame, code: Value, program: str = "") -> Outcome:
    """Run text as shell code in this state. Text that is wholly unknown is taken down as unchecked."""
    from .evaluator import run_stmts
    from .shfmt import Unreadable

    fr = replace(fr, depth=fr.depth + 1)
    if fr.depth > MAX_DEPTH:
        raise Refused("the command is nested too deeply to be judged")
    m.note_code(code)
    if code.is_opaque:
        note_unknown_code(m, fr, code, program or (fr.via[-1] if fr.via else "a shell"))
        return Outcome(unknown("output of unknown code", code.sources))
    for hole in code.holes:
        if hole.source:
            note_fetched_code(m, fr, code, program)
            break
    try:
        stmts = m.parse(m.hide(code))
    except Unreadable as error:
        raise NoShell(f"code inside the command cannot be read: {error}") from None
    return run_stmts(m, st, fr, stmts)


def run_shell(m: Machine, st: State, fr: Frame, code: Value, program: str = "") -> Outcome:
    """Run text as shell code in a shell of its own, which ends with its traps; only files outlive it."""
    inside = st.fork()
    inside.traps = ()
    outcome = run_traps(m, inside, fr, run_code(m, inside, fr, code, program))
    st.take_files(inside)
    return outcome


HARMLESS_OUTPUT = frozenset({ "docker", "kind", "k3d", "eksctl", "oc", "aws", "fish", "rustc",
    "ssh-agent", "direnv", "opam", "brew", "dircolors", "starship", "pyenv", "rbenv", "nodenv", "fnm", "nvm", "zoxide",
    "mise", "asdf", "rtx", "conda", "register-python-argcomplete", "keychain", "gpg-agent", "lesspipe", "thefuck",
    "docker-machine", "minikube", "kubectl", "npm", "pip", "pip3", "poetry", "uv", "gh", "glab", "rustup", "cargo",
    "stack", "luarocks", "perl", "goenv", "jenv", "sdk", "volta", "atuin", "tmuxinator", "hub", "fzf", "op", "pipx",
    "micromamba", "mamba", "pixi", "devbox", "nix", "guix", "vault", "resize", "locale", "tset", "oh-my-posh",
    "podman", "helm", "flux", "terraform", "just", "hugo", "deno", "bun", "pnpm", "yarn", "dbus-launch", "lesspipe.sh",
    "devenv", "rg", "ruff", "uvx", "bat", "eza", "zellij", "jj", "chezmoi", "pdm", "hatch", "rye", "task", "argocd",
    "istioctl", "skaffold", "doctl", "hcloud", "flyctl", "heroku", "kustomize", "cosign", "syft", "trivy", "buf",
    "golangci-lint", "nerdctl", "colima", "limactl", "linkerd", "cilium", "dagger", "pulumi", "tofu", "trunk", "gum",
    "supabase", "stripe", "dvc", "pipenv", "go-task", "ghcup", "swiftly", "proto", "moon", "yq", "glow",
})  # fmt: skip
"""Programs whose documented use is `eval "$(program …)"`: they print settings for the shell."""


def note_unknown_code(m: Machine, fr: Frame, code: Value, program: str) -> None:
    """Take down that unknown text would be run, unless it is the output of a program meant to be evaluated."""
    if code.sources and all(_prints_settings(event) for event in code.sources):
        return
    if any(hole.digits for hole in code.holes):
        return
    why = f"the code that {program} would run is not known: {code.show()}"
    m.unchecked("code", fr.segment, why, program=program, sources=code.sources)


SETTINGS_WORDS = frozenset(
    "completion completions generate-shell-completion init env shellenv hook export activate shell print-config bash zsh sh"
    " --sh --bash -s -b -c autocomplete minikube-docker-env docker-env config-env --shell bash-completion agent"
    " complete-bash complete-zsh direnvrc shell-init shell-setup".split()
)


def _prints_settings(event: ExecEvent) -> bool:
    """True for `ssh-agent -s`, `kubectl completion bash` and the like; a fetched text is never settings."""
    if event.name in HARMLESS_ALWAYS:
        return True
    words = {word.partition("=")[0] for word in event.words if word}
    return event.name in HARMLESS_OUTPUT and bool(
        words & SETTINGS_WORDS or any("shell.bash" in word for word in words)
    )


HARMLESS_ALWAYS = frozenset(
    {"ssh-agent", "direnv", "dircolors", "opam", "lesspipe", "resize", "keychain", "gpg-agent"}
)


def note_fetched_code(m: Machine, fr: Frame, code: Value, program: str) -> None:
    """Take down code that is known in part but holds the output of a program that fetches text."""
    fetched = tuple(event for event in code.sources if event.name in FETCHERS)
    if fetched:
        why = f"part of the code comes from {fetched[0].name}: {code.show()}"
        m.unchecked("code", fr.segment, why, program=program, sources=fetched)


FETCHERS = frozenset(
    {"curl", "wget", "nc", "ncat", "netcat", "socat", "fetch", "aria2c", "http", "https", "xh", "lynx"}
)


def expand_text(m: Machine, st: State, fr: Frame, value: Value) -> Value:
    """Expand a text as if it stood in double quotes: PS4, `${x@P}`, arithmetic texts."""
    from .shfmt import Unreadable

    hidden = m.hide(value)
    if "$" not in hidden and "`" not in hidden:
        return value
    quoted = hidden.replace('"', '\\"')
    try:
        stmts = m.parse(f': "{quoted}"')
    except Unreadable:
        # Text with an unclosed `$(` is expanded by bash up to there: what cannot be read is not known.
        m.unchecked("code", fr.segment, f"a text that would be expanded cannot be read: {value.show()}")
        return unknown("an expanded text")
    command = stmts[0].command if stmts else None
    if isinstance(command, Call) and len(command.words) > 1:
        return value_of(m, st, fr, command.words[1])
    return value

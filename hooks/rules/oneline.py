"""One-line entries: `deny = ["terraform destroy", "rm -rf /"]` means program, subcommand and flags, not text."""

from __future__ import annotations

from ..errors import ConfigError
from .model import Condition, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .model import Grammar

_SHELL_SIGNS = frozenset({"|", "||", "&", "&&", ";", "<", ">", ">>", "(", ")", "{", "}"})


def compile_entry(entry: str, decision: str, grammars: Mapping[str, Grammar], source: str) -> Rule:
    """Turn an entry into a rule.

    The first word is the program. Words before the first option are its subcommand, in order. Every option must be
    there, in any spelling and any order. Paths, and words after the first option, must be among the operands as whole
    words.

    Raises:
        ConfigError: the entry is empty, is not one plain command, or its quotes do not close.
    """
    words = _split(entry)
    program = words[0].rpartition("/")[2]
    if not program or program.startswith("-"):
        raise ConfigError(f"the entry {entry!r} does not start with a program's name")
    leading: list[str] = []
    flags: list[str] = []
    operands: list[str] = []
    for word in words[1:]:
        if word.startswith("-") and word not in {"-", "--"}:
            flags.extend(_flags(word, program, leading, grammars))
        elif flags or _is_path(word) or operands:
            operands.append(f"path {word}" if _is_path(word) else f"={word}")
        elif word != "--":
            leading.append(word.replace("|", "?"))
    when = Condition(
        program=(program,),
        subcommand=(" ".join(leading),) if leading else (),
        flags=tuple(dict.fromkeys(flags)),
        all_operands=tuple(operands),
    )
    message = f"The blocklist entry `{entry}` forbids this."
    return Rule(f"{decision}: {entry}", when, decision, message, source=source, entry=entry)


def _split(entry: str) -> list[str]:
    import shlex

    try:
        words = shlex.split(entry)
    except ValueError as error:
        raise ConfigError(f"the entry {entry!r} cannot be read: {error}") from None
    if not words:
        raise ConfigError("an entry is empty; write a program and what follows it, like 'terraform destroy'")
    signs = [word for word in words if word in _SHELL_SIGNS or word.endswith(";")]
    if signs:
        raise ConfigError(
            f"the entry {entry!r} holds {signs[0]!r}, but an entry is one plain command; "
            "write a [[rule]] with `pipeline` or `redirect` instead"
        )
    if "=" in words[0]:
        raise ConfigError(f"the entry {entry!r} starts with a variable; write a [[rule]] with `env` instead")
    return words


def _is_path(word: str) -> bool:
    return word.startswith(("/", "~/", "./", "../")) or word in {"~", ".", ".."}


def _flags(word: str, program: str, leading: list[str], grammars: Mapping[str, Grammar]) -> list[str]:
    own = grammars.get(program)
    names = (program, f"{program} {leading[0]}") if leading else (program,)
    groups = [group for name in names if name in grammars for group in grammars[name].aliases]
    flags = [word] if own and own.single_dash else split_cluster(word)
    return [with_aliases(flag, groups) for flag in flags]


def split_cluster(flag: str) -> list[str]:
    """Turn `-rf` into `-r` and `-f`; anything else stays as it is."""
    if flag.startswith("--") or not flag[1:].isalpha():
        return [flag]
    return [f"-{letter}" for letter in flag[1:]]


def with_aliases(choices: str, groups: list[str]) -> str:
    """Add to `-f` every other spelling of it, so that one spelling in a rule means all."""
    names = choices.split("|")
    found = [other for group in groups if set(group.split("|")) & set(names) for other in group.split("|")]
    return "|".join(dict.fromkeys([*names, *found]))

"""A program's arguments, read as options and words the way the program would read them."""

from __future__ import annotations

from ..frozen import frozen
from ..shell.events import Value
from .glob import text_fits
from .model import Grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..shell.events import ExecEvent

_OFF = frozenset({"false", "0", "no", "off", "none"})
"""Values that may switch an option off: `--dry-run=none`."""


@frozen
class Option:
    """One option as given: `name` is `-f` for a letter of a cluster, `whole` the word it stood in."""

    name: str
    whole: str
    value: Value | None = None

    @property
    def is_off(self) -> bool:
        """True for `--force=false`."""
        return self._given() == "false"

    @property
    def may_be_off(self) -> bool:
        """True for `--dry-run=none` and the like, and where the value is not known."""
        given = self._given()
        return given is not None and (given in _OFF or "<" in given)

    def _given(self) -> str | None:
        return self.value.show().lower() if self.value is not None and "=" in self.whole else None


@frozen
class Word:
    """One argument that is no option; `maybe` if it may also be the value of the option before it."""

    value: Value
    maybe: bool = False


@frozen
class Arguments:
    """Options in order, words in order; `before` options stand before the first word, the subcommand if there are such."""

    options: tuple[Option, ...] = ()
    words: tuple[Word, ...] = ()
    before: int = 0

    @property
    def of_subcommand(self) -> Arguments:
        """The arguments without the program's own options of one letter: `-C` of `git -C dir branch` is not the branch's."""
        own = self.options[: self.before]
        if not own:
            return self
        kept = [option for option in own if len(option.name) != 2 or option.value is None]
        return Arguments((*kept, *self.options[self.before :]), self.words)


def read_arguments(argv: tuple[Value, ...], grammar: Grammar) -> Arguments:
    """Split arguments into options and words. Where the grammar is not known, both readings are kept."""
    options: list[Option] = []
    words: list[Word] = []
    before = 0
    pending: Option | None = None  # an option that takes, or may take, the next word
    only_words = False
    for value in argv:
        given = [] if only_words else _options(value, grammar)
        if pending is not None and (_takes(pending, grammar) or not given):
            options[-1] = Option(pending.name, pending.whole, value)
            if not _takes(pending, grammar):
                words.append(Word(value, maybe=True))
            pending = None
            continue
        pending = None
        if not only_words and value.text == "--":
            only_words = True
        elif given:
            options.extend(given)
            pending = _open_end(given[-1], grammar)
        else:
            before = before if words else len(options)
            words.append(Word(value))
    return Arguments(tuple(options), tuple(words), before)


_LEAVES_OUT = ("--exclude", "--exclude-dir", "--exclude-glob", "--exclude-if-present")


def named(argv: tuple[Value, ...]) -> list[Value]:
    """Give the arguments without those that name what is left out: not to send `.env` is no way to send it."""
    kept: list[Value] = []
    before = ""
    for value in argv:
        if before not in _LEAVES_OUT and value.prefix.partition("=")[0] not in _LEAVES_OUT:
            kept.append(value)
        before = value.text or ""
    return kept


def _takes(option: Option, grammar: Grammar) -> bool:
    return option.name in grammar.values


def _open_end(option: Option, grammar: Grammar) -> Option | None:
    if option.value is not None:
        return None
    if grammar.known and option.name not in grammar.values and option.name not in grammar.maybe:
        return None
    return option


def _options(value: Value, grammar: Grammar) -> list[Option]:
    shown = value.text if value.text is not None else value.prefix
    if len(shown) < 2 or not shown.startswith("-") or shown == "--":
        return []
    if "=" in shown:
        name = shown.partition("=")[0]
        return [Option(name, value.show(), _after(value, len(name) + 1))]
    if shown.startswith("--") or grammar.single_dash or shown[1].isdigit():
        return [Option(shown, value.show())]
    return _cluster(value, shown, grammar)


def _cluster(value: Value, shown: str, grammar: Grammar) -> list[Option]:
    whole = value.show()
    options: list[Option] = []
    for place, letter in enumerate(shown[1:], 2):
        name = f"-{letter}"
        rest = _after(value, place)
        if rest.parts and (name in grammar.values or name in grammar.attached):
            return [*options, Option(name, whole, rest)]
        options.append(Option(name, whole))
    return options


def _after(value: Value, count: int) -> Value:
    """Give what stands behind the first `count` characters of a word's literal start."""
    first = value.parts[0]
    head = first[count:] if isinstance(first, str) else ""
    return Value((*((head,) if head else ()), *value.parts[1:]))


class Grammars:
    """The grammars of programs (`git`) and of their subcommands (`git push`)."""

    __slots__ = ("_by_name", "_divided")

    def __init__(self, by_name: Mapping[str, Grammar]) -> None:
        self._by_name = by_name
        self._divided = frozenset(name.partition(" ")[0] for name in by_name if " " in name)

    def read(self, event: ExecEvent) -> Arguments:
        """Read what an event runs by the grammar of the program, widened by that of its subcommand."""
        name = event.name or ""
        own = self._by_name.get(name, UNKNOWN)
        arguments = read_arguments(event.argv, own)
        if name not in self._divided or not arguments.words:
            return Arguments(arguments.options, arguments.words) if arguments.before else arguments
        sub = self._by_name.get(f"{name} {arguments.words[0].value.text}")
        if sub is None or not (sub.values or sub.maybe):
            return arguments
        wider = Grammar(
            own.values | sub.values,
            known=True,
            single_dash=own.single_dash,
            maybe=own.maybe | sub.maybe,
            attached=own.attached | sub.attached,
        )
        return read_arguments(event.argv, wider)


UNKNOWN = Grammar()
"""The grammar of a program that nobody described: any option may take the next word."""


def has_flag(arguments: Arguments, choices: str) -> bool:
    """Tell whether one of the choices (`-f|--force|--prune=now`) is among the options."""
    return bool(arguments.options) and any(_has(arguments, choice) for choice in choices.split("|"))


def _has(arguments: Arguments, choice: str) -> bool:
    name, equals, wanted = choice.partition("=")
    for option in arguments.options:
        if not _is_spelling(option, name):
            continue
        if equals:
            if option.value is not None and _value_fits(option.value, wanted):
                return True
        elif not option.is_off:
            return True
    return False


def _value_fits(value: Value, wanted: str) -> bool:
    text = value.text
    return (
        text_fits(text, wanted) if text is not None else not value.prefix or wanted.startswith(value.prefix)
    )


def _is_spelling(option: Option, name: str) -> bool:
    """Tell whether an option is a spelling of a flag: exact, one dash for two, or a long one cut short."""
    if "*" in name or "?" in name:
        return text_fits(option.whole, name)
    if option.name == name:
        return True
    if len(name) == 2:
        return False
    whole = option.whole.partition("=")[0]
    if not name.startswith("--"):
        return whole in {name, f"-{name}"}
    # Two letters at least: one letter is ambiguous in almost every program, and then refused by the program.
    return whole.startswith("--") and len(whole) > 3 and name.startswith(whole)


def exact_flag(arguments: Arguments, choices: str) -> bool:
    """As `has_flag` for what makes a command harmless: no abbreviations, for a wrong guess would let it run."""
    return bool(arguments.options) and any(_has_exactly(arguments, choice) for choice in choices.split("|"))


def _has_exactly(arguments: Arguments, choice: str) -> bool:
    name, equals, wanted = choice.partition("=")
    if name.startswith("--") and any(option.name == f"--no-{name[2:]}" for option in arguments.options):
        return False
    for option in arguments.options:
        same = option.name == name or option.whole.partition("=")[0] == name
        if same and equals and option.value is not None and text_fits(option.value.text or "\0", wanted):
            return True
        if same and not equals and not option.may_be_off:
            return True
    return False


def rests_after(
    words: tuple[Word, ...], subcommands: tuple[str, ...], *, sure: bool = False
) -> Iterator[tuple[Word, ...]]:
    """Give what follows each of the subcommands that the leading words are, or may be unless it must be `sure`."""
    certain = bool(words) and not words[0].maybe
    first = words[0].value.text if words and certain else None
    second = words[1].value.text if certain and len(words) > 1 and not words[1].maybe else None
    for wanted in subcommands:
        steps = _steps(wanted)
        if first is not None and first not in steps[0][0] and not steps[0][1]:
            continue
        if second is not None and len(steps) > 1 and second not in steps[1][0] and not steps[1][1]:
            continue
        rest = rest_after(words, wanted, sure=sure)
        if rest is not None:
            yield rest


def rest_after(words: tuple[Word, ...], wanted: str, *, sure: bool = False) -> tuple[Word, ...] | None:
    """Take a subcommand (`stash drop|clear`) off the leading words; None if it is not there."""
    for exact, patterns in _steps(wanted):
        skipped = _skip_to(words, exact, patterns, sure=sure)
        if skipped is None:
            return None
        words = skipped
    return words


_Step = tuple[frozenset[str], tuple[str, ...]]
"""The words that would do, and the patterns."""
_split: dict[str, tuple[_Step, ...]] = {}


def _steps(wanted: str) -> tuple[_Step, ...]:
    """Take a subcommand apart, once: rules are few."""
    found = _split.get(wanted)
    if found is None:
        choices = [step.split("|") for step in wanted.split()]
        found = _split[wanted] = tuple(
            (frozenset(step), tuple([choice for choice in step if "*" in choice])) for step in choices
        )
    return found


def _skip_to(
    words: tuple[Word, ...], exact: frozenset[str], patterns: tuple[str, ...], *, sure: bool
) -> tuple[Word, ...] | None:
    for index, word in enumerate(words):
        if (word.value.text is not None or not sure) and _word_is(word.value, exact, patterns):
            return words[index + 1 :]
        if not word.maybe:
            return None
    return None


def _word_is(value: Value, exact: frozenset[str], patterns: tuple[str, ...]) -> bool:
    text = value.text
    if text is None:
        return bool(patterns and not value.is_opaque) or any(
            value.could_be(wanted) for wanted in exact if "*" not in wanted
        )
    return text in exact or (bool(patterns) and any(text_fits(text, pattern) for pattern in patterns))


def asks_for_help(arguments: Arguments) -> bool:
    """Tell whether `--help` stands among the options, so that nothing but a text is printed."""
    return bool(arguments.options) and any(option.whole == "--help" for option in arguments.options)

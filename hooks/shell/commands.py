"""The way in: one command text to one `Reading`, within limits, with a small cache of parsed texts."""

from __future__ import annotations

from time import monotonic

from ..errors import ConfigError
from ..patterns import lazy
from .evaluator import run_body
from .events import Places, Reading
from .machine import Frame, Machine, Refused, too_heavy
from .plain import plain
from .shfmt import Unreadable
from .state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .tree import Stmt

MAX_BYTES = 256 * 1024
MAX_NESTING = 250
SECONDS = 1.0
MAX_CACHED = 512
OUTERMOST = Frame()

_cache: dict[str, tuple[Stmt, ...]] = {}


def parse(text: str) -> tuple[Stmt, ...]:
    """Parse a text, simple ones without starting shfmt; the last few hundred are remembered."""
    found = _cache.get(text)
    if found is None:
        found = plain(text)
        if found is None:
            from .reader import read

            check_text(text)
            found = read(text)
        if len(_cache) >= MAX_CACHED:
            _cache.pop(next(iter(_cache)))
        if len(text) < 8192:
            _cache[text] = found
    return found


def check_text(text: str) -> None:
    """Refuse what cannot be a command that a person would write.

    Raises:
        Unreadable: bytes that are not UTF-8, NUL, carriage returns, size or nesting past the limits.
    """
    if len(text) < MAX_NESTING and text.isascii() and text.isprintable():
        return  # most commands
    if len(text) > MAX_BYTES:
        raise Unreadable(f"the command is longer than {MAX_BYTES // 1024} KiB")
    if "\0" in text:
        raise Unreadable("the command holds a NUL character")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise Unreadable("the command is not valid UTF-8") from None
    if size > MAX_BYTES:
        raise Unreadable(f"the command is longer than {MAX_BYTES // 1024} KiB")
    if "\r" in text.replace("\r\n", "\n").rstrip("\r"):
        raise Unreadable("the command holds a carriage return, which a terminal shows as another text")
    if _nesting(text) > MAX_NESTING:
        raise Unreadable("the command is nested too deeply to be judged")
    if too_heavy(text):
        raise Unreadable("the command does too much to be judged at once")


def _nesting(text: str) -> int:
    if text.count("(") + text.count("{") + text.count("[") < MAX_NESTING:
        return 0
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        if bracket in "({[":
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
    return deepest


_BRACKETS = lazy(r"[({\[\])}]")


def read_command(
    text: str,
    places: Places,
    guarded: frozenset[str] = frozenset(),
    *,
    seconds: float = SECONDS,
    clock: Callable[[], float] = monotonic,
) -> Reading:
    """Read shell text into what it would execute in `places`.

    `guarded` names the programs that rules speak of: they are looked for in the argument tails of programs that may
    run their arguments. Nothing is executed, and no disk is touched unless `places` says how. Never raises for any
    text; what cannot be judged comes back as `refusal`.

    Raises:
        ConfigError: if shfmt is not installed.
    """
    start = clock()
    machine = Machine(places, guarded, parse, clock, seconds)
    refusal = _evaluate(machine, text)
    return Reading(
        tuple(machine.events),
        tuple(machine.unknowns),
        tuple(machine.writes),
        machine.fork_bomb,
        refusal,
        round((clock() - start) * 1_000_000),
    )


def _evaluate(machine: Machine, text: str) -> str | None:
    try:
        check_text(text)
        stmts = parse(text)
        run_body(machine, State((machine.places.cwd,)), OUTERMOST, stmts)
    except (Unreadable, Refused) as error:
        return str(error)
    except RecursionError:
        return "the command is nested too deeply to be judged"
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001  a reader that fails must refuse, whatever the failure
        return f"the command cannot be judged: {type(error).__name__}: {error}"
    return None

"""Long rows of items that a command goes through one by one: every one counts, but of numbers a few stand for all."""

from __future__ import annotations

from .events import ExecEvent, Hole, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

MANY = 40
"""Numbers past which a row is tried at its ends and with one number that is not known."""
_FIRST = 16

_SEQ = ExecEvent(Value(("seq",)), "seq")


def counted(name: str) -> Value:
    """Some number of a counting loop; rules take it for what `seq` prints."""
    return Value(
        (
            Hole(
                f"${name} of a loop that counts" if name else "one of many numbers",
                name,
                (_SEQ,),
                digits=True,
            ),
        )
    )


def is_number(value: object) -> bool:
    """True for digits, known or not."""
    if not isinstance(value, Value):
        return isinstance(value, int)
    if value.text is not None:
        return value.text.removeprefix("-").isdigit()
    return value.is_opaque and all(hole.digits for hole in value.holes)


def to_try(items: list[T], name: str = "") -> list[T | Value]:
    """Give the items that are to be tried: all of them, but of very many numbers the first, the last and any."""
    if len(items) <= MANY:
        return [*items]
    numbers = [at for at, item in enumerate(items) if is_number(item)]
    if len(numbers) <= MANY:
        return [*items]
    skipped = set(numbers[_FIRST:-1])
    return [*(item for at, item in enumerate(items) if at not in skipped), counted(name)]

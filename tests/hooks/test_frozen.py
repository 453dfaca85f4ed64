"""Frozen values: the shape of frozen dataclasses, without their cost."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from decurion.hooks import as_dict, frozen, replace


@frozen
class Point:
    """A place."""

    x: int
    y: int = 0
    name: str = "here"

    @property
    def total(self) -> int:
        return self.x + self.y


@frozen
class Marked(Point):
    """A place with a mark."""

    mark: str = "x"


def test_positions_names_and_defaults_make_the_same_value() -> None:
    assert Point(1, 2, "a") == Point(1, y=2, name="a") == Point(name="a", y=2, x=1)
    assert as_dict(Point(1)) == {"x": 1, "y": 0, "name": "here"}
    assert Point(1, 2).total == 3


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, "Point needs a value for 'x'"),
        ((), {"y": 1}, "Point needs a value for 'x'"),
        ((1, 2, "a", 4), {}, "Point takes 3 values, got 4"),
        ((1,), {"x": 2}, "Point has no field x to set here"),
        ((1,), {"z": 2}, "Point has no field z to set here"),
        ((1, 2, "a"), {"z": 2}, "Point has no field z to set here"),
        ((), {"y": 1, "z": 2}, "Point needs a value for 'x'"),
    ],
)
def test_wrong_values_are_named(args: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Point(*args, **named)


def test_nothing_can_be_changed_or_added() -> None:
    point = Point(1)
    for name in ("x", "new"):
        with pytest.raises(AttributeError, match="Point is frozen"):
            setattr(point, name, 2)
    with pytest.raises(AttributeError, match="Point is frozen"):
        delattr(point, "x")
    assert not hasattr(point, "__dict__")


def test_values_compare_hash_copy_and_pickle() -> None:
    point = Point(1, 2)
    assert point == copy.deepcopy(point) == pickle.loads(pickle.dumps(point))
    assert hash(point) == hash(Point(1, 2))
    assert point != Marked(1, 2)
    assert repr(point) == "Point(x=1, y=2, name='here')"


def test_a_derived_value_has_the_fields_of_its_base_first() -> None:
    assert as_dict(Marked(1, mark="y")) == {"x": 1, "y": 0, "name": "here", "mark": "y"}
    assert replace(Marked(1), x=5).total == 5


def test_matching_by_position() -> None:
    match Point(1, 2):
        case Point(x, y, name):
            assert (x, y, name) == (1, 2, "here")


def test_a_default_that_could_be_changed_is_refused() -> None:
    namespace = {"__annotations__": {"items": "list[int]"}, "items": [1]}
    with pytest.raises(TypeError, match=r"Bad\.items: a default must be immutable, not list"):
        frozen(type("Bad", (), namespace))

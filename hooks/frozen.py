"""Frozen, slotted value classes that cost nothing to import.

`dataclasses` pulls in `inspect` and compiles source text for every class: about 10 ms before the first
decision of a cold hook program, which is a quarter of its whole budget. This decorator gives the same
shape (annotated fields, keyword or positional construction, equality, hash, repr, pickling) from closures.
Defaults must be immutable; there are no factories. A class of which many values are made gets a compiled constructor
then, so that a long session builds them as fast as `dataclasses` would.
"""

from __future__ import annotations

from _operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_options: object) -> Callable[[Any], Any]:
        """Stand in for `typing.dataclass_transform`, which only type checkers read."""
        return lambda decorator: decorator


_CLASS_ONLY = {"__dict__", "__weakref__"}
_MANY = 250
"""Values of one class after which compiling its constructor pays; a cold program makes fewer of most."""


@dataclass_transform(frozen_default=True, eq_default=True)
def frozen(cls: type[T]) -> type[T]:
    """Turn an annotated class into a frozen, slotted value class.

    Raises:
        TypeError: at decoration, if a default is a list, dict or set.
    """
    inherited: tuple[str, ...] = getattr(cls, "__fields__", ())
    # Not `inspect.get_annotations`: that import is what this module is here to avoid.
    annotations = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - as above
    own = tuple(name for name in annotations if not name.startswith("__"))
    body: dict[str, Any] = {k: v for k, v in cls.__dict__.items() if k not in _CLASS_ONLY and k not in own}
    defaults = dict(getattr(cls, "__defaults__", {}))
    defaults.update({name: cls.__dict__[name] for name in own if name in cls.__dict__})
    for name, value in defaults.items():
        kind = type(value).__name__
        if kind in ("list", "dict", "set"):
            message = f"{cls.__name__}.{name}: a default must be immutable, not {kind}"
            raise TypeError(message)
    fields = inherited + tuple(name for name in own if name not in inherited)
    body.update(
        __slots__=tuple(name for name in own if name not in inherited),
        __fields__=fields,
        __defaults__=defaults,
        __match_args__=fields,
        __setattr__=_refuse_change,
        __delattr__=_refuse_change,
        __reduce__=_reduce,
    )
    body.setdefault("__eq__", _equal)
    body.setdefault("__hash__", _hash)
    body.setdefault("__repr__", _repr)
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)
    made.__values__ = staticmethod(_getter(fields))
    if "__init__" not in body:
        made.__init__ = _make_init(made, fields, defaults)
    return made


def replace(value: T, **changes: Any) -> T:
    """Return a copy of a frozen value with some fields changed."""
    made: Any = type(value)
    fields: tuple[str, ...] = made.__fields__
    values = list(made.__values__(value))
    for name, changed in changes.items():
        if name not in fields:
            raise _wrong_values(made.__name__, fields, (), changes)
        values[fields.index(name)] = changed
    return made(*values)


def as_dict(value: Any) -> dict[str, Any]:
    """Return the fields of a frozen value, one level deep, in order of declaration."""
    return {name: getattr(value, name) for name in value.__fields__}


def _make_init(cls: Any, fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    owner, count = cls.__name__, len(fields)
    # The slots' own setters: a law of 200 rules is made of some 5,000 values before a cold program's first answer.
    setters = tuple((name, getattr(cls, name).__set__) for name in fields)
    # Python's own parameters cannot go without a default behind one that has one.
    in_order = sorted(fields, key=lambda name: name in defaults) == list(fields)
    made = 0

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807 - it becomes the class's own
        nonlocal made
        made += 1
        if made == _MANY and in_order:
            cls.__init__ = _compiled(fields, defaults, setters)
        if not named and len(args) == count:
            for (_name, set_value), value in zip(setters, args, strict=True):
                set_value(self, value)
            return
        values = {**defaults, **named}
        if args:
            if len(args) > count or (named and not named.keys().isdisjoint(fields[: len(args)])):
                raise _wrong_values(owner, fields, args, named)
            values.update(zip(fields, args, strict=False))
        try:
            for name, set_value in setters:
                set_value(self, values[name])
        except KeyError as missing:
            message = f"{owner} needs a value for {missing}"
            raise TypeError(message) from None
        if len(values) > count:
            raise _wrong_values(owner, fields, args, named)

    return __init__


def _compiled(
    fields: tuple[str, ...], defaults: dict[str, Any], setters: tuple[tuple[str, Any], ...]
) -> Callable[..., None]:
    """Compile the constructor that `dataclasses` would have made."""
    parameters = (f"{name}=defaults[{name!r}]" if name in defaults else name for name in fields)
    lines = [f" set_{at}(self, {name})" for at, name in enumerate(fields)] or [" pass"]
    text = "\n".join((f"def __init__(self, {', '.join(parameters)}):", *lines))
    names: dict[str, Any] = {
        "defaults": defaults,
        **{f"set_{at}": one for at, (_, one) in enumerate(setters)},
    }
    exec(text, names)  # noqa: S102 - the text is made of the class's own field names
    return names["__init__"]


def _wrong_values(
    owner: str, fields: tuple[str, ...], args: tuple[Any, ...], named: dict[str, Any]
) -> TypeError:
    if len(args) > len(fields):
        return TypeError(f"{owner} takes {len(fields)} values, got {len(args)}")
    unknown = sorted(set(named) - set(fields[len(args) :]))
    return TypeError(f"{owner} has no field {', '.join(unknown)} to set here")


def _refuse_change(self: object, name: str, _value: object = None) -> None:
    message = f"{type(self).__name__} is frozen: {name!r} cannot be changed"
    raise AttributeError(message)


def _getter(fields: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Give a function that takes a value apart; `attrgetter` does so in one step, but for two fields at least."""
    if len(fields) > 1:
        return attrgetter(*fields)

    def values(value: Any) -> tuple[Any, ...]:
        return tuple(getattr(value, name) for name in fields)

    return values


def _equal(self: Any, other: Any) -> bool:
    if type(other) is not type(self):
        return NotImplemented
    return self.__values__(self) == other.__values__(other)


def _hash(self: Any) -> int:
    return hash((self.__class__, self.__values__(self)))


def _repr(self: Any) -> str:
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__fields__)
    return f"{type(self).__name__}({inside})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return self.__class__, self.__values__(self)

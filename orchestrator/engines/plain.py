"""Values as JSON and back: what crosses to a worker is the agents' own values, built again by their annotations.

Encoding is JSON's own: fields by name. `build` goes the other way, told the type. Of a union of values (events, moments)
a `tagged` pair says which it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from decurion.hooks import RunRef, ToolCall, ToolResult
from decurion.hooks.frozen import as_dict

T = TypeVar("T")

_GROUND = {"Any": Any, "Mapping": Mapping, "RunRef": RunRef, "ToolCall": ToolCall, "ToolResult": ToolResult}
"""Names in annotations of the ground, whose modules import them for type checkers only."""


def dumps(value: Any, *, in_order: bool = False) -> bytes:
    """Give JSON, with `in_order` the same for the same content. What has no form in it becomes its text."""
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_SORT_KEYS if in_order else 0)
    try:
        return orjson.dumps(value, default=_plain, option=option)
    except orjson.JSONEncodeError:  # half a character, or a number of more than 64 bits: models send both
        return json.dumps(value, default=_plain, sort_keys=in_order).encode()


def loads(data: bytes) -> Any:
    """Read JSON.

    Raises:
        ValueError: it is none.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def tagged(value: object) -> list[Any]:
    """Give a value of a union with the name of its class."""
    return [type(value).__name__, value]


def untagged(union: Any, pair: Any) -> Any:
    """Read what `tagged` gave.

    Raises:
        KeyError: the union has no class of this name.
    """
    name, data = pair
    return build(_members(union)[name], data)


def build(kind: type[T], data: Any) -> T:
    """Make a value of a type from JSON. Fields that are not there keep their defaults."""
    return cast("T", _builder(kind)(data))


def _plain(value: Any) -> Any:
    if hasattr(value, "__fields__"):
        return as_dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclass_fields(value)}
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    return value.value if isinstance(value, Enum) else str(value)


@cache
def _members(union: Any) -> dict[str, Any]:
    return {kind.__name__: kind for kind in get_args(union)}


@cache
def _builder(kind: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _choice([arg for arg in args if arg is not NoneType])
    if origin is tuple:
        inner = _builder(args[0])
        return lambda data: tuple(inner(each) for each in data)
    if hasattr(kind, "__fields__") or is_dataclass(kind):
        return _maker(cast("type[Any]", kind))
    if isinstance(kind, type) and issubclass(kind, (Path, Enum)):
        return kind
    return lambda data: data


def _choice(kinds: list[Any]) -> Callable[[Any], Any]:
    """A value or None; or a text or something else, as the content of a tool's result is."""
    [inner] = [_builder(kind) for kind in kinds if kind is not str] or [lambda data: data]
    is_text = str in kinds
    return lambda data: data if data is None or (is_text and isinstance(data, str)) else inner(data)


def _maker(kind: type[Any]) -> Callable[[Any], Any]:
    parts = {name: _builder(hint) for name, hint in get_type_hints(kind, localns=_GROUND).items()}
    return lambda data: kind(**{name: parts[name](value) for name, value in data.items()})

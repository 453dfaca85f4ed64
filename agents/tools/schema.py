"""From a signature to a JSON schema, and from arguments to a verdict that a model can act on."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from decurion.hooks import ToolError

SCALARS: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
SHOWN_CHARS = 400
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties", "title", "description"})
OF_VALUES = frozenset({"type", "title", "description", "default"})
REMEMBERED = 256  # validators: one for each tool of a process, few even with many tools from elsewhere
_validators: dict[int, tuple[Mapping[str, Any], Any]] = {}


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the object schema of a function's parameters, the first (the context) left out.

    Raises:
        TypeError: when a parameter has no annotation or one that JSON cannot carry.
    """
    owner = name_of(function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{owner}: {error}; types of a tool's parameters must be importable at run time"
        ) from error
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name not in hints or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise TypeError(f"{owner}: parameter {parameter.name!r} needs a type")
        properties[parameter.name] = _of_type(hints[parameter.name], f"{owner}: {parameter.name}")
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def name_of(function: Callable[..., Any]) -> str:
    """Return a function's name; not everything that can be called has one."""
    return getattr(function, "__name__", type(function).__name__)


def _of_type(hint: Any, place: str) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(inner, place)
    if hint is Any:
        return {}
    if hint in SCALARS:
        return {"type": SCALARS[hint]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in {Union, UnionType}:
        return {"anyOf": [_of_type(option, place) for option in inner]}
    return _container(hint, place)


def _annotated(inner: tuple[Any, ...], place: str) -> dict[str, Any]:
    schema = _of_type(inner[0], place)
    for extra in inner[1:]:
        schema |= {"description": extra} if isinstance(extra, str) else cast("dict[str, Any]", extra)
    return schema


def _container(hint: Any, place: str) -> dict[str, Any]:
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if not inspect.isclass(origin):
        raise TypeError(f"{place}: {hint!r} has no JSON form")
    if issubclass(origin, Mapping):
        return {"type": "object"} | ({"additionalProperties": _of_type(inner[1], place)} if inner else {})
    if issubclass(origin, Sequence):
        return {"type": "array"} | ({"items": _of_type(inner[0], place)} if inner else {})
    raise TypeError(f"{place}: {hint!r} has no JSON form; use str, int, float, bool, list, dict or Literal")


def check_against(
    tool_name: str,
    schema: Mapping[str, Any],
    args: Mapping[str, Any],
    example: Mapping[str, Any] | None = None,
) -> None:
    """Check arguments against an object schema.

    Raises:
        ToolError: lists every argument that is wrong, and shows the right form once.
    """
    if surely_fits(schema, args):
        return
    errors = _errors(tool_name, schema, args)
    if not errors:
        return
    told = list(dict.fromkeys(_told(error, schema) for error in errors))
    form = json.dumps(example, ensure_ascii=False) if example is not None else _form(schema)
    raise ToolError(f"{tool_name}: {'; '.join(told)}. Right form: {form}")


def surely_fits(schema: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """Tell quickly that arguments are right where plain types are all that is asked of them; False says nothing.

    Most calls are of this kind, and a session with no others never loads the checker.
    """
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict) or not schema.keys() <= OF_OBJECTS:
        return False
    parts = cast("Mapping[str, Any]", properties)
    return all(name in args for name in schema.get("required", ())) and all(
        name in parts and _is_plainly(value, parts[name]) for name, value in args.items()
    )


def _is_plainly(value: object, part: Any) -> bool:
    if not isinstance(part, dict) or not part.keys() <= OF_VALUES:
        return False
    kind = cast("Mapping[str, Any]", part).get("type")
    return isinstance(kind, str) and type(value) in TYPES.get(kind, ())


def whole_numbers(schema: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """Give arguments with `5.0` as `5` where an integer is due: to JSON Schema they are one, to Python they are not."""
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))

    def is_due(name: str) -> bool:
        return "integer" in _type_name(properties.get(name, {})).split("|")

    return {
        name: int(value) if isinstance(value, float) and value.is_integer() and is_due(name) else value
        for name, value in args.items()
    }


def _errors(tool_name: str, schema: Mapping[str, Any], args: Mapping[str, Any]) -> list[Any]:
    """Return jsonschema's errors, in the order of the arguments.

    Raises:
        ToolError: when the schema itself, of a tool from elsewhere, cannot be used.
    """
    from referencing.exceptions import Unresolvable

    try:
        errors = _validator(schema).iter_errors(args)
        return sorted(errors, key=lambda error: [str(part) for part in error.path])
    except Unresolvable as error:
        raise ToolError(f"the schema of {tool_name} refers to what is not in it: {error.ref}") from error


def _validator(schema: Mapping[str, Any]) -> Any:
    """Give the validator of a schema, made once: a tool's schema never changes."""
    known = _validators.get(id(schema))
    if known is not None and known[0] is schema:  # kept beside it, so that the number stays its own
        return known[1]
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # With a registry of its own, and an empty one, a schema cannot make the checker fetch what it refers to.
    empty: Any = cast("Any", Registry)()
    validator: Any = cast("Any", Draft202012Validator)(schema, registry=empty)
    if len(_validators) >= REMEMBERED:
        _validators.clear()
    _validators[id(schema)] = schema, validator
    return validator


def _told(error: Any, schema: Mapping[str, Any]) -> str:
    place = ".".join(map(str, error.absolute_path))
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"missing {', '.join(repr(f'{place}.{name}' if place else name) for name in missing)}"
    if error.validator == "additionalProperties" and not place:
        known = cast("Mapping[str, Any]", schema.get("properties", {}))
        extra = [name for name in error.instance if name not in known]
        return f"unknown argument {', '.join(map(repr, extra))} (known: {', '.join(known)})"
    if error.validator == "anyOf" and all(set(option) == {"type"} for option in error.validator_value):
        kinds = " or ".join(_type_name(error.schema).split("|"))
        return f"{place!r}: {json.dumps(error.instance)[:SHOWN_CHARS]} is not of type {kinds}"
    message = error.message if len(error.message) <= SHOWN_CHARS else f"{error.message[:SHOWN_CHARS]}…"
    return f"{place!r}: {message}" if place else message


def _form(schema: Mapping[str, Any]) -> str:
    """Show an object with every argument's type, the ones that may be left out marked."""
    required = schema.get("required", ())
    shown = {
        name: f"{_type_name(part)}{'' if name in required else ' (optional)'}"
        for name, part in cast("Mapping[str, Any]", schema.get("properties", {})).items()
    }
    return json.dumps(shown, ensure_ascii=False)


def _type_name(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return "|".join(map(str, part["enum"]))
    if "anyOf" in part:
        return "|".join(_type_name(option) for option in part["anyOf"])
    return str(part.get("type", "any"))

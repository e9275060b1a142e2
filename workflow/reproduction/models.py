"""Models of what people write in YAML: pydantic checks it, and an error is one sentence.

Error messages, the schemas for editors and config/README.md quote the text below a key.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from matrixdp.checks import InputError, nearest, short

M = TypeVar("M", bound=BaseModel)
Schema = Mapping[str, Any]


class Model(BaseModel):
    """A mapping with these keys alone."""

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


def optional_field(**limits: Any) -> Any:
    """Return a field without a default: what does not state it lacks it."""
    return Field(None, exclude_if=lambda value: value is None, **limits)


def _distinct(values: list[str]) -> list[str]:
    if len({*values}) < len(values):
        raise ValueError
    return values


#: A number that JSON has as ``1``, whether 1 or 1.0 was written.
Number = Annotated[float, PlainSerializer(lambda value: int(value) if value % 1 == 0 else value)]
Texts = Annotated[
    list[str], AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True})
]
#: A text of one line, however it is wrapped.
Text = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
#: Names, which become names of files.
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,49}$")]
Label = Annotated[str, Field(pattern="^[A-Za-z0-9_]{1,50}$")]
_NAMES = {
    "": "a text",
    "^[a-z][a-z0-9_]{0,49}$": "made of small letters and digits, at most 50",
    "^[A-Za-z0-9_]{1,50}$": "made of letters and digits, at most 50",
}


def check(model: type[M], content: object, file: str) -> M:
    """Return the content of a file as its model.

    Args:
        model: the model.
        content: what YAML gives.
        file: its name, with which messages begin.

    Raises:
        InputError: a key is unknown or missing, or a value is not allowed. The message names the
            key, the value, the allowed values and, for a misspelt name, the nearest valid one.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        _refuse(model, error, file)


def _refuse(model: type[BaseModel], error: ValidationError, file: str) -> NoReturn:
    """Raise the first error as a sentence."""
    # A misspelt key is also missing under its right name, and a name goes before what it names.
    first = min(error.errors(), key=lambda e: (e["type"] == "missing", "[key]" not in e["loc"]))
    kind, value, steps = first["type"], short(repr(first["input"])), [*first["loc"]]
    key = steps.pop() if kind in ("missing", "extra_forbidden", "invalid_key") else None
    is_name = steps[-1:] == ["[key]"]
    part, where = _place(schema(model), steps[:-2] if is_name else steps)
    prefix = f"{file}: {where}" if where else file
    mapping = next((each for each in alternatives(part) if each.get("type") == "object"), {})
    keys = mapping.get("properties", {})
    if kind == "missing":
        raise InputError(f"{prefix} lacks the key {key!r}: {keys[key]['description']}")
    if key is not None:
        raise InputError(f"{prefix} has the unknown key {key!r}; {nearest(key, keys)}")
    if is_name and (names := mapping.get("propertyNames", {}).get("enum")):
        raise InputError(f"{prefix} has the unknown key {value}; {nearest(first['input'], names)}")
    if is_name:
        (pattern,) = mapping.get("patternProperties", [""])
        raise InputError(f"{prefix} is {value}; it must be {_NAMES[pattern]}")
    if kind == "value_error" and (text := str(first["ctx"]["error"])):
        raise InputError(f"{prefix}{text}")
    if "enum" in part:
        raise InputError(f"{prefix} is {value}; {nearest(first['input'], part['enum'])}")
    allowed = ": ".join([values(part), *filter(None, [part.get("description")])])
    sentence = f"{prefix} is {value}; it must be {allowed.removeprefix('a text: ')}"
    if file == "config.yaml" and kind in ("int_type", "float_type") and type(first["input"]) is str:
        sentence += " (numbers within --config are text: put them into a file for --configfile)"
    raise InputError(sentence)


def _place(part: Schema, steps: Sequence[str | int]) -> tuple[Schema, str]:
    """Return the part of a schema behind a path, and the path in words."""
    where = ""
    for step in steps:
        for each in alternatives(part):
            others = [*each.get("patternProperties", {}).values(), each.get("additionalProperties")]
            inner = each.get("items") if isinstance(step, int) else None
            inner = inner or each.get("properties", {}).get(step) or others[0]
            if isinstance(inner, dict):
                part, where = inner, where + (f"[{step}]" if isinstance(step, int) else f".{step}")
                break
            if each.get("title") == step:  # the name of an alternative
                part = each
                break
    return part, where.lstrip(".")


@functools.cache
def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model without references, its texts as messages quote them."""
    whole = model.model_json_schema()
    return _plain(whole, whole.pop("$defs", {}))


def _plain(part: Any, definitions: Schema) -> Any:
    if isinstance(part, list):
        return [_plain(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    part = {**definitions.get(part.get("$ref", "").rpartition("/")[2], {}), **part}
    result = {key: _plain(each, definitions) for key, each in part.items() if key != "$ref"}
    if isinstance(text := result.get("description"), str):
        text = " ".join(text.split()).rstrip(".")
        result["description"] = text if text[1:2].isupper() else text[0].lower() + text[1:]
    if isinstance(title := result.get("title"), str) and title not in definitions:
        del result["title"]
    if result.get("default", "") is None and "null" not in values(result):
        del result["default"]
    return result


def alternatives(part: Schema) -> list[Schema]:
    """Return the parts of a schema of which one must fit, or the part alone."""
    parts = [*part.get("anyOf", ()), *part.get("oneOf", ())]
    return [each for one in parts for each in alternatives(one)] or [part]


def values(part: Schema) -> str:
    """Return in words what a key can be."""
    if len(parts := alternatives(part)) > 1:
        return " or ".join(dict.fromkeys(map(values, parts)))
    (part,) = parts
    kind = part.get("type", "any")
    if "enum" in part or "const" in part:
        return ", ".join(part.get("enum", [part.get("const")]))
    if kind in ("integer", "number"):
        least, most, end = (part.get(f"{key}imum") for key in ("min", "max", "exclusiveMax"))
        words = ["a whole number" if kind == "integer" else "a number"]
        words += [] if least is None else [f"{'from' if most else 'of at least'} {least}"]
        words += ([f"to {most:,}"] if most else []) + ([f"and below {end}"] if end else [])
        return " ".join(words)
    if kind == "array":
        least, most = part.get("minItems", 0), part.get("maxItems")
        count = f" of {least} or more" if least else ""
        if most:
            count = f" of {least}" if least == most else f" of {least} to {most}"
        different = ", all different" if part.get("uniqueItems") else ""
        return f"a list{count}, each {values(part['items'])}{different}"
    return {"object": "a mapping", "string": "a text"}.get(kind, str(kind))

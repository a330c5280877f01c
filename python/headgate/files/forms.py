"""The forms of the JSON documents that Headgate reads back: a small checker of the JSON Schemas in `headgate/schema`.

The package `jsonschema` takes longer to import than a command to start, and brings five packages. This checker knows
the keywords that our schemas use, which a test compares with that package for changed documents of every kind
(`tests/schema/test_forms.py`). It is stricter in one case: 1.0 is no whole number.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from headgate import guarded
from headgate.errors import ResultError

FOLDER = Path(__file__).parents[1] / "schema"

#: The most characters that a message quotes of a value.
_LONGEST = 40

Schema = dict[str, Any]


class Violation(NamedTuple):
    """The place in a document that has not the form, such as `runs[0].seed`, and the form it should have."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"`{self.place}`: {self.message}" if self.place else self.message


def check(document: object, form: str, file: object) -> None:
    """Raises `ResultError` if the document of `file` has not the form with this name, such as `manifest-2`."""
    violation = next(violations(document, form), None)
    if violation is not None:
        raise ResultError(f"{file} is damaged: {violation}")


def violations(document: object, form: str) -> Iterator[Violation]:
    """The places where a document differs from a form."""
    return _violations(document, schema(form), form, "")


def version(form: str) -> int:
    """The version in the name of a form, which its documents have as `schema`."""
    return int(form.rpartition("-")[2])


@cache
def schema(form: str) -> Schema:
    """The JSON Schema called `form`."""
    read: Schema = json.loads(guarded.read_bytes(FOLDER / f"{form}.json", guarded.PACKAGED))
    return read


def _violations(value: object, of: Schema, form: str, place: str) -> Iterator[Violation]:
    if "$ref" in of:
        other, _, pointer = of["$ref"].partition("#")
        form = other.removesuffix(".json") or form
        of = _at(form, pointer)
    if "type" in of:
        kinds = [of["type"]] if isinstance(of["type"], str) else of["type"]
        if not any(_TYPES[kind](value) for kind in kinds):
            yield Violation(place, f"expected {' or '.join(map(_named, kinds))}, found {_shown(value)}")
            return
    for keyword, holds in _OF_VALUE.items():
        if keyword in of and (message := holds(value, of[keyword])):
            yield Violation(place, message)
    if "not" in of and _has_form(value, of["not"], form):
        yield Violation(place, of["not"].get("description", f"{_shown(value)} is not allowed"))
    if "oneOf" in of and sum(_has_form(value, each, form) for each in of["oneOf"]) != 1:
        yield Violation(place, f"{_shown(value)} has none of the forms that are allowed")
    if isinstance(value, dict):
        yield from _of_object(value, of, form, place)
    if isinstance(value, list):
        items = of.get("items", {})
        yield from (found for number, each in enumerate(value)
                    for found in _violations(each, items, form, f"{place}[{number}]"))  # fmt: skip


def _has_form(value: object, of: Schema, form: str) -> bool:
    return next(_violations(value, of, form, ""), None) is None


def _of_object(value: dict[str, Any], of: Schema, form: str, place: str) -> Iterator[Violation]:
    known, others = of.get("properties", {}), of.get("additionalProperties", True)
    needed = [*of.get("required", ()), *(name for key, names in of.get("dependentRequired", {}).items() if key in value
                                         for name in names)]  # fmt: skip
    for name in needed:
        if name not in value:
            yield Violation(place, f"`{name}` is missing")
    for name, each in value.items():
        inner = f"{place}.{name}" if place else name
        if "propertyNames" in of:
            yield from _violations(name, of["propertyNames"], form, inner)
        if name in known:
            yield from _violations(each, known[name], form, inner)
        elif others is False:
            yield Violation(place, f"`{name}` is unknown")
        elif others is not True:
            yield from _violations(each, others, form, inner)


def _at(form: str, pointer: str) -> Schema:
    found: Any = schema(form)
    for step in filter(None, pointer.split("/")):
        found = found[step]
    return dict(found)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _same(value: object, other: object) -> bool:
    return type(value) is type(other) and value == other


#: Types of JSON Schema.
_TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": _is_whole,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _named(kind: str) -> str:
    return {"object": "an object", "array": "a list", "string": "a text", "integer": "a whole number",
            "number": "a number", "boolean": "true or false"}.get(kind, kind)  # fmt: skip


#: Keywords about a single value. Each gives a message; empty if the value is as it should be.
_OF_VALUE: dict[str, Callable[[Any, Any], str]] = {
    "const": lambda value, same: "" if _same(value, same) else f"expected {same!r}, found {_shown(value)}",
    "enum": lambda value, known: (
        "" if any(_same(value, each) for each in known)
        else f"expected {', '.join(map(str, known))}, found {_shown(value)}"
    ),
    "pattern": lambda value, form: (
        "" if not isinstance(value, str) or re.search(form, value) else f"{_shown(value)} is not of the form {form}"
    ),
    "minimum": lambda value, least: (
        "" if not _is_number(value) or value >= least else f"expected at least {least}, found {_shown(value)}"
    ),
    "maximum": lambda value, most: (
        "" if not _is_number(value) or value <= most else f"expected at most {most}, found {_shown(value)}"
    ),
    "minItems": lambda value, least: (
        "" if not isinstance(value, list) or len(value) >= least else f"expected at least {least} entries"
    ),
}  # fmt: skip

#: All keywords that are checked. The others of our schemas say nothing about a document.
CHECKED = {"$ref", "type", "not", "oneOf", "required", "dependentRequired", "properties", "additionalProperties",
           "propertyNames", "items", *_OF_VALUE}  # fmt: skip
REMARKS = {"$schema", "$id", "$defs", "title", "description"}


def _shown(value: object) -> str:
    try:
        text = json.dumps(value)
    except ValueError:  # a whole number of thousands of digits
        return "a number"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

"""Check the JSON objects of the control protocol against its contract, a JSON Schema, and describe a violation in one
line. Every answer from an agent is checked when it arrives. The tester's requests are checked only in unit tests.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from harness.printable import one_line

SCHEMA_PATH = Path(__file__).with_name("control-protocol.schema.json")
MAX_ERROR_TEXT_CHARACTERS = 200
"""The maximum number of characters of an error message about a request or an answer."""
MAX_VALUE_CHARACTERS = 80
"""The maximum number of characters of a wrong value that a message shows."""
MAX_JSON_DEPTH = 32
"""The maximum nesting depth of lists and objects in an answer. It also applies below keys that the schema does not
define.
"""
_VALUE_PLACEHOLDER = "<value>"


def find_error_in_request(request: dict[str, Any]) -> str | None:
    """Return one line that describes the error in a request, or None if the request is valid. A request has the
    form ``{"id": ..., "verb": ..., argument: ...}``.
    """
    return _describe_schema_error(
        "request" if (name := f"request:{request.get('verb')}") not in _load_schema()["$defs"] else name, request
    )


def find_error_in_answer(verb: str, answer: dict[str, Any]) -> str | None:
    """Return one line that describes the error in an answer to a verb, or None if the answer is valid."""
    if _is_deeper_than(answer, MAX_JSON_DEPTH):
        return f"the answer is nested deeper than {MAX_JSON_DEPTH}"
    return _describe_schema_error(f"answer:{verb}", answer)


def _is_deeper_than(value: dict[str, Any], limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            each
            for one in level
            for each in (one.values() if isinstance(one, dict) else one)
            if isinstance(each, dict | list)
        ]
        if not level:
            return False
    return True


@cache
def _load_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return found


@cache
def _build_validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator(
        {"$ref": f"#/$defs/{definition}", "$defs": _load_schema()["$defs"]}, mask=_VALUE_PLACEHOLDER
    )


def _describe_schema_error(definition: str, instance: dict[str, Any]) -> str | None:
    validator = _build_validator(definition)
    try:
        if validator.is_valid(instance):
            return None
    except UnicodeEncodeError:
        return "a key in the answer contains a lone surrogate"
    error = next(validator.iter_errors(instance))
    # The value may be null or match a schema. It is not null, so the error is its mismatch with that schema.
    while isinstance(error.kind, ValidationErrorKind.AnyOf) and error.kind.context:
        error = error.kind.context[0][0]
    where = ".".join(map(str, error.instance_path))
    if isinstance(error.kind, ValidationErrorKind.Required):
        return one_line(
            f"{where or 'the ' + definition.partition(':')[0]} has no {error.kind.property!r}",
            MAX_ERROR_TEXT_CHARACTERS,
        )
    said = f"{one_line(repr(error.instance), MAX_VALUE_CHARACTERS)} {_describe_demand(error)}"
    return one_line(f"{where}: {said}" if where else said, MAX_ERROR_TEXT_CHARACTERS)


def _describe_demand(error: ValidationError) -> str:
    """Return a description of the demand that a value violates. It is the description in the schema, if the schema
    has one.
    """
    if isinstance(error.kind, ValidationErrorKind.Type):
        return f"is not of type {', '.join(map(repr, error.kind.types))}"
    if isinstance(error.kind, ValidationErrorKind.Constant):
        return f"does not match: {json.dumps(error.kind.expected_value)}"
    if isinstance(error.kind, ValidationErrorKind.Pattern):
        node: Any = _load_schema()
        for step in error.schema_path[:-1]:
            node = node[step]
        return f"does not match: {node.get('description', error.kind.pattern)}"
    return error.message.removeprefix(_VALUE_PLACEHOLDER).strip()

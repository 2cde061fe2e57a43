"""The contract of the control protocol as a JSON Schema: what breaks it, in one line.

The tester's requests and the answers of ``mqconform serve`` are held against it in tests, a SUT's by ``attach``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from harness.printable import one_line

PATH = Path(__file__).with_name("control-protocol.schema.json")
COMPLAINT_LIMIT = 200


def complaint_about_request(request: dict[str, Any]) -> str | None:
    """Return in one line what is wrong with a request, ``{"id": ..., "verb": ..., argument: ...}``; None if nothing."""
    return _complaint(
        "request" if (name := f"request:{request.get('verb')}") not in _schema()["$defs"] else name, request
    )


def complaint_about_answer(verb: str, answer: dict[str, Any]) -> str | None:
    """Return in one line what is wrong with an answer to a verb; None if nothing is."""
    return _complaint(f"answer:{verb}", answer)


@cache
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


@cache
def _validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": _schema()["$defs"]})


def _complaint(definition: str, instance: dict[str, Any]) -> str | None:
    error = best_match(_validator(definition).iter_errors(instance))
    if error is None:
        return None
    # Something or null: what is there is no null, so what it lacks as something is what is wrong.
    while error.validator == "anyOf" and (of_first := [each for each in error.context if each.schema_path[0] == 0]):
        error = best_match(of_first)
    where = error.json_path.removeprefix("$").removeprefix(".")
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return one_line(f"{where or 'the ' + definition.partition(':')[0]} has no {missing!r}", COMPLAINT_LIMIT)
    demanded = {
        "pattern": error.schema.get("description", error.validator_value),
        "const": json.dumps(error.validator_value),
    }.get(str(error.validator))
    said = error.message if demanded is None else f"{error.instance!r} does not match: {demanded}"
    return one_line(f"{where}: {said}" if where else said, COMPLAINT_LIMIT)

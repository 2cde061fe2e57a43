"""Define which content of a bundle is permitted. The size and the form of each file are checked before its content
is used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Never

from jsonschema_rs import Draft202012Validator

from harness.judging.verdicts import Advice, Verdict
from harness.printable import one_line
from harness.results.bundle import InvalidCertificateFile
from harness.run_folder import RULES_FILE, RUN_FILE, RUN_SCHEMA_VERSION, VERDICTS_FILE

MAX_JSON_BYTES = 64 * 2**20
"""int bytes: the maximum size of a JSON file."""
MAX_LINE_BYTES = 2**20
"""int bytes: the maximum length of a line of verdicts.jsonl."""
HIGHEST_JSON_NUMBER = 2**53
"""The largest integer that is accepted. Every JSON parser represents this integer exactly."""
_LONGEST_COMPLAINT_CHARACTERS = 200
_TEXT_SCHEMA = {"type": "string", "maxLength": 10_000}
_WORD_SCHEMA = {"type": "string", "maxLength": 300}
_COUNT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": HIGHEST_JSON_NUMBER}
_TIME_SCHEMA = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+]00:00)$"}
_DIGEST_SCHEMA = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_WORD_LIST_SCHEMA = {"type": "array", "items": _WORD_SCHEMA, "maxItems": 10_000}
_GUIDS_SCHEMA = {
    "type": "array",
    "maxItems": 100,
    "items": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
}
_FLAGS_SCHEMA = {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 100}
_OBJECTS_SCHEMA = {"type": "array", "items": {"type": "object"}, "maxItems": 10_000}


def _object_schema(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


_SYSTEM_SCHEMA = _object_schema(dict.fromkeys(("name", "vendor", "version", "profile"), _WORD_SCHEMA))
_DEVIATIONS_SCHEMA = {
    "type": "object",
    "maxProperties": 10_000,
    "additionalProperties": _object_schema(
        {"reason": _TEXT_SCHEMA, "link": {"anyOf": [_TEXT_SCHEMA, {"type": "null"}]}}
    ),
}
_BASELINE_SCHEMA = _object_schema(
    {
        "file": _TEXT_SCHEMA,
        "sha256": _DIGEST_SCHEMA,
        "expected": _DEVIATIONS_SCHEMA,
        **dict.fromkeys(("new", "stale", "unjudged"), _WORD_LIST_SCHEMA),
    },
    *("file", "sha256", "new", "unjudged", "expected", "stale"),
)
_NULL_SCHEMA = {"type": "null"}
_RUN_SCHEMA = {
    "type": "object",
    "properties": {
        "schema": {"type": "integer"},
        "run": _WORD_SCHEMA,
        "started": _TIME_SCHEMA,
        "finished": _TIME_SCHEMA,
        "suites": _DIGEST_SCHEMA,
        "sut": _SYSTEM_SCHEMA,
        "reach": {"enum": ["virtual", "process", "external"]},
        "harness": _WORD_SCHEMA,
        "selection": _TEXT_SCHEMA,
        "capabilities": _FLAGS_SCHEMA,
        "residue": _OBJECTS_SCHEMA,
        "timeouts": {"anyOf": [{"type": "object"}, _NULL_SCHEMA]},
        "queue_managers": _GUIDS_SCHEMA,
        "deaths": _OBJECTS_SCHEMA,
        "aborted": {"anyOf": [_TEXT_SCHEMA, _NULL_SCHEMA]},
        "baseline": {"anyOf": [_BASELINE_SCHEMA, _NULL_SCHEMA]},
        "exit": {"type": "integer", "minimum": 0, "maximum": 255},
        "systems": {"type": "object", "additionalProperties": _SYSTEM_SCHEMA},
    },
}
_RUN_SCHEMA["required"] = [name for name in _RUN_SCHEMA["properties"] if name != "systems"]
_COUNTS_SCHEMA = _object_schema({str(verdict): _COUNT_SCHEMA for verdict in Verdict})
_PERCENT_SCHEMA = {"type": "number", "minimum": 0, "maximum": 100}
_CERTIFICATE_SCHEMA = _object_schema(
    {
        "schema": {"type": "integer"},
        "system": _SYSTEM_SCHEMA,
        "queue_managers": _GUIDS_SCHEMA,
        "run": _WORD_SCHEMA,
        "started": _TIME_SCHEMA,
        "finished": _TIME_SCHEMA,
        "reach": _WORD_SCHEMA,
        "capabilities": _FLAGS_SCHEMA,
        "harness": _WORD_SCHEMA,
        "suites": _DIGEST_SCHEMA,
        "terms": _object_schema({"checks": _COUNT_SCHEMA, "not_exercised_percent": _PERCENT_SCHEMA}),
        "checks": _COUNT_SCHEMA,
        "rules": _COUNTS_SCHEMA,
        "by_document": {"type": "object", "maxProperties": 100, "additionalProperties": _COUNTS_SCHEMA},
        "not_exercised_percent": _PERCENT_SCHEMA,
        **dict.fromkeys(("not_applicable", "not_observable", "not_exercised", "warnings"), _WORD_LIST_SCHEMA),
        "deviations": _DEVIATIONS_SCHEMA,
        "files": {
            "type": "object",
            "additionalProperties": _object_schema({"size": _COUNT_SCHEMA, "sha256": _DIGEST_SCHEMA}),
        },
    }
)
_RULES_FILE_SCHEMA = {
    "type": "object",
    "required": ["schema", "rules"],
    "properties": {
        "rules": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["document", "section", "level"],
                "properties": dict.fromkeys(("document", "section", "level"), _WORD_SCHEMA),
            },
        }
    },
}


def read_certificate(path: Path) -> dict[str, Any]:
    """Read the file certificate.json."""
    return _read_json_object(path, _CERTIFICATE_SCHEMA)


def check_run_folder(folder: Path) -> None:
    """Check run.json, rules.json and verdicts.jsonl; raise InvalidCertificateFile, which names the file and the error,
    for an invalid file.
    """
    _read_json_object(folder / RUN_FILE, _RUN_SCHEMA)
    _read_json_object(folder / RULES_FILE, _RULES_FILE_SCHEMA)
    _check_verdict_lines(folder / VERDICTS_FILE)


def read_json(path: Path) -> Any:
    """Read a JSON file of a bundle; raise InvalidCertificateFile if the file is missing, too long, or not JSON."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise InvalidCertificateFile(f"{path.name} is longer than {MAX_JSON_BYTES:,} bytes")
        return _parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidCertificateFile(f"{path.name} is missing") from error
    except (ValueError, RecursionError) as error:
        raise InvalidCertificateFile(
            f"{path.name} is broken: {one_line(str(error), _LONGEST_COMPLAINT_CHARACTERS)}"
        ) from error


def _read_json_object(path: Path, schema: dict[str, Any]) -> dict[str, Any]:
    tree = read_json(path)
    error = next(iter(Draft202012Validator(schema).iter_errors(tree)), None)
    if error is not None:
        where = ".".join(map(str, error.instance_path)) or "the whole file"
        raise InvalidCertificateFile(
            f"{path.name}: {one_line(f'{where}: {error.message}', _LONGEST_COMPLAINT_CHARACTERS)}"
        )
    found: dict[str, Any] = tree
    return found


def _parse_json(text: str) -> Any:
    return json.loads(
        text, parse_constant=_refuse_nonstandard_json_constant, parse_float=_parse_number, parse_int=_parse_integer
    )


def _refuse_nonstandard_json_constant(text: str) -> Never:
    raise ValueError(f"{text} is not a number")


def _parse_number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or abs(value) > HIGHEST_JSON_NUMBER:
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _parse_integer(text: str) -> int:
    if len(text) > len(str(-HIGHEST_JSON_NUMBER)) or abs(value := int(text)) > HIGHEST_JSON_NUMBER:
        raise ValueError(f"the number {text[:40]} is too large")
    return value


# -- verdicts.jsonl: without a schema library, because it has a hundred thousand lines ---------------------------------

_RULE_ID_PATTERN = re.compile(r"[A-Z0-9]{1,20}-[A-Za-z0-9.\-]{1,60}")
_KNOWN_VERDICTS = frozenset(map(str, Verdict))
_ADVICE_VALUES = frozenset(map(str, Advice))
MAX_EVIDENCE_PACKETS_OF_LINE = 100_000


def _check_verdict_lines(path: Path) -> None:
    last = 0
    try:
        with path.open("rb") as file:
            for number, data in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
                try:
                    last = _check_verdict_line(data, last)
                except (ValueError, RecursionError) as error:
                    raise InvalidCertificateFile(
                        f"{path.name}:{number}: {one_line(str(error), _LONGEST_COMPLAINT_CHARACTERS)}"
                    ) from error
    except OSError as error:
        raise InvalidCertificateFile(f"{path.name} is missing") from error


def _check_verdict_line(data: bytes, last: int) -> int:
    """Check a line of schema 2; return its ``seq``, which must be greater than ``last``. Raise ValueError, which
    names the error, for an invalid line.
    """
    if len(data) > MAX_LINE_BYTES or not data.endswith(b"\n"):
        raise ValueError("the line is truncated or too long")
    line = _parse_json(data.decode())
    if not isinstance(line, dict) or not line.keys() <= _REQUIREMENT_BY_LINE_KEY.keys():
        raise ValueError("the line is not a verdict of this harness")
    for key, (required, is_right) in _REQUIREMENT_BY_LINE_KEY.items():
        if (key in line or required) and not is_right(line.get(key)):
            raise ValueError(f"{key} cannot be {str(line.get(key))[:80]!a}")
    if line["seq"] <= last:
        raise ValueError(f"seq {line['seq']} follows seq {last}, but must be greater")
    return int(line["seq"])


def _is_evidence(value: Any) -> bool:
    return isinstance(value, list) and len(value) in (1, 3) and all(type(each) is int and each >= 0 for each in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_REQUIREMENT_BY_LINE_KEY: Mapping[str, tuple[bool, Callable[[Any], bool]]] = {
    "schema": (True, lambda value: type(value) is int and value == RUN_SCHEMA_VERSION),
    "seq": (True, lambda value: type(value) is int and value > 0),
    "ms": (True, lambda value: type(value) is int and value >= 0),
    "rule": (True, lambda value: _is_text(value) and _RULE_ID_PATTERN.fullmatch(value) is not None),
    "verdict": (True, lambda value: _is_text(value) and value in _KNOWN_VERDICTS),
    **dict.fromkeys(("expected", "observed", "reason", "test", "capture"), (False, _is_text)),
    "evidence": (
        False,
        lambda value: (
            isinstance(value, list) and len(value) <= MAX_EVIDENCE_PACKETS_OF_LINE and all(map(_is_evidence, value))
        ),
    ),
    **dict.fromkeys(("errata", "notes"), (False, _are_texts)),
    "advice": (False, lambda value: _is_text(value) and value in _ADVICE_VALUES),
}
"""The keys of a line, each with a flag that states whether the key is required, and with the function that
validates its value.
"""

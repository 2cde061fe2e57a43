"""Read the set-up of a check from its capture. The set-up is validated against a schema, because the author of the
capture may be unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from harness.errors import UsageError
from harness.printable import one_line
from harness.sut.replay_items import LATEST_TIME_US, CaptureItem, NotReplayable, ReplayedNote
from harness.sut.replay_tape import NOTE_SCHEMA_VERSION, RECORDED_SUT_ATTRIBUTES
from harness.sut.surroundings import ENVIRONMENT_PARTS
from harness.sut.sut_file import SutFile, parse_sut_file
from reference_qm.surface.queue_manager_environment import CLOCK_PART_NAME

RECORDED_TABLE_NAMES = ("sut", "driver", "queues", "control", "provisioned", "timeouts", "capabilities")
"""The tables of a SUT file that a recorded set-up contains. These tables contain no passwords and no commands that
would be run.
"""
_LONGEST_COMPLAINT = 200
_TIME_SCHEMA = {"type": "integer", "minimum": 0, "maximum": LATEST_TIME_US}
_PORT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 65_535}
_STRING_SCHEMA = {"type": "string", "maxLength": 300}
_BOOLEAN_SCHEMA = {"type": "boolean"}
_TABLE_SCHEMA = {"type": "object"}


def _object_schema(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


_SETUP_SCHEMA = _object_schema(
    {
        "run": _STRING_SCHEMA,
        "test": {"type": "string", "maxLength": 1_000},
        "schema": {"const": NOTE_SCHEMA_VERSION},
        "began": _object_schema(dict.fromkeys(("monotonic_ms", "utc_s", "epoch_us"), _TIME_SCHEMA)),
        "virtual": _BOOLEAN_SCHEMA,
        "file": _object_schema(
            {
                **dict.fromkeys((*RECORDED_TABLE_NAMES, "timers"), _TABLE_SCHEMA),
                "more_queues": {"type": "array", "items": _TABLE_SCHEMA},
            },
            *("timers", "more_queues"),
        ),
        "identifier": {"type": ["string", "null"], "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
        "facilities": {"type": "array", "items": _STRING_SCHEMA, "maxItems": 100},
        "parts": {
            "type": "array",
            "items": {"enum": [*ENVIRONMENT_PARTS, CLOCK_PART_NAME]},
            "maxItems": len(ENVIRONMENT_PARTS) + 1,
        },
        "keys": {"type": "string", "pattern": "^([0-9a-f]{2})*$", "maxLength": 2**20},
        "timeouts": _object_schema(
            {
                **dict.fromkeys(("response_ms", "quiet_ms", "connect_ms", "control_ms", "stall_ms"), _TIME_SCHEMA),
                **dict.fromkeys(("worst_ms", "usual_ms"), _TIME_SCHEMA),
                "calm": _BOOLEAN_SCHEMA,
            }
        ),
        "own": _STRING_SCHEMA,
        **dict.fromkeys(("tcp_port", "ping_port", "rpc_port", "found_at_port"), _PORT_SCHEMA),
        "scale": {"type": "integer", "minimum": 1, "maximum": LATEST_TIME_US},
        "first_message_id": {"type": "integer", "minimum": 0, "maximum": 2**31},
        **dict.fromkeys(("shared", "knows_peer", "forgets", "peer_returns", "controls_environment"), _BOOLEAN_SCHEMA),
    }
)
assert _SETUP_SCHEMA["properties"].keys() >= set(RECORDED_SUT_ATTRIBUTES)


@cache
def _build_validator() -> Draft202012Validator:
    return Draft202012Validator(_SETUP_SCHEMA)


def read_recorded_setup(items: list[CaptureItem]) -> dict[str, Any]:
    """Return the set-up at the beginning of a capture. Raise NotReplayable if the capture contains no valid set-up."""
    if not items or not isinstance(first := items.pop(0), ReplayedNote) or "setup" not in first.said:
        raise NotReplayable(
            "the capture of this check has no set-up: the capture was recorded by an older harness, or changed"
        )
    setup: dict[str, Any] = first.said["setup"]
    for error in _build_validator().iter_errors(setup):
        raise NotReplayable(f"the set-up in the capture of this check: {one_line(error.message, _LONGEST_COMPLAINT)}")
    return setup


def build_sut_file(setup: Mapping[str, Any]) -> SutFile:
    """Return a SUT file with those values of a recorded set-up that checks can read."""
    try:
        return parse_sut_file(dict(setup["file"]))
    except (UsageError, AttributeError, TypeError, ValueError) as error:
        raise NotReplayable(
            f"the set-up in the capture of this check: {one_line(str(error), _LONGEST_COMPLAINT)}"
        ) from error

"""Define the parameters of messages, queues and reads, with their values, the needs of each value, and the
combinations that are not allowed.

A value defines additions to the packets that the peer sends (arguments of ``harness.wire.user_message``), and additions
to the requests ``send`` and ``create_queue`` on the control channel. ``{peer}`` and ``{sut}`` stand for the addresses.
The first value of a parameter is the default, which changes nothing. Spec: MS-MQMQ 2.2.19, 2.2.20; MS-MQDMPR 3.1.1.2,
3.1.1.12.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from harness.wire import PrivateQueueFormatName

PacketFields = Mapping[str, Any]
NO_FIELDS: PacketFields = {}
SECOND_SOURCE_GUID = UUID("6d716376-0000-4000-8000-00000000a001")
"""The queue manager that messages name as their source if the peer only forwards them."""
TRACE_QUEUE_GUID = UUID("6d716376-0000-4000-8000-00000000a002")
"""The identifier of a public queue that no directory contains."""
SECONDS_PER_DAY = 86_400
LONG_BODY_VALUE = bytes(index % 251 for index in range(5_000))
"""A body that is longer than the blocks in which a system may store or send bodies."""
LONG_EXTENSION = bytes(255 - index % 253 for index in range(303))
"""An extension whose size needs two bytes and is not a multiple of 4."""
SAMPLE_CORRELATION_ID = SECOND_SOURCE_GUID.bytes_le + bytes([0x87, 0x65, 0x43, 0x21])
"""The CorrelationID of an answer to a message from a different queue manager. The ordinal in it needs all four
bytes.
"""
LONG_LABEL = "L" * 249
"""A label of the maximum length (MS-MQMQ 2.2.20.3)."""


class ParameterValue(NamedTuple):
    """A value of a parameter. ``needs``: the capabilities and facilities that a system must have if the value is used.
    ``send_needs``: the facilities that a system must have if the value is also used in the request ``send``; without
    them, only packets from the peer have the value.
    """

    name: str
    packet: PacketFields = NO_FIELDS
    send: PacketFields = NO_FIELDS
    queue: PacketFields = NO_FIELDS
    needs: tuple[str, ...] = ()
    send_needs: tuple[str, ...] = ()


def _wrap_user_header_fields(**fields: Any) -> PacketFields:
    return {"user": fields}


def _wrap_properties_header_fields(**fields: Any) -> PacketFields:
    return {"properties": fields}


def _build_acknowledged_value(event: str, **asks: str) -> ParameterValue:
    """Return the value that requests both acknowledgments of an event. The value needs an administration queue."""
    queue = r"TCP:{peer}\private$\mqc-acks"
    packet = {**_wrap_user_header_fields(AdminQueue=queue), **_wrap_properties_header_fields(**dict.fromkeys(asks, 1))}
    return ParameterValue(event, packet, {"acks": tuple(asks.values()), "admin_queue": f"DIRECT={queue}"})


PARAMETERS: Mapping[str, Sequence[ParameterValue]] = {
    # -- of a message -------------------------------------------------------------------------------------------
    "delivery": (
        ParameterValue("express"),
        ParameterValue("recoverable", _wrap_user_header_fields(DM=1), {"delivery": "recoverable"}),
        ParameterValue(
            "transactional",
            _wrap_user_header_fields(DM=1),
            {"delivery": "transactional"},
            {"transactional": True},
            ("transactions",),
        ),
    ),
    "priority": (
        ParameterValue("3"),
        ParameterValue("0", {"base": {"PR": 0}}, {"priority": 0}),
        ParameterValue("7", {"base": {"PR": 7}}, {"priority": 7}),
    ),
    "acknowledgments": (
        ParameterValue("none"),
        _build_acknowledged_value("of arrival", PA="positive_arrival", NA="negative_arrival"),
        _build_acknowledged_value("of receipt", PR="positive_receive", NR="negative_receive"),
    ),
    "administration queue": (
        ParameterValue("direct"),
        ParameterValue(
            "private",
            _wrap_user_header_fields(
                AdminQueue=PrivateQueueFormatName(
                    SourceQueueManager=SECOND_SOURCE_GUID, PrivateQueueIdentifier=0x8765_4321
                )
            ),
            {"admin_queue": f"PRIVATE={SECOND_SOURCE_GUID}\\87654321"},
        ),
    ),
    "positive journaling": (
        ParameterValue("no"),
        ParameterValue("yes", _wrap_user_header_fields(JP=1), {"journal": ("positive",)}),
    ),
    "negative journaling": (
        ParameterValue("no"),
        ParameterValue("yes", _wrap_user_header_fields(JN=1), {"journal": ("negative",)}),
    ),
    "response queue": (
        ParameterValue("none"),
        ParameterValue(
            "direct",
            _wrap_user_header_fields(ResponseQueue=r"TCP:{peer}\private$\mqc-answers"),
            {"response_queue": r"DIRECT=TCP:{peer}\private$\mqc-answers"},
        ),
    ),
    "destination": (ParameterValue("direct"), ParameterValue("private", needs=("queue_control",))),
    "body": (
        ParameterValue("short"),
        ParameterValue("empty", {"body": b""}, {"body": ""}),
        ParameterValue("5,000 bytes", {"body": LONG_BODY_VALUE}, {"body": "B" * 5_000}),
    ),
    "label": (ParameterValue("short"), ParameterValue("249 characters", {"label": LONG_LABEL}, {"label": LONG_LABEL})),
    "extension": (
        ParameterValue("none"),
        ParameterValue(
            f"{len(LONG_EXTENSION)} bytes",
            _wrap_properties_header_fields(ExtensionData=LONG_EXTENSION),
            {"extension_base64": b64encode(LONG_EXTENSION).decode()},
            send_needs=("send_extension",),
        ),
    ),
    "correlation": (
        ParameterValue("none"),
        ParameterValue(
            "20 bytes",
            _wrap_properties_header_fields(CorrelationID=SAMPLE_CORRELATION_ID),
            {"correlation_id": SAMPLE_CORRELATION_ID.hex()},
            send_needs=("send_extension",),
        ),
    ),
    "time to reach queue": (
        ParameterValue("infinite"),
        ParameterValue(
            "a day", {"base": {"TimeToReachQueue": SECONDS_PER_DAY}}, {"time_to_reach_queue_s": SECONDS_PER_DAY}
        ),
    ),
    "time to be received": (
        ParameterValue("infinite"),
        ParameterValue(
            "two days",
            _wrap_user_header_fields(TimeToBeReceived=2 * SECONDS_PER_DAY),
            {"time_to_be_received_s": 2 * SECONDS_PER_DAY},
        ),
    ),
    "application tag": (
        ParameterValue("0"),
        ParameterValue(
            "0xFFFFFFFF", _wrap_properties_header_fields(ApplicationTag=0xFFFF_FFFF), {"application_tag": 0xFFFF_FFFF}
        ),
    ),
    "trace": (
        ParameterValue("none"),
        ParameterValue(
            "a queue", {"debug": {"QueueIdentifier": TRACE_QUEUE_GUID}}, {"trace_queue": str(TRACE_QUEUE_GUID)}
        ),
    ),
    "security": (
        ParameterValue("none"),
        ParameterValue("without sender", {"security": {"ST": 0}}),
        ParameterValue("signed", send={"authentication_level": "sig30"}, needs=("security",)),
    ),
    # -- of a queue ---------------------------------------------------------------------------------------------
    "queue journaling": (
        ParameterValue("no"),
        ParameterValue("yes", queue={"journaling": True}, needs=("queue_control",)),
    ),
    "queue quota": (
        ParameterValue("none"),
        ParameterValue("1 GB", queue={"quota_kb": 1 << 20}, needs=("queue_control",)),
    ),
    "queue privacy": (
        ParameterValue("optional"),
        ParameterValue("none", queue={"privacy": "none"}, needs=("queue_control",)),
    ),
    "queue authentication": (
        ParameterValue("no"),
        ParameterValue("yes", queue={"authenticated": True}, needs=("queue_control", "security")),
    ),
    # -- of a read ----------------------------------------------------------------------------------------------
    "read by": (
        ParameterValue("queue"),
        ParameterValue("handle", needs=("receive",)),
        ParameterValue("cursor", needs=("receive",)),
    ),
    "read transaction": (ParameterValue("none"), ParameterValue("internal", needs=("transactions",))),
    "read time-out": (ParameterValue("0"), ParameterValue("a second")),
}
"""The possible values of each parameter. The default value comes first."""

EXCLUDED_COMBINATIONS: Sequence[Mapping[str, str]] = (
    {"acknowledgments": "none", "administration queue": "private"},
    {"delivery": "transactional", "priority": "0"},
    {"delivery": "transactional", "priority": "7"},
    *({"queue authentication": "yes", "security": value} for value in ("none", "without sender")),
    *({"read transaction": "internal", "delivery": value} for value in ("express", "recoverable")),
)
"""The combinations that must not occur in a row. An administration queue is used only with acknowledgments (MS-MQMQ
2.2.19.2), a transactional message has no priority, an authenticated queue takes only signed messages, and a read in
a transaction needs a transactional queue.
"""


def find_parameter_value(parameter: str, name: str) -> ParameterValue:
    """Return a value by its name."""
    return next(value for value in PARAMETERS[parameter] if value.name == name)

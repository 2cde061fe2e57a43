"""Faults of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer that only special cases reveal: fields that are wrong only
for one kind of delivery.
"""

from __future__ import annotations

from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, UserHeader, UserMessagePacket

_JOURNALING, _TRACED = UserHeader.flags(JP=1, JN=1), BaseHeader.flags(TR=1)


def _is_application_message(packet: UserMessagePacket) -> bool:
    return not packet.MessagePropertiesHeader.MessageClass


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None and _is_application_message(packet)


def _is_recoverable(packet: UserMessagePacket) -> bool:
    return bool(packet.UserHeader.DM) and packet.TransactionHeader is None and _is_application_message(packet)


add(
    "sender-transactional-message-time-to-be-received-infinite",
    "MQDMPR-3.1.7.1.32-D05",
    "The sender sets TimeToBeReceived of a transactional message to 0xFFFFFFFF (infinite).",
    wrong_fields(UserMessagePacket, {"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, when=_is_transactional),
)
add(
    "sender-transactional-message-application-tag-zero",
    "MQDMPR-3.1.7.1.32-D02",
    "The sender sets ApplicationTag of a transactional message to zero.",
    wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.ApplicationTag": 0}, when=_is_transactional),
)
add(
    "sender-recoverable-message-body-type-zero",
    "MQDMPR-3.1.7.1.32-D02",
    "The sender sets BodyType of a recoverable message to zero.",
    wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.BodyType": 0}, when=_is_recoverable),
)
add(
    "sender-recoverable-message-time-to-reach-queue-infinite",
    "MQDMPR-3.1.7.1.32-D01",
    "The sender sets TimeToReachQueue of a recoverable message to 0xFFFFFFFF (infinite).",
    wrong_fields(UserMessagePacket, {"BaseHeader.TimeToReachQueue": 0xFFFFFFFF}, when=_is_recoverable),
)
add(
    "sender-journaling-flags-of-transactional-message-cleared",
    ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
    "The sender clears JP and JN of a transactional message.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.Flags": lambda old: old & ~_JOURNALING},
        when=_is_transactional,
    ),
)
add(
    "sender-transactional-message-traced-without-tr",
    "MQDMPR-3.1.7.1.32-05",
    "The sender clears TR of a traced transactional message.",
    wrong_fields(UserMessagePacket, {"BaseHeader.Flags": lambda old: old & ~_TRACED}, when=_is_transactional),
)

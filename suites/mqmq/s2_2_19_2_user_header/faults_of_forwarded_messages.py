"""Faults in the UserHeader of forwarded and of some sent messages (MS-MQMQ 2.2.19.2)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.fields import clear_bits, set_bits
from harness.faults.primitives import send_wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import PrivateQueueFormatNameId, UserMessagePacket, parse_packet

_CONNECTOR_GUID = UUID("11111111-2222-3333-4444-555555555555")
_BASE_HEADER_SIZE = 16


def _is_forwarded(packet: Any) -> bool:
    return bool(packet.UserHeader.RC)


def _insert_after_user_header(inserted: bytes) -> Any:
    """Return a function that inserts bytes after the last field of UserHeader."""

    def insert_bytes(data: bytes) -> bytes:
        packet: Any = parse_packet(data)
        at = _BASE_HEADER_SIZE + len(packet.UserHeader.build())
        return correct_packet_size(data[:at] + inserted + data[at:])

    return insert_bytes


add(
    "router-message-connector-type-flag-cleared-in-forwarded-message",
    "MQMQ-2.2.19.2-22",
    "The router clears UserHeader.Flags.CQ of a forwarded message that contains ConnectorType.",
    clear_bits(UserMessagePacket, "UserHeader.CQ", _is_forwarded),
    blind=True,
)
add(
    "router-message-connector-type-appended-in-forwarded-message",
    "MQMQ-2.2.19.2-38",
    "The router adds ConnectorType to a forwarded message in which UserHeader.Flags.CQ is clear.",
    send_wrong_bytes(
        UserMessagePacket,
        _insert_after_user_header(_CONNECTOR_GUID.bytes_le),
        lambda packet: _is_forwarded(packet) and packet.UserHeader.ConnectorType is None,
    ),
    blind=True,
)
add(
    "router-message-soap-header-flag-cleared-in-forwarded-message",
    "MQMQ-2.2.19.2-27",
    "The router clears UserHeader.Flags.HH of a forwarded message that contains a SoapHeader.",
    clear_bits(
        UserMessagePacket,
        "UserHeader.HH",
        lambda packet: _is_forwarded(packet) and packet.SoapHeader is not None,
    ),
    blind=True,
)
add(
    "router-message-soap-header-flag-set-in-forwarded-message",
    "MQMQ-2.2.19.2-27",
    "The router sets UserHeader.Flags.HH of a forwarded message that contains no SoapHeader.",
    set_bits(UserMessagePacket, "UserHeader.HH", lambda packet: _is_forwarded(packet) and packet.SoapHeader is None),
    blind=True,
)
add(
    "router-message-admin-queue-appended-in-forwarded-message",
    "MQMQ-2.2.19.2-33",
    "The router adds an AdminQueue to a forwarded message in which UserHeader.Flags.AQ is 0.",
    send_wrong_bytes(
        UserMessagePacket,
        _insert_after_user_header(PrivateQueueFormatNameId(1).build()),
        lambda packet: _is_forwarded(packet) and packet.UserHeader.AQ == 0,
    ),
    blind=True,
)
add(
    "sender-message-response-queue-appended-to-message-with-admin-queue",
    "MQMQ-2.2.19.2-36",
    "The sender adds a ResponseQueue to a message in which RQ is 0 and AQ is not 0.",
    send_wrong_bytes(
        UserMessagePacket,
        _insert_after_user_header(PrivateQueueFormatNameId(1).build()),
        lambda packet: packet.UserHeader.RQ == 0 and packet.UserHeader.AQ != 0,
    ),
    blind=True,
)
add(
    "router-message-response-queue-appended-in-forwarded-message",
    "MQMQ-2.2.19.2-36",
    "The router adds a ResponseQueue to a forwarded message in which UserHeader.Flags.RQ is 0.",
    send_wrong_bytes(
        UserMessagePacket,
        _insert_after_user_header(PrivateQueueFormatNameId(2).build()),
        lambda packet: _is_forwarded(packet) and packet.UserHeader.RQ == 0,
    ),
    blind=True,
)

"""Faults in the names of public and private queues in a UserHeader: MQMQ-2.2.18.1.7.1-01 to MQMQ-2.2.18.1.7.2-03."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import PrivateQueueFormatName, PublicQueueFormatName, UserMessagePacket
from suites.mqmq.s2_2_18_1_packet_data_types.fault_steps import (
    SECOND_QUEUE_MANAGER_GUID,
    make_queue_name_kind_condition,
)

QUEUE_NAMES_OFFSET = 64
"""The offset of the names of queues in a message."""
_QUEUE_NAME_FIELDS = ("DestinationQueue", "AdminQueue", "ResponseQueue")


def _change_bytes_of_queue_name(name: str, kind: type, change: Callable[[bytes], bytes]) -> Install:
    """Change the bytes of a name of one kind in the UserHeader, and correct PacketSize."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        names = [getattr(packet.UserHeader, one) for one in _QUEUE_NAME_FIELDS]
        built = [b"" if one is None else one.build() for one in names]
        place = _QUEUE_NAME_FIELDS.index(name)
        at = QUEUE_NAMES_OFFSET + sum(map(len, built[:place]))
        end = at + len(built[place])
        data = packet.build()
        return correct_packet_size(data[:at] + change(data[at:end]) + data[end:])

    return change_packets_of_kind(UserMessagePacket, change_packet, make_queue_name_kind_condition(name, kind))


def _set_field_of_queue_name(name: str, kind: type, field: str, value: Any) -> Install:
    return send_wrong_field_values(
        UserMessagePacket, {f"UserHeader.{name}.{field}": value}, make_queue_name_kind_condition(name, kind)
    )


def _swap_bytes_of_guid(guid: UUID) -> UUID:
    return UUID(bytes=guid.bytes_le)


def _copy_admin_queue_number_to_response_queue(packet: UserMessagePacket) -> bytes:
    number = packet.UserHeader.AdminQueue.PrivateQueueIdentifier  # type: ignore[union-attr] # the condition
    changed: UserMessagePacket = set_fields(packet, {"UserHeader.ResponseQueue.PrivateQueueIdentifier": number})
    return changed.build()


def _has_two_private_names(packet: UserMessagePacket) -> bool:
    return all(
        make_queue_name_kind_condition(name, PrivateQueueFormatName)(packet) for name in ("AdminQueue", "ResponseQueue")
    )


_PUBLIC_NAME_CLASS, _PRIVATE_NAME_CLASS = PublicQueueFormatName, PrivateQueueFormatName

for _name, _rule, _says, _install in (
    (
        "public-admin-queue-name-of-20-bytes",
        "MQMQ-2.2.18.1.7.1-01",
        "The sender writes 20 bytes for a public administration queue.",
        _change_bytes_of_queue_name("AdminQueue", _PUBLIC_NAME_CLASS, lambda name: name + bytes(4)),
    ),
    (
        "public-destination-name-of-20-bytes",
        "MQMQ-2.2.18.1.7.1-01",
        "The sender writes 20 bytes for a public destination.",
        _change_bytes_of_queue_name("DestinationQueue", _PUBLIC_NAME_CLASS, lambda name: name + bytes(4)),
    ),
    (
        "public-response-queue-name-of-12-bytes",
        "MQMQ-2.2.18.1.7.1-01",
        "The sender writes 12 bytes for a public response queue.",
        _change_bytes_of_queue_name("ResponseQueue", _PUBLIC_NAME_CLASS, lambda name: name[:12]),
    ),
    (
        "public-admin-queue-unknown",
        "MQMQ-2.2.18.1.7.1-02",
        "The sender writes the GUID of an unknown queue into the name of a public administration queue.",
        _set_field_of_queue_name("AdminQueue", _PUBLIC_NAME_CLASS, "PublicQueueIdentifier", SECOND_QUEUE_MANAGER_GUID),
    ),
    (
        "public-destination-big-endian",
        "MQMQ-2.2.18.1.7.1-02",
        "The sender writes the GUID of a public destination in network byte order.",
        _set_field_of_queue_name("DestinationQueue", _PUBLIC_NAME_CLASS, "PublicQueueIdentifier", _swap_bytes_of_guid),
    ),
    (
        "private-admin-queue-name-of-24-bytes",
        "MQMQ-2.2.18.1.7.2-01",
        "The sender writes 24 bytes for a private administration queue on another host.",
        _change_bytes_of_queue_name("AdminQueue", _PRIVATE_NAME_CLASS, lambda name: name + bytes(4)),
    ),
    (
        "private-response-queue-number-before-guid",
        "MQMQ-2.2.18.1.7.2-01",
        "The sender writes the number of a private response queue on another host before the GUID of the host.",
        _change_bytes_of_queue_name("ResponseQueue", _PRIVATE_NAME_CLASS, lambda name: name[16:] + name[:16]),
    ),
    (
        "private-response-queue-name-of-18-bytes",
        "MQMQ-2.2.18.1.7.2-01",
        "The sender writes the number of a private response queue on another host as 2 bytes.",
        _change_bytes_of_queue_name("ResponseQueue", _PRIVATE_NAME_CLASS, lambda name: name[:18]),
    ),
    (
        "private-admin-queue-with-own-guid",
        "MQMQ-2.2.18.1.7.2-02",
        "The sender writes an unknown GUID into the name of a private administration queue on another host.",
        _set_field_of_queue_name("AdminQueue", _PRIVATE_NAME_CLASS, "SourceQueueManager", SECOND_QUEUE_MANAGER_GUID),
    ),
    (
        "private-response-queue-host-big-endian",
        "MQMQ-2.2.18.1.7.2-02",
        "The sender writes the GUID of the host of a private response queue in network byte order.",
        _set_field_of_queue_name("ResponseQueue", _PRIVATE_NAME_CLASS, "SourceQueueManager", _swap_bytes_of_guid),
    ),
    (
        "private-admin-queue-number-cut-to-16-bits",
        "MQMQ-2.2.18.1.7.2-03",
        "The sender writes only the lower 16 bits of the number of a private administration queue on another host.",
        _set_field_of_queue_name(
            "AdminQueue", _PRIVATE_NAME_CLASS, "PrivateQueueIdentifier", lambda number: number & 0xFFFF
        ),
    ),
    (
        "private-response-queue-number-of-admin-queue",
        "MQMQ-2.2.18.1.7.2-03",
        "The sender writes the number of the administration queue into the name of a private response queue.",
        change_packets_of_kind(UserMessagePacket, _copy_admin_queue_number_to_response_queue, _has_two_private_names),
    ),
):
    add(f"sender-{_name}", _rule, _says, _install, blind=True)

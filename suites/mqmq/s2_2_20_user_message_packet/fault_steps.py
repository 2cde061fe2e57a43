"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install
from harness.faults.sent_messages import set_packet_size
from reference_qm.codec import (
    DebugHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def make_destination_list_length_condition(least: int) -> Any:
    """Return a condition that selects messages whose list of destinations has at least the given number of names."""

    def has_enough_destinations(packet: Any) -> bool:
        lists = packet.MultiQueueFormatHeader
        return lists is not None and len(lists.Destination.FormatNameList) >= least

    return has_enough_destinations


PacketCondition = Callable[[Any], Any]


def change_received_fields(when: PacketCondition, changes: dict[str, Any]) -> Install:
    """Let the receiver change fields of a received message if a condition is true for the message."""

    class Changing(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            changed = set_fields(packet, changes) if when(packet) else packet
            super().put_received_message_into_queue(session, changed, receipt, now)

    return replace_part(Changing)


REMOVED_TRACE_QUEUE_FIELDS = {
    "DebugHeader.Flags": lambda old: old & ~DebugHeader.flags(QT=3),
    "DebugHeader.QueueIdentifier": None,
}


_HEADER_NAMES = (
    "BaseHeader",
    "UserHeader",
    "TransactionHeader",
    "SecurityHeader",
    "MessagePropertiesHeader",
    "DebugHeader",
    "SoapHeader",
    "MultiQueueFormatHeader",
    "SessionHeader",
)
"""The headers of a message in the order of MS-MQMQ 2.2.20."""


def split_headers(packet: UserMessagePacket) -> dict[str, bytes]:
    """Return the bytes of each header that a message has."""
    data, found = packet.build(), {}
    for name in _HEADER_NAMES:
        header = getattr(packet, name)
        if header is not None:
            size = len(header.build())
            found[name], data = data[:size], data[size:]
    return found


def join_headers(headers: dict[str, bytes]) -> bytes:
    """Return the bytes of a message that consists of the given headers. PacketSize does not count the SessionHeader."""
    size = sum(len(data) for name, data in headers.items() if name != "SessionHeader")
    return set_packet_size(b"".join(headers.values()), size)


def omit_sent_header(name: str, when: PacketCondition) -> Install:
    """Let the sender omit a header of a message, although the flag of the header stays set."""
    return change_packets_of_kind(
        UserMessagePacket,
        lambda packet: join_headers({one: data for one, data in split_headers(packet).items() if one != name}),
        lambda packet: getattr(packet, name) is not None and bool(when(packet)),
    )


def move_sent_header(name: str, before: str) -> Install:
    """Let the sender write a header of a message before another header, if a message has both headers."""

    def move_header_in_packet(packet: UserMessagePacket) -> bytes:
        moved: dict[str, bytes] = {}
        headers = split_headers(packet)
        for one, data in headers.items():
            if one == before:
                moved[name] = headers[name]
            if one != name:
                moved[one] = data
        return join_headers(moved)

    return change_packets_of_kind(
        UserMessagePacket,
        move_header_in_packet,
        lambda packet: getattr(packet, name) is not None and getattr(packet, before) is not None,
    )

"""Faults in the UserHeader of transactional messages and of the queue manager's own messages (MS-MQMQ 2.2.19.2)."""

from __future__ import annotations

from harness.faults.fields import change_number_in_field
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import has_header
from reference_qm.codec import UserMessagePacket

_USER_HEADER_FLAGS_OFFSET = 60


def _exchange_journal_bits(packet: UserMessagePacket) -> bytes:
    data = bytearray(packet.build())
    bits = data[_USER_HEADER_FLAGS_OFFSET + 1] & 3
    data[_USER_HEADER_FLAGS_OFFSET + 1] = data[_USER_HEADER_FLAGS_OFFSET + 1] & ~3 | bits >> 1 | (bits & 1) << 1
    return bytes(data)


add(
    "sender-transactional-message-journal-bits-exchanged",
    "MQMQ-2.2.19.2-D02",
    "The sender exchanges JN and JP in UserHeader.Flags of transactional messages.",
    change_packets_of_kind(UserMessagePacket, _exchange_journal_bits, has_header("TransactionHeader")),
    blind=True,
)
add(
    "router-forwarded-message-rc-shifted",
    "MQMQ-2.2.19.2-D02",
    "The router puts the number of hops of a forwarded message into the bits above the lowest bit of RC.",
    change_number_in_field(
        UserMessagePacket, "UserHeader.RC", lambda old: old << 1, lambda packet: packet.UserHeader.RC > 0
    ),
    blind=True,
)

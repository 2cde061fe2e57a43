"""Faults in the delivery of messages that are addressed to the receiver (MS-MQQB 3.1.5.8.5)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, DirectQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving


def _discard_messages_for_own_queues_meeting_condition(when: Any) -> type[MessageReceiving]:
    """Return a part of the queue manager that discards the messages for this queue manager that meet a condition."""

    class Discarded(MessageReceiving):
        def is_misdirected(self, packet: UserMessagePacket) -> bool:
            return super().is_misdirected(packet) or bool(when(packet))

    return Discarded


add(
    "receiver-message-with-own-identifier-and-direct-name-discarded",
    "MQQB-3.1.5.8.5-D01",
    "The receiver discards a message with a direct format name if QueueManagerAddress is its own Identifier.",
    replace_part(
        _discard_messages_for_own_queues_meeting_condition(
            lambda packet: (
                isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
                and packet.UserHeader.QueueManagerAddress != NULL_GUID
            )
        )
    ),
    blind=True,
)
add(
    "receiver-message-with-zero-address-and-private-name-discarded",
    "MQQB-3.1.5.8.5-D01",
    "The receiver discards a message without a direct format name if QueueManagerAddress is zero.",
    replace_part(
        _discard_messages_for_own_queues_meeting_condition(
            lambda packet: (
                not isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
                and packet.UserHeader.QueueManagerAddress == NULL_GUID
            )
        )
    ),
    blind=True,
)
add(
    "receiver-transactional-message-with-zero-address-and-private-name-discarded",
    "MQQB-3.1.5.8.5-D01",
    "The receiver discards a transactional message without a direct format name if QueueManagerAddress is zero.",
    replace_part(
        _discard_messages_for_own_queues_meeting_condition(
            lambda packet: (
                packet.TransactionHeader is not None
                and not isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
                and packet.UserHeader.QueueManagerAddress == NULL_GUID
            )
        )
    ),
    blind=True,
)

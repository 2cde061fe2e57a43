"""Faults that break rules of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import change_number_in_field, clear_bits, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

WRONG_PRIVACY_LEVEL_BY_LEVEL = {1: 1, 3: 2, 5: 3}


POSITIVE_JOURNALING_FLAG = UserHeader.flags(JP=1)


NEGATIVE_JOURNALING_FLAG = UserHeader.flags(JN=1)


def _swap_journaling_bits(flags: int) -> int:
    """Swap the bits JP and JN of a message."""
    return (
        flags & ~(POSITIVE_JOURNALING_FLAG | NEGATIVE_JOURNALING_FLAG)
        | (NEGATIVE_JOURNALING_FLAG if flags & POSITIVE_JOURNALING_FLAG else 0)
        | (POSITIVE_JOURNALING_FLAG if flags & NEGATIVE_JOURNALING_FLAG else 0)
    )


for _name, _rules, _says, _install in (
    (
        "sender-priority-3-in-transactional-message",
        "MQDMPR-3.1.7.1.32-05",
        "The sender sends a transactional message with priority 3 instead of 0.",
        set_field_value(UserMessagePacket, "BaseHeader.PR", 3, lambda packet: bool(packet.UserHeader.TH)),
    ),
    (
        "sender-tr-clear-in-traced-message",
        ("MQDMPR-3.1.7.1.32-05", "MQDMPR-3.1.7.1.32-D01"),
        "The sender sends a traced message with TR 0.",
        clear_bits(UserMessagePacket, "BaseHeader.TR"),
    ),
    (
        "sender-swaps-jp-and-jn-of-message",
        ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
        "The sender sets JP instead of JN, and JN instead of JP.",
        send_wrong_field_values(UserMessagePacket, {"UserHeader.Flags": _swap_journaling_bits}),
    ),
    (
        "sender-privacy-level-is-number-of-messages",
        ("MQDMPR-3.1.7.1.32-D09", "MQDMPR-3.1.1.12-04"),
        "The sender sets PrivacyLevel to 1, 2 or 3 instead of 1, 3 or 5.",
        change_number_in_field(
            UserMessagePacket,
            "MessagePropertiesHeader.PrivacyLevel",
            lambda level: WRONG_PRIVACY_LEVEL_BY_LEVEL.get(level, level),
        ),
    ),
    (
        "sender-de-bit-clear-with-default-provider",
        "MQDMPR-3.1.7.1.32-07",
        "The sender sets DE to 0 in a message that is signed with the default provider.",
        clear_bits(UserMessagePacket, "SecurityHeader.DE"),
    ),
):
    add(_name, _rules, _says, _install)


_TRACE_FLAG = BaseHeader.flags(TR=1)


def _is_application_message(packet: UserMessagePacket) -> bool:
    return not packet.MessagePropertiesHeader.MessageClass


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None and _is_application_message(packet)


add(
    "sender-transactional-message-traced-without-tr",
    "MQDMPR-3.1.7.1.32-05",
    "The sender clears TR of a traced transactional message.",
    send_wrong_field_values(
        UserMessagePacket, {"BaseHeader.Flags": lambda old: old & ~_TRACE_FLAG}, when=_is_transactional
    ),
)


def _is_recoverable(packet: UserMessagePacket) -> bool:
    return bool(packet.UserHeader.DM) and packet.TransactionHeader is None and _is_application_message(packet)


add(
    "sender-recoverable-message-time-to-reach-queue-infinite",
    "MQDMPR-3.1.7.1.32-D01",
    "The sender sets TimeToReachQueue of a recoverable message to 0xFFFFFFFF (infinite).",
    send_wrong_field_values(UserMessagePacket, {"BaseHeader.TimeToReachQueue": 0xFFFFFFFF}, when=_is_recoverable),
)


add(
    "sender-priority-6-sent-as-5",
    "MQDMPR-3.1.7.1.32-D01",
    "The sender sends a message of priority 6 with priority 5.",
    set_field_value(UserMessagePacket, "BaseHeader.PR", 5, lambda packet: packet.BaseHeader.PR == 6),
    blind=True,
)


add(
    "sender-transactional-message-application-tag-zero",
    "MQDMPR-3.1.7.1.32-D02",
    "The sender sets ApplicationTag of a transactional message to zero.",
    send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.ApplicationTag": 0}, when=_is_transactional),
)


add(
    "sender-recoverable-message-body-type-zero",
    "MQDMPR-3.1.7.1.32-D02",
    "The sender sets BodyType of a recoverable message to zero.",
    send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.BodyType": 0}, when=_is_recoverable),
)


@fault("sender-writes-only-low-byte-of-body-type", breaks="MQDMPR-3.1.7.1.32-D02")
class SenderWritesOnlyLowByteOfBodyType(MessageSending):
    """The sender writes only the low byte of the BodyType."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        return replace(packet, MessagePropertiesHeader=replace(properties, BodyType=properties.BodyType & 0xFF))


@fault("sender-long-label-omitted", breaks="MQDMPR-3.1.7.1.32-D02")
class SenderLongLabelOmitted(MessageSending):
    """The sender omits a label of more than 120 characters."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        if len(properties.Label or "") > 120:
            return replace(packet, MessagePropertiesHeader=replace(properties, Label=None))
        return packet


add(
    "sender-transactional-message-time-to-be-received-infinite",
    "MQDMPR-3.1.7.1.32-D05",
    "The sender sets TimeToBeReceived of a transactional message to 0xFFFFFFFF (infinite).",
    send_wrong_field_values(UserMessagePacket, {"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, when=_is_transactional),
)


add(
    "sender-time-to-be-received-of-32-bits-infinite",
    "MQDMPR-3.1.7.1.32-D05",
    "The sender sets a TimeToBeReceived of 32 bits to 0xFFFFFFFF (infinite).",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.TimeToBeReceived": 0xFFFFFFFF},
        when=lambda packet: packet.UserHeader.TimeToBeReceived > 0x7FFFFFFF,
    ),
    blind=True,
)


@fault("sender-writes-time-to-be-received-with-high-bit-as-infinite", breaks="MQDMPR-3.1.7.1.32-D05")
class SenderWritesTimeToBeReceivedWithHighBitAsInfinite(MessageSending):
    """The sender writes an infinite TimeToBeReceived into the packet of a message whose TimeToBeReceived has the
    highest bit set.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if not packet.UserHeader.TimeToBeReceived & 0x80000000:
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=0xFFFFFFFF))


@fault("sender-second-copy-positive-journaling-cleared", breaks="MQDMPR-3.1.7.1.32-D10", blind=True)
class SenderSecondCopyPositiveJournalingCleared(MessageEnqueueing):
    """When a message to several queues requests positive journaling, the sender sets JP only in the first copy."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        listed = (message.DestinationMultiQueueFormatName or "").split(",")
        if len(listed) > 1 and message.DestinationQueueFormatName.lower() != listed[0].lower():
            message = replace(message, PositiveJournalingRequested=False)
        return super()._enqueue_message(queue, message, now, transaction)


_JOURNALING_FLAGS_MASK = UserHeader.flags(JP=1, JN=1)


add(
    "sender-journaling-flags-of-transactional-message-cleared",
    ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
    "The sender clears JP and JN of a transactional message.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.Flags": lambda old: old & ~_JOURNALING_FLAGS_MASK},
        when=_is_transactional,
    ),
)


add(
    "sender-journaling-flags-of-message-to-public-queue-cleared",
    ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
    "The sender clears JP and JN of a message to a public queue.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.Flags": lambda old: old & ~_JOURNALING_FLAGS_MASK},
        when=lambda packet: packet.UserHeader.DQ == 5,
    ),
    blind=True,
)


@fault("sender-negative-journaling-of-transactional-message-not-written", breaks="MQDMPR-3.1.7.1.32-D11")
class SenderNegativeJournalingOfTransactionalMessageNotWritten(MessageSending):
    """The sender clears JN in transactional messages."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.TransactionHeader is None:
            return packet
        flags = packet.UserHeader.Flags & ~UserHeader.flags(JN=1)
        return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags))

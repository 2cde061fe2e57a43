"""Faults that break the rules MQMQ-2.2.18.1.6-D04 to MQMQ-2.2.18.1.7.2-D01."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from reference_qm.codec import (
    MessageClass,
    PrivateQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_18_1_packet_data_types.fault_steps import (
    build_destination_elements,
    change_destination_elements,
    make_element_builder_without_padding,
    make_queue_name_kind_condition,
)

WRONG_ACK_CLASS_BY_ACK_CLASS = {
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT: MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED: MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED: MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_ACK_RECEIVE: MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE,
    MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA: MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
}
"""For each message class of an event, the message class of a different event."""


ACK_CLASS_RULES = (
    "MQMQ-2.2.18.1.6-D01",
    "MQDMPR-3.1.1.12-03",
    "MQDMPR-3.1.1.12-D09",
    "MQDMPR-3.1.1.12-D13",
    "MQDMPR-3.1.1.12-D19",
    "MQDMPR-3.1.1.12-D20",
    "MQDMPR-3.1.1.12-D23",
    "MQDMPR-3.1.1.12-D24",
    "MQDMPR-3.1.1.12-D25",
    "MQDMPR-3.1.7.1.32-D08",
)


def _change_acknowledgment_classes(others: Mapping[MessageClass, MessageClass]) -> Install:
    """Acknowledge some events with the message class of a different event."""

    class WrongAckClassSender(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            super().send(message, others.get(message_class, message_class), now)

    return replace_part(WrongAckClassSender)


for _name, _breaks, _says, _others in (
    (
        "receiver-ack-message-class-of-other-event",
        ACK_CLASS_RULES,
        "The receiver acknowledges an event with the MessageClass of a different event.",
        WRONG_ACK_CLASS_BY_ACK_CLASS,
    ),
    (
        "receiver-ack-of-unknown-provider-bad-encryption",
        ("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
        "The receiver sends NACK_BAD_ENCRYPTION for a message whose cryptographic provider is unknown.",
        {MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER: MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION},
    ),
):
    add(_name, _breaks, _says, _change_acknowledgment_classes(_others))


@fault(
    "receiver-sends-bad-signature-for-transactional-unsupported-provider",
    breaks=("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
)
class ReceiverSendsBadSignatureForTransactionalUnsupportedProvider(MessageAdmission):
    """The receiver refuses a transactional message with an unsupported provider, but sends the class for a bad
    signature.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if (
            packet.TransactionHeader is not None
            and message_class is MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
        ):
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        super().refuse_message(session, packet, message_class, now)


add(
    "sender-response-public-queue-that-of-destination",
    "MQMQ-2.2.18.1.7.1-02",
    "The sender writes the GUID of the destination queue into the name of a public response queue.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: replace(
            packet, UserHeader=replace(packet.UserHeader, ResponseQueue=packet.UserHeader.DestinationQueue)
        ).build(),
        lambda packet: packet.UserHeader.DQ == packet.UserHeader.RQ == 5,
    ),
)


add(
    "sender-response-private-name-with-guid-of-source",
    "MQMQ-2.2.18.1.7.2-02",
    "The sender writes its own GUID into the name of a response queue on another computer.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            UserHeader=replace(
                packet.UserHeader,
                ResponseQueue=replace(
                    packet.UserHeader.ResponseQueue, SourceQueueManager=packet.UserHeader.SourceQueueManager
                ),
            ),
        ).build(),
        make_queue_name_kind_condition("ResponseQueue", PrivateQueueFormatName),
    ),
)


def truncate_private_queue_numbers(elements: Sequence[Any]) -> Sequence[Any]:
    """Return elements with only the lower 16 bits of the numbers of private queues."""
    return tuple(
        replace(
            one,
            FormatName=replace(one.FormatName, PrivateQueueIdentifier=one.FormatName.PrivateQueueIdentifier & 0xFFFF),
        )
        if isinstance(one.FormatName, PrivateQueueFormatName)
        else one
        for one in elements
    )


add(
    "sender-list-private-name-number-cut-to-16-bits",
    ("MQMQ-2.2.18.1.7.2-03", "MQMQ-2.2.18.1.7.2-D01"),
    "The sender writes only the lower 16 bits of a queue's number into a private name in a list of destinations.",
    change_destination_elements(truncate_private_queue_numbers),
)


add(
    "sender-list-private-name-not-aligned",
    "MQMQ-2.2.18.1.7.2-D01",
    "The sender writes the GUID of a private name in a list directly after FormatType, without padding.",
    build_destination_elements(make_element_builder_without_padding(PrivateQueueFormatName)),
)

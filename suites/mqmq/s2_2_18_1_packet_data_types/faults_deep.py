"""Faults of MS-MQMQ 2.2.18.1 that only special cases reveal: later elements of a list, queues other than the
destination, limits of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import at_restart, during, packets, wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    DirectQueueFormatName,
    FinalAckBody,
    MessageClass,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    OrderAckBody,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


def has_class(*classes: int) -> Callable[[Any], bool]:
    """Return a condition that selects messages of some classes."""
    return lambda packet: packet.MessagePropertiesHeader.MessageClass in classes


def has_queue(name: str, kind: type) -> Callable[[Any], bool]:
    """Return a condition that selects messages in which a given queue of the UserHeader has a given kind of name."""
    return lambda packet: isinstance(getattr(packet.UserHeader, name), kind)


def change_elements(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Install:
    """Change the names in the list of destinations of each message."""
    path = "MultiQueueFormatHeader.Destination"
    return wrong_fields(
        UserMessagePacket,
        {f"{path}.FormatNameList": change, f"{path}.HeaderSize": None, f"{path}.Padding": None},
        lambda packet: packet.MultiQueueFormatHeader is not None,
    )


def build_elements(build: Callable[[Any, int, bool], bytes]) -> Install:
    """Build each name of the list of destinations with a function that is called with the element, its offset, and
    whether the element is the last one.
    """

    def rebuild(packet: Any) -> bytes:
        listed = packet.MultiQueueFormatHeader.Destination
        built, wire = listed.build(), bytearray(listed.build()[:12])
        for place, element in enumerate(listed.FormatNameList, 1):
            wire += build(element, len(wire), place == len(listed.FormatNameList))
        wire += bytes(-len(wire) % 4)
        wire[:4] = len(wire).to_bytes(4, "little")
        return correct_packet_size(packet.build().replace(built, bytes(wire)))

    return packets(UserMessagePacket, rebuild, lambda packet: packet.MultiQueueFormatHeader is not None)


def build_without_gap(kind: type) -> Callable[[Any, int, bool], bytes]:
    """Return a function that builds an element of one kind without padding before its name."""

    def build(element: Any, offset: int, last: bool) -> bytes:
        whole: bytes = element.build(offset)
        name: bytes = element.FormatName.build()
        return whole[:2] + name if isinstance(element.FormatName, kind) else whole

    return build


def build_last_without_null(element: Any, offset: int, last: bool) -> bytes:
    """Build an element; if it is a direct name at the end of the list, a letter replaces the terminating null."""
    whole: bytes = element.build(offset)
    return whole[:-2] + b"x\0" if last and isinstance(element.FormatName, MQFDirectQueueFormatName) else whole


def cut_private_numbers(elements: Sequence[Any]) -> Sequence[Any]:
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


def repeat_first_list(elements: Sequence[Any]) -> Sequence[Any]:
    """Return elements in which the first distribution list replaces every other distribution list."""
    lists = [one for one in elements if isinstance(one.FormatName, MQFDistributionQueueFormatName)]
    return tuple(lists[0] if one in lists else one for one in elements)


def swap_halves(identifier: TxSequenceID) -> TxSequenceID:
    """Return a TxSequenceID in which Ordinal and TimeStamp are exchanged."""
    return TxSequenceID(Ordinal=identifier.TimeStamp, TimeStamp=identifier.Ordinal)


def reset_queue_numbers(qm: QueueManager) -> None:
    """Start the numbers of new private queues at 1 again."""
    qm.adm.last_private_queue_number = 0


def reverse_previous_number(body: bytes) -> bytes:
    """Return the body of an OrderAck in which the bytes of TxPreviousSequenceNumber are reversed."""
    return body[:12] + body[12:16][::-1] + body[16:]


def count_without_null(packet: Any) -> bytes:
    """Return a message in which Count of the response queue does not include the terminating null."""
    name = packet.UserHeader.ResponseQueue.build()
    short = (int.from_bytes(name[:2], "little") - 2).to_bytes(2, "little") + name[2:]
    data: bytes = packet.build()
    place = data.rindex(name, 0, data.index(name) + 3 * len(name))
    return data[:place] + short + data[place + len(name) :]


add(
    "receiver-order-ack-previous-number-big-endian",
    "MQMQ-2.2.18-D01",
    "A queue manager sends an OrderAck whose TxPreviousSequenceNumber is big-endian.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": reverse_previous_number},
        has_class(MessageClass.MQMSG_CLASS_ORDER_ACK),
    ),
)
add(
    "sender-application-tag-big-endian",
    "MQMQ-2.2.18-D01",
    "The sender writes ApplicationTag of a message in big-endian order.",
    wrong_fields(
        UserMessagePacket,
        {
            "MessagePropertiesHeader.ApplicationTag": lambda tag: int.from_bytes(tag.to_bytes(4, "little"), "big"),
        },
    ),
)
add(
    "sender-report-source-queue-manager-made-up",
    "MQMQ-2.2.18.1.3-01",
    "A queue manager sends a report whose SourceQueueManager is not the GUID of the queue manager.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.SourceQueueManager": OTHER_GUID},
        has_class(MessageClass.MQMSG_CLASS_REPORT),
    ),
)
add(
    "receiver-order-ack-ordinal-that-of-last-message",
    "MQMQ-2.2.18.1.3-02",
    "A queue manager sends an OrderAck or a FinalAck with the ordinal of its previous message.",
    during(
        OrderAcks.send_transactional_ack,
        Numbering.assign_identifier,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal,
    ),
)
add(
    "receiver-ack-receive-correlation-number-big-endian",
    "MQMQ-2.2.18.1.3-D01",
    "A queue manager sends an ACK_RECEIVE whose CorrelationID contains the message number in big-endian order.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.CorrelationID": lambda old: old[:16] + old[16:][::-1]},
        lambda packet: (
            has_class(MessageClass.MQMSG_CLASS_ACK_RECEIVE)(packet) and packet.MessagePropertiesHeader.Label is None
        ),
    ),
)
add(
    "sender-list-last-direct-name-not-terminated",
    "MQMQ-2.2.18.1.4.1-D01",
    "The sender omits the terminating null of the last direct name in a list of destinations.",
    build_elements(build_last_without_null),
)
add(
    "sender-list-second-distribution-list-that-of-first",
    "MQMQ-2.2.18.1.4.2-02",
    "The sender writes the GUID of the first distribution list for every distribution list in a list of destinations.",
    change_elements(repeat_first_list),
)
add(
    "sender-list-distribution-list-not-aligned",
    ("MQMQ-2.2.18.1.4.2-01", "MQMQ-2.2.18.1.4.2-D01"),
    "The sender writes the GUID of a distribution list directly after FormatType, without padding.",
    build_elements(build_without_gap(MQFDistributionQueueFormatName)),
)
add(
    "sender-list-private-name-not-aligned",
    "MQMQ-2.2.18.1.7.2-D01",
    "The sender writes the GUID of a private name in a list directly after FormatType, without padding.",
    build_elements(build_without_gap(PrivateQueueFormatName)),
)
add(
    "sender-list-private-name-number-cut-to-16-bits",
    ("MQMQ-2.2.18.1.7.2-03", "MQMQ-2.2.18.1.7.2-D01"),
    "The sender writes only the lower 16 bits of a queue's number into a private name in a list of destinations.",
    change_elements(cut_private_numbers),
)
add(
    "sender-response-queue-number-cut-to-16-bits",
    "MQMQ-2.2.18.1.5.1-01",
    "The sender writes only the lower 16 bits of a queue's number into the name of a private response queue.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda number: number & 0xFFFF},
        has_queue("ResponseQueue", PrivateQueueFormatNameId),
    ),
)
add(
    "queue-manager-private-queue-number-counted-from-1-after-restart",
    ("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04"),
    "After a restart, the queue manager numbers new private queues from 1, although older queues have these numbers.",
    at_restart(reset_queue_numbers),
)
add(
    "sender-response-direct-name-count-without-null",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D01"),
    "The sender excludes the terminating null from Count in the direct name of a response queue.",
    packets(UserMessagePacket, count_without_null, has_queue("ResponseQueue", DirectQueueFormatName)),
)
add(
    "sender-administration-direct-name-not-terminated",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02"),
    "The sender omits the terminating null of the direct name of an administration queue.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.AdminQueue.Terminated": False, "UserHeader.AdminQueue.Padding": None},
        has_queue("AdminQueue", DirectQueueFormatName),
    ),
)
add(
    "sender-response-public-queue-that-of-destination",
    "MQMQ-2.2.18.1.7.1-02",
    "The sender writes the GUID of the destination queue into the name of a public response queue.",
    packets(
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
    packets(
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
        has_queue("ResponseQueue", PrivateQueueFormatName),
    ),
)


@fault("receiver-final-ack-tx-sequence-id-halves-exchanged", breaks="MQMQ-2.2.18.1.2-D01")
class ReceiverFinalAckTxSequenceIdHalvesExchanged(OrderAcks):
    """The receiver sends a FinalAck in which Ordinal and TimeStamp of TxSequenceID are exchanged."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxSequenceID=swap_halves(body.TxSequenceID))
        super().send_transactional_ack(name, message_class, body, now)


class ComparedOtherwise(InSequence):
    """The receiver compares a number that it derives wrongly from each TxSequenceID."""

    def number(self, identifier: TxSequenceID) -> int:
        """Return the number that the receiver compares."""
        return int(identifier)

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            return super().is_in_sequence(session, packet)
        later = self.number(header.TxSequenceID) > self.number(session.IncomingTxSequenceID)
        return later and header.PreviousTxSequenceNumber == 0


@fault("receiver-tx-sequence-id-time-stamp-signed", breaks="MQMQ-2.2.18.1.2-D02")
class ReceiverTxSequenceIdTimeStampSigned(ComparedOtherwise):
    """The receiver compares TimeStamp of TxSequenceIDs as a signed number."""

    def number(self, identifier: TxSequenceID) -> int:
        number = int(identifier)
        return number - (1 << 64) if number >> 63 else number


@fault("receiver-tx-sequence-id-ordinal-compared-as-16-bits", breaks="MQMQ-2.2.18.1.2-D02")
class ReceiverTxSequenceIdOrdinalComparedAs16Bits(ComparedOtherwise):
    """The receiver compares only the lower 16 bits of Ordinal of TxSequenceIDs."""

    def number(self, identifier: TxSequenceID) -> int:
        return identifier.TimeStamp << 32 | identifier.Ordinal & 0xFFFF


@fault("receiver-final-ack-of-purged-message-class-queue-deleted", breaks="MQMQ-2.2.18.1.6-D01")
class ReceiverFinalAckOfPurgedMessageClassQueueDeleted(OrderAcks):
    """When a transactional message is purged, the receiver sends a FinalAck with the class for a deleted queue."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            message_class = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().send_transactional_ack(name, message_class, body, now)


@fault(
    "sender-time-to-be-received-passed-before-sending-class-receive-timeout",
    breaks=("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03"),
)
class SenderTimeToBeReceivedPassedBeforeSendingClassReceiveTimeout(AdminAcks):
    """When the TimeToBeReceived of a message expires before the message is sent, the sender sends an acknowledgment of
    class NACK_RECEIVE_TIMEOUT.
    """

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.TimeToBeReceived < message.TimeToReachQueue:
            self.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)
        else:
            super().acknowledge_expiration(message, now)


@fault(
    "receiver-unsupported-provider-of-transactional-message-class-bad-signature",
    breaks=("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
)
class ReceiverUnsupportedProviderOfTransactionalMessageClassBadSignature(Admission):
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

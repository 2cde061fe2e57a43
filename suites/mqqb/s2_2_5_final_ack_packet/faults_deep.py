"""Faults of MS-MQQB 2.2.5 FinalAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.fields import field_is
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-of-later-received-message-with-class-nack", breaks="MQQB-2.2.5-11", blind=True)
class ReceiverFinalAckOfLaterReceivedMessageWithClassNack(FinalAcks):
    """The receiver sends the class NACK_Q_PURGED in the FinalAck of a received message whose TxSequenceNumber is
    greater than 1.
    """

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        number = position.MessageReference.TransactionSequenceNumber
        if reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE and number > 1 and position.order_queue is not None:
            self.acknowledge_final(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED, now)
            return
        super().position_deleted(position, reason, now)


@fault("receiver-final-ack-body-with-previous-number-one-less", breaks="MQQB-2.2.5.1-03", blind=True)
class ReceiverFinalAckBodyWithPreviousNumberOneLess(OrderAcks):
    """The receiver sends a FinalAck whose TxPreviousSequenceNumber is TxSequenceNumber minus one, even after a gap in
    the numbers.
    """

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxPreviousSequenceNumber=max(0, body.TxSequenceNumber - 1))
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-body-with-message-id-of-16-bits", breaks="MQQB-2.2.5.1-D01", blind=True)
class ReceiverFinalAckBodyWithMessageIdOf16Bits(OrderAcks):
    """The receiver sends a FinalAck whose MessageID has only the lower 16 bits of the message number."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, MessageID=body.MessageID & 0xFFFF)
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-of-refused-message-with-own-guid", breaks="MQQB-2.2.5.1-D01", blind=True)
class ReceiverFinalAckOfRefusedMessageWithOwnGuid(OrderAcks):
    """The receiver sends a negative FinalAck whose SourceGUID is the receiver's own Identifier."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody) and message_class >= 0x8000:
            own: UUID = self.qm.adm.Identifier
            body = replace(body, SourceGUID=own)
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-number-of-16-bits", breaks="MQQB-2.2.5.1-02", blind=True)
class ReceiverFinalAckNumberOf16Bits(OrderAcks):
    """The receiver sends a FinalAck with TxSequenceNumber 0xFFFF instead of a greater number."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxSequenceNumber=min(body.TxSequenceNumber, 0xFFFF))
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-of-message-without-journaling-after-purge", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckOfMessageWithoutJournalingAfterPurge(FinalAcks):
    """The receiver sends a FinalAck for every transactional message that is purged, even without JN and JP."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        purged = reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and position.order_queue is None and message.TransactionIdentifier is not None and self.qm.sessions:
            session = next(iter(self.qm.sessions.values()))
            source = message.Identifier.QueueManagerGuid
            position.order_queue = self.qm.order_acks.name_order_queue(session, source)
        super().position_deleted(position, reason, now)


@fault("receiver-final-ack-only-of-first-of-several-purged-messages", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckOnlyOfFirstOfSeveralPurgedMessages(FinalAcks):
    """When several messages are purged at once, the receiver sends a FinalAck only for the first message."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        last = self.__dict__.get("last")
        self.__dict__["last"] = (id(position.QueueReference), now.monotonic_ms)
        if reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED and last == self.__dict__["last"]:
            position.order_queue = None
        super().position_deleted(position, reason, now)


@fault("receiver-second-final-ack-of-plain-queue-with-class-bad-destination", breaks="MQQB-2.2.5-13", blind=True)
class ReceiverSecondFinalAckOfPlainQueueWithClassBadDestination(OrderAcks):
    """The receiver sends the class NACK_BAD_DST_Q in the FinalAck of the second message for a
    nontransactional queue.
    """

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q and body.TxSequenceNumber > 1:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-of-received-message-with-only-jp-missing", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckOfReceivedMessageWithOnlyJpMissing(FinalAcks):
    """The receiver sends no FinalAck for a received message with only JP."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE and not message.NegativeJournalingRequested:
            position.order_queue = None
        super().position_deleted(position, reason, now)


@fault("receiver-final-ack-of-refused-message-only-with-jn", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckOfRefusedMessageOnlyWithJn(FinalAcks):
    """The receiver sends a FinalAck for a refused transactional message only if JN is set."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN:
            super().refuse_transactional(session, packet, message_class, now)


def _is_final_ack_of(*classes: MessageClass) -> Callable[[UserMessagePacket], bool]:
    """Return a predicate that is true for a FinalAck with one of the given classes."""
    return lambda packet: (
        packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
        and packet.MessagePropertiesHeader.MessageClass in classes
    )


_PURGED, _TIMEOUT = MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
_DELETED, _BAD_QUEUE = MessageClass.MQMSG_CLASS_NACK_Q_DELETED, MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
_PLAIN, _QUOTA = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q, MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA

_BODY_TYPE = "MessagePropertiesHeader.BodyType"

for _name, _rule, _path, _value, _classes in (
    ("receiver-final-ack-of-purge-express", "MQQB-2.2.5-03", "UserHeader.DM", 0, (_PURGED,)),
    ("receiver-final-ack-of-expiry-express", "MQQB-2.2.5-03", "UserHeader.DM", 0, (_TIMEOUT,)),
    (
        "receiver-final-ack-of-deletion-with-body-type",
        "MQQB-2.2.5-23",
        "MessagePropertiesHeader.BodyType",
        8,
        (_DELETED,),
    ),
    ("receiver-final-ack-of-refusal-with-body-type", "MQQB-2.2.5-23", _BODY_TYPE, 8, (_PLAIN,)),
    ("receiver-final-ack-of-quota-with-pa", "MQQB-2.2.5-10", "MessagePropertiesHeader.PA", 1, (_QUOTA,)),
    ("receiver-final-ack-of-purge-with-nr", "MQQB-2.2.5-10", "MessagePropertiesHeader.NR", 1, (_PURGED,)),
    ("receiver-final-ack-of-missing-queue-with-jn", "MQQB-2.2.5-04", "UserHeader.JN", 1, (_BAD_QUEUE,)),
    ("receiver-final-ack-of-expiry-with-jp", "MQQB-2.2.5-04", "UserHeader.JP", 1, (_TIMEOUT,)),
    ("receiver-final-ack-of-purge-of-priority-3", "MQQB-2.2.5-01", "BaseHeader.PR", 3, (_PURGED,)),
):
    add(
        _name,
        _rule,
        f"The receiver sends {_path} {_value} in a FinalAck of class {_classes[0].name}.",
        field_is(UserMessagePacket, _path, _value, _is_final_ack_of(*_classes)),
        blind=True,
    )

"""Faults that break the rules MQQB-2.2.5-01 to MQQB-2.2.5-22."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import clear_bits, set_field_value
from harness.faults.ordering_acks import WRONG_HEADER_FAULTS
from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserHeader, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    OutgoingMessagePosition,
    OutgoingQueue,
    Session,
)
from reference_qm.surface.clock import Now
from suites.mqqb.s2_2_5_final_ack_packet.fault_steps import headers_of_first_refused_messages

for _name, _rule, _does in (
    ("receiver-final-ack-priority-3", "MQQB-2.2.5-01", "has priority 3"),
    ("receiver-final-ack-mp-clear", "MQQB-2.2.5-02", "has MP clear"),
    ("receiver-final-ack-jn-set", "MQQB-2.2.5-04", "has JN set"),
    ("receiver-final-ack-sent-to-private-queue-5", "MQQB-2.2.5-05", "has private queue 5 as destination"),
    (
        "receiver-final-ack-destination-computer-name",
        "MQQB-2.2.5-06",
        "has a computer name instead of an address in its destination",
    ),
    ("receiver-final-ack-destination-other-address", "MQQB-2.2.5-07", "has a wrong address in its destination"),
    ("receiver-final-ack-label-wrong", "MQQB-2.2.5-08", "has a wrong label"),
    ("receiver-final-ack-body-40-bytes", "MQQB-2.2.5-09", "has a body of 40 bytes"),
    ("receiver-final-ack-requests-acknowledgment", "MQQB-2.2.5-10", "requests an acknowledgment"),
    ("receiver-final-ack-body-type-vt-ui1", "MQQB-2.2.5-23", "has BodyType VT_UI1"),
    (
        "receiver-final-ack-numbers-before-sequence-id",
        ("MQQB-2.2.5-24", "MQQB-2.2.5.1-D01"),
        "has its sequence numbers before TxSequenceID",
    ),
    ("receiver-final-ack-message-id-before-source-guid", "MQQB-2.2.5.1-D01", "has MessageID before SourceGUID"),
    (
        "receiver-final-ack-sequence-number-31-bits",
        "MQQB-2.2.5.1-D02",
        "has a TxSequenceNumber without its highest bit",
    ),
    ("receiver-final-ack-sequence-number-zero", "MQQB-2.2.5.1-D02", "has a TxSequenceNumber of 0"),
    ("receiver-final-ack-sequence-id-one-more", "MQQB-2.2.5.1-01", "has a TxSequenceID that is one too high"),
    ("receiver-final-ack-sequence-number-one-more", "MQQB-2.2.5.1-02", "has a TxSequenceNumber that is one too high"),
    (
        "receiver-final-ack-previous-number-one-more",
        "MQQB-2.2.5.1-03",
        "has a TxPreviousSequenceNumber that is one too high",
    ),
):
    add(_name, _rule, f"The receiver's FinalAck {_does}.", WRONG_HEADER_FAULTS[_does](is_final_ack))


def _make_final_ack_class_condition(*classes: MessageClass) -> Callable[[UserMessagePacket], bool]:
    """Return a predicate that is true for a FinalAck with one of the given classes."""
    return lambda packet: (
        packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
        and packet.MessagePropertiesHeader.MessageClass in classes
    )


_QUEUE_PURGED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


_RECEIVE_TIMEOUT_CLASS = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


_QUEUE_DELETED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_DELETED


_BAD_DESTINATION_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


_NOT_TRANSACTIONAL_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q


_OVER_QUOTA_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA


_BODY_TYPE_FIELD = "MessagePropertiesHeader.BodyType"


for _name, _rule, _path, _value, _classes in (
    ("receiver-final-ack-of-purge-express", "MQQB-2.2.5-03", "UserHeader.DM", 0, (_QUEUE_PURGED_CLASS,)),
    ("receiver-final-ack-of-expiry-express", "MQQB-2.2.5-03", "UserHeader.DM", 0, (_RECEIVE_TIMEOUT_CLASS,)),
    (
        "receiver-final-ack-of-deletion-with-body-type",
        "MQQB-2.2.5-23",
        "MessagePropertiesHeader.BodyType",
        8,
        (_QUEUE_DELETED_CLASS,),
    ),
    (
        "receiver-final-ack-of-refusal-with-body-type",
        "MQQB-2.2.5-23",
        _BODY_TYPE_FIELD,
        8,
        (_NOT_TRANSACTIONAL_QUEUE_CLASS,),
    ),
    ("receiver-final-ack-of-quota-with-pa", "MQQB-2.2.5-10", "MessagePropertiesHeader.PA", 1, (_OVER_QUOTA_CLASS,)),
    ("receiver-final-ack-of-purge-with-nr", "MQQB-2.2.5-10", "MessagePropertiesHeader.NR", 1, (_QUEUE_PURGED_CLASS,)),
    ("receiver-final-ack-of-missing-queue-with-jn", "MQQB-2.2.5-04", "UserHeader.JN", 1, (_BAD_DESTINATION_CLASS,)),
    ("receiver-final-ack-of-expiry-with-jp", "MQQB-2.2.5-04", "UserHeader.JP", 1, (_RECEIVE_TIMEOUT_CLASS,)),
    ("receiver-final-ack-of-purge-of-priority-3", "MQQB-2.2.5-01", "BaseHeader.PR", 3, (_QUEUE_PURGED_CLASS,)),
):
    add(
        _name,
        _rule,
        f"The receiver sends {_path} {_value} in a FinalAck of class {_classes[0].name}.",
        set_field_value(UserMessagePacket, _path, _value, _make_final_ack_class_condition(*_classes)),
        blind=True,
    )


@fault("receiver-final-ack-with-session-header", breaks="MQQB-2.2.5-01")
class ReceiverFinalAckWithSessionHeader(MessageSending):
    """The receiver puts a due session acknowledgment into the FinalAck, so SH is set in BaseHeader.Flags."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        due = self.is_acknowledgment_due(session, now)
        packet = super().update_user_message(session, position, now)
        if due and is_final_ack(packet):
            flags = packet.BaseHeader.Flags | 0x10
            header = self.qm.session_acks.build_session_header(session)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)
            self.qm.session_acks.reset_unacknowledged_counts(session, now)
        return packet


add(
    "receiver-final-ack-delivery-mode-0",
    "MQQB-2.2.5-03",
    "The receiver's FinalAck is express: its DM is 0.",
    clear_bits(UserMessagePacket, "UserHeader.DM", is_final_ack),
)


def _set_jp_of_final_ack(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if not is_final_ack(packet):
        return packet
    header = packet.UserHeader
    return replace(packet, UserHeader=replace(header, Flags=header.Flags | type(header).flags(JP=1)))


add(
    "receiver-final-ack-jp-set",
    "MQQB-2.2.5-04",
    "The receiver sets JP in a FinalAck.",
    change_constructed_packet(_set_jp_of_final_ack),
)


WRONG_FINAL_ACK_CLASS = 0xC004


def _make_final_ack_class_predicate(value: MessageClass) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == value


for _name, _rule, _class in (
    ("receiver-final-ack-class-ack-receive-replaced", "MQQB-2.2.5-11", MessageClass.MQMSG_CLASS_ACK_RECEIVE),
    (
        "receiver-final-ack-class-not-transactional-q-replaced",
        "MQQB-2.2.5-13",
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    ),
    ("receiver-final-ack-class-bad-dst-q-replaced", "MQQB-2.2.5-14", MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ("receiver-final-ack-class-access-denied-replaced", "MQQB-2.2.5-15", MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
    ("receiver-final-ack-class-bad-encryption-replaced", "MQQB-2.2.5-16", MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
    (
        "receiver-final-ack-class-unsupported-provider-replaced",
        "MQQB-2.2.5-17",
        MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    ),
    ("receiver-final-ack-class-bad-signature-replaced", "MQQB-2.2.5-18", MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
    ("receiver-final-ack-class-exceed-quota-replaced", "MQQB-2.2.5-19", MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA),
    ("receiver-final-ack-class-q-deleted-replaced", "MQQB-2.2.5-20", MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
    ("receiver-final-ack-class-q-purged-replaced", "MQQB-2.2.5-21", MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    (
        "receiver-final-ack-class-receive-timeout-replaced",
        "MQQB-2.2.5-22",
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
    ),
):
    add(
        _name,
        _rule,
        f"The receiver's FinalAck has the MessageClass 0x{WRONG_FINAL_ACK_CLASS:04X} instead of {_class.name}.",
        set_field_value(
            UserMessagePacket,
            "MessagePropertiesHeader.MessageClass",
            WRONG_FINAL_ACK_CLASS,
            _make_final_ack_class_predicate(_class),
        ),
    )


@fault("receiver-final-ack-class-q-purged-for-later-received-message", breaks="MQQB-2.2.5-11", blind=True)
class ReceiverFinalAckClassQPurgedForLaterReceivedMessage(FinalAcks):
    """The receiver sends the class NACK_Q_PURGED in the FinalAck of a received message whose TxSequenceNumber is
    greater than 1.
    """

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        number = position.MessageReference.TransactionSequenceNumber
        if reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE and number > 1 and position.order_queue is not None:
            self.send_final_ack_of_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED, now)
            return
        super().on_message_position_deleted(position, reason, now)


def _add_final_ack_class_fault(rule: str, name: str, says: str, when: Callable[[MessagePosition, MessageClass], bool],
                  other: MessageClass | None) -> None:  # fmt: skip
    """Register a fault: for selected removed messages, the receiver sends a FinalAck with a wrong class, or no
    FinalAck.
    """

    class Changed(FinalAcks):
        def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
            if not when(position, reason):
                super().send_final_ack_of_message(position, reason, now)
            elif other is not None:
                super().send_final_ack_of_message(position, other, now)

    add(name, rule, says, replace_part(Changed))


def _requests_only_negative_journaling(position: MessagePosition) -> bool:
    message = position.MessageReference
    return message.NegativeJournalingRequested and not message.PositiveJournalingRequested


_add_final_ack_class_fault(
    "MQQB-2.2.5-11",
    "receiver-final-ack-of-received-message-with-jn-only-purged",
    (
        "The receiver sends a FinalAck with class NACK_Q_PURGED for a received message that "
        "requests only negative journaling."
    ),
    lambda position, cls: cls is MessageClass.MQMSG_CLASS_ACK_RECEIVE and _requests_only_negative_journaling(position),
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
)


@fault("receiver-second-final-ack-of-plain-queue-has-class-bad-dst-q", breaks="MQQB-2.2.5-13", blind=True)
class ReceiverSecondFinalAckOfPlainQueueHasClassBadDstQ(OrderAcks):
    """The receiver sends the class NACK_BAD_DST_Q in the FinalAck of the second message for a
    nontransactional queue.
    """

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q and body.TxSequenceNumber > 1:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-missing-for-refused-message-of-second-source", breaks="MQQB-2.2.5-14")
class ReceiverFinalAckMissingForRefusedMessageOfSecondSource(FinalAcks):
    """The receiver sends FinalAcks only for the sequence to which the first refused message belongs, and not for
    refused messages of other sequences.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        if headers_of_first_refused_messages.setdefault(self.qm, header).TxSequenceID == header.TxSequenceID:
            super().send_negative_final_ack(session, packet, message_class, now)


def _add_refusal_class_fault(rule: str, name: str, says: str, when: Callable[[UserMessagePacket, MessageClass], Any],
                    other: MessageClass | None) -> None:  # fmt: skip
    """Register a fault: for selected refused transactional messages, the receiver sends a FinalAck with a wrong class,
    or no FinalAck.
    """

    class Changed(FinalAcks):
        def send_negative_final_ack(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            if not when(packet, message_class):
                super().send_negative_final_ack(session, packet, message_class, now)
            elif other is not None:
                super().send_negative_final_ack(session, packet, other, now)

    add(name, rule, says, replace_part(Changed))


_add_refusal_class_fault(
    "MQQB-2.2.5-15",
    "receiver-final-ack-of-denied-message-bad-dst-q",
    "The receiver refuses a transactional message without the right to write with class NACK_BAD_DST_Q if JN is set.",
    lambda packet, cls: cls is MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED and packet.UserHeader.JN,
    MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
)


_add_refusal_class_fault(
    "MQQB-2.2.5-19",
    "receiver-final-ack-of-quota-only-with-negative-ack",
    "The receiver sends a FinalAck for a full queue only if NA is set in the message.",
    lambda packet, cls: cls is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA and not packet.MessagePropertiesHeader.NA,
    None,
)


def _requests_only_positive_journaling(position: MessagePosition) -> bool:
    message = position.MessageReference
    return message.PositiveJournalingRequested and not message.NegativeJournalingRequested


_add_final_ack_class_fault(
    "MQQB-2.2.5-21",
    "receiver-final-ack-of-purged-message-with-jp-only-deleted",
    (
        "The receiver sends a FinalAck with class NACK_Q_DELETED for a purged message that "
        "requests only positive journaling."
    ),
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and _requests_only_positive_journaling(position)
    ),
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
)


_add_final_ack_class_fault(
    "MQQB-2.2.5-21",
    "receiver-final-ack-of-second-purged-message-ack-receive",
    "The receiver sends a FinalAck with class ACK_RECEIVE for each purged message after the first of its sequence.",
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and position.MessageReference.TransactionSequenceNumber > 1
    ),
    MessageClass.MQMSG_CLASS_ACK_RECEIVE,
)


_add_final_ack_class_fault(
    "MQQB-2.2.5-22",
    "receiver-final-ack-of-expired-message-with-jp-only-purged",
    (
        "The receiver sends a FinalAck with class NACK_Q_PURGED for an expired message that "
        "requests only positive journaling."
    ),
    lambda position, cls: (
        cls is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT and _requests_only_positive_journaling(position)
    ),
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
)


NEGATIVE_JOURNALING_FLAG_JN = UserHeader.flags(JN=1)


@fault("receiver-jn-set-in-final-ack-on-own-session", breaks="MQQB-2.2.5-04", blind=True)
class ReceiverJnSetInFinalAckOnOwnSession(MessageSending):
    """If the session of the acknowledged message is closed, the receiver sends the FinalAck on a session that it opens
    itself, and sets JN in UserHeader.Flags of this FinalAck.
    """

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        queue, message = position.MessagePosition.QueueReference, position.MessagePosition.MessageReference
        assert isinstance(queue, OutgoingQueue)
        apart = session.initiator and queue.DestinationFormatName == message.DestinationQueueFormatName
        if apart and is_final_ack(packet):
            header = packet.UserHeader
            packet = replace(packet, UserHeader=replace(header, Flags=header.Flags | NEGATIVE_JOURNALING_FLAG_JN))
        super().transmit(session, position, packet)


@fault("receiver-final-ack-of-bad-signature-has-class-bad-encryption", breaks="MQQB-2.2.5-18", blind=True)
class ReceiverFinalAckOfBadSignatureHasClassBadEncryption(FinalAcks):
    """The receiver sends a FinalAck of class NACK_BAD_ENCRYPTION for an encrypted transactional message that has an
    invalid signature.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if encrypted and message_class is MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
        super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-class-q-purged-for-subqueue-of-deleted-queue", breaks="MQQB-2.2.5-20", blind=True)
class ReceiverFinalAckClassQPurgedForSubqueueOfDeletedQueue(FinalAcks):
    """The receiver sends a FinalAck of class NACK_Q_PURGED for a transactional message that was in a subqueue when its
    queue was deleted.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        in_subqueue = position.QueueReference.parent is not None
        if in_subqueue and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().send_final_ack_of_message(position, reason, now)

"""Faults that break the rules MQQB-2.2.5.1-01 to MQQB-2.2.5-D01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    MessagePosition,
    Session,
)
from reference_qm.surface.clock import Now
from suites.mqqb.s2_2_5_final_ack_packet.fault_steps import headers_of_first_refused_messages


@fault("receiver-final-ack-has-newest-tx-sequence-id-of-sender", breaks="MQQB-2.2.5.1-01", blind=True)
class ReceiverFinalAckHasNewestTxSequenceIdOfSender(FinalAcks):
    """The receiver sends a FinalAck with the sender's newest TxSequenceID instead of the TxSequenceID of
    the message.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().send_final_ack_of_message(position, reason, now)


def _change_final_ack_body_by_message_class(
    change: Callable[[FinalAckBody, MessageClass, dict[str, Any]], FinalAckBody],
) -> Install:
    """Return a function that installs a fault, which changes the body of each FinalAck. The third argument of `change`
    stores the state of the fault.
    """

    class Changed(OrderAcks):
        def send_transactional_ack(
            self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
        ) -> None:
            if isinstance(body, FinalAckBody):
                body = change(body, message_class, self.__dict__)
            super().send_transactional_ack(name, message_class, body, now)

    return replace_part(Changed)


add(
    "receiver-final-ack-sequence-of-first-final-ack",
    "MQQB-2.2.5.1-01",
    "The receiver sends TxSequenceID of its first FinalAck in every later FinalAck.",
    _change_final_ack_body_by_message_class(
        lambda body, _, kept: replace(body, TxSequenceID=kept.setdefault("first", body.TxSequenceID))
    ),
)


class _FinalAcksWithFieldsOfFirstRefusal(FinalAcks):
    """Build FinalAcks of refused messages with fields of the first refused message."""

    fields: tuple[str, ...] = ()

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        first = headers_of_first_refused_messages.setdefault(self.qm, header)
        changed = replace(header, **{name: getattr(first, name) for name in self.fields})
        super().send_negative_final_ack(session, replace(packet, TransactionHeader=changed), message_class, now)


@fault("receiver-final-acks-repeat-sequence-id-of-first-refusal", breaks="MQQB-2.2.5.1-01")
class ReceiverFinalAcksRepeatSequenceIdOfFirstRefusal(_FinalAcksWithFieldsOfFirstRefusal):
    """TxSequenceID of the FinalAck of every refused message is that of the first refused message."""

    fields = ("TxSequenceID",)


@fault("receiver-final-ack-tx-sequence-number-at-most-65535", breaks="MQQB-2.2.5.1-02", blind=True)
class ReceiverFinalAckTxSequenceNumberAtMost65535(OrderAcks):
    """The receiver sends a FinalAck with TxSequenceNumber 0xFFFF instead of a greater number."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxSequenceNumber=min(body.TxSequenceNumber, 0xFFFF))
        super().send_transactional_ack(name, message_class, body, now)


add(
    "receiver-final-ack-number-counts-final-acks",
    "MQQB-2.2.5.1-02",
    "The receiver counts the FinalAcks of a queue manager, and sends this count as TxSequenceNumber of a FinalAck.",
    _change_final_ack_body_by_message_class(
        lambda body, _, kept: replace(
            body, TxSequenceNumber=kept.update(count=kept.get("count", 0) + 1) or kept["count"]
        )
    ),
)


@fault("receiver-final-acks-repeat-number-of-first-refused-message", breaks="MQQB-2.2.5.1-02")
class ReceiverFinalAcksRepeatNumberOfFirstRefusedMessage(_FinalAcksWithFieldsOfFirstRefusal):
    """TxSequenceNumber of the FinalAck of every refused message is that of the first refused message."""

    fields = ("TxSequenceNumber",)


def _change_final_ack_body(change: Any) -> Any:
    def make_changed_sending(original: Any) -> Any:
        def send_changed_final_ack(qm: QM, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
            original(qm, name, message_class, change(body) if isinstance(body, FinalAckBody) else body, now)

        return send_changed_final_ack

    return replace_part(override_method(OrderAcks.send_transactional_ack, make_changed_sending))


add(
    "receiver-final-ack-previous-number-ignores-gap",
    ("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D05", "MQQB-3.1.7.17-D08"),
    "The receiver's FinalAck has a TxPreviousSequenceNumber one less than its TxSequenceNumber, even after a gap.",
    _change_final_ack_body(lambda body: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
    blind=True,
)


@fault(
    "receiver-negative-final-ack-previous-number-computed", breaks=("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D08"), blind=True
)
class ReceiverNegativeFinalAckPreviousNumberComputed(FinalAcks):
    """In the FinalAck of a refused message, the receiver sends TxSequenceNumber - 1 as TxPreviousSequenceNumber, even
    if the message bridges a gap.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        header = replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
        super().send_negative_final_ack(session, replace(packet, TransactionHeader=header), message_class, now)


@fault("receiver-final-ack-previous-number-always-number-minus-one", breaks="MQQB-2.2.5.1-03", blind=True)
class ReceiverFinalAckPreviousNumberAlwaysNumberMinusOne(OrderAcks):
    """The receiver sends a FinalAck whose TxPreviousSequenceNumber is TxSequenceNumber minus one, even after a gap in
    the numbers.
    """

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, TxPreviousSequenceNumber=max(0, body.TxSequenceNumber - 1))
        super().send_transactional_ack(name, message_class, body, now)


add(
    "receiver-final-ack-previous-number-is-number-minus-1",
    "MQQB-2.2.5.1-03",
    "The receiver sends TxSequenceNumber minus one as TxPreviousSequenceNumber of a FinalAck.",
    _change_final_ack_body_by_message_class(
        lambda body, *_: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)
    ),
)


@fault("receiver-final-ack-body-message-id-cut-to-16-bits", breaks="MQQB-2.2.5.1-D01", blind=True)
class ReceiverFinalAckBodyMessageIdCutTo16Bits(OrderAcks):
    """The receiver sends a FinalAck whose MessageID has only the lower 16 bits of the message number."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody):
            body = replace(body, MessageID=body.MessageID & 0xFFFF)
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-ack-of-refusal-has-own-guid-as-source-guid", breaks="MQQB-2.2.5.1-D01", blind=True)
class ReceiverFinalAckOfRefusalHasOwnGuidAsSourceGuid(OrderAcks):
    """The receiver sends a negative FinalAck whose SourceGUID is the receiver's own Identifier."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody) and message_class >= 0x8000:
            own: UUID = self.qm.adm.Identifier
            body = replace(body, SourceGUID=own)
        super().send_transactional_ack(name, message_class, body, now)


add(
    "receiver-final-ack-message-id-of-first-final-ack",
    "MQQB-2.2.5.1-D01",
    "The receiver sends MessageID of its first FinalAck in every later FinalAck.",
    _change_final_ack_body_by_message_class(
        lambda body, _, kept: replace(body, MessageID=kept.setdefault("first", body.MessageID))
    ),
)


QUEUE_REFUSAL_CLASSES = frozenset(
    {
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
        MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
        MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
    }
)


add(
    "receiver-final-ack-of-refusal-source-guid-0",
    "MQQB-2.2.5.1-D01",
    "The receiver sends a SourceGUID of zeros in a FinalAck for a refused message.",
    _change_final_ack_body_by_message_class(
        lambda body, cls, _: (
            replace(body, SourceGUID=type(body.SourceGUID)(int=0)) if cls in QUEUE_REFUSAL_CLASSES else body
        )
    ),
)


@fault("receiver-final-ack-sent-without-journaling", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckSentWithoutJournaling(FinalAcks):
    """The receiver sends a FinalAck for each transactional message that leaves its queue, even without journaling."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        for session in self.qm.sessions.values():
            if position.order_queue is None and message.TransactionSequenceNumber:
                source = message.Identifier.QueueManagerGuid
                position.order_queue = self.qm.order_acks.build_order_queue_name(session, source)
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-final-ack-missing-for-removed-message-with-only-jn", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckMissingForRemovedMessageWithOnlyJn(FinalAcks):
    """The receiver sends no FinalAck for a message with only negative journaling that leaves its queue."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if not position.MessageReference.PositiveJournalingRequested:
            position.order_queue = None
        super().on_message_position_deleted(position, reason, now)


@fault(
    "receiver-final-ack-missing-for-received-message-with-only-jn",
    breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"),
    blind=True,
)
class ReceiverFinalAckMissingForReceivedMessageWithOnlyJn(FinalAcks):
    """When an application receives a message with only JN, the receiver sends no FinalAck; the receiver sends a
    FinalAck only when such a message fails.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.NegativeJournalingRequested and not message.PositiveJournalingRequested
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().send_final_ack_of_message(position, reason, now)


@fault(
    "receiver-final-ack-missing-for-failed-message-with-only-jp",
    breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"),
    blind=True,
)
class ReceiverFinalAckMissingForFailedMessageWithOnlyJp(FinalAcks):
    """When a message with only JP fails, the receiver sends no FinalAck; the receiver sends a FinalAck only when an
    application receives such a message.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-sent-for-purged-message-without-jn-and-jp", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckSentForPurgedMessageWithoutJnAndJp(FinalAcks):
    """The receiver sends a FinalAck for every transactional message that is purged, even without JN and JP."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        purged = reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        if purged and position.order_queue is None and message.TransactionIdentifier is not None and self.qm.sessions:
            session = next(iter(self.qm.sessions.values()))
            source = message.Identifier.QueueManagerGuid
            position.order_queue = self.qm.order_acks.build_order_queue_name(session, source)
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-final-ack-sent-only-for-first-purged-message", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckSentOnlyForFirstPurgedMessage(FinalAcks):
    """When several messages are purged at once, the receiver sends a FinalAck only for the first message."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        last = self.__dict__.get("last")
        self.__dict__["last"] = (id(position.QueueReference), now.monotonic_ms)
        if reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED and last == self.__dict__["last"]:
            position.order_queue = None
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-final-ack-missing-for-received-message-with-only-jp", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckMissingForReceivedMessageWithOnlyJp(FinalAcks):
    """The receiver sends no FinalAck for a received message with only JP."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE and not message.NegativeJournalingRequested:
            position.order_queue = None
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-final-ack-of-refused-message-sent-only-if-jn-is-set", breaks="MQQB-2.2.5-D01", blind=True)
class ReceiverFinalAckOfRefusedMessageSentOnlyIfJnIsSet(FinalAcks):
    """The receiver sends a FinalAck for a refused transactional message only if JN is set."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-sent-when-message-with-jp-arrives", breaks="MQQB-2.2.5-D01")
class ReceiverFinalAckSentWhenMessageWithJpArrives(TransactionalReceiving):
    """The receiver sends a FinalAck with class ACK_RECEIVE when a message with JP set arrives in its queue."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        if packet.UserHeader.JP:
            received = MessageClass.MQMSG_CLASS_ACK_RECEIVE
            self.qm.final_acks.send_negative_final_ack(session, packet, received, now)

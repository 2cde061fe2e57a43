"""Second faults of receiving, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.8, 3.1.7.2, 3.1.7.15, 3.1.7.17.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import changed, fault, replaced
from harness.faults.primitives import during, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.admission import Admission
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.messages import DIRECT, PUBLIC
from reference_qm.core.protocol.order_acks import OrderAcks
from reference_qm.core.protocol.own_messages import OwnMessages
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.routing import Routing
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.tracing import Tracing
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    Message,
    MessageIDHistoryEntry,
    MessagePosition,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

_EXPRESS, _RECOVERABLE = DeliveryGuarantee.EXPRESS, DeliveryGuarantee.RECOVERABLE
Outcome = UserMessagePacket | MessageClass

# -- duplicates, destinations, hops, quotas ---------------------------------------------------------------------------


@fault("duplicate-not-found-on-another-session", breaks="MQQB-3.1.5.8.1-01")
class DuplicateNotFoundOnAnotherSession(Receiving):
    """A message that came on an earlier session is no duplicate on the next."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._session: Session | None = None
        self._came: set[tuple[int, UUID, int]] = set()

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self._session = session
        super().receive_user_message(session, packet, now)

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        number = 0 if self._session is None else self._session.number
        place = (number, packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        known = place in self._came
        self._came.add(place)
        return super().find_duplicate(packet) if known else None


@fault("recoverable-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04")
class RecoverableDuplicateAccepted(Receiving):
    """Only express messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None if packet.UserHeader.DM else super().find_duplicate(packet)


@fault("express-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04")
class ExpressDuplicateAccepted(Receiving):
    """Only recoverable messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return super().find_duplicate(packet) if packet.UserHeader.DM else None


@fault("unknown-public-queue-not-nacked", breaks="MQQB-3.1.5.8.2-17")
class UnknownPublicQueueNotNacked(Admission):
    """A message to a public queue that is not there is refused without BAD_DST_Q."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != PUBLIC or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_message(session, packet, message_class, now)


@fault("final-ack-of-a-missing-queue-only-for-jn", breaks="MQQB-3.1.5.8.2-20")
class FinalAckOfAMissingQueueOnlyForJn(FinalAcks):
    """A transactional message to a queue that is not there has its FinalAck only if it has JN."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_transactional(session, packet, message_class, now)


@fault("recoverable-message-taken-by-a-transactional-queue", breaks="MQQB-3.1.5.8.2-33")
class RecoverableMessageTakenByATransactionalQueue(Admission):
    """A transactional queue refuses express messages only, and takes recoverable ones."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if packet.UserHeader.DM:
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)


@fault("late-recoverable-message-accepted", breaks="MQQB-3.1.5.8-07")
class LateRecoverableMessageAccepted(Admission):
    """The time of a recoverable message is never over when it arrives."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.DM and not packet.UserHeader.TH:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("late-message-with-a-time-to-be-received-accepted", breaks="MQQB-3.1.5.8-07")
class LateMessageWithATimeToBeReceivedAccepted(Admission):
    """A message that also has a time to be received is not looked at when it arrives."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.TimeToBeReceived != 0xFFFFFFFF:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("hop-not-counted-for-transactional-messages", breaks="MQQB-3.1.5.8.2-39")
class HopNotCountedForTransactionalMessages(Routing):
    """A transactional message is sent on with its RC as it was."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is not None and packet.UserHeader.TH else counted


@fault("final-ack-of-too-many-hops-only-with-na", breaks="MQQB-3.1.5.8.2-44")
class FinalAckOfTooManyHopsOnlyWithNa(FinalAcks):
    """A transactional message with too many hops has its FinalAck only if it has NA."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.MessagePropertiesHeader.NA or message_class is not MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
            super().refuse_transactional(session, packet, message_class, now)


@fault("recoverable-message-over-quota-no-dead-letter", breaks="MQQB-3.1.5.8.8-10")
class RecoverableMessageOverQuotaNoDeadLetter(Admission):
    """Only an express message that exceeds the quota of its queue becomes a dead letter."""

    def log_refused(self, message: Message) -> None:
        if message.DeliveryGuarantee is _EXPRESS:
            super().log_refused(message)


# -- sequences --------------------------------------------------------------------------------------------------------


@fault("message-must-follow-on-the-very-last", breaks="MQQB-3.1.5.8.6-D03")
class MessageMustFollowOnTheVeryLast(InSequence):
    """A message is accepted only when the message before it is the very last one accepted."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        goes_on = header.TxSequenceID == session.IncomingTxSequenceID
        if goes_on and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


@fault("sequence-has-to-begin-with-one", breaks="MQQB-3.1.5.8.6-D04")
class SequenceHasToBeginWithOne(InSequence):
    """The first message of a later sequence is accepted only with the number 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID != session.IncomingTxSequenceID and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("later-sequence-told-by-its-timestamp-alone", breaks="MQMQ-2.2.18.1.2-D02")
class LaterSequenceToldByItsTimestampAlone(InSequence):
    """Of two sequences with one TimeStamp neither is later, whatever their Ordinals."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID != last and header.TxSequenceID.TimeStamp == last.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("later-sequence-told-in-signed-numbers", breaks="MQMQ-2.2.18.1.2-D02")
class LaterSequenceToldInSignedNumbers(InSequence):
    """The numbers of sequences are compared as signed ones."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        assert header is not None
        if header.TxSequenceID == last:
            return super().is_in_sequence(session, packet)
        return _signed(header.TxSequenceID) > _signed(last) and header.PreviousTxSequenceNumber == 0


def _signed(identifier: TxSequenceID) -> int:
    return (int(identifier) ^ 1 << 63) - (1 << 63)


@fault("repeated-message-brings-no-order-ack", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06"))
class RepeatedMessageBringsNoOrderAck(InSequence):
    """A message that is not accepted lets no OrderAck be sent: one that was lost is never sent again."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            session.order_acks_due.pop(transfer, None)
        if not session.order_acks_due:
            self.qm.session_timers.stop(session, TimerName.ORDER_ACK_SEND)


@fault("order-ack-names-a-number-that-was-rejected", breaks="MQQB-3.1.1.6.2-D01")
class OrderAckNamesANumberThatWasRejected(InSequence):
    """A message beyond a gap is rejected, but the next OrderAck has its number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        for transfer in session.order_acks_due:
            if not accepted and transfer.saved_identifier == header.TxSequenceID:
                transfer.saved_number = max(transfer.saved_number, header.TxSequenceNumber)
        return accepted


@fault("order-ack-timer-restarted-only-once", breaks="MQQB-3.1.5.8.6-02")
class OrderAckTimerRestartedOnlyOnce(OrderAcks):
    """A message puts the OrderAck off only once, however long ago the last one is."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._messages: dict[int, int] = {}

    def schedule(self, session: Session, now: Now) -> None:
        count = self._messages[session.number] = self._messages.get(session.number, 0) + 1
        if count <= 2:
            super().schedule(session, now)

    def on_send_timer(self, session: Session, now: Now) -> None:
        self._messages[session.number] = 0
        super().on_send_timer(session, now)


# -- final acknowledgments --------------------------------------------------------------------------------------------


@fault("received-message-with-jn-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"))
class ReceivedMessageWithJnAloneHasNoFinalAck(FinalAcks):
    """A message with JN alone has a FinalAck only when it failed: its sender never learns that it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.NegativeJournalingRequested and not message.PositiveJournalingRequested
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


@fault("failed-message-with-jp-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"))
class FailedMessageWithJpAloneHasNoFinalAck(FinalAcks):
    """A message with JP alone has a FinalAck only when it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


def _sent_final(change: Any) -> Any:
    def make(original: Any) -> Any:
        def send(qm: QM, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
            original(qm, name, message_class, change(body) if isinstance(body, FinalAckBody) else body, now)

        return send

    return replaced(changed(OrderAcks.send_transactional_ack, make))


add(
    "final-ack-previous-one-less",
    ("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D05", "MQQB-3.1.7.17-D08"),
    "TxPreviousSequenceNumber of a FinalAck is its TxSequenceNumber less one, also where the sequence has a gap.",
    _sent_final(lambda body: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
)


@fault("final-ack-names-the-newest-sequence", breaks="MQQB-2.2.5.1-01")
class FinalAckNamesTheNewestSequence(FinalAcks):
    """The FinalAck of a message names the sequence that its sender has got to meanwhile."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().acknowledge_final(position, reason, now)


@fault("final-ack-names-the-session-partner", breaks="MQQB-3.1.7.17-D09")
class FinalAckNamesTheSessionPartner(FinalAcks):
    """SourceGUID in the FinalAck of a refused message is the queue manager of the session, not its source."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        other = replace(packet.UserHeader, SourceQueueManager=session.RemoteQMGuid)
        super().refuse_transactional(session, replace(packet, UserHeader=other), message_class, now)


add(
    "acknowledgments-have-the-identifier-of-the-message-before",
    "MQQB-3.1.7.17-03",
    "An OrderAck or FinalAck has the identifier that the message sent before it had.",
    during(
        OrderAcks.send_transactional_ack,
        Sending.assign_identifier,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal or original(qm),
    ),
)


# -- administration acknowledgments -----------------------------------------------------------------------------------


@fault("arrival-of-transactional-messages-not-acknowledged", breaks="MQQB-3.1.5.8.10-02")
class ArrivalOfTransactionalMessagesNotAcknowledged(AdminAcks):
    """A transactional message that arrives is not acknowledged to its administration queue."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().acknowledge_arrival(position, now)


@fault("correlation-of-the-message-before", breaks="MQQB-3.1.7.15-18")
class CorrelationOfTheMessageBefore(AdminAcks):
    """The correlation of an acknowledgment is that of the acknowledgment before it, after the first one."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: bytes | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        before, self._before = self._before, ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=before or ack.CorrelationIdentifier)


def _built(change: Any) -> Any:
    def make(original: Any) -> Any:
        def build(qm: QM, message: Message, message_class: MessageClass, now: Now) -> Message:
            return change(original(qm, message, message_class, now), message)

        return build

    return replaced(changed(AdminAcks.build, make))


for name, rules, says, change in (
    (
        "acknowledgment-of-a-transactional-message-express",
        ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
        "The acknowledgment of a transactional message is express.",
        lambda ack, message: ack if message.TransactionIdentifier is None else replace(ack, DeliveryGuarantee=_EXPRESS),
    ),
    (
        "acknowledgment-with-a-body-cut",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "A negative acknowledgment brings back the first 256 bytes of the body.",
        lambda ack, message: replace(ack, Body=ack.Body[:256]),
    ),
    (
        "acknowledgment-answers-where-its-message-does",
        ("MQQB-3.1.7.15-19", "MQQB-3.1.7.15-20"),
        "The response queue of an acknowledgment is that of its message, if that has one.",
        lambda ack, message: replace(
            ack, ResponseQueueFormatName=message.ResponseQueueFormatName or ack.ResponseQueueFormatName
        ),
    ),
    (
        "acknowledgment-has-the-time-of-its-message",
        ("MQQB-3.1.7.15-D02",),
        "An acknowledgment has the time to reach its queue that its message had.",
        lambda ack, message: replace(ack, TimeToReachQueue=message.TimeToReachQueue),
    ),
    (
        "acknowledgment-waits-as-long-as-its-message",
        ("MQQB-3.1.7.15-D03",),
        "An acknowledgment has the time to be received that its message had.",
        lambda ack, message: replace(ack, TimeToBeReceived=message.TimeToBeReceived),
    ),
    (
        "acknowledgment-journaled-as-its-message",
        ("MQQB-3.1.7.15-D04",),
        "An acknowledgment has JP if its message had it.",
        lambda ack, message: replace(ack, PositiveJournalingRequested=message.PositiveJournalingRequested),
    ),
    (
        "acknowledgment-a-dead-letter-as-its-message",
        ("MQQB-3.1.7.15-D05",),
        "An acknowledgment has JN if its message had it.",
        lambda ack, message: replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested),
    ),
    (
        "acknowledgment-asks-for-what-its-message-asked",
        ("MQQB-3.1.7.15-D01",),
        "An acknowledgment of a message that asked for several acknowledgments asks for them, too.",
        lambda ack, message: (
            replace(
                ack,
                AcknowledgementsRequested=message.AcknowledgementsRequested,
                AdministrationQueueFormatName=message.AdministrationQueueFormatName,
            )
            if message.AcknowledgementsRequested.bit_count() > 1
            else ack
        ),
    ),
):
    add(name, rules, says, _built(change))


def _once_for_each_queue(reason: MessageClass) -> type[FinalAcks]:
    class OnceForEachQueue(FinalAcks):
        def __init__(self, qm: QueueManager) -> None:
            super().__init__(qm)
            self._told: set[int] = set()

        def position_deleted(self, position: MessagePosition, cause: MessageClass) -> None:
            queue = id(position.QueueReference)
            if cause is not reason or queue not in self._told:
                super().position_deleted(position, cause)
            if cause is reason:
                self._told.add(queue)

    return OnceForEachQueue


add(
    "deleted-queue-tells-of-its-first-message",
    "MQQB-3.1.7.2.1-D02",
    "Of the messages of a queue that is deleted only the first is acknowledged.",
    replaced(_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_DELETED)),
)
add(
    "purged-queue-tells-of-its-first-message",
    "MQQB-3.1.7.2.1-D03",
    "Of the messages of a queue that is purged only the first is acknowledged.",
    replaced(_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_PURGED)),
)


@fault("express-message-that-nobody-received-not-acknowledged", breaks="MQQB-3.1.7.2.1-D04")
class ExpressMessageThatNobodyReceivedNotAcknowledged(AdminAcks):
    """An express message whose time to be received is over is not acknowledged."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        late = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if not late or message.DeliveryGuarantee is _RECOVERABLE:
            super().acknowledge_receive(message, reason, now)


# -- reports ----------------------------------------------------------------------------------------------------------


@fault("arrival-of-transactional-messages-not-reported", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"))
class ArrivalOfTransactionalMessagesNotReported(Tracing):
    """A traced message that is transactional is not reported when it arrives."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received(message, now)


@fault("hops-in-the-label-of-a-report-decimal", breaks="MQQB-3.1.5.8.9-06")
class HopsInTheLabelOfAReportDecimal(Tracing):
    """The label of a report has the hops in decimal digits."""

    def build_report_label(self, message: Message, now: Now) -> str:
        label = super().build_report_label(message, now)
        return label.replace(f":{message.HopCount:02X} ", f":{message.HopCount:02} ", 1)


def _as_recoverable_as_traced(original: Any, _: QM, traced: Message, *__: Any) -> Any:
    def send(qm: QM, report: Message, now: Now) -> None:
        original(qm, replace(report, DeliveryGuarantee=traced.DeliveryGuarantee), now)

    return send


add(
    "report-of-a-recoverable-message-recoverable",
    "MQQB-3.1.5.8.9-05",
    "The report of a recoverable message is recoverable.",
    during(Tracing.send_report, OwnMessages.send, _as_recoverable_as_traced),
)


# -- security ---------------------------------------------------------------------------------------------------------


def _unverified(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a message as if its signature, if there is one, had been found genuine."""
    security = packet.SecurityHeader
    signed = security is not None and bool(security.SecurityData.Signature)
    return set_fields(packet, {"SecurityHeader.Flags": lambda old: old | 0x300}) if signed else packet


@fault("signature-of-an-empty-body-not-verified", breaks="MQQB-3.1.5.8.3-14")
class SignatureOfAnEmptyBodyNotVerified(SecurityOnReceipt):
    """The signature of a message without a body is believed."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        empty = not packet.MessagePropertiesHeader.MessageBody
        return _unverified(packet) if empty else super().authenticate_packet(packet)


@fault("signature-of-a-transactional-message-not-verified", breaks="MQQB-3.1.5.8.3-14")
class SignatureOfATransactionalMessageNotVerified(SecurityOnReceipt):
    """The signature of a transactional message is believed."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return _unverified(packet) if packet.UserHeader.TH else super().authenticate_packet(packet)


@fault("access-of-a-direct-name-not-checked", breaks="MQQB-3.1.5.8.3-90")
class AccessOfADirectNameNotChecked(SecurityOnReceipt):
    """Whoever names the queue directly may write to it."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.UserHeader.DQ != DIRECT:
            super().authorize_sender(packet, queue)


@fault("access-of-an-unsigned-message-not-checked", breaks="MQQB-3.1.5.8.3-89")
class AccessOfAnUnsignedMessageNotChecked(SecurityOnReceipt):
    """Only the sender of a signed message needs the right to write to the queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            super().authorize_sender(packet, queue)


@fault("body-of-a-transactional-message-not-decrypted", breaks="MQQB-3.1.5.8.3-45")
class BodyOfATransactionalMessageNotDecrypted(SecurityOnReceipt):
    """The body of a transactional message is left encrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet if packet.UserHeader.TH else super().decrypt_body(packet, now)

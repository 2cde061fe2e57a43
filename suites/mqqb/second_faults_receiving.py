"""Second faults of receiving, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.8.
"""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault, replaced
from harness.faults.primitives import both, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    MessageClass,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.messages import DIRECT, PUBLIC
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    Message,
    MessageIDHistoryEntry,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Outcome = UserMessagePacket | MessageClass

# -- duplicates, destinations, hops, quotas ---------------------------------------------------------------------------


class _HistoryOfEachSession(History):
    """A history for each session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.session: Session | None = None
        self._came: set[tuple[int, UUID, int]] = set()

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        number = 0 if self.session is None else self.session.number
        place = (number, packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        known = place in self._came
        self._came.add(place)
        return super().find_duplicate(packet) if known else None


class _SessionNoted(Receiving):
    """The session that a message comes on."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        assert isinstance(self.qm.history, _HistoryOfEachSession)
        self.qm.history.session = session
        super().receive_user_message(session, packet, now)


add(
    "duplicate-not-found-on-another-session",
    "MQQB-3.1.5.8.1-01",
    "A message that came on an earlier session is no duplicate on the next.",
    both(replaced(_HistoryOfEachSession), replaced(_SessionNoted)),
)


@fault("recoverable-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04")
class RecoverableDuplicateAccepted(History):
    """Only express messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None if packet.UserHeader.DM else super().find_duplicate(packet)


@fault("express-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04")
class ExpressDuplicateAccepted(History):
    """Only recoverable messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return super().find_duplicate(packet) if packet.UserHeader.DM else None


@fault("unknown-public-queue-not-nacked", breaks=("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"))
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
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
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

"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing: with two sequences, sessions or queues."""

from __future__ import annotations

from harness.faults.other_sessions import get_newest_session, list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

HIGHEST_16_BIT_NUMBER = 0xFFFF

# -- OrderAcks --------------------------------------------------------------------------------------------------------


@fault("receiver-order-ack-timer-started-in-newest-session", breaks=("MQQB-3.1.5.8.6-01", "MQQB-3.1.5.8.6-03"))
class ReceiverOrderAckTimerStartedInNewestSession(OrderAcks):
    """The receiver starts the Order Ack Send Timer of the newest open session instead of the session of the message."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        super().start_order_ack_timer(get_newest_session(self.qm, session), now)


@fault(
    "receiver-order-ack-of-first-due-sequence-only",
    breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.5.8.6-04", "MQSO-3.3.4.5-D03"),
)
class ReceiverOrderAckOfFirstDueSequenceOnly(OrderAcks):
    """The receiver sends an OrderAck only for the first of several sequences when the Order Ack Send Timer expires."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        for transfer in list(session.order_acks_due)[1:]:
            del session.order_acks_due[transfer]
        super().on_order_ack_send_timer(session, now)


@fault("receiver-order-ack-timer-not-restarted-on-later-session", breaks="MQQB-3.1.5.8.6-02")
class ReceiverOrderAckTimerNotRestartedOnLaterSession(OrderAcks):
    """The receiver restarts a running Order Ack Send Timer only on the session that was opened first."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number))
        earlier = any(one.number < session.number for one in list_open_sessions(self.qm, session))
        if not (running and earlier):
            super().start_order_ack_timer(session, now)


@fault("receiver-order-ack-omitted-if-its-number-has-not-changed", breaks="MQQB-3.1.5.8.6-04")
class ReceiverOrderAckOmittedIfItsNumberHasNotChanged(OrderAcks):
    """The receiver sends no OrderAck for a sequence whose last acknowledged number has not changed."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent: dict[tuple[int, int], int] = {}

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        for transfer in list(session.order_acks_due):
            key = (id(transfer), int(transfer.saved_sequence_identifier))
            if self._sent.get(key) == transfer.saved_sequence_number:
                del session.order_acks_due[transfer]
            self._sent[key] = transfer.saved_sequence_number
        super().on_order_ack_send_timer(session, now)


# -- rejected messages ------------------------------------------------------------------------------------------------


class _RejectionFault(TransactionalReceiving):
    def change_after_rejection(self, session: Session, transfer: IncomingTransactionalTransferInfo | None) -> None:
        raise NotImplementedError

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        self.change_after_rejection(session, transfer)


@fault("receiver-repetition-not-counted-as-rejected", breaks="MQQB-3.1.5.8.6-05")
class ReceiverRepetitionNotCountedAsRejected(TransactionalReceiving):
    """The receiver does not count a repeated transactional message in TxMessageRejectCount."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        if not accepted and header.TxSequenceNumber <= session.IncomingTxSequenceNumber:
            session.TxMessageRejectCount -= 1
        return accepted


@fault("receiver-message-of-older-sequence-not-counted-as-rejected", breaks="MQQB-3.1.5.8.6-05")
class ReceiverMessageOfOlderSequenceNotCountedAsRejected(TransactionalReceiving):
    """The receiver does not count a message of an older sequence in TxMessageRejectCount."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        if not accepted and header.TxSequenceID != session.IncomingTxSequenceID:
            session.TxMessageRejectCount -= 1
        return accepted


@fault("receiver-reject-count-of-transfer-info-at-most-1", breaks="MQQB-3.1.5.8.6-06")
class ReceiverRejectCountOfTransferInfoAtMost1(_RejectionFault):
    """The receiver sets RejectCount to 1 after several rejected messages."""

    def change_after_rejection(self, session: Session, transfer: IncomingTransactionalTransferInfo | None) -> None:
        if transfer is not None:
            transfer.RejectCount = min(transfer.RejectCount, 1)


@fault("receiver-reject-count-set-in-every-transfer-info", breaks="MQQB-3.1.5.8.6-06")
class ReceiverRejectCountSetInEveryTransferInfo(_RejectionFault):
    """The receiver sets RejectCount in the IncomingTransactionalTransferInfo of every queue."""

    def change_after_rejection(self, session: Session, transfer: IncomingTransactionalTransferInfo | None) -> None:
        for queue in self.qm.adm.QueueCollection.values():
            for one in queue.IncomingTransactionalTransferInfoCollection.values():
                one.RejectCount = session.TxMessageRejectCount


class _AcceptanceFault(TransactionalReceiving):
    def change_after_acceptance(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, rejected: int, now: Now
    ) -> None:
        raise NotImplementedError

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        rejected = session.TxMessageRejectCount
        super().accept_in_sequence_message(session, transfer, packet, now)
        self.change_after_acceptance(session, transfer, rejected, now)


@fault("receiver-reject-count-decremented-by-accepted-message", breaks="MQQB-3.1.5.8.6-07")
class ReceiverRejectCountDecrementedByAcceptedMessage(_AcceptanceFault):
    """The receiver decrements TxMessageRejectCount by one when it accepts a message, instead of setting it to 0."""

    def change_after_acceptance(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, rejected: int, now: Now
    ) -> None:
        session.TxMessageRejectCount = transfer.RejectCount = max(0, rejected - 1)


@fault("receiver-last-access-time-set-in-every-sequence", breaks="MQQB-3.1.5.8.6-08")
class ReceiverLastAccessTimeSetInEverySequence(_AcceptanceFault):
    """The receiver sets LastAccessTime in the IncomingTransactionalTransferInfo of every queue."""

    def change_after_acceptance(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, rejected: int, now: Now
    ) -> None:
        for queue in self.qm.adm.QueueCollection.values():
            for one in queue.IncomingTransactionalTransferInfoCollection.values():
                one.LastAccessTime = now.utc_s


@fault("receiver-last-access-time-is-sent-time-of-message", breaks="MQQB-3.1.5.8.6-08")
class ReceiverLastAccessTimeIsSentTimeOfMessage(TransactionalReceiving):
    """The receiver sets LastAccessTime to the SentTime of the message."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        transfer.LastAccessTime = packet.UserHeader.SentTime


# -- the order of messages --------------------------------------------------------------------------------------------


@fault("receiver-order-of-messages-to-non-tcp-name-not-checked", breaks="MQQB-3.1.5.8.6-D01")
class ReceiverOrderOfMessagesToNonTcpNameNotChecked(TransactionalReceiving):
    """The receiver accepts a transactional message in any order if its direct name does not begin with TCP."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        name = getattr(packet.UserHeader.DestinationQueue, "DirectFormatName", "TCP:")
        return not name.upper().startswith("TCP:") or super().is_in_sequence(session, packet)


@fault("receiver-order-of-messages-with-jn-not-checked", breaks="MQQB-3.1.5.8.6-D02")
class ReceiverOrderOfMessagesWithJnNotChecked(TransactionalReceiving):
    """The receiver accepts a transactional message with JN in any order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.JN) or super().is_in_sequence(session, packet)


@fault("receiver-repetition-of-first-message-accepted", breaks=("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D03"))
class ReceiverRepetitionOfFirstMessageAccepted(TransactionalReceiving):
    """The receiver accepts a message with PreviousTxSequenceNumber 0 although its number is not greater than the last
    number.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        again = header.PreviousTxSequenceNumber == 0 and header.TxSequenceID == session.IncomingTxSequenceID
        return again or super().is_in_sequence(session, packet)


@fault("receiver-tx-sequence-number-compared-in-16-bits", breaks="MQQB-3.1.5.8.6-D03")
class ReceiverTxSequenceNumberComparedIn16Bits(TransactionalReceiving):
    """The receiver compares only the lower 16 bits of TxSequenceNumber and PreviousTxSequenceNumber."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            known = session.IncomingTxSequenceNumber & HIGHEST_16_BIT_NUMBER
            number = header.TxSequenceNumber & HIGHEST_16_BIT_NUMBER
            return header.PreviousTxSequenceNumber & HIGHEST_16_BIT_NUMBER <= known < number
        return super().is_in_sequence(session, packet)


@fault("receiver-later-sequence-compared-by-time-stamp-only", breaks="MQQB-3.1.5.8.6-D04")
class ReceiverLaterSequenceComparedByTimeStampOnly(TransactionalReceiving):
    """The receiver rejects the first message of a new sequence if the TimeStamp of this sequence is not later than that
    of the current sequence.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        other = header.TxSequenceID != session.IncomingTxSequenceID
        if other and header.TxSequenceID.TimeStamp <= session.IncomingTxSequenceID.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-later-sequence-compared-by-ordinal-first", breaks="MQQB-3.1.5.8.6-D04")
class ReceiverLaterSequenceComparedByOrdinalFirst(TransactionalReceiving):
    """The receiver rejects the first message of a later sequence if the Ordinal of this sequence is lower than that of
    the current sequence.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID.Ordinal < session.IncomingTxSequenceID.Ordinal:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-third-sequence-of-sender-rejected", breaks="MQQB-3.1.5.8.6-D04")
class ReceiverThirdSequenceOfSenderRejected(TransactionalReceiving):
    """The receiver rejects the third sequence of a sender."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: dict[object, set[int]] = {}

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        accepted = super().is_in_sequence(session, packet)
        known = self._known.setdefault(str(packet.UserHeader.DestinationQueue), set())
        if accepted:
            known.add(int(header.TxSequenceID))
        return accepted and len(known) <= 2 and session.SessionState is SessionState.OPEN

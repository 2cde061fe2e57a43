"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing: the timer, the access time, and gaps of a sequence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-delay-limited-from-first-unacknowledged-message", breaks="MQQB-3.1.5.8.6-02", blind=True)
class ReceiverOrderAckDelayLimitedFromFirstUnacknowledgedMessage(OrderAcks):
    """The receiver restarts the running Order Ack Send Timer until MaximumOrderAckDelay has passed since the first
    unacknowledged message, even if the last OrderAck is older.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.started_s: dict[int, int] = {}

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        if not self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)):
            self.started_s[session.number] = now.utc_s
        kept = session.LastOrderAckSendTime
        session.LastOrderAckSendTime = max(kept, self.started_s[session.number])
        super().start_order_ack_timer(session, now)
        session.LastOrderAckSendTime = min(kept, now.utc_s)


@fault("receiver-last-access-time-of-sequence-set-by-order-ack", breaks="MQQB-3.1.5.8.6-08", blind=True)
class ReceiverLastAccessTimeOfSequenceSetByOrderAck(OrderAcks):
    """The receiver also sets LastAccessTime of a sequence when it sends an OrderAck of the sequence."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        due = [*session.order_acks_due] if session.SessionState is SessionState.OPEN else []
        super().on_order_ack_send_timer(session, now)
        for transfer in due:
            if transfer.saved_sequence_number:
                transfer.LastAccessTime = now.utc_s


@fault("receiver-sequence-number-after-gap-grows-by-one", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverSequenceNumberAfterGapGrowsByOne(TransactionalReceiving):
    """When the receiver accepts a later message of the current sequence, it increments the number of the sequence by
    one, even if numbers before TxSequenceNumber are missing.
    """

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        identifier, number = transfer.SequenceIdentifier, transfer.SequenceNumber
        super().accept_in_sequence_message(session, transfer, packet, now)
        if number and identifier == transfer.SequenceIdentifier:
            session.IncomingTxSequenceNumber = transfer.SequenceNumber = number + 1


@fault("receiver-later-message-with-previous-number-0-refused", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverLaterMessageWithPreviousNumber0Refused(TransactionalReceiving):
    """If the receiver has already accepted a message of a sequence, it refuses every message of this sequence whose
    PreviousTxSequenceNumber is 0.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        current = header.TxSequenceID == session.IncomingTxSequenceID and session.IncomingTxSequenceNumber > 0
        return not (current and header.PreviousTxSequenceNumber == 0) and super().is_in_sequence(session, packet)

"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("receiver-later-sequence-accepted-only-from-number-1", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class ReceiverLaterSequenceAcceptedOnlyFromNumber1(InSequence):
    """The receiver accepts the first message of a later sequence only if its TxSequenceNumber is 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        later = header is not None and header.TxSequenceID != session.IncomingTxSequenceID
        if later and header is not None and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-message-with-lower-previous-number-rejected", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverMessageWithLowerPreviousNumberRejected(InSequence):
    """The receiver rejects a message whose PreviousTxSequenceNumber is lower than the last accepted number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        same = header is not None and header.TxSequenceID == session.IncomingTxSequenceID
        if same and header is not None and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-number-of-sequence-compared-with-sign", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverNumberOfSequenceComparedWithSign(InSequence):
    """The receiver compares TxSequenceNumbers as signed numbers of 32 bits."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            numbers = (header.PreviousTxSequenceNumber, session.IncomingTxSequenceNumber, header.TxSequenceNumber)
            before, last, number = ((one ^ 0x80000000) - 0x80000000 for one in numbers)
            return before <= last < number
        return super().is_in_sequence(session, packet)


@fault("receiver-order-ack-timer-restarted-without-limit-from-second-order-ack", breaks="MQQB-3.1.5.8.6-01", blind=True)
class ReceiverOrderAckTimerRestartedWithoutLimitFromSecondOrderAck(OrderAcks):
    """The receiver limits the delay only of the first OrderAck of a session."""

    def schedule(self, session: Session, now: Now) -> None:
        if session.MessageSentCount:
            session.LastOrderAckSendTime = now.utc_s
        super().schedule(session, now)


@fault("receiver-reject-count-at-most-1", breaks="MQQB-3.1.5.8.6-05", blind=True)
class ReceiverRejectCountAtMost1(InSequence):
    """The receiver counts only the first of several rejected messages."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        if session.TxMessageRejectCount:
            session.TxMessageRejectCount -= 1
        super().reject_out_of_sequence(session, transfer, now)


@fault("receiver-reject-count-of-other-sequence", breaks="MQQB-3.1.5.8.6-06", blind=True)
class ReceiverRejectCountOfOtherSequence(InSequence):
    """The receiver sets RejectCount of every sequence of a queue when it rejects a message."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            for other in transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values():
                other.RejectCount = transfer.RejectCount


@fault("receiver-reject-count-reset-only-by-new-sequence", breaks="MQQB-3.1.5.8.6-07", blind=True)
class ReceiverRejectCountResetOnlyByNewSequence(InSequence):
    """The receiver resets the reject count only when it accepts the first message of a sequence."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count = session.TxMessageRejectCount
        super().accept_in_sequence(session, transfer, packet, now)
        if packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber > 1:
            session.TxMessageRejectCount = transfer.RejectCount = count


@fault("receiver-transfer-info-access-time-of-first-message", breaks="MQQB-3.1.5.8.6-08", blind=True)
class ReceiverTransferInfoAccessTimeOfFirstMessage(InSequence):
    """The receiver sets LastAccessTime only for the first message of a sequence."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        time_s = transfer.LastAccessTime
        super().accept_in_sequence(session, transfer, packet, now)
        if packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber > 1 and time_s:
            transfer.LastAccessTime = time_s


@fault("receiver-later-sequence-keeps-higher-number", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverLaterSequenceKeepsHigherNumber(InSequence):
    """The receiver keeps IncomingTxSequenceNumber when a later sequence begins with a lower number."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        number = transfer.SequenceNumber
        super().accept_in_sequence(session, transfer, packet, now)
        transfer.SequenceNumber = max(number, transfer.SequenceNumber)


@fault("receiver-transactional-message-of-older-sequence-accepted", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class ReceiverTransactionalMessageOfOlderSequenceAccepted(InSequence):
    """The receiver compares only TimeStamp of two sequence identifiers, not Ordinal."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last = session.IncomingTxSequenceID
        other = header.TxSequenceID
        if other != last and other.TimeStamp == last.TimeStamp:
            return header.PreviousTxSequenceNumber == 0
        return super().is_in_sequence(session, packet)


@fault("receiver-gap-of-one-message-accepted", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverGapOfOneMessageAccepted(InSequence):
    """The receiver accepts a message of a sequence although the message directly before it has not arrived."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.PreviousTxSequenceNumber == session.IncomingTxSequenceNumber + 1:
            lower = replace(header, PreviousTxSequenceNumber=session.IncomingTxSequenceNumber)
            packet = replace(packet, TransactionHeader=lower)
        return super().is_in_sequence(session, packet)

"""Faults that break rules of MS-MQQB 3.1.5.8.6 Transactional Message Processing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import TransactionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-delayed-without-limit", breaks=("MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-04"))
class ReceiverOrderAckDelayedWithoutLimit(OrderAcks):
    """The receiver restarts the Order Ack Send Timer for each message, without the limit MaximumOrderAckDelay."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)


@fault("receiver-order-ack-delay-limited-only-for-first-order-ack", breaks="MQQB-3.1.5.8.6-01", blind=True)
class ReceiverOrderAckDelayLimitedOnlyForFirstOrderAck(OrderAcks):
    """The receiver limits the delay only of the first OrderAck of a session."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        if session.MessageSentCount:
            session.LastOrderAckSendTime = now.utc_s
        super().start_order_ack_timer(session, now)


@fault("receiver-order-ack-timer-never-restarted", breaks=("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05"))
class ReceiverOrderAckTimerNeverRestarted(OrderAcks):
    """The receiver never restarts a running Order Ack Send Timer when a further message arrives."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        if not self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)):
            super().start_order_ack_timer(session, now)


@fault("receiver-order-ack-timer-restarted-only-once", breaks="MQQB-3.1.5.8.6-02", blind=True)
class ReceiverOrderAckTimerRestartedOnlyOnce(OrderAcks):
    """The receiver restarts the Order Ack Send Timer at most once between two OrderAcks."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._messages: dict[int, int] = {}

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        count = self._messages[session.number] = self._messages.get(session.number, 0) + 1
        if count <= 2:
            super().start_order_ack_timer(session, now)

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self._messages[session.number] = 0
        super().on_order_ack_send_timer(session, now)


@fault(
    "receiver-order-ack-timer-always-two-seconds", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06", "MQQB-3.1.2.7-01")
)
class ReceiverOrderAckTimerAlwaysTwoSeconds(SessionInitialization):
    """The receiver starts the Order Ack Send Timer with an OrderAckTimeout of two seconds."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        session.OrderAckTimeout = 2_000


@fault("receiver-order-ack-of-rejected-message-not-sent", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06"), blind=True)
class ReceiverOrderAckOfRejectedMessageNotSent(TransactionalReceiving):
    """The receiver sends no OrderAck for a rejected message, so a lost OrderAck is never repeated."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        if transfer is not None:
            session.order_acks_due.pop(transfer, None)
        if not session.order_acks_due:
            self.qm.session_timers.stop(session, TimerName.ORDER_ACK_SEND)


add(
    "receiver-order-ack-not-sent",
    ("MQQB-3.1.5.8.6-04", "MQQB-3.1.1.6.2-07", "MQQB-3.1.6.9-01"),
    "The receiver sends nothing when the Order Ack Send Timer expires.",
    omit_step(OrderAcks.on_order_ack_send_timer),
)


add(
    "receiver-reject-count-not-incremented",
    "MQQB-3.1.5.8.6-05",
    "The receiver does not increment TxMessageRejectCount for a rejected transactional message.",
    omit_step(TransactionalReceiving.reject_out_of_sequence_message),
)


@fault("receiver-reject-count-at-most-1", breaks="MQQB-3.1.5.8.6-05", blind=True)
class ReceiverRejectCountAtMost1(TransactionalReceiving):
    """The receiver counts only the first of several rejected messages."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        if session.TxMessageRejectCount:
            session.TxMessageRejectCount -= 1
        super().reject_out_of_sequence_message(session, transfer, now)


@fault("receiver-transfer-info-reject-count-always-0", breaks="MQQB-3.1.5.8.6-06")
class ReceiverTransferInfoRejectCountAlways0(TransactionalReceiving):
    """The receiver leaves RejectCount of IncomingTransactionalTransferInfo at 0."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        if transfer is not None:
            transfer.RejectCount = 0


@fault("receiver-reject-count-set-in-every-sequence-of-queue", breaks="MQQB-3.1.5.8.6-06", blind=True)
class ReceiverRejectCountSetInEverySequenceOfQueue(TransactionalReceiving):
    """The receiver sets RejectCount of every sequence of a queue when it rejects a message."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        if transfer is not None:
            for other in transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values():
                other.RejectCount = transfer.RejectCount


@fault("receiver-reject-count-not-reset", breaks="MQQB-3.1.5.8.6-07")
class ReceiverRejectCountNotReset(TransactionalReceiving):
    """The receiver does not reset TxMessageRejectCount when it accepts a transactional message."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count = session.TxMessageRejectCount
        super().accept_in_sequence_message(session, transfer, packet, now)
        session.TxMessageRejectCount = count


@fault("receiver-tx-message-reject-count-kept-by-first-message", breaks="MQQB-3.1.5.8.6-07")
class ReceiverTxMessageRejectCountKeptByFirstMessage(TransactionalReceiving):
    """The receiver does not reset TxMessageRejectCount when it accepts the first message of a new sequence."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count, header = session.TxMessageRejectCount, packet.TransactionHeader
        super().accept_in_sequence_message(session, transfer, packet, now)
        if header is not None and header.PreviousTxSequenceNumber == 0:
            session.TxMessageRejectCount = transfer.RejectCount = count


@fault("receiver-resets-reject-count-only-at-first-message-of-sequence", breaks="MQQB-3.1.5.8.6-07", blind=True)
class ReceiverResetsRejectCountOnlyAtFirstMessageOfSequence(TransactionalReceiving):
    """The receiver resets the reject count only when it accepts the first message of a sequence."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count = session.TxMessageRejectCount
        super().accept_in_sequence_message(session, transfer, packet, now)
        if packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber > 1:
            session.TxMessageRejectCount = transfer.RejectCount = count


@fault("receiver-last-access-time-not-set-by-rejected-message", breaks="MQQB-3.1.5.8.6-08")
class ReceiverLastAccessTimeNotSetByRejectedMessage(TransactionalReceiving):
    """The receiver does not set LastAccessTime of a sequence when it rejects a message."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        time_s = 0 if transfer is None else transfer.LastAccessTime
        super().reject_out_of_sequence_message(session, transfer, now)
        if transfer is not None:
            transfer.LastAccessTime = time_s


@fault("receiver-last-access-time-set-only-by-first-message", breaks="MQQB-3.1.5.8.6-08", blind=True)
class ReceiverLastAccessTimeSetOnlyByFirstMessage(TransactionalReceiving):
    """The receiver sets LastAccessTime only for the first message of a sequence."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        time_s = transfer.LastAccessTime
        super().accept_in_sequence_message(session, transfer, packet, now)
        if packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber > 1 and time_s:
            transfer.LastAccessTime = time_s


@fault("receiver-sequence-gap-accepted", breaks=("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03"))
class ReceiverSequenceGapAccepted(TransactionalReceiving):
    """The receiver accepts a later message of a sequence although its predecessor is missing."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        same = header.TxSequenceID == session.IncomingTxSequenceID
        later = same and header.TxSequenceNumber > session.IncomingTxSequenceNumber
        return later or super().is_in_sequence(session, packet)


@fault("receiver-sequence-position-reset-to-1", breaks="MQQB-3.1.5.8.6-09")
class ReceiverSequencePositionResetTo1(TransactionalReceiving):
    """The receiver resets its position in the incoming sequence to 1 after each accepted message."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = 1


@fault("receiver-higher-number-kept-when-later-sequence-begins", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverHigherNumberKeptWhenLaterSequenceBegins(TransactionalReceiving):
    """The receiver keeps IncomingTxSequenceNumber when a later sequence begins with a lower number."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        number = transfer.SequenceNumber
        super().accept_in_sequence_message(session, transfer, packet, now)
        transfer.SequenceNumber = max(number, transfer.SequenceNumber)


DESTINATION_TYPE_DQ_OF_PRIVATE_NAME = 3
"""The value of UserHeader.Flags.DQ for a private format name."""


@fault("receiver-order-of-messages-to-private-name-not-checked", breaks=("MQQB-3.1.5.8.6-D01", "MQQB-3.1.5.8.6-D02"))
class ReceiverOrderOfMessagesToPrivateNameNotChecked(TransactionalReceiving):
    """The receiver accepts transactional messages to a private format name in any order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.DQ == DESTINATION_TYPE_DQ_OF_PRIVATE_NAME or super().is_in_sequence(session, packet)


SequenceAcceptancePredicate = Callable[[TransactionHeader, Session, bool], bool]
"""A function that decides whether a message is accepted; its arguments are the header, the session, and the correct
decision.
"""


def _change_sequence_comparison(
    name: str, breaks: tuple[str, ...], says: str, accepted: SequenceAcceptancePredicate
) -> None:
    """Add a fault that uses a different comparison to decide whether a message is accepted."""

    class SequenceComparisonReplaced(TransactionalReceiving):
        def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
            header = packet.TransactionHeader
            assert header is not None
            return accepted(header, session, super().is_in_sequence(session, packet))

    add(name, breaks, says, replace_part(SequenceComparisonReplaced))


_change_sequence_comparison(
    "receiver-sequence-number-accepted-twice",
    ("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D03"),
    "The receiver accepts a second message with the last accepted TxSequenceNumber.",
    lambda header, session, right: (
        right
        or (header.TxSequenceID, header.TxSequenceNumber)
        == (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
    ),
)


def _is_later_sequence(header: TransactionHeader, session: Session) -> bool:
    return int(header.TxSequenceID) > int(session.IncomingTxSequenceID)


_change_sequence_comparison(
    "receiver-later-sequence-accepted-from-any-message",
    ("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D04"),
    "The receiver accepts any message of a later sequence, with any PreviousTxSequenceNumber.",
    lambda header, session, right: right or _is_later_sequence(header, session),
)


_change_sequence_comparison(
    "receiver-sequence-previous-number-not-last-accepted-rejected",
    ("MQQB-3.1.5.8.6-D03",),
    "The receiver accepts a message only if its PreviousTxSequenceNumber is the last accepted number.",
    lambda header, session, right: (
        right
        and (_is_later_sequence(header, session) or header.PreviousTxSequenceNumber == session.IncomingTxSequenceNumber)
    ),
)


_change_sequence_comparison(
    "receiver-sequence-number-compared-in-16-bits",
    ("MQQB-3.1.5.8.6-D03",),
    "The receiver compares only the lower 16 bits of TxSequenceNumber.",
    lambda header, session, right: (
        right
        and (_is_later_sequence(header, session) or header.TxSequenceNumber & 0xFFFF > session.IncomingTxSequenceNumber)
    ),
)


@fault("receiver-message-rejected-if-previous-number-is-not-last-number", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverMessageRejectedIfPreviousNumberIsNotLastNumber(TransactionalReceiving):
    """The receiver rejects a message of the current sequence whose PreviousTxSequenceNumber is not the number of the
    last accepted message.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        sut_survives = header.TxSequenceID == session.IncomingTxSequenceID
        if sut_survives and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


def _convert_u32_to_signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


@fault("receiver-tx-sequence-number-compared-as-signed", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverTxSequenceNumberComparedAsSigned(TransactionalReceiving):
    """The receiver compares the numbers of a sequence as signed 32-bit integers."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID != session.IncomingTxSequenceID:
            return super().is_in_sequence(session, packet)
        last = _convert_u32_to_signed(session.IncomingTxSequenceNumber)
        return (
            _convert_u32_to_signed(header.PreviousTxSequenceNumber)
            <= last
            < _convert_u32_to_signed(header.TxSequenceNumber)
        )


@fault("receiver-message-with-lower-previous-number-rejected", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverMessageWithLowerPreviousNumberRejected(TransactionalReceiving):
    """The receiver rejects a message whose PreviousTxSequenceNumber is lower than the last accepted number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        same = header is not None and header.TxSequenceID == session.IncomingTxSequenceID
        if same and header is not None and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-tx-sequence-numbers-compared-as-signed", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverTxSequenceNumbersComparedAsSigned(TransactionalReceiving):
    """The receiver compares TxSequenceNumbers as signed numbers of 32 bits."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            numbers = (header.PreviousTxSequenceNumber, session.IncomingTxSequenceNumber, header.TxSequenceNumber)
            before, last, number = ((one ^ 0x80000000) - 0x80000000 for one in numbers)
            return before <= last < number
        return super().is_in_sequence(session, packet)


@fault("receiver-gap-of-one-message-accepted", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverGapOfOneMessageAccepted(TransactionalReceiving):
    """The receiver accepts a message of a sequence although the message directly before it has not arrived."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.PreviousTxSequenceNumber == session.IncomingTxSequenceNumber + 1:
            lower = replace(header, PreviousTxSequenceNumber=session.IncomingTxSequenceNumber)
            packet = replace(packet, TransactionHeader=lower)
        return super().is_in_sequence(session, packet)


@fault("receiver-message-after-gap-accepted-after-rejection", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverMessageAfterGapAcceptedAfterRejection(TransactionalReceiving):
    """While TxMessageRejectCount is not zero, the receiver accepts a message of the current sequence although its
    PreviousTxSequenceNumber is greater than the last accepted number.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID and session.TxMessageRejectCount:
            return header.TxSequenceNumber > session.IncomingTxSequenceNumber
        return super().is_in_sequence(session, packet)


_change_sequence_comparison(
    "receiver-later-sequence-accepted-from-number-1-only",
    ("MQQB-3.1.5.8.6-D04",),
    "The receiver accepts a message of a later sequence only if its TxSequenceNumber is 1.",
    lambda header, session, right: right and (header.TxSequenceNumber == 1 or not _is_later_sequence(header, session)),
)


_change_sequence_comparison(
    "receiver-sequence-order-by-ordinal-only",
    ("MQQB-3.1.5.8.6-D04",),
    "The receiver orders sequences only by the Ordinal of TxSequenceID and ignores TimeStamp.",
    lambda header, session, right: (
        right
        if header.TxSequenceID == session.IncomingTxSequenceID
        else header.TxSequenceID.Ordinal > session.IncomingTxSequenceID.Ordinal and not header.PreviousTxSequenceNumber
    ),
)


@fault("receiver-later-sequence-with-first-number-above-1-rejected", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class ReceiverLaterSequenceWithFirstNumberAbove1Rejected(TransactionalReceiving):
    """The receiver rejects the first message of a later sequence if its TxSequenceNumber is above 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID != session.IncomingTxSequenceID and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-later-sequence-accepted-only-from-number-1", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class ReceiverLaterSequenceAcceptedOnlyFromNumber1(TransactionalReceiving):
    """The receiver accepts the first message of a later sequence only if its TxSequenceNumber is 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        later = header is not None and header.TxSequenceID != session.IncomingTxSequenceID
        if later and header is not None and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-transactional-message-of-older-sequence-accepted", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class ReceiverTransactionalMessageOfOlderSequenceAccepted(TransactionalReceiving):
    """The receiver compares only TimeStamp of two sequence identifiers, not Ordinal."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last = session.IncomingTxSequenceID
        other = header.TxSequenceID
        if other != last and other.TimeStamp == last.TimeStamp:
            return header.PreviousTxSequenceNumber == 0
        return super().is_in_sequence(session, packet)


@fault("receiver-no-order-ack-for-message-repeated-on-new-session", breaks="MQQB-3.1.5.8.6-01", blind=True)
class ReceiverNoOrderAckForMessageRepeatedOnNewSession(TransactionalReceiving):
    """The receiver schedules no OrderAck for a message that was accepted on an earlier session and is repeated on a
    session on which no message was accepted yet.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.accepting: set[int] = set()

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        if accepted:
            self.accepting.add(session.number)
        elif session.number not in self.accepting:
            session.order_acks_due.clear()
        return accepted

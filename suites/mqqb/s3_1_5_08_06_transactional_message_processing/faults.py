"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import TransactionHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

Accepted = Callable[[TransactionHeader, Session, bool], bool]
"""Whether a message is accepted: its place, where its sequence stands, and whether it should be."""
ON_DESTINATION = 3
"""UserHeader.Flags.DQ of a private name."""

# -- the Order Ack Send Timer --------------------------------------------------------------------------------------


@fault("order-ack-put-off-for-ever", breaks=("MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-04"))
class OrderAckPutOffForEver(OrderAcks):
    """Each message puts the OrderAck off."""

    def schedule(self, session: Session, now: Now) -> None:
        self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)


@fault("order-ack-never-put-off", breaks=("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05"))
class OrderAckNeverPutOff(OrderAcks):
    """No message puts the OrderAck off."""

    def schedule(self, session: Session, now: Now) -> None:
        if not self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)):
            super().schedule(session, now)


@fault("order-ack-timeout-of-two-seconds", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06", "MQQB-3.1.2.7-01"))
class OrderAckTimeoutOfTwoSeconds(SessionInitialization):
    """OrderAckTimeout is two seconds."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        session.OrderAckTimeout = 2_000


add(
    "order-ack-not-sent",
    ("MQQB-3.1.5.8.6-04", "MQQB-3.1.1.6.2-07", "MQQB-3.1.6.9-01"),
    "Nothing is sent when the Order Ack Send Timer expires.",
    skip(OrderAcks.on_send_timer),
)


# -- the sequence --------------------------------------------------------------------------------------------------


@fault("order-ack-of-any-later-message", breaks=("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03"))
class AnyLaterMessageAccepted(InSequence):
    """A message is accepted whether the one before it came or not."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        same = header.TxSequenceID == session.IncomingTxSequenceID
        later = same and header.TxSequenceNumber > session.IncomingTxSequenceNumber
        return later or super().is_in_sequence(session, packet)


def _sequence_rule(name: str, breaks: tuple[str, ...], says: str, accepted: Accepted) -> None:
    """Add a fault that accepts by another comparison: of a message's place, and where its sequence stands."""

    class ByAnotherRule(InSequence):
        def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
            header = packet.TransactionHeader
            assert header is not None
            return accepted(header, session, super().is_in_sequence(session, packet))

    add(name, breaks, says, replace_part(ByAnotherRule))


def _is_later(header: TransactionHeader, session: Session) -> bool:
    return int(header.TxSequenceID) > int(session.IncomingTxSequenceID)


_sequence_rule(
    "sequence-without-gaps",
    ("MQQB-3.1.5.8.6-D03",),
    "A message is accepted only if it follows on the very last one.",
    lambda header, session, right: (
        right and (_is_later(header, session) or header.PreviousTxSequenceNumber == session.IncomingTxSequenceNumber)
    ),
)
_sequence_rule(
    "sequence-accepts-twice",
    ("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D03"),
    "A message with the number where its sequence stands is accepted again.",
    lambda header, session, right: (
        right
        or (header.TxSequenceID, header.TxSequenceNumber)
        == (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
    ),
)
_sequence_rule(
    "sequence-numbers-of-sixteen-bits",
    ("MQQB-3.1.5.8.6-D03",),
    "A number is compared in sixteen bits.",
    lambda header, session, right: (
        right and (_is_later(header, session) or header.TxSequenceNumber & 0xFFFF > session.IncomingTxSequenceNumber)
    ),
)
_sequence_rule(
    "sequence-of-any-beginning",
    ("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D04"),
    "Any message of a later sequence is accepted.",
    lambda header, session, right: right or _is_later(header, session),
)
_sequence_rule(
    "sequence-from-number-one",
    ("MQQB-3.1.5.8.6-D04",),
    "Of a later sequence only the number 1 is accepted.",
    lambda header, session, right: right and (header.TxSequenceNumber == 1 or not _is_later(header, session)),
)
_sequence_rule(
    "sequence-by-ordinal",
    ("MQQB-3.1.5.8.6-D04",),
    "Which sequence is later is told by the Ordinal alone.",
    lambda header, session, right: (
        right
        if header.TxSequenceID == session.IncomingTxSequenceID
        else header.TxSequenceID.Ordinal > session.IncomingTxSequenceID.Ordinal and not header.PreviousTxSequenceNumber
    ),
)


@fault("sequence-of-direct-names-alone", breaks=("MQQB-3.1.5.8.6-D01", "MQQB-3.1.5.8.6-D02"))
class SequenceOfDirectNamesAlone(InSequence):
    """Messages that have a private name are accepted in any order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.DQ == ON_DESTINATION or super().is_in_sequence(session, packet)


@fault("order-ack-number-forgotten", breaks="MQQB-3.1.5.8.6-09")
class NumberForgotten(InSequence):
    """A sequence stands at number 1 after each message."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = 1


add(
    "order-ack-rejection-not-counted",
    "MQQB-3.1.5.8.6-05",
    "A message that is not accepted is not counted.",
    skip(InSequence.reject_out_of_sequence),
)


@fault("order-ack-rejection-not-told", breaks="MQQB-3.1.5.8.6-06")
class RejectionNotNoted(InSequence):
    """RejectCount of the sequence stays 0."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            transfer.RejectCount = 0


@fault("order-ack-rejections-counted-on", breaks="MQQB-3.1.5.8.6-07")
class RejectionsCountedOn(InSequence):
    """TxMessageRejectCount keeps its value when a message is accepted."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count = session.TxMessageRejectCount
        super().accept_in_sequence(session, transfer, packet, now)
        session.TxMessageRejectCount = count


@fault("order-ack-access-not-noted", breaks="MQQB-3.1.5.8.6-08")
class AccessNotNoted(InSequence):
    """LastAccessTime is only set when a message is accepted."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        time_s = 0 if transfer is None else transfer.LastAccessTime
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            transfer.LastAccessTime = time_s


@fault("message-must-follow-on-the-very-last", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class MessageMustFollowOnTheVeryLast(InSequence):
    """A message is accepted only when the message before it is the very last one accepted."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        goes_on = header.TxSequenceID == session.IncomingTxSequenceID
        if goes_on and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


@fault("sequence-has-to-begin-with-one", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class SequenceHasToBeginWithOne(InSequence):
    """The first message of a later sequence is accepted only with the number 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID != session.IncomingTxSequenceID and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("repeated-message-brings-no-order-ack", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06"), blind=True)
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


@fault("order-ack-timer-restarted-only-once", breaks="MQQB-3.1.5.8.6-02", blind=True)
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

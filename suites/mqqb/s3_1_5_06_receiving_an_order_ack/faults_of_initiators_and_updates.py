"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: OrderAcks on other sessions, and repeated OrderAcks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, Packet, SequenceInfo, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import OutgoingTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("acceptor-order-ack-before-first-request-ignored", breaks="MQQB-3.1.5.6-01", blind=True)
class AcceptorOrderAckBeforeFirstRequestIgnored(SessionClosing):
    """The acceptor ignores an OrderAck that arrives as the first packet of a connection."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        first = not session.initiator and session.SessionState.value == "WAITING_EC_MSG"
        if not (first and isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("sender-last-ack-incremented-by-one-for-several-acked-messages", breaks="MQQB-3.1.5.6-08", blind=True)
class SenderLastAckIncrementedByOneForSeveralAckedMessages(OrderAcks):
    """After an OrderAck of several messages, the sender increments LastAck by one."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = get_outgoing_sequence(session).LastAck
        super().note_last_message_in_order(session, body, now)
        sequence = get_outgoing_sequence(session)
        if before.SeqID == sequence.LastAck.SeqID and sequence.LastAck.SeqNo > before.SeqNo + 1:
            sequence.LastAck = SequenceInfo(before.SeqID, before.SeqNo + 1, before.SeqNo)


class _FaultBySessionOfOrderAck(OrderAcks):
    """A base class of faults that depend on the session on which an OrderAck arrives."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.arrived_on: Session | None = None

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.arrived_on = session
        super().receive(session, packet, now)


@fault("sender-last-ack-of-order-ack-on-other-session-unchanged", breaks="MQQB-3.1.5.6-08", blind=True)
class SenderLastAckOfOrderAckOnOtherSessionUnchanged(_FaultBySessionOfOrderAck):
    """The sender does not set LastAck for an OrderAck that arrives on a session other than the one that sent the
    messages.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = get_outgoing_sequence(session).LastAck
        super().note_last_message_in_order(session, body, now)
        if self.arrived_on is not session:
            get_outgoing_sequence(session).LastAck = before


@fault("sender-last-ack-count-of-repeated-order-ack-unchanged", breaks="MQQB-3.1.5.6-12", blind=True)
class SenderLastAckCountOfRepeatedOrderAckUnchanged(OrderAcks):
    """The sender does not increment LastAckCount for an OrderAck that acknowledges no further message."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = len(get_outgoing_sequence(session).UnackedSequence)
        super().note_last_message_in_order(session, body, now)
        if len(get_outgoing_sequence(session).UnackedSequence) == before:
            get_outgoing_sequence(session).LastAckCount -= 1


@fault("sender-last-ack-count-restarts-at-zero-in-new-sequence", breaks="MQQB-3.1.5.6-12", blind=True)
class SenderLastAckCountRestartsAtZeroInNewSequence(OrderAcks):
    """The sender counts from zero in LastAckCount when it receives the first OrderAck of a new sequence."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        if sequence.LastAck.SeqID not in (0, int(body.TxSequenceID)):
            sequence.LastAckCount = 0
        super().note_last_message_in_order(session, body, now)


class _KeptTransferInfoFault(OrderAcks):
    """A base class of faults that leave an element of OutgoingTransferInfo unchanged in the cases that a subclass
    selects.
    """

    def restore_transfer_info_element(self, session: Session, before: OutgoingTransferInfo, element: str) -> None:
        """Set an element of OutgoingTransferInfo back to its earlier value."""
        queue = session.OutgoingQueueReference
        if queue is not None:
            kept = {element: getattr(before, element)}
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, **kept)

    def copy_transfer_info(self, session: Session) -> OutgoingTransferInfo:
        """Return OutgoingTransferInfo of the session's outgoing queue, or an initial one if the session has
        no queue.
        """
        queue = session.OutgoingQueueReference
        return OutgoingTransferInfo() if queue is None else queue.OutgoingTransferInfoReference


@fault("sender-eod-last-ack-time-of-repeated-order-ack-unchanged", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderEodLastAckTimeOfRepeatedOrderAckUnchanged(_KeptTransferInfoFault):
    """The sender does not set EodLastAckTime when an OrderAck acknowledges no further message."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        before = self.copy_transfer_info(session)
        super().update_outgoing_transfer_info(session)
        if self.copy_transfer_info(session).EodLastAck == before.EodLastAck:
            self.restore_transfer_info_element(session, before, "EodLastAckTime")


@fault("sender-copies-eod-last-ack-time-of-first-queue-to-all-queues", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderCopiesEodLastAckTimeOfFirstQueueToAllQueues(OrderAcks):
    """The sender sets EodLastAckTime of every queue to TimeOfLastAck of its first outgoing queue."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue = session.OutgoingQueueReference
        first = next(iter(self.qm.adm.OutgoingQueues.values()), None)
        if queue is not None and first is not None and first.session.TxOutgoingSequence is not None:
            time = first.session.TxOutgoingSequence.TimeOfLastAck
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodLastAckTime=time)


@fault("sender-eod-no-ack-count-is-size-of-outgoing-message-table", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderEodNoAckCountIsSizeOfOutgoingMessageTable(OrderAcks):
    """The sender sets EodNoAckCount to the number of messages in OutgoingMessageTable."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue = session.OutgoingQueueReference
        if queue is not None:
            count = len(session.OutgoingMessageTable)
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoAckCount=count)


@fault("sender-eod-no-ack-count-is-range-of-unacked-numbers", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderEodNoAckCountIsRangeOfUnackedNumbers(OrderAcks):
    """The sender computes EodNoAckCount from the first and the last number in UnackedSequence, although a message
    between them has already left the sequence.
    """

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue, sequence = session.OutgoingQueueReference, session.TxOutgoingSequence
        if queue is not None and sequence is not None and sequence.UnackedSequence:
            count = sequence.UnackedSequence[-1].SeqNo - sequence.UnackedSequence[0].SeqNo + 1
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoAckCount=count)


class _TransferInfoBeforeOrderAckFault(OrderAcks):
    """A base class of faults that set an element of OutgoingTransferInfo to the value that its source had before the
    OrderAck arrived.
    """

    element = ""
    attribute = ""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.earlier: dict[int, int] = {}

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        self.earlier[session.number] = getattr(get_outgoing_sequence(session), self.attribute)
        super().note_last_message_in_order(session, body, now)

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue = session.OutgoingQueueReference
        if queue is not None and session.number in self.earlier:
            changes: dict[str, Any] = {self.element: self.earlier.pop(session.number)}
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, **changes)


@fault("sender-eod-resend-interval-is-value-before-order-ack", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderEodResendIntervalIsValueBeforeOrderAck(_TransferInfoBeforeOrderAckFault):
    """The sender sets EodResendInterval to the value that ResendInterval had before the OrderAck."""

    element, attribute = "EodResendInterval", "ResendInterval"


@fault("sender-eod-resend-count-is-index-before-order-ack", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderEodResendCountIsIndexBeforeOrderAck(_TransferInfoBeforeOrderAckFault):
    """The sender sets EodResendCount to the value that ResendIntervalIndex had before the OrderAck."""

    element, attribute = "EodResendCount", "ResendIntervalIndex"


@fault("sender-eod-resend-time-is-value-before-order-ack", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderEodResendTimeIsValueBeforeOrderAck(_TransferInfoBeforeOrderAckFault):
    """The sender sets EodResendTime to the value that ResendTime had before the OrderAck."""

    element, attribute = "EodResendTime", "ResendTime"


@fault("sender-eod-resend-interval-in-ms", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderEodResendIntervalInMs(OrderAcks):
    """The sender sets EodResendInterval to ResendInterval in milliseconds."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue = session.OutgoingQueueReference
        if queue is not None:
            info = queue.OutgoingTransferInfoReference
            queue.OutgoingTransferInfoReference = replace(info, EodResendInterval=1000 * info.EodResendInterval)


@fault("sender-eod-resend-count-never-decreases", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderEodResendCountNeverDecreases(_KeptTransferInfoFault):
    """The sender never decreases EodResendCount, although ResendIntervalIndex is reset."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        before = self.copy_transfer_info(session)
        super().update_outgoing_transfer_info(session)
        if self.copy_transfer_info(session).EodResendCount < before.EodResendCount:
            self.restore_transfer_info_element(session, before, "EodResendCount")


@fault("sender-eod-resend-time-zero-without-unacknowledged-messages", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderEodResendTimeZeroWithoutUnacknowledgedMessages(OrderAcks):
    """The sender sets EodResendTime to zero when UnackedSequence is empty, although ResendTime is not zero."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue, sequence = session.OutgoingQueueReference, session.TxOutgoingSequence
        if queue is not None and sequence is not None and not sequence.UnackedSequence:
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodResendTime=0)

"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, Packet, SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingTransferInfo, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("sender-time-of-last-ack-not-set-by-repeated-order-ack", breaks="MQQB-3.1.5.6-03", blind=True)
class SenderTimeOfLastAckNotSetByRepeatedOrderAck(OrderAcks):
    """When an OrderAck repeats a number that was already acknowledged, the sender does not change TimeOfLastAck."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = outgoing_sequence(session)
        old, last = sequence.TimeOfLastAck, sequence.LastAck
        super().note(session, body, now)
        if last == sequence.LastAck:
            sequence.TimeOfLastAck = old


@fault(
    "sender-last-ack-count-not-incremented-by-repeated-order-ack",
    breaks="MQQB-3.1.5.6-12",
    blind=True,
)
class SenderLastAckCountNotIncrementedByRepeatedOrderAck(OrderAcks):
    """When an OrderAck repeats a number that was already acknowledged, the sender does not increment LastAckCount."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = outgoing_sequence(session)
        last = sequence.LastAck
        super().note(session, body, now)
        if last == sequence.LastAck:
            sequence.LastAckCount -= 1


@fault("sender-order-ack-removes-only-its-own-number", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderOrderAckRemovesOnlyItsOwnNumber(OrderAcks):
    """The sender removes from UnackedSequence only the message whose number is in the OrderAck, and no message with a
    lower number.
    """

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = outgoing_sequence(session)
        before = list(sequence.UnackedSequence)
        super().note(session, body, now)
        sequence.UnackedSequence[:] = [one for one in before if one.SeqNo != sequence.LastAck.SeqNo]


@fault("sender-resend-interval-not-reset-with-its-index", breaks="MQQB-3.1.5.6-06", blind=True)
class SenderResendIntervalNotResetWithItsIndex(TransactionalSending):
    """When an OrderAck resets ResendIntervalIndex, the sender does not change ResendInterval."""

    def reset_resend_interval(self, session: Session) -> None:
        interval = outgoing_sequence(session).ResendInterval
        super().reset_resend_interval(session)
        outgoing_sequence(session).ResendInterval = interval


@fault("sender-message-with-only-jp-not-kept-until-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderMessageWithOnlyJpNotKeptUntilFinalAck(TransactionalSending):
    """After the OrderAck, the sender keeps a message until its FinalAck only if JN is set, but not if
    only JP is set.
    """

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_ordered(session, position)
        header = position.UserMessage.UserHeader
        if not header.JN:
            session.AwaitingFinalACKTable.pop(header.MessageID, None)


@fault("sender-no-new-sequence-while-final-acks-are-missing", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderNoNewSequenceWhileFinalAcksAreMissing(TransactionalSending):
    """The sender begins no new sequence while a message of the sequence awaits its FinalAck."""

    def begin_sequence(self, session: Session) -> None:
        if not session.AwaitingFinalACKTable:
            super().begin_sequence(session)


@fault("sender-ordinal-of-new-sequence-two-higher", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderOrdinalOfNewSequenceTwoHigher(TransactionalSending):
    """The third sequence of the sender has an Ordinal that is two higher than the Ordinal of the second sequence."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if before.Ordinal == 2 and session.OutgoingTxSequenceID.Ordinal == 3:
            session.OutgoingTxSequenceID = TxSequenceID(4, before.TimeStamp)


def _change_transfer_info(session: Session, **changes: Any) -> None:
    queue = session.OutgoingQueueReference
    if queue is not None:
        queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, **changes)


@fault("sender-no-read-count-of-all-queues", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderNoReadCountOfAllQueues(OrderAcks):
    """The sender counts in EodNoReadCount the messages that await a FinalAck in all outgoing queues, not only in one
    queue.
    """

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        count = sum(len(queue.session.AwaitingFinalACKTable) for queue in self.qm.adm.OutgoingQueues.values())
        _change_transfer_info(session, EodNoReadCount=count)


@fault("sender-transfer-info-of-first-queue-set-by-every-order-ack", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderTransferInfoOfFirstQueueSetByEveryOrderAck(OrderAcks):
    """The sender stores the values of every OrderAck in OutgoingTransferInfo of its first outgoing queue."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        own = session.OutgoingQueueReference
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if own is not None and first is not own:
            first.OutgoingTransferInfoReference = own.OutgoingTransferInfoReference
            own.OutgoingTransferInfoReference = OutgoingTransferInfo()


@fault("sender-last-non-ack-is-first-non-ack", breaks="MQQB-3.1.5.6-22", blind=True)
class SenderLastNonAckIsFirstNonAck(OrderAcks):
    """The sender sets EodLastNonAck to the first entry of UnackedSequence."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        unacked = outgoing_sequence(session).UnackedSequence
        if unacked:
            _change_transfer_info(session, EodLastNonAck=unacked[0])


@fault("sender-no-ack-count-at-most-1", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderNoAckCountAtMost1(OrderAcks):
    """The sender sets EodNoAckCount to 1 when UnackedSequence has several entries."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        _change_transfer_info(session, EodNoAckCount=min(1, len(outgoing_sequence(session).UnackedSequence)))


@fault("sender-last-ack-without-previous-number", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderLastAckWithoutPreviousNumber(OrderAcks):
    """The sender sets PrevNo of EodLastAck to 0."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        last = outgoing_sequence(session).LastAck
        _change_transfer_info(session, EodLastAck=SequenceInfo(last.SeqID, last.SeqNo, 0))


@fault("sender-resend-time-of-acknowledged-queue-0", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderResendTimeOfAcknowledgedQueue0(OrderAcks):
    """The sender sets EodResendTime to 0 while messages remain in UnackedSequence."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        _change_transfer_info(session, EodResendTime=0)


@fault("sender-last-ack-time-is-first-ack-time", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderLastAckTimeIsFirstAckTime(OrderAcks):
    """The sender sets EodLastAckTime to the time of the first OrderAck of the session."""

    def note_transfer(self, session: Session) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.OutgoingTransferInfoReference
        super().note_transfer(session)
        if before is not None and before.EodLastAckCount:
            _change_transfer_info(session, EodLastAckTime=before.EodLastAckTime)


@fault("sender-resend-count-is-1-after-order-ack", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderResendCountIs1AfterOrderAck(OrderAcks):
    """The sender sets EodResendCount to ResendIntervalIndex plus one."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        _change_transfer_info(session, EodResendCount=outgoing_sequence(session).ResendIntervalIndex + 1)


@fault("queue-manager-order-ack-before-open-session-ignored", breaks="MQQB-3.1.5.6-01", blind=True)
class QueueManagerOrderAckBeforeOpenSessionIgnored(Closing):
    """A queue manager that waits for a ConnectionParameters packet ignores an OrderAck, and keeps the session open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


@fault("initiator-order-ack-before-open-session-ignored", breaks="MQQB-3.1.5.6-01", blind=True)
class InitiatorOrderAckBeforeOpenSessionIgnored(Closing):
    """An initiator that waits for a ConnectionParameters response ignores an OrderAck, and keeps the session open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waiting and isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


@fault("sender-order-ack-on-session-of-receiver-ignored", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderOrderAckOnSessionOfReceiverIgnored(OrderAcks):
    """The sender ignores an OrderAck that arrives on a session that the receiver opened."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if session.initiator:
            super().receive(session, packet, now)


@fault("sender-order-ack-of-second-queue-ignored", breaks="MQQB-3.1.5.6-08", blind=True)
class SenderOrderAckOfSecondQueueIgnored(OrderAcks):
    """The sender processes OrderAcks only for the sequence of the first outgoing queue."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if session.OutgoingQueueReference is first:
            super().note(session, body, now)


@fault("sender-first-non-ack-without-sequence-identifier", breaks="MQQB-3.1.5.6-21", blind=True)
class SenderFirstNonAckWithoutSequenceIdentifier(OrderAcks):
    """The sender sets SeqID of EodFirstNonAck to 0."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        unacked = outgoing_sequence(session).UnackedSequence
        if unacked:
            _change_transfer_info(session, EodFirstNonAck=SequenceInfo(0, unacked[0].SeqNo, unacked[0].PrevNo))


@fault("sender-resend-interval-in-milliseconds", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderResendIntervalInMilliseconds(OrderAcks):
    """The sender sets EodResendInterval to ResendInterval in milliseconds."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        _change_transfer_info(session, EodResendInterval=1_000 * outgoing_sequence(session).ResendInterval)


@fault("sender-last-ack-count-of-all-queues", breaks="MQQB-3.1.5.6-18", blind=True)
class SenderLastAckCountOfAllQueues(OrderAcks):
    """The sender counts in EodLastAckCount the OrderAcks of all outgoing queues."""

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        sequences = [queue.session.TxOutgoingSequence for queue in self.qm.adm.OutgoingQueues.values()]
        _change_transfer_info(session, EodLastAckCount=sum(one.LastAckCount for one in sequences if one is not None))


@fault("sender-transactional-message-of-other-queue-deleted-by-order-ack", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderTransactionalMessageOfOtherQueueDeletedByOrderAck(OrderAcks):
    """The sender removes the entries up to the TxSequenceNumber of an OrderAck from UnackedSequence of every outgoing
    queue.
    """

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note(session, body, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            sequence = queue.session.TxOutgoingSequence
            if sequence is not None and queue.session is not session:
                unacked = [one for one in sequence.UnackedSequence if one.SeqNo > body.TxSequenceNumber]
                sequence.UnackedSequence[:] = unacked


@fault("sender-order-acked-message-resent-after-restart", breaks="MQQB-3.1.5.6-13")
class SenderOrderAckedMessageResentAfterRestart(TransactionalSending):
    """The sender does not remove a message from its disk when an OrderAck and a session acknowledgment have covered the
    message, and sends the message again after a restart.
    """

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN or header.JP:
            super().delete_ordered(session, position)
        else:
            session.OutgoingMessageTable.remove(position)

"""Faults that break the rules MQQB-3.1.5.6-01 to MQQB-3.1.5.6-13."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from weakref import WeakKeyDictionary

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import OrderAckBody, Packet, SequenceInfo, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import (
    OutgoingMessagePosition,
    OutgoingTransferSequence,
    Session,
)
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("queue-manager-order-ack-before-open-session-ignored", breaks="MQQB-3.1.5.6-01")
class QueueManagerOrderAckBeforeOpenSessionIgnored(SessionClosing):
    """A queue manager ignores an OrderAck before the session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("initiator-order-ack-before-open-session-ignored", breaks="MQQB-3.1.5.6-01", blind=True)
class InitiatorOrderAckBeforeOpenSessionIgnored(SessionClosing):
    """An initiator that waits for a ConnectionParameters response ignores an OrderAck, and keeps the session open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waiting and isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


_OutgoingSequenceChange = Callable[[OutgoingTransferSequence, OutgoingTransferSequence, OrderAckBody], None]
"""A function that changes a sequence after an OrderAck; the arguments are the sequence, its old value and the OrderAck.
"""


def _change_after_order_ack(change: _OutgoingSequenceChange) -> Install:
    class SequenceChangedAfterOrderAck(OrderAcks):
        def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
            sequence = get_outgoing_sequence(session)
            before = replace(sequence, UnackedSequence=list(sequence.UnackedSequence))
            super().note_last_message_in_order(session, body, now)
            change(sequence, before, body)

    return replace_part(SequenceChangedAfterOrderAck)


def _clear_time_of_last_ack(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.TimeOfLastAck = 0


def _skip_one_resend_interval(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 2


def _increment_resend_interval_index(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 1


def _change_resend_interval(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendInterval += 7


def _set_last_ack_from_body(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.LastAck = SequenceInfo(now.LastAck.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


def _keep_earlier_last_ack(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAck = before.LastAck


def _keep_last_removed_unacked_entry(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    removed = [one for one in before.UnackedSequence if one not in now.UnackedSequence]
    now.UnackedSequence[:0] = removed[-1:]


def _reverse_unacked_sequence(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.UnackedSequence.reverse()


def _keep_resend_interval_index(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendIntervalIndex = now.ResendIntervalIndex or 1


def _keep_earlier_last_ack_count(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.LastAckCount = before.LastAckCount


_FAULTS_OF_SEQUENCE_ELEMENTS_AFTER_ORDER_ACK: tuple[tuple[str, str, str, _OutgoingSequenceChange], ...] = (
    (
        "sender-order-ack-time-of-last-ack-not-set",
        "MQQB-3.1.5.6-03",
        "The sender does not set TimeOfLastAck when it receives an OrderAck.",
        _clear_time_of_last_ack,
    ),
    (
        "sender-order-ack-resend-interval-index-two-more",
        "MQQB-3.1.5.6-04",
        "The sender increments ResendIntervalIndex by two when it receives an OrderAck.",
        _skip_one_resend_interval,
    ),
    (
        "sender-order-ack-resend-interval-index-beyond-table",
        "MQQB-3.1.5.6-05",
        "The sender increments ResendIntervalIndex beyond the last entry of ResendTimerTable.",
        _increment_resend_interval_index,
    ),
    (
        "sender-order-ack-resend-interval-not-of-index",
        "MQQB-3.1.5.6-06",
        "The sender sets ResendInterval to a value other than the entry at ResendIntervalIndex.",
        _change_resend_interval,
    ),
    (
        "sender-late-order-ack-sets-last-ack-back",
        "MQQB-3.1.5.6-07",
        "When the sender receives an OrderAck, it sets LastAck to a number below the number in the OrderAck.",
        _set_last_ack_from_body,
    ),
    (
        "sender-order-ack-last-ack-not-set",
        "MQQB-3.1.5.6-08",
        "The sender does not set LastAck when it receives an OrderAck.",
        _keep_earlier_last_ack,
    ),
    (
        "sender-order-ack-named-message-left-unacked",
        "MQQB-3.1.5.6-09",
        "The sender does not remove from UnackedSequence the message that an OrderAck acknowledges.",
        _keep_last_removed_unacked_entry,
    ),
    (
        "sender-order-ack-unacked-sequence-reversed",
        "MQQB-3.1.5.6-10",
        "The sender reverses the remaining entries of UnackedSequence when it receives an OrderAck.",
        _reverse_unacked_sequence,
    ),
    (
        "sender-order-ack-resend-interval-index-not-reset",
        "MQQB-3.1.5.6-11",
        "The sender sets ResendIntervalIndex to 1 instead of 0 when UnackedSequence is empty.",
        _keep_resend_interval_index,
    ),
    (
        "sender-order-ack-not-counted",
        "MQQB-3.1.5.6-12",
        "The sender does not increment LastAckCount when it receives an OrderAck.",
        _keep_earlier_last_ack_count,
    ),
)


for _name, _rule, _says, _change in _FAULTS_OF_SEQUENCE_ELEMENTS_AFTER_ORDER_ACK:
    add(_name, _rule, _says, _change_after_order_ack(_change))


@fault("sender-time-of-last-ack-not-set-by-repeated-order-ack", breaks="MQQB-3.1.5.6-03", blind=True)
class SenderTimeOfLastAckNotSetByRepeatedOrderAck(OrderAcks):
    """When an OrderAck repeats a number that was already acknowledged, the sender does not change TimeOfLastAck."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        old, last = sequence.TimeOfLastAck, sequence.LastAck
        super().note_last_message_in_order(session, body, now)
        if last == sequence.LastAck:
            sequence.TimeOfLastAck = old


@fault("sender-resend-interval-index-unchanged-if-messages-remain-unacked", breaks="MQQB-3.1.5.6-04", blind=True)
class SenderResendIntervalIndexUnchangedIfMessagesRemainUnacked(TransactionalSending):
    """When an OrderAck leaves messages in UnackedSequence, the sender changes neither ResendIntervalIndex nor
    ResendInterval: both keep the values that the last expiry of the resend timer gave them.
    """

    def reset_resend_interval(self, session: Session) -> None:
        if not get_outgoing_sequence(session).UnackedSequence:
            super().reset_resend_interval(session)


@fault("sender-resend-interval-not-reset-when-index-is-reset", breaks="MQQB-3.1.5.6-06", blind=True)
class SenderResendIntervalNotResetWhenIndexIsReset(TransactionalSending):
    """When an OrderAck resets ResendIntervalIndex, the sender does not change ResendInterval."""

    def reset_resend_interval(self, session: Session) -> None:
        interval = get_outgoing_sequence(session).ResendInterval
        super().reset_resend_interval(session)
        get_outgoing_sequence(session).ResendInterval = interval


@fault("sender-order-ack-of-second-queue-ignored", breaks="MQQB-3.1.5.6-08", blind=True)
class SenderOrderAckOfSecondQueueIgnored(OrderAcks):
    """The sender processes OrderAcks only for the sequence of the first outgoing queue."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if session.OutgoingQueueReference is first:
            super().note_last_message_in_order(session, body, now)


@fault("sender-order-ack-of-queue-on-hold-ignored", breaks=("MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09"), blind=True)
class SenderOrderAckOfQueueOnHoldIgnored(OrderAcks):
    """The sender ignores an OrderAck for a queue on hold."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if queue is None or queue.State is not OutgoingQueueState.ON_HOLD:
            super().note_last_message_in_order(session, body, now)


@fault("sender-order-ack-removes-only-entry-with-same-number", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderOrderAckRemovesOnlyEntryWithSameNumber(OrderAcks):
    """The sender removes from UnackedSequence only the message whose number is in the OrderAck, and no message with a
    lower number.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        before = list(sequence.UnackedSequence)
        super().note_last_message_in_order(session, body, now)
        sequence.UnackedSequence[:] = [one for one in before if one.SeqNo != sequence.LastAck.SeqNo]


@fault("sender-order-ack-on-session-of-receiver-ignored", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderOrderAckOnSessionOfReceiverIgnored(OrderAcks):
    """The sender ignores an OrderAck that arrives on a session that the receiver opened."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if session.initiator:
            super().receive(session, packet, now)


@fault("sender-transactional-message-of-other-queue-deleted-by-order-ack", breaks="MQQB-3.1.5.6-09", blind=True)
class SenderTransactionalMessageOfOtherQueueDeletedByOrderAck(OrderAcks):
    """The sender removes the entries up to the TxSequenceNumber of an OrderAck from UnackedSequence of every outgoing
    queue.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            sequence = queue.session.TxOutgoingSequence
            if sequence is not None and queue.session is not session:
                unacked = [one for one in sequence.UnackedSequence if one.SeqNo > body.TxSequenceNumber]
                sequence.UnackedSequence[:] = unacked


@fault("sender-order-ack-acknowledges-sequences-of-all-destinations", breaks=("MQQB-3.1.5.6-09", "MQQB-3.1.6.5-01"))
class SenderOrderAckAcknowledgesSequencesOfAllDestinations(OrderAcks):
    """An OrderAck acknowledges the messages with the same numbers in the sequences of all destinations."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        for other in list_open_sessions(self.qm, session):
            if other.TxOutgoingSequence is not None:
                own = replace(body, TxSequenceID=other.OutgoingTxSequenceID)
                super().note_last_message_in_order(other, own, now)
                self.delete_order_acknowledged_messages(other, own)


_sessions_with_reset_index: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()


@fault("sender-resend-interval-index-reset-only-once", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderResendIntervalIndexResetOnlyOnce(TransactionalSending):
    """The sender resets ResendIntervalIndex only for the first OrderAck that empties UnackedSequence."""

    def reset_resend_interval(self, session: Session) -> None:
        sequence = get_outgoing_sequence(session)
        if sequence.UnackedSequence or not sequence.ResendIntervalIndex:
            super().reset_resend_interval(session)
        elif session.number not in _sessions_with_reset_index.get(self.qm, ()):
            _sessions_with_reset_index.setdefault(self.qm, set()).add(session.number)
            super().reset_resend_interval(session)


@fault(
    "sender-last-ack-count-not-incremented-by-repeated-order-ack",
    breaks="MQQB-3.1.5.6-12",
    blind=True,
)
class SenderLastAckCountNotIncrementedByRepeatedOrderAck(OrderAcks):
    """When an OrderAck repeats a number that was already acknowledged, the sender does not increment LastAckCount."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        last = sequence.LastAck
        super().note_last_message_in_order(session, body, now)
        if last == sequence.LastAck:
            sequence.LastAckCount -= 1


@fault("sender-last-ack-count-not-incremented-while-queue-on-hold", breaks="MQQB-3.1.5.6-12", blind=True)
class SenderLastAckCountNotIncrementedWhileQueueOnHold(OrderAcks):
    """The sender does not increment LastAckCount for an OrderAck that arrives while the queue is on hold."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        queue = session.OutgoingQueueReference
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            get_outgoing_sequence(session).LastAckCount -= 1


add(
    "sender-order-acked-message-sent-again",
    ("MQQB-3.1.5.6-13", "MQQB-3.1.1.6.2-08"),
    "On the next session, the sender resends a message for which it has received an OrderAck.",
    omit_step(OrderAcks.delete_order_acknowledged_messages),
)


@fault("sender-order-ack-deletes-only-message-with-its-number", breaks="MQQB-3.1.5.6-13", blind=True)
class SenderOrderAckDeletesOnlyMessageWithItsNumber(OrderAcks):
    """The sender deletes only the message with the number of an OrderAck, and not the messages before it."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for one in kept:
            one.TxSequenceNumber = 0
        super().delete_order_acknowledged_messages(session, body)
        for one, number in zip(kept, numbers, strict=True):
            one.TxSequenceNumber = number


@fault("sender-order-acked-message-resent-after-restart", breaks=("MQQB-3.1.5.6-13", "MQSO-4.3.1.2-D05"))
class SenderOrderAckedMessageResentAfterRestart(TransactionalSending):
    """The sender does not remove a message from its disk when an OrderAck and a session acknowledgment have covered the
    message, and sends the message again after a restart.
    """

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN or header.JP:
            super().delete_order_acknowledged_message(session, position)
        else:
            session.OutgoingMessageTable.remove(position)


@fault("sender-resends-message-whose-order-ack-precedes-session-ack", breaks="MQQB-3.1.5.6-13", blind=True)
class SenderResendsMessageWhoseOrderAckPrecedesSessionAck(TransactionalSending):
    """The sender keeps a transactional message whose OrderAck arrives before its session acknowledgment, and sends the
    message again on the next session.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        ordered, position.ReceivedOrderAck = position.ReceivedOrderAck, False
        super().keep_message_until_order_ack(session, position)
        position.ReceivedOrderAck = ordered


@fault("sender-order-ack-applied-to-newest-session", breaks="MQQB-3.1.5.6-13")
class SenderOrderAckAppliedToNewestSession(OrderAcks):
    """The sender applies every OrderAck to the sequence of its newest session, even if the OrderAck names the sequence
    of a different session.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        newest = list(self.qm.adm.OutgoingQueues.values())[-1].session
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        self.note_last_message_in_order(newest, replace(body, TxSequenceID=newest.OutgoingTxSequenceID), now)
        self.delete_order_acknowledged_messages(newest, body)

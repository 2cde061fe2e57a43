"""Faults of MS-MQQB 3.1.1.3.1 Session State, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-counts-of-other-session-of-same-sender-reset-by-close", breaks="MQQB-3.1.1.3.1-01", blind=True)
class ReceiverCountsOfOtherSessionOfSameSenderResetByClose(Closing):
    """When one of two sessions of a sender is closed, the receiver resets the received counts of the other session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for other in self.qm.sessions.values():
            if other is not session and not other.initiator and other.RemoteQMGuid == session.RemoteQMGuid:
                other.MessageReceivedCount = other.RecoverableMessageReceivedCount = 0


@fault("sender-sequences-begun-in-one-second-with-equal-identifier", breaks="MQQB-3.1.1.3.1-02", blind=True)
class SenderSequencesBegunInOneSecondWithEqualIdentifier(Destinations):
    """The sender assigns the same TimeStamp to two sequences that begin in the same second."""

    def _new_sequence(self, now: Now) -> TxSequenceID:
        self.qm.adm.last_sequence_time = max(self.qm.adm.last_sequence_time, now.utc_s)
        return TxSequenceID(Ordinal=1, TimeStamp=self.qm.adm.last_sequence_time & 0xFFFFFFFF)


@fault("sender-first-ordinal-of-second-queue-2", breaks="MQQB-3.1.1.3.1-03", blind=True)
class SenderFirstOrdinalOfSecondQueue2(Destinations):
    """The sender begins the first sequence of its second outgoing queue with Ordinal 2."""

    def _new_sequence(self, now: Now) -> TxSequenceID:
        identifier = super()._new_sequence(now)
        return TxSequenceID(Ordinal=len(self.qm.adm.OutgoingQueues) + 1, TimeStamp=identifier.TimeStamp)


def _renew_time_stamps(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        old = queue.session.OutgoingTxSequenceID
        qm.adm.last_sequence_time += 1
        queue.session.OutgoingTxSequenceID = TxSequenceID(Ordinal=old.Ordinal, TimeStamp=qm.adm.last_sequence_time)


add(
    "sender-sequence-time-stamp-renewed-at-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, the sender's OutgoingTxSequenceID keeps its Ordinal, but has a different TimeStamp.",
    at_restart(_renew_time_stamps),
    blind=True,
)


def _limit_reject_counts(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            transfer.RejectCount = min(transfer.RejectCount, 1)


add(
    "receiver-reject-count-above-1-restored-as-1",
    "MQQB-3.1.1.3.1-05",
    "After a restart, the receiver's TxMessageRejectCount is 1 if it was higher before the restart.",
    at_restart(_limit_reject_counts),
    blind=True,
)


@fault("receiver-reject-count-of-first-rejected-message-2", breaks="MQQB-3.1.1.3.1-05", blind=True)
class ReceiverRejectCountOfFirstRejectedMessage2(InSequence):
    """The receiver's TxMessageRejectCount starts at 1, so it is 2 after the first rejected message."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        if transfer is not None and not transfer.RejectCount:
            session.TxMessageRejectCount = 1
        super().reject_out_of_sequence(session, transfer, now)


def _count_table(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        waiting = [one.TxSequenceNumber for one in queue.session.OutgoingMessageTable if one.TxSequenceNumber]
        if waiting:
            queue.session.OutgoingTxSequenceNumber = len(waiting) + 1


add(
    "sender-next-sequence-number-after-restart-counts-waiting-messages",
    "MQQB-3.1.1.3.1-06",
    "After a restart, the sender's OutgoingTxSequenceNumber is the number of waiting transactional messages plus one.",
    at_restart(_count_table),
    blind=True,
)


@fault("receiver-first-sequence-older-than-start-rejected", breaks="MQQB-3.1.1.3.1-07", blind=True)
class ReceiverFirstSequenceOlderThanStartRejected(InSequence):
    """The receiver rejects the first sequence of a sender when its TimeStamp is earlier than 2001."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if not session.IncomingTxSequenceID.Ordinal and header.TxSequenceID.TimeStamp < 978_307_200:
            return False
        return super().is_in_sequence(session, packet)


def _forget_time_stamps(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            ordinal = transfer.SequenceIdentifier.Ordinal
            transfer.SequenceIdentifier = transfer.saved_identifier = TxSequenceID(Ordinal=ordinal)


add(
    "receiver-incoming-sequence-time-stamp-0-after-restart",
    "MQQB-3.1.1.3.1-08",
    "After a restart, the receiver's IncomingTxSequenceID keeps its Ordinal, but has TimeStamp 0.",
    at_restart(_forget_time_stamps),
    blind=True,
)


def _lower_numbers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            if transfer.SequenceNumber:
                transfer.SequenceNumber -= 1
                transfer.saved_number -= 1


add(
    "receiver-incoming-sequence-number-one-lower-after-restart",
    "MQQB-3.1.1.3.1-09",
    "After a restart, the receiver's IncomingTxSequenceNumber is one lower than before.",
    at_restart(_lower_numbers),
    blind=True,
)


def _sort_outgoing_messages(session: Session, key: Callable[[OutgoingMessagePosition], bool]) -> None:
    table = session.OutgoingMessageTable
    positions = list(table)
    for position in positions:
        table.remove(position)
    for position in sorted(positions, key=key):
        table.add(position)


def _transactional_first(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        _sort_outgoing_messages(queue.session, lambda one: not one.TxSequenceNumber)


add(
    "sender-transactional-messages-before-recoverable-ones-after-restart",
    "MQQB-3.1.1.3.1-12",
    "After a restart, the sender sends the transactional messages of an outgoing queue before the other messages of "
    "this queue.",
    at_restart(_transactional_first),
    blind=True,
)


def _forget_journaled(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        table = queue.session.AwaitingFinalACKTable
        for number, position in list(table.items()):
            if not position.UserMessage.UserHeader.JN:
                del table[number]


add(
    "sender-messages-without-jn-awaiting-final-ack-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "At a restart, the sender loses the messages of AwaitingFinalACKTable that have only JP set.",
    at_restart(_forget_journaled),
    blind=True,
)


@fault("sender-recoverable-messages-before-express-ones-on-new-session", breaks="MQQB-3.1.1.3.1-D01", blind=True)
class SenderRecoverableMessagesBeforeExpressOnesOnNewSession(SessionInitialization):
    """On a new session, the sender sends the recoverable messages of an outgoing queue before the express messages."""

    def initialize_messages(self, session: Session) -> None:
        _sort_outgoing_messages(session, _is_express)
        super().initialize_messages(session)


def _is_express(position: OutgoingMessagePosition) -> bool:
    return not position.recoverable


def _renumber_outgoing_messages(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        number = 0
        for position in queue.session.OutgoingMessageTable:
            header = position.UserMessage.TransactionHeader
            if position.TxSequenceNumber and header is not None:
                number += 1
                position.TxSequenceNumber = number
                header = replace(header, TxSequenceNumber=number)
                position.UserMessage = replace(position.UserMessage, TransactionHeader=header)


add(
    "sender-unacknowledged-messages-numbered-from-1-after-restart",
    "MQQB-3.1.1.3.1.2-01",
    "After a restart, the sender numbers the unacknowledged messages of a sequence from 1.",
    at_restart(_renumber_outgoing_messages),
    blind=True,
)


_restarts: dict[str, int] = {}


def _forget_at_second_restart(qm: QueueManager) -> None:
    name = str(qm.adm.Identifier)
    _restarts[name] = _restarts.get(name, 0) + 1
    if _restarts[name] > 1:
        for queue in qm.adm.OutgoingQueues.values():
            for position in queue.session.OutgoingMessageTable:
                if position.TxSequenceNumber:
                    queue.session.OutgoingMessageTable.remove(position)


add(
    "sender-transactional-messages-lost-at-second-restart",
    "MQQB-3.1.1.3.1-12",
    "At the second restart, the sender loses the transactional messages of its outgoing queues.",
    at_restart(_forget_at_second_restart),
    blind=True,
)


def _forget_second_queue(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        queue.session.AwaitingFinalACKTable.clear()


add(
    "sender-messages-of-second-queue-awaiting-final-ack-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "At a restart, the sender keeps AwaitingFinalACKTable only for its first outgoing queue.",
    at_restart(_forget_second_queue),
    blind=True,
)


def _forget_second_sequence(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-next-sequence-number-of-second-queue-1-after-restart",
    "MQQB-3.1.1.3.1-06",
    "After a restart, the sender sets OutgoingTxSequenceNumber of its second outgoing queue to 1.",
    at_restart(_forget_second_sequence),
    blind=True,
)


def _share_identifier(qm: QueueManager) -> None:
    queues = list(qm.adm.OutgoingQueues.values())
    for queue in queues[1:]:
        queue.session.OutgoingTxSequenceID = queues[0].session.OutgoingTxSequenceID


add(
    "sender-sequence-identifier-of-first-queue-for-all-after-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, the sender uses the OutgoingTxSequenceID of its first outgoing queue for every outgoing queue.",
    at_restart(_share_identifier),
    blind=True,
)


@fault("receiver-session-ack-clears-count-of-other-session-of-sender", breaks="MQQB-3.1.1.3.1-01", blind=True)
class ReceiverSessionAckClearsCountOfOtherSessionOfSender(SessionAcks):
    """When the receiver sends a SessionAck on one session, it also sets UnackedReceivedMsgCount of the sender's other
    sessions to 0.
    """

    def send(self, session: Session, now: Now) -> None:
        super().send(session, now)
        for other in self.qm.sessions.values():
            if other is not session and other.RemoteQMGuid == session.RemoteQMGuid:
                other.UnackedReceivedMsgCount = 0


def _forget_acknowledged_numbers(core: QueueManager) -> None:
    for queue in core.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            transfer.saved_number = 0


add(
    "receiver-order-ack-number-unknown-after-restart",
    "MQQB-3.1.1.3.1-09",
    "After a restart, the receiver discards a repeated message, but sends no OrderAck with the last accepted number.",
    at_restart(_forget_acknowledged_numbers),
)

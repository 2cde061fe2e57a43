"""Faults that break the rules MQQB-3.1.1.3.1-01 to MQQB-3.1.1.3.1-08."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input, change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import (
    NO_INCOMING_SEQUENCE,
    IncomingTransactionalTransferInfo,
    OutgoingMessagePosition,
    OutgoingQueue,
    Session,
)
from reference_qm.model.message import Message
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_1_3_1_session_state.fault_steps import (
    change_incoming_sequences_at_restart,
    change_outgoing_queues_at_restart,
)


@fault("receiver-message-received-count-shared-by-all-sessions", breaks="MQQB-3.1.1.3.1-01")
class ReceiverMessageReceivedCountSharedByAllSessions(MessageReceiving):
    """The receiver has one MessageReceivedCount for all sessions."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        for other in self.qm.sessions.values():
            other.MessageReceivedCount = session.MessageReceivedCount


@fault("receiver-message-counted-on-each-session-of-sender-address", breaks="MQQB-3.1.1.3.1-01", blind=True)
class ReceiverMessageCountedOnEachSessionOfSenderAddress(MessageReceiving):
    """The receiver counts a message on every session with the address of its sender."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        for one in self.qm.sessions.values():
            if one.RemoteQMAddress == session.RemoteQMAddress and one.SessionState is SessionState.OPEN:
                super().count_message_received_on_session(one, packet)


@fault("receiver-closing-one-session-resets-counts-of-other-session", breaks="MQQB-3.1.1.3.1-01", blind=True)
class ReceiverClosingOneSessionResetsCountsOfOtherSession(SessionClosing):
    """When one of two sessions of a sender is closed, the receiver resets the received counts of the other session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for other in self.qm.sessions.values():
            if other is not session and not other.initiator and other.RemoteQMGuid == session.RemoteQMGuid:
                other.MessageReceivedCount = other.RecoverableMessageReceivedCount = 0


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


@fault("receiver-message-counted-on-first-session-of-host", breaks="MQQB-3.1.1.3.1-01")
class ReceiverMessageCountedOnFirstSessionOfHost(MessageReceiving):
    """The receiver counts a message on the first open session from the same address."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        first = next(
            one
            for one in self.qm.sessions.values()
            if one.RemoteQMAddress == session.RemoteQMAddress
            and one.initiator is session.initiator
            and one.SessionState is SessionState.OPEN
        )
        super().count_message_received_on_session(first, packet)


@fault("sender-one-tx-sequence-id-for-all-sequences-of-queue", breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57"))
class SenderOneTxSequenceIdForAllSequencesOfQueue(TransactionalSending):
    """The sender uses one TxSequenceID for all sequences to a queue."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        first = TxSequenceID(1, session.OutgoingTxSequenceID.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=first)


@fault(
    "sender-sequences-begun-in-one-second-share-time-stamp",
    breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03"),
)
class SenderSequencesBegunInOneSecondShareTimeStamp(DestinationResolving):
    """The sender assigns the same TimeStamp to all sequences that begin in one second."""

    def open_outgoing_queue(self, name: str, now: Now) -> OutgoingQueue:
        self.qm.adm.last_sequence_time = 0
        return super().open_outgoing_queue(name, now)


@fault("sender-tx-sequence-id-kept-after-final-ack-of-last-message", breaks="MQQB-3.1.1.3.1-02")
class SenderTxSequenceIdKeptAfterFinalAckOfLastMessage(TransactionalSending):
    """The sender keeps OutgoingTxSequenceID when a FinalAck completes the last message of a sequence."""

    def remove_message_from_sequence(self, session: Session, position: OutgoingMessagePosition) -> None:
        identifier = session.OutgoingTxSequenceID
        super().remove_message_from_sequence(session, position)
        session.OutgoingTxSequenceID = identifier


@fault("sender-sequences-of-same-second-have-equal-time-stamp", breaks="MQQB-3.1.1.3.1-02", blind=True)
class SenderSequencesOfSameSecondHaveEqualTimeStamp(DestinationResolving):
    """The sender assigns the same TimeStamp to two sequences that begin in the same second."""

    def _create_sequence_id(self, now: Now) -> TxSequenceID:
        self.qm.adm.last_sequence_time = max(self.qm.adm.last_sequence_time, now.utc_s)
        return TxSequenceID(Ordinal=1, TimeStamp=self.qm.adm.last_sequence_time & 0xFFFFFFFF)


@fault("sender-first-sequence-has-ordinal-3", breaks="MQQB-3.1.1.3.1-03")
class SenderFirstSequenceHasOrdinal3(TransactionalSending):
    """The sender's first sequence of a session has Ordinal 3."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        other = TxSequenceID(identifier.Ordinal + 2, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=other)


SECONDS_PER_MINUTE = 60


@fault("sender-first-time-stamp-follows-clock-that-was-set-back", breaks="MQQB-3.1.1.3.1-03")
class SenderFirstTimeStampFollowsClockThatWasSetBack(DestinationResolving):
    """The sender takes the TimeStamp of a first sequence from the clock, even after the clock was set back."""

    def open_outgoing_queue(self, name: str, now: Now) -> OutgoingQueue:
        if now.utc_s < self.qm.adm.last_sequence_time - SECONDS_PER_MINUTE:  # the clock was set back
            self.qm.adm.last_sequence_time = 0
        return super().open_outgoing_queue(name, now)


@fault("sender-first-sequence-of-second-queue-has-ordinal-2", breaks="MQQB-3.1.1.3.1-03", blind=True)
class SenderFirstSequenceOfSecondQueueHasOrdinal2(DestinationResolving):
    """The sender begins the first sequence of its second outgoing queue with Ordinal 2."""

    def _create_sequence_id(self, now: Now) -> TxSequenceID:
        identifier = super()._create_sequence_id(now)
        return TxSequenceID(Ordinal=len(self.qm.adm.OutgoingQueues) + 1, TimeStamp=identifier.TimeStamp)


def _clear_last_sequence_time(qm: QueueManager) -> None:
    qm.adm.last_sequence_time = 0


add(
    "sender-sequences-of-two-queues-have-the-same-time-stamp",
    "MQQB-3.1.1.3.1-03",
    "The sender gives the first sequences of two outgoing queues the same TimeStamp if they begin in the same second.",
    change_core_after_every_input(_clear_last_sequence_time),
)


def _increment_sequence_ordinal(queue: OutgoingQueue) -> None:
    identifier = queue.session.OutgoingTxSequenceID
    queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal + 1, identifier.TimeStamp)


add(
    "sender-outgoing-sequence-id-changed-by-restart",
    "MQQB-3.1.1.3.1-04",
    "The sender begins a new sequence after a restart.",
    change_outgoing_queues_at_restart(_increment_sequence_ordinal),
)


def _renew_sequence_time_stamps(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        old = queue.session.OutgoingTxSequenceID
        qm.adm.last_sequence_time += 1
        queue.session.OutgoingTxSequenceID = TxSequenceID(Ordinal=old.Ordinal, TimeStamp=qm.adm.last_sequence_time)


add(
    "sender-sequence-time-stamp-renewed-at-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, the sender's OutgoingTxSequenceID keeps its Ordinal, but has a different TimeStamp.",
    change_core_at_restart(_renew_sequence_time_stamps),
    blind=True,
)


def _share_sequence_identifier_of_first_queue(qm: QueueManager) -> None:
    queues = list(qm.adm.OutgoingQueues.values())
    for queue in queues[1:]:
        queue.session.OutgoingTxSequenceID = queues[0].session.OutgoingTxSequenceID


add(
    "sender-sequence-identifier-of-first-queue-for-all-after-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, the sender uses the OutgoingTxSequenceID of its first outgoing queue for every outgoing queue.",
    change_core_at_restart(_share_sequence_identifier_of_first_queue),
    blind=True,
)


def _clear_reject_count(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.RejectCount = 0


add(
    "receiver-reject-count-lost-by-restart",
    "MQQB-3.1.1.3.1-05",
    "The receiver sets TxMessageRejectCount to 0 at a restart.",
    change_incoming_sequences_at_restart(_clear_reject_count),
)


def _limit_reject_counts_to_one(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            transfer.RejectCount = min(transfer.RejectCount, 1)


add(
    "receiver-reject-count-above-1-restored-as-1",
    "MQQB-3.1.1.3.1-05",
    "After a restart, the receiver's TxMessageRejectCount is 1 if it was higher before the restart.",
    change_core_at_restart(_limit_reject_counts_to_one),
    blind=True,
)


@fault("receiver-reject-count-is-2-after-first-rejected-message", breaks="MQQB-3.1.1.3.1-05", blind=True)
class ReceiverRejectCountIs2AfterFirstRejectedMessage(TransactionalReceiving):
    """The receiver's TxMessageRejectCount starts at 1, so it is 2 after the first rejected message."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        if transfer is not None and not transfer.RejectCount:
            session.TxMessageRejectCount = 1
        super().reject_out_of_sequence_message(session, transfer, now)


def _reset_outgoing_sequence_number(queue: OutgoingQueue) -> None:
    queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-outgoing-sequence-number-reset-by-restart",
    "MQQB-3.1.1.3.1-06",
    "The sender sets OutgoingTxSequenceNumber to 1 at a restart.",
    change_outgoing_queues_at_restart(_reset_outgoing_sequence_number),
)


def _set_sequence_number_to_message_count(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        waiting = [one.TxSequenceNumber for one in queue.session.OutgoingMessageTable if one.TxSequenceNumber]
        if waiting:
            queue.session.OutgoingTxSequenceNumber = len(waiting) + 1


add(
    "sender-next-sequence-number-after-restart-counts-waiting-messages",
    "MQQB-3.1.1.3.1-06",
    "After a restart, the sender's OutgoingTxSequenceNumber is the number of waiting transactional messages plus one.",
    change_core_at_restart(_set_sequence_number_to_message_count),
    blind=True,
)


def _reset_sequence_numbers_of_later_queues(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-next-sequence-number-of-second-queue-1-after-restart",
    "MQQB-3.1.1.3.1-06",
    "After a restart, the sender sets OutgoingTxSequenceNumber of its second outgoing queue to 1.",
    change_core_at_restart(_reset_sequence_numbers_of_later_queues),
    blind=True,
)


@fault("receiver-first-sequence-with-time-stamp-0-refused", breaks="MQQB-3.1.1.3.1-07")
class ReceiverFirstSequenceWithTimeStamp0Refused(TransactionalReceiving):
    """The receiver refuses a first sequence whose TxSequenceID has TimeStamp 0."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        first = session.IncomingTxSequenceID == NO_INCOMING_SEQUENCE
        if first and header is not None and not header.TxSequenceID.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-first-sequence-with-time-stamp-before-2001-rejected", breaks="MQQB-3.1.1.3.1-07", blind=True)
class ReceiverFirstSequenceWithTimeStampBefore2001Rejected(TransactionalReceiving):
    """The receiver rejects the first sequence of a sender when its TimeStamp is earlier than 2001."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if not session.IncomingTxSequenceID.Ordinal and header.TxSequenceID.TimeStamp < 978_307_200:
            return False
        return super().is_in_sequence(session, packet)


def _clear_sequence_identifier(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceIdentifier = NO_INCOMING_SEQUENCE


add(
    "receiver-incoming-sequence-id-lost-by-restart",
    "MQQB-3.1.1.3.1-08",
    "The receiver clears IncomingTxSequenceID at a restart.",
    change_incoming_sequences_at_restart(_clear_sequence_identifier),
)


def _clear_sequence_time_stamps(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            ordinal = transfer.SequenceIdentifier.Ordinal
            transfer.SequenceIdentifier = transfer.saved_sequence_identifier = TxSequenceID(Ordinal=ordinal)


add(
    "receiver-incoming-sequence-time-stamp-0-after-restart",
    "MQQB-3.1.1.3.1-08",
    "After a restart, the receiver's IncomingTxSequenceID keeps its Ordinal, but has TimeStamp 0.",
    change_core_at_restart(_clear_sequence_time_stamps),
    blind=True,
)

"""Faults of MS-MQQB 3.1.1.3.1 Session State."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import always, at_restart, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.receiving import Receiving
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
from reference_qm.model.tables import OutgoingMessageTable
from reference_qm.surface.clock import Now

MINUTE_S = 60
_NO_ADDRESS = "the peer"


@fault("receiver-message-count-shared-by-all-sessions", breaks="MQQB-3.1.1.3.1-01")
class ReceiverMessageCountSharedByAllSessions(Receiving):
    """The receiver has one MessageReceivedCount for all sessions."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        for other in self.qm.sessions.values():
            other.MessageReceivedCount = session.MessageReceivedCount


def _rename_remote_addresses(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.RemoteQMAddress = _NO_ADDRESS


def _rename_hop_addresses(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.NextHopCollection = [replace(hop, Address=_NO_ADDRESS) for hop in session.NextHopCollection]


add(
    "any-session-remote-qm-address-is-host-name",
    "MQQB-3.1.1.3.1-11",
    "The queue manager stores a name instead of an address in RemoteQMAddress of a session.",
    always(_rename_remote_addresses),
)
add(
    "initiator-next-hop-address-is-a-name",
    "MQQB-3.1.1.3.1.3-01",
    "The initiator stores a name instead of an address in Address of each NextHop.",
    always(_rename_hop_addresses),
)


# -- the identifiers and numbers of sequences ----------------------------------------------------------------------


@fault("sender-sequence-id-used-again", breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57"))
class SenderSequenceIdUsedAgain(TransactionalSending):
    """The sender uses one TxSequenceID for all sequences to a queue."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        first = TxSequenceID(1, session.OutgoingTxSequenceID.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=first)


@fault("sender-first-sequence-ordinal-3", breaks="MQQB-3.1.1.3.1-03")
class SenderFirstSequenceOrdinal3(TransactionalSending):
    """The sender's first sequence of a session has Ordinal 3."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        other = TxSequenceID(identifier.Ordinal + 2, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=other)


@fault("receiver-first-sequence-with-time-stamp-0-refused", breaks="MQQB-3.1.1.3.1-07")
class ReceiverFirstSequenceWithTimeStamp0Refused(InSequence):
    """The receiver refuses a first sequence whose TxSequenceID has TimeStamp 0."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        first = session.IncomingTxSequenceID == NO_INCOMING_SEQUENCE
        if first and header is not None and not header.TxSequenceID.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-first-sequence-from-any-number-accepted", breaks="MQQB-3.1.1.3.1-09")
class ReceiverFirstSequenceFromAnyNumberAccepted(InSequence):
    """The receiver accepts a first sequence that begins with any number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return session.IncomingTxSequenceID == NO_INCOMING_SEQUENCE or super().is_in_sequence(session, packet)


# -- elements that survive a restart ----------------------------------------------------------------------------------


def _change_incoming_at_restart(change: Callable[[IncomingTransactionalTransferInfo], None]) -> Install:
    """Change each incoming sequence when the receiver restarts."""

    def spoil_incoming_sequences(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                change(transfer)

    return at_restart(spoil_incoming_sequences)


def _clear_sequence_identifier(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceIdentifier = NO_INCOMING_SEQUENCE


def _clear_sequence_number(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceNumber = 0


def _clear_reject_count(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.RejectCount = 0


def _change_outgoing_at_restart(change: Callable[[OutgoingQueue], None]) -> Install:
    """Change each outgoing queue when the sender restarts."""

    def spoil_outgoing_sequences(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            change(queue)

    return at_restart(spoil_outgoing_sequences)


def _begin_next_sequence(queue: OutgoingQueue) -> None:
    identifier = queue.session.OutgoingTxSequenceID
    queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal + 1, identifier.TimeStamp)


def _reset_outgoing_sequence_number(queue: OutgoingQueue) -> None:
    queue.session.OutgoingTxSequenceNumber = 1


def _replace_outgoing_queue_reference(queue: OutgoingQueue) -> None:
    """Let the session refer to an OutgoingQueue with a different name for the same destination."""
    assert queue.session.OutgoingQueueReference is queue
    other = OutgoingQueue(Pathname=queue.Pathname, DestinationFormatName=f"{queue.DestinationFormatName}-other")
    other.session = queue.session
    queue.session.OutgoingQueueReference = other


def _clear_outgoing_message_table(queue: OutgoingQueue) -> None:
    queue.session.OutgoingMessageTable = OutgoingMessageTable()


def _remove_outgoing_acknowledgments(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.MessagePosition.MessageReference.Class:
            queue.session.OutgoingMessageTable.remove(position)


def _reverse_outgoing_message_table(queue: OutgoingQueue) -> None:
    table = OutgoingMessageTable()
    for position in reversed(list(queue.session.OutgoingMessageTable)):
        table.add(position)
    queue.session.OutgoingMessageTable = table


def _renumber_messages(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.TxSequenceNumber:
            position.UserMessage = set_fields(
                position.UserMessage, {"TransactionHeader.TxSequenceNumber": position.TxSequenceNumber + 8}
            )


def _clear_prepared_transactions(qm: QueueManager) -> None:
    for transaction in qm.adm.TransactionCollection.values():
        transaction.TransactionalOperationCollection.clear()


def _clear_awaiting_final_ack_table(queue: OutgoingQueue) -> None:
    queue.session.AwaitingFinalACKTable.clear()


add(
    "sender-outgoing-sequence-id-changed-by-restart",
    "MQQB-3.1.1.3.1-04",
    "The sender begins a new sequence after a restart.",
    _change_outgoing_at_restart(_begin_next_sequence),
)
add(
    "receiver-reject-count-lost-by-restart",
    "MQQB-3.1.1.3.1-05",
    "The receiver sets TxMessageRejectCount to 0 at a restart.",
    _change_incoming_at_restart(_clear_reject_count),
)
add(
    "sender-outgoing-sequence-number-reset-by-restart",
    "MQQB-3.1.1.3.1-06",
    "The sender sets OutgoingTxSequenceNumber to 1 at a restart.",
    _change_outgoing_at_restart(_reset_outgoing_sequence_number),
)
add(
    "receiver-incoming-sequence-id-lost-by-restart",
    "MQQB-3.1.1.3.1-08",
    "The receiver clears IncomingTxSequenceID at a restart.",
    _change_incoming_at_restart(_clear_sequence_identifier),
)
add(
    "receiver-incoming-sequence-number-lost-by-restart",
    "MQQB-3.1.1.3.1-09",
    "The receiver sets IncomingTxSequenceNumber to 0 at a restart.",
    _change_incoming_at_restart(_clear_sequence_number),
)
add(
    "sender-outgoing-queue-reference-changed-by-restart",
    "MQQB-3.1.1.3.1-10",
    "The sender's OutgoingQueueReference names a wrong queue after a restart.",
    _change_outgoing_at_restart(_replace_outgoing_queue_reference),
)
add(
    "sender-unsent-acknowledgments-lost-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender loses its unsent acknowledgments at a restart.",
    _change_outgoing_at_restart(_remove_outgoing_acknowledgments),
)
add(
    "sender-outgoing-message-table-lost-by-restart",
    ("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-01", "MQQB-3.1.1.3.2-02", "MQDMPR-3.1.1.3-D01"),
    "The sender loses every message of OutgoingMessageTable at a restart.",
    _change_outgoing_at_restart(_clear_outgoing_message_table),
)
add(
    "sender-prepared-transactions-emptied-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender loses the operations of prepared transactions at a restart.",
    at_restart(_clear_prepared_transactions),
)
add(
    "sender-outgoing-message-table-reversed-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender reverses the order of OutgoingMessageTable at a restart.",
    _change_outgoing_at_restart(_reverse_outgoing_message_table),
)
add(
    "sender-unacknowledged-message-renumbered-by-restart",
    "MQQB-3.1.1.3.1.2-01",
    "The sender changes the TxSequenceNumbers of unacknowledged messages at a restart.",
    _change_outgoing_at_restart(_renumber_messages),
)
add(
    "sender-awaiting-final-ack-table-lost-by-restart",
    "MQQB-3.1.1.3.1-13",
    "The sender clears AwaitingFinalACKTable at a restart.",
    _change_outgoing_at_restart(_clear_awaiting_final_ack_table),
)


@fault("sender-messages-reversed-by-session-retry", breaks="MQQB-3.1.1.3.1-D01")
class SenderMessagesReversedBySessionRetry(Establishing):
    """The sender reverses the order of its messages when it tries again to establish a session."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        table = session.OutgoingMessageTable
        if session.SessionState is SessionState.WAITING_RECONNECT:
            positions = list(table)
            for position in positions:
                table.remove(position)
            for position in reversed(positions):
                table.add(position)
                table.dispatch(position)
        super().on_session_retry_connect_timer(session, now)


@fault("sender-sequence-time-stamp-follows-clock-back", breaks="MQQB-3.1.1.3.1-03")
class SenderSequenceTimeStampFollowsClockBack(Destinations):
    """The sender takes the TimeStamp of a first sequence from the clock, even after the clock was set back."""

    def open_outgoing(self, name: str, now: Now) -> OutgoingQueue:
        if now.utc_s < self.qm.adm.last_sequence_time - MINUTE_S:  # the clock was set back
            self.qm.adm.last_sequence_time = 0
        return super().open_outgoing(name, now)


@fault(
    "sender-sequences-of-one-second-share-time-stamp",
    breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03"),
)
class SenderSequencesOfOneSecondShareTimeStamp(Destinations):
    """The sender assigns the same TimeStamp to all sequences that begin in one second."""

    def open_outgoing(self, name: str, now: Now) -> OutgoingQueue:
        self.qm.adm.last_sequence_time = 0
        return super().open_outgoing(name, now)


@fault("receiver-message-counted-on-each-session-of-address", breaks="MQQB-3.1.1.3.1-01", blind=True)
class ReceiverMessageCountedOnEachSessionOfAddress(Receiving):
    """The receiver counts a message on every session with the address of its sender."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        for one in self.qm.sessions.values():
            if one.RemoteQMAddress == session.RemoteQMAddress and one.SessionState is SessionState.OPEN:
                super().count_received(one, packet)


@fault("sender-recoverable-messages-first-on-next-session", breaks="MQQB-3.1.1.3.1-D01", blind=True)
class SenderRecoverableMessagesFirstOnNextSession(SessionInitialization):
    """The sender sends recoverable messages before express messages on the next session."""

    def initialize_messages(self, session: Session) -> None:
        table = session.OutgoingMessageTable
        for position in sorted(table, key=lambda one: not one.recoverable):
            table.remove(position)
            table.add(position)
        super().initialize_messages(session)


@fault("sender-sequence-after-final-ack-has-same-identifier", breaks="MQQB-3.1.1.3.1-02")
class SenderSequenceAfterFinalAckHasSameIdentifier(TransactionalSending):
    """The sender keeps OutgoingTxSequenceID when a FinalAck completes the last message of a sequence."""

    def leave_sequence(self, session: Session, position: OutgoingMessagePosition) -> None:
        identifier = session.OutgoingTxSequenceID
        super().leave_sequence(session, position)
        session.OutgoingTxSequenceID = identifier

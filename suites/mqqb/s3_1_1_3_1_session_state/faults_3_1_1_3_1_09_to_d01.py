"""Faults that break the rules MQQB-3.1.1.3.1-09 to MQQB-3.1.1.3.1-D01."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input, change_core_at_restart, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    NO_INCOMING_SEQUENCE,
    IncomingTransactionalTransferInfo,
    OutgoingMessagePosition,
    OutgoingQueue,
    Session,
)
from reference_qm.model.states import SessionState
from reference_qm.model.tables import OutgoingMessageTable
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_1_3_1_session_state.fault_steps import (
    change_incoming_sequences_at_restart,
    change_outgoing_queues_at_restart,
)


@fault("receiver-first-sequence-that-begins-with-any-number-accepted", breaks="MQQB-3.1.1.3.1-09")
class ReceiverFirstSequenceThatBeginsWithAnyNumberAccepted(TransactionalReceiving):
    """The receiver accepts a first sequence that begins with any number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return session.IncomingTxSequenceID == NO_INCOMING_SEQUENCE or super().is_in_sequence(session, packet)


def _clear_sequence_number(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceNumber = 0


add(
    "receiver-incoming-sequence-number-lost-by-restart",
    "MQQB-3.1.1.3.1-09",
    "The receiver sets IncomingTxSequenceNumber to 0 at a restart.",
    change_incoming_sequences_at_restart(_clear_sequence_number),
)


def _decrement_sequence_numbers(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            if transfer.SequenceNumber:
                transfer.SequenceNumber -= 1
                transfer.saved_sequence_number -= 1


add(
    "receiver-incoming-sequence-number-one-lower-after-restart",
    "MQQB-3.1.1.3.1-09",
    "After a restart, the receiver's IncomingTxSequenceNumber is one lower than before.",
    change_core_at_restart(_decrement_sequence_numbers),
    blind=True,
)


def _clear_saved_sequence_numbers(core: QueueManager) -> None:
    for queue in core.adm.QueueCollection.values():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            transfer.saved_sequence_number = 0


add(
    "receiver-order-ack-number-unknown-after-restart",
    "MQQB-3.1.1.3.1-09",
    "After a restart, the receiver discards a repeated message, but sends no OrderAck with the last accepted number.",
    change_core_at_restart(_clear_saved_sequence_numbers),
)


def _replace_outgoing_queue_reference(queue: OutgoingQueue) -> None:
    """Let the session refer to an OutgoingQueue with a different name for the same destination."""
    assert queue.session.OutgoingQueueReference is queue
    other = OutgoingQueue(Pathname=queue.Pathname, DestinationFormatName=f"{queue.DestinationFormatName}-other")
    other.session = queue.session
    queue.session.OutgoingQueueReference = other


add(
    "sender-outgoing-queue-reference-changed-by-restart",
    "MQQB-3.1.1.3.1-10",
    "The sender's OutgoingQueueReference names a wrong queue after a restart.",
    change_outgoing_queues_at_restart(_replace_outgoing_queue_reference),
)


_INVALID_ADDRESS_TEXT = "the peer"


def _replace_remote_addresses(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.RemoteQMAddress = _INVALID_ADDRESS_TEXT


add(
    "any-session-remote-qm-address-is-host-name",
    "MQQB-3.1.1.3.1-11",
    "The queue manager stores a name instead of an address in RemoteQMAddress of a session.",
    change_core_after_every_input(_replace_remote_addresses),
)


def _remove_outgoing_acknowledgments(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.MessagePosition.MessageReference.Class:
            queue.session.OutgoingMessageTable.remove(position)


add(
    "sender-unsent-acknowledgments-lost-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender loses its unsent acknowledgments at a restart.",
    change_outgoing_queues_at_restart(_remove_outgoing_acknowledgments),
)


def _clear_outgoing_message_table(queue: OutgoingQueue) -> None:
    queue.session.OutgoingMessageTable = OutgoingMessageTable()


add(
    "sender-outgoing-message-table-lost-by-restart",
    ("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-01", "MQQB-3.1.1.3.2-02", "MQDMPR-3.1.1.3-D01"),
    "The sender loses every message of OutgoingMessageTable at a restart.",
    change_outgoing_queues_at_restart(_clear_outgoing_message_table),
)


def _clear_prepared_transactions(qm: QueueManager) -> None:
    for transaction in qm.adm.TransactionCollection.values():
        transaction.TransactionalOperationCollection.clear()


add(
    "sender-prepared-transactions-emptied-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender loses the operations of prepared transactions at a restart.",
    change_core_at_restart(_clear_prepared_transactions),
)


def _reverse_outgoing_message_table(queue: OutgoingQueue) -> None:
    table = OutgoingMessageTable()
    for position in reversed(list(queue.session.OutgoingMessageTable)):
        table.add(position)
    queue.session.OutgoingMessageTable = table


add(
    "sender-outgoing-message-table-reversed-by-restart",
    "MQQB-3.1.1.3.1-12",
    "The sender reverses the order of OutgoingMessageTable at a restart.",
    change_outgoing_queues_at_restart(_reverse_outgoing_message_table),
)


def _sort_outgoing_messages(session: Session, key: Callable[[OutgoingMessagePosition], bool]) -> None:
    table = session.OutgoingMessageTable
    positions = list(table)
    for position in positions:
        table.remove(position)
    for position in sorted(positions, key=key):
        table.add(position)


def _move_transactional_messages_first(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        _sort_outgoing_messages(queue.session, lambda one: not one.TxSequenceNumber)


add(
    "sender-transactional-messages-before-recoverable-ones-after-restart",
    "MQQB-3.1.1.3.1-12",
    "After a restart, the sender sends the transactional messages of an outgoing queue before the other messages of "
    "this queue.",
    change_core_at_restart(_move_transactional_messages_first),
    blind=True,
)


_restart_count_by_queue_manager_name: dict[str, int] = {}


def _remove_transactional_messages_at_second_restart(qm: QueueManager) -> None:
    name = str(qm.adm.Identifier)
    _restart_count_by_queue_manager_name[name] = _restart_count_by_queue_manager_name.get(name, 0) + 1
    if _restart_count_by_queue_manager_name[name] > 1:
        for queue in qm.adm.OutgoingQueues.values():
            for position in queue.session.OutgoingMessageTable:
                if position.TxSequenceNumber:
                    queue.session.OutgoingMessageTable.remove(position)


add(
    "sender-transactional-messages-lost-at-second-restart",
    "MQQB-3.1.1.3.1-12",
    "At the second restart, the sender loses the transactional messages of its outgoing queues.",
    change_core_at_restart(_remove_transactional_messages_at_second_restart),
    blind=True,
)


def _clear_table_of_messages_awaiting_final_ack(queue: OutgoingQueue) -> None:
    queue.session.AwaitingFinalACKTable.clear()


add(
    "sender-awaiting-final-ack-table-lost-by-restart",
    "MQQB-3.1.1.3.1-13",
    "The sender clears AwaitingFinalACKTable at a restart.",
    change_outgoing_queues_at_restart(_clear_table_of_messages_awaiting_final_ack),
)


def _remove_messages_without_jn_awaiting_final_ack(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        table = queue.session.AwaitingFinalACKTable
        for number, position in list(table.items()):
            if not position.UserMessage.UserHeader.JN:
                del table[number]


add(
    "sender-messages-without-jn-awaiting-final-ack-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "At a restart, the sender loses the messages of AwaitingFinalACKTable that have only JP set.",
    change_core_at_restart(_remove_messages_without_jn_awaiting_final_ack),
    blind=True,
)


def _clear_tables_awaiting_final_acks_of_later_queues(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        queue.session.AwaitingFinalACKTable.clear()


add(
    "sender-messages-of-second-queue-awaiting-final-ack-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "At a restart, the sender keeps AwaitingFinalACKTable only for its first outgoing queue.",
    change_core_at_restart(_clear_tables_awaiting_final_acks_of_later_queues),
    blind=True,
)


def _increase_sequence_numbers_of_packets(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.TxSequenceNumber:
            position.UserMessage = set_fields(
                position.UserMessage, {"TransactionHeader.TxSequenceNumber": position.TxSequenceNumber + 8}
            )


add(
    "sender-unacknowledged-message-renumbered-by-restart",
    "MQQB-3.1.1.3.1.2-01",
    "The sender changes the TxSequenceNumbers of unacknowledged messages at a restart.",
    change_outgoing_queues_at_restart(_increase_sequence_numbers_of_packets),
)


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
    change_core_at_restart(_renumber_outgoing_messages),
    blind=True,
)


def _replace_next_hop_addresses(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.NextHopCollection = [replace(hop, Address=_INVALID_ADDRESS_TEXT) for hop in session.NextHopCollection]


add(
    "initiator-next-hop-address-is-a-name",
    "MQQB-3.1.1.3.1.3-01",
    "The initiator stores a name instead of an address in Address of each NextHop.",
    change_core_after_every_input(_replace_next_hop_addresses),
)


@fault("sender-message-order-reversed-by-session-retry", breaks="MQQB-3.1.1.3.1-D01")
class SenderMessageOrderReversedBySessionRetry(SessionEstablishing):
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


@fault("sender-recoverable-messages-first-on-next-session", breaks="MQQB-3.1.1.3.1-D01", blind=True)
class SenderRecoverableMessagesFirstOnNextSession(SessionInitialization):
    """The sender sends recoverable messages before express messages on the next session."""

    def initialize_messages(self, session: Session) -> None:
        table = session.OutgoingMessageTable
        for position in sorted(table, key=lambda one: not one.recoverable):
            table.remove(position)
            table.add(position)
        super().initialize_messages(session)


def _is_express(position: OutgoingMessagePosition) -> bool:
    return not position.recoverable


@fault("sender-recoverable-messages-before-express-ones-on-new-session", breaks="MQQB-3.1.1.3.1-D01", blind=True)
class SenderRecoverableMessagesBeforeExpressOnesOnNewSession(SessionInitialization):
    """On a new session, the sender sends the recoverable messages of an outgoing queue before the express messages."""

    def initialize_messages(self, session: Session) -> None:
        _sort_outgoing_messages(session, _is_express)
        super().initialize_messages(session)


@fault("sender-recoverable-messages-sent-again-before-express", breaks="MQQB-3.1.1.3.1-D01")
class SenderRecoverableMessagesSentAgainBeforeExpress(SessionInitialization):
    """When the sender sends messages again, it sends recoverable messages before express messages."""

    def initialize_messages(self, session: Session, now: Now | None = None) -> None:
        express = [one for one in session.OutgoingMessageTable if not one.recoverable]
        super().initialize_messages(session)
        if not session.is_retrying_connection:
            return
        for position in express:
            session.OutgoingMessageTable.remove(position)
            session.OutgoingMessageTable.add(position)
            self.qm.dispatch_collection.add(session, position)


@fault("receiver-incoming-number-of-empty-queue-lost-at-restart", breaks="MQQB-3.1.1.3.1-09", blind=True)
class ReceiverIncomingNumberOfEmptyQueueLostAtRestart(StateRestoring):
    """The receiver loses IncomingTxSequenceNumber at a restart if the queue contains no message."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.QueueCollection.values():
            if not len(queue.MessagePositionList):
                queue.IncomingTransactionalTransferInfoCollection.clear()


@fault("sender-tx-numbers-begin-at-1-again-after-restart", breaks="MQQB-3.1.1.3.1.2-01", blind=True)
class SenderTxNumbersBeginAt1AgainAfterRestart(StateRestoring):
    """The sender numbers the transactional messages that wait in an outgoing queue from 1 on when it restarts, even if
    earlier messages of the sequence were acknowledged before the restart.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting = (one for one in queue.session.OutgoingMessageTable if one.TxSequenceNumber)
            for number, position in enumerate(waiting, 1):
                header = position.UserMessage.TransactionHeader
                assert header is not None
                header = replace(header, TxSequenceNumber=number, PreviousTxSequenceNumber=number - 1)
                position.TxSequenceNumber = number
                position.UserMessage = replace(position.UserMessage, TransactionHeader=header)

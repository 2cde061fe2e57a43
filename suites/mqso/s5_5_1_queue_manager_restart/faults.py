"""Faults that break rules of MS-MQSO 5.5.1 Queue Manager Restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, filter_effects
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_message_entry, build_message_relocation, build_removal_change
from reference_qm.core.store.messages import serialize_message
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.transactions import Transaction
from reference_qm.surface.effects import Effect, Persist


def _clear_queue_properties(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Label = ""
        queue.Journaling = False


add(
    "restart-loses-queue-properties",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager loses the properties of queues.",
    change_core_at_restart(_clear_queue_properties),
)


def _keep_sequence_of_first_sender(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        transfers = queue.IncomingTransactionalTransferInfoCollection
        for key in list(transfers)[1:]:
            del transfers[key]


add(
    "queue-manager-sequence-of-second-sender-lost-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the queue manager remembers the sequence of only one sender for each queue.",
    change_core_at_restart(_keep_sequence_of_first_sender),
    blind=True,
)


def _remove_sequence_of_second_sender(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        known = queue.IncomingTransactionalTransferInfoCollection
        for key in list(known)[1:]:
            del known[key]


def _clear_security_of_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Authentication, queue.PrivacyLevel = False, PrivacyLevel.OPTIONAL


def _reset_base_priorities(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.BasePriority = 0


for _name, _says, _change in (
    (
        "queue-manager-sequences-of-later-senders-lost-at-restart",
        "At a restart, the queue manager loses the state of the sequence from the second sender to a queue.",
        _remove_sequence_of_second_sender,
    ),
    (
        "queue-manager-demanded-security-of-queue-lost-at-restart",
        "At a restart, the queue manager loses the authentication and the encryption that a queue demands.",
        _clear_security_of_queues,
    ),
    (
        "queue-manager-base-priority-of-queue-lost-at-restart",
        "At a restart, the queue manager sets the base priority of its queues to 0.",
        _reset_base_priorities,
    ),
):
    add(_name, "MQSO-5.5.1-01", _says, change_core_at_restart(_change))


def _keep_first_message_of_outgoing_queues(transactional: bool) -> Callable[[QueueManager], None]:
    def remove_later_outgoing_messages(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            positions = [one for one in table if bool(one.TxSequenceNumber) is transactional]
            for position in positions[1:]:
                table.remove(position)

    return remove_later_outgoing_messages


def _make_lifetimes_of_stored_messages_infinite(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE_TIMEOUT)


def _reset_message_id_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


def _remove_second_outgoing_queue(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        for position in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(position)


def _remove_messages_of_subqueues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for sub in queue.SubqueueCollection.values():
            for position in list(sub.MessagePositionList):
                sub.MessagePositionList.remove(position)


def _remove_messages_of_journals(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if queue.JournalQueueReference is not None:
            for position in list(queue.JournalQueueReference.MessagePositionList):
                queue.JournalQueueReference.MessagePositionList.remove(position)


def _remove_last_of_several_messages(transactional: bool) -> Callable[[QueueManager], None]:
    def remove_later_messages(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            if queue.Transactional is transactional:
                for position in list(queue.MessagePositionList)[1:]:
                    queue.MessagePositionList.remove(position)

    return remove_later_messages


for _fault, _rules, _text, _loss in (
    (
        "queue-manager-later-outgoing-transactional-messages-lost-at-restart",
        "MQSO-5.5.1-02",
        "At a restart, the queue manager loses all transactional messages of an outgoing queue except the first.",
        _keep_first_message_of_outgoing_queues(True),
    ),
    (
        "queue-manager-second-outgoing-queue-empty-after-restart",
        ("MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-D01"),
        "At a restart, the queue manager loses the messages of its second outgoing queue.",
        _remove_second_outgoing_queue,
    ),
    (
        "queue-manager-later-outgoing-recoverable-messages-lost-at-restart",
        "MQSO-5.5.1-04",
        "At a restart, the queue manager loses all recoverable messages of an outgoing queue except the first.",
        _keep_first_message_of_outgoing_queues(False),
    ),
    (
        "queue-manager-message-identifiers-repeated-after-restart",
        "MQSO-5.5.1-01",
        "After a restart, the queue manager uses the identifiers of earlier messages again.",
        _reset_message_id_ordinal,
    ),
    (
        "queue-manager-lifetime-of-message-lost-at-restart",
        ("MQSO-5.5.1-03", "MQSO-5.5.1-05"),
        "A message in a local queue never expires after a restart.",
        _make_lifetimes_of_stored_messages_infinite,
    ),
    (
        "queue-manager-messages-of-subqueue-lost-at-restart",
        ("MQSO-5.5.1-03", "MQSO-5.5.1-05"),
        "At a restart, the queue manager loses the messages of subqueues.",
        _remove_messages_of_subqueues,
    ),
    (
        "queue-manager-journals-lost-at-restart",
        "MQSO-5.5.1-01",
        "At a restart, the queue manager empties the journals of queues.",
        _remove_messages_of_journals,
    ),
    (
        "queue-manager-second-local-transactional-message-lost-at-restart",
        "MQSO-5.5.1-03",
        "At a restart, the queue manager loses all messages of a transactional queue except the first.",
        _remove_last_of_several_messages(True),
    ),
):
    add(_fault, _rules, _text, change_core_at_restart(_loss), blind=True)


def _reset_sequence_numbers(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-sequence-numbers-begin-again-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the sender continues its sequences with the number 1.",
    change_core_at_restart(_reset_sequence_numbers),
)


def _remove_unsent_messages_on_restart(transactional: bool) -> Install:
    """Lose messages of outgoing queues at a restart."""

    def remove_unsent_messages(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            for position in list(table):
                if bool(position.TxSequenceNumber) is transactional:
                    table.remove(position)

    return change_core_at_restart(remove_unsent_messages)


add(
    "restart-loses-outgoing-transactional-messages",
    "MQSO-5.5.1-02",
    "At a restart, the queue manager loses the transactional messages of outgoing queues.",
    _remove_unsent_messages_on_restart(True),
)


def _keep_deleted_records_on_disk(effect: Effect) -> Iterator[Effect]:
    """Leave deleted messages on disk."""
    if isinstance(effect, Persist):
        kept = {name: value for name, value in effect.record.items() if value or not name.startswith("message:")}
        effect = Persist(effect.token, kept)
    yield effect


add(
    "restart-restores-removed-messages",
    ("MQSO-5.5.1-02", "MQSO-5.5.1-03", "MQSO-5.5.1-05", "MQSO-5.5.1-D01"),
    "After a restart, messages that were already received or transferred are in their queues again.",
    filter_effects(_keep_deleted_records_on_disk),
)


def _empty_queues_at_restart(which: Callable[[Queue], bool]) -> Install:
    """Lose the messages of selected queues at a restart."""

    def empty_queues(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            if which(queue):
                for position in list(queue.MessagePositionList):
                    queue.MessagePositionList.remove(position)

    return change_core_at_restart(empty_queues)


add(
    "restart-loses-transactional-messages",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the transactional messages of local queues.",
    _empty_queues_at_restart(lambda one: one.Transactional),
)


@fault("queue-manager-message-received-in-undecided-transaction-lost-at-restart", breaks="MQSO-5.5.1-03")
class QueueManagerMessageReceivedInUndecidedTransactionLostAtRestart(TransactionOperations):
    """A message that a transaction has received is lost if the queue manager restarts before the transaction ends."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if position.key:
            self.qm.disk.save(build_removal_change([position]))


def _remove_large_messages(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        for position in list(queue.MessagePositionList):
            if len(position.MessageReference.Body) > 60_000:
                queue.MessagePositionList.remove(position)


add(
    "queue-manager-large-message-lost-at-restart",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the messages of local queues whose body has more than 60,000 bytes.",
    change_core_at_restart(_remove_large_messages),
)


add(
    "restart-loses-outgoing-recoverable-messages",
    "MQSO-5.5.1-04",
    "At a restart, the queue manager loses the recoverable messages of outgoing queues.",
    _remove_unsent_messages_on_restart(False),
)


add(
    "restart-loses-recoverable-messages",
    ("MQSO-3.2.1-D02", "MQSO-5.5.1-05"),
    "At a restart, the queue manager loses the recoverable messages of local queues.",
    _empty_queues_at_restart(lambda one: not one.Transactional),
)


def _clear_store_keys_of_messages(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in () if queue.Transactional else queue.MessagePositionList:
            position.key = 0


add(
    "queue-manager-restored-message-returns-after-receive",
    "MQSO-5.5.1-05",
    "A recoverable message that an application receives after a restart is in its queue again after the next restart.",
    change_core_at_restart(_clear_store_keys_of_messages),
    blind=True,
)


def _reverse_messages_of_equal_priority(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        positions = list(queue.MessagePositionList)
        if len(positions) > 2:
            for position in positions[1:]:
                state = position.State
                queue.MessagePositionList.remove(position)
                position.State = state
            for position in reversed(positions[1:]):
                queue.MessagePositionList.insert(position)


add(
    "queue-manager-third-recoverable-message-before-second-after-restart",
    "MQSO-5.5.1-05",
    "At a restart, the queue manager reverses the order of the messages after the first message of a queue.",
    change_core_at_restart(_reverse_messages_of_equal_priority),
)


@fault("restart-keeps-express-messages", breaks=("MQSO-3.2.1-D01", "MQSO-5.1.1.3-D01", "MQSO-5.5.1-06"))
class RestartKeepsExpressMessages(DurableRecords):
    """The queue manager restores express messages after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        message = position.MessageReference
        position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        return super().build_send_record(position)


@fault(
    "queue-manager-journal-keeps-express-message-over-restart", breaks=("MQSO-5.5.1-06", "MQSO-3.2.1-D01"), blind=True
)
class QueueManagerJournalKeepsExpressMessageOverRestart(MessageJournaling):
    """The queue manager saves journal copies of express messages, so these copies survive a restart."""

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        position = self.qm.message_positions.insert_message(queue, message)
        position.key = self.qm.assign_persist_token()
        self.qm.disk.save(build_message_relocation(position))
        self.qm.message_positions.on_message_available(position)


@fault("sender-waiting-express-message-survives-restart", breaks="MQSO-5.5.1-06", blind=True)
class SenderWaitingExpressMessageSurvivesRestart(DurableRecords):
    """The sender saves an express message in an outgoing queue, so that it is sent after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change: Change = super().build_send_record(position)
        message = position.MessageReference
        if (
            self.qm.disk.used
            and isinstance(position.QueueReference, OutgoingQueue)
            and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        ):
            position.key = self.qm.assign_persist_token()
            change |= build_message_entry(position, serialize_message(message).build())
        return change


@fault("queue-manager-express-dead-letter-survives-restart", breaks="MQSO-5.5.1-06", blind=True)
class QueueManagerExpressDeadLetterSurvivesRestart(MessageJournaling):
    """The queue manager saves an express message in the dead-letter queue."""

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        super().put_into_system_queue(queue, message)
        position = queue.MessagePositionList.Tail
        if queue is self.qm.adm.SystemDeadletterQueue and isinstance(position, MessagePosition) and not position.key:
            position.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(position))

    def journal_failed_message(self, position: MessagePosition) -> None:
        if position.MessageReference.NegativeJournalingRequested and not position.key:
            position.key = self.qm.assign_persist_token()
        super().journal_failed_message(position)

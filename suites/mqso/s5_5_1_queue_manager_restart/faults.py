"""Faults that break rules of MS-MQSO 5.5.1 Queue Manager Restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, effects
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.store.entries import build_message_entry, build_relocation, build_removal_change
from reference_qm.core.store.messages import serialize_message
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import INFINITE, Message, MessagePosition, OutgoingQueue, Queue
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
    at_restart(_clear_queue_properties),
)


def _forget_later_senders(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        transfers = queue.IncomingTransactionalTransferInfoCollection
        for key in list(transfers)[1:]:
            del transfers[key]


add(
    "queue-manager-sequence-of-second-sender-lost-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the queue manager remembers the sequence of only one sender for each queue.",
    at_restart(_forget_later_senders),
    blind=True,
)


def _forget_second_sender(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        known = queue.IncomingTransactionalTransferInfoCollection
        for key in list(known)[1:]:
            del known[key]


def _forget_demands(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Authentication, queue.PrivacyLevel = False, PrivacyLevel.OPTIONAL


def _forget_base_priority(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.BasePriority = 0


for _name, _says, _change in (
    (
        "queue-manager-sequences-of-later-senders-lost-at-restart",
        "At a restart, the queue manager loses the state of the sequence from the second sender to a queue.",
        _forget_second_sender,
    ),
    (
        "queue-manager-demanded-security-of-queue-lost-at-restart",
        "At a restart, the queue manager loses the authentication and the encryption that a queue demands.",
        _forget_demands,
    ),
    (
        "queue-manager-base-priority-of-queue-lost-at-restart",
        "At a restart, the queue manager sets the base priority of its queues to 0.",
        _forget_base_priority,
    ),
):
    add(_name, "MQSO-5.5.1-01", _says, at_restart(_change))


def _keep_first_outgoing(transactional: bool) -> Callable[[QueueManager], None]:
    def lose(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            positions = [one for one in table if bool(one.TxSequenceNumber) is transactional]
            for position in positions[1:]:
                table.remove(position)

    return lose


def _forget_lifetimes(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE)


def _restart_numbers(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


def _lose_second_outgoing_queue(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        for position in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(position)


def _lose_subqueue_messages(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for sub in queue.SubqueueCollection.values():
            for position in list(sub.MessagePositionList):
                sub.MessagePositionList.remove(position)


def _lose_journals(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if queue.JournalQueueReference is not None:
            for position in list(queue.JournalQueueReference.MessagePositionList):
                queue.JournalQueueReference.MessagePositionList.remove(position)


def _lose_last_of_two(transactional: bool) -> Callable[[QueueManager], None]:
    def lose(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            if queue.Transactional is transactional:
                for position in list(queue.MessagePositionList)[1:]:
                    queue.MessagePositionList.remove(position)

    return lose


for _fault, _rules, _text, _loss in (
    (
        "queue-manager-later-outgoing-transactional-messages-lost-at-restart",
        "MQSO-5.5.1-02",
        "At a restart, the queue manager loses all transactional messages of an outgoing queue except the first.",
        _keep_first_outgoing(True),
    ),
    (
        "queue-manager-second-outgoing-queue-empty-after-restart",
        ("MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-D01"),
        "At a restart, the queue manager loses the messages of its second outgoing queue.",
        _lose_second_outgoing_queue,
    ),
    (
        "queue-manager-later-outgoing-recoverable-messages-lost-at-restart",
        "MQSO-5.5.1-04",
        "At a restart, the queue manager loses all recoverable messages of an outgoing queue except the first.",
        _keep_first_outgoing(False),
    ),
    (
        "queue-manager-message-identifiers-repeated-after-restart",
        "MQSO-5.5.1-01",
        "After a restart, the queue manager uses the identifiers of earlier messages again.",
        _restart_numbers,
    ),
    (
        "queue-manager-lifetime-of-message-lost-at-restart",
        ("MQSO-5.5.1-03", "MQSO-5.5.1-05"),
        "A message in a local queue never expires after a restart.",
        _forget_lifetimes,
    ),
    (
        "queue-manager-messages-of-subqueue-lost-at-restart",
        ("MQSO-5.5.1-03", "MQSO-5.5.1-05"),
        "At a restart, the queue manager loses the messages of subqueues.",
        _lose_subqueue_messages,
    ),
    (
        "queue-manager-journals-lost-at-restart",
        "MQSO-5.5.1-01",
        "At a restart, the queue manager empties the journals of queues.",
        _lose_journals,
    ),
    (
        "queue-manager-second-local-transactional-message-lost-at-restart",
        "MQSO-5.5.1-03",
        "At a restart, the queue manager loses all messages of a transactional queue except the first.",
        _lose_last_of_two(True),
    ),
):
    add(_fault, _rules, _text, at_restart(_loss), blind=True)


def _begin_numbers_again(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-sequence-numbers-begin-again-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the sender continues its sequences with the number 1.",
    at_restart(_begin_numbers_again),
)


def _remove_unsent_messages_on_restart(transactional: bool) -> Install:
    """Lose messages of outgoing queues at a restart."""

    def lose_unsent_messages(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            for position in list(table):
                if bool(position.TxSequenceNumber) is transactional:
                    table.remove(position)

    return at_restart(lose_unsent_messages)


add(
    "restart-loses-outgoing-transactional-messages",
    "MQSO-5.5.1-02",
    "At a restart, the queue manager loses the transactional messages of outgoing queues.",
    _remove_unsent_messages_on_restart(True),
)


def _keep_deleted_records(effect: Effect) -> Iterator[Effect]:
    """Leave deleted messages on disk."""
    if isinstance(effect, Persist):
        kept = {name: value for name, value in effect.record.items() if value or not name.startswith("message:")}
        effect = Persist(effect.token, kept)
    yield effect


add(
    "restart-restores-removed-messages",
    ("MQSO-5.5.1-02", "MQSO-5.5.1-03", "MQSO-5.5.1-05", "MQSO-5.5.1-D01"),
    "After a restart, messages that were already received or transferred are in their queues again.",
    effects(_keep_deleted_records),
)


def _empty_queues_on_restart(which: Callable[[Queue], bool]) -> Install:
    """Lose the messages of some queues at a restart."""

    def empty_queues(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            if which(queue):
                for position in list(queue.MessagePositionList):
                    queue.MessagePositionList.remove(position)

    return at_restart(empty_queues)


add(
    "restart-loses-transactional-messages",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the transactional messages of local queues.",
    _empty_queues_on_restart(lambda one: one.Transactional),
)


@fault("queue-manager-message-received-in-undecided-transaction-lost-at-restart", breaks="MQSO-5.5.1-03")
class QueueManagerMessageReceivedInUndecidedTransactionLostAtRestart(TransactionOperations):
    """A message that a transaction has received is lost if the queue manager restarts before the transaction ends."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if position.key:
            self.qm.disk.save(build_removal_change([position]))


def _forget_large_messages(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        for position in list(queue.MessagePositionList):
            if len(position.MessageReference.Body) > 60_000:
                queue.MessagePositionList.remove(position)


add(
    "queue-manager-large-message-lost-at-restart",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the messages of local queues whose body has more than 60,000 bytes.",
    at_restart(_forget_large_messages),
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
    _empty_queues_on_restart(lambda one: not one.Transactional),
)


def _forget_entries(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in () if queue.Transactional else queue.MessagePositionList:
            position.key = 0


add(
    "queue-manager-restored-message-returns-after-receive",
    "MQSO-5.5.1-05",
    "A recoverable message that an application receives after a restart is in its queue again after the next restart.",
    at_restart(_forget_entries),
    blind=True,
)


def _reverse_equals(qm: QueueManager) -> None:
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
    at_restart(_reverse_equals),
)


@fault("restart-keeps-express-messages", breaks=("MQSO-3.2.1-D01", "MQSO-5.1.1.3-D01", "MQSO-5.5.1-06"))
class RestartKeepsExpressMessages(Durability):
    """The queue manager restores express messages after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        message = position.MessageReference
        position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        return super().build_send_record(position)


@fault("queue-manager-journal-keeps-express-message-over-restart", breaks="MQSO-5.5.1-06", blind=True)
class QueueManagerJournalKeepsExpressMessageOverRestart(Journaling):
    """The queue manager saves journal copies of express messages, so these copies survive a restart."""

    def keep_message(self, queue: Queue, message: Message) -> None:
        position = self.qm.positions.insert_message(queue, message)
        position.key = self.qm.next_persist_token()
        self.qm.disk.save(build_relocation(position))
        self.qm.positions.message_available(position)


@fault("sender-waiting-express-message-survives-restart", breaks="MQSO-5.5.1-06", blind=True)
class SenderWaitingExpressMessageSurvivesRestart(Durability):
    """The sender saves an express message in an outgoing queue, so that it is sent after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change: Change = super().build_send_record(position)
        message = position.MessageReference
        if (
            self.qm.disk.used
            and isinstance(position.QueueReference, OutgoingQueue)
            and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        ):
            position.key = self.qm.next_persist_token()
            change |= build_message_entry(position, serialize_message(message).build())
        return change


@fault("queue-manager-express-dead-letter-survives-restart", breaks="MQSO-5.5.1-06", blind=True)
class QueueManagerExpressDeadLetterSurvivesRestart(Journaling):
    """The queue manager saves an express message in the dead-letter queue."""

    def keep_message(self, queue: Queue, message: Message) -> None:
        super().keep_message(queue, message)
        position = queue.MessagePositionList.Tail
        if queue is self.qm.adm.SystemDeadletterQueue and isinstance(position, MessagePosition) and not position.key:
            position.key = self.qm.next_persist_token()
            self.qm.disk.save(build_relocation(position))

    def journal_failed(self, position: MessagePosition) -> None:
        if position.MessageReference.NegativeJournalingRequested and not position.key:
            position.key = self.qm.next_persist_token()
        super().journal_failed(position)

"""Faults of MS-MQDMPR 3.1.1 Abstract Data Model that only special cases reveal: the order and places of messages,
changed attributes, and volatile elements after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, only_if
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.store.entries import build_relocation, message_entry
from reference_qm.core.store.messages import serialize_message
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface.commands import Result


def _sort_messages(key: Callable[[MessagePosition], Any], condition: Callable[[Queue], bool]) -> Any:
    def sort_every_queue(qm: QueueManager) -> None:
        for queue in qm.queue_names.every_queue():
            messages = list(queue.MessagePositionList)
            if len(messages) < 2 or not condition(queue):
                continue
            for one in messages:
                queue.MessagePositionList.remove(one)
            for one in sorted(messages, key=key):
                again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
                again.key, again.order_queue = one.key, one.order_queue
                queue.MessagePositionList.insert(again)
                qm.positions.message_available(again)

    return at_restart(sort_every_queue)


add(
    "queue-manager-moved-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the messages of a subqueue are in the order of their LookupIdentifiers, not in the order in "
    "which they were moved.",
    _sort_messages(lambda one: one.LookupIdentifier, lambda queue: queue.parent is not None),
)
add(
    "queue-manager-journaled-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the queue manager restores messages of the same priority in reverse order.",
    _sort_messages(lambda one: -one.order, lambda queue: queue.parent is None),
)


@fault("queue-manager-changed-attribute-of-queue-lost-at-restart", breaks="MQDMPR-3.1.1-02")
class QueueManagerChangedAttributeOfQueueLostAtRestart(QueueCommands):
    """At a restart, the queue manager loses a change to an attribute of an existing queue."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        entry = self.qm.durability.queue_entry(queue)
        answer = super()._change_attributes(queue, changes, token)
        self.qm.disk.save(entry)
        return answer


@fault("transaction-second-move-refers-to-target-of-first", breaks="MQDMPR-3.1.1.13-06")
class TransactionSecondMoveRefersToTargetOfFirst(TransactionOperations):
    """The TargetQueueReference of each Move operation of a transaction is the target queue of the transaction's first
    Move operation.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        moves = [one.TargetQueueReference for one in transaction.TransactionalOperationCollection]
        first = next((one for one in moves if one is not None), target)
        super().move_in_transaction(transaction, position, first)


def _is_express(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("express-message-in-subqueue-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInSubqueueSurvivesRestart(Positions):
    """The queue manager restores an express message that was moved to a subqueue after a restart."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None and _is_express(target.MessageReference):
            target.key = self.qm.next_persist_token()
            self.qm.disk.save(build_relocation(target))
        return target


@fault("express-message-in-journal-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInJournalSurvivesRestart(Journaling):
    """After a restart, the queue manager restores the copy of an express message in the journal of a queue."""

    @only_if(lambda part, queue, message: queue.parent is not None and _is_express(message))
    def keep_message(self, queue: Queue, message: Message) -> None:
        super().keep_message(queue, message)
        position = list(queue.MessagePositionList)[-1]
        position.key = self.qm.next_persist_token()
        self.qm.disk.save(build_relocation(position))


@fault("express-message-in-dead-letter-queue-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInDeadLetterQueueSurvivesRestart(Positions):
    """After a restart, the queue manager restores an express message in a system queue, such as the
    dead-letter queue.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.QueueType is QueueType.SYSTEM and _is_express(target.MessageReference):
            target.key = self.qm.next_persist_token()
            self.qm.disk.save(build_relocation(target))
        return target


@fault("outgoing-express-message-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class OutgoingExpressMessageSurvivesRestart(Durability):
    """After a restart, the queue manager sends an express message that was waiting to be sent."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        outgoing = isinstance(position.QueueReference, OutgoingQueue)
        if outgoing and self.qm.disk.used and _is_express(position.MessageReference):
            position.key = self.qm.next_persist_token()
            change = change | message_entry(position, serialize_message(position.MessageReference).build())
        return change


@fault("express-message-of-own-application-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageOfOwnApplicationSurvivesRestart(Durability):
    """After a restart, the queue manager restores an express message of a local application in a local queue."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        local = not isinstance(position.QueueReference, OutgoingQueue)
        if local and self.qm.disk.used and _is_express(position.MessageReference):
            position.key = self.qm.next_persist_token()
            change = change | message_entry(position, serialize_message(position.MessageReference).build())
        return change


def _lower_path_names(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Pathname = queue.Pathname.lower()


def _forget_public_demands(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if queue.QueueType is QueueType.PUBLIC:
            queue.Authentication, queue.PrivacyLevel = False, PrivacyLevel.OPTIONAL


def _keep_messages_of_first_destination(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        for outgoing in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(outgoing)


add(
    "queue-manager-path-name-in-lower-case-after-restart",
    "MQDMPR-3.1.1-02",
    "At a restart, the queue manager changes the path name of a queue to lower case.",
    at_restart(_lower_path_names),
    blind=True,
)
add(
    "queue-manager-demands-of-public-queue-lost-at-restart",
    "MQDMPR-3.1.1-03",
    "At a restart, the queue manager loses the Authentication and the PrivacyLevel of a public queue.",
    at_restart(_forget_public_demands),
    blind=True,
)
add(
    "sender-messages-of-second-destination-lost-at-restart",
    "MQDMPR-3.1.1.3-D01",
    "After a restart, the queue manager sends waiting messages only to the destination that was used first.",
    at_restart(_keep_messages_of_first_destination),
    blind=True,
)
add(
    "queue-manager-messages-of-journal-in-reverse-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the queue manager restores the messages in the journal of a queue in reverse order.",
    _sort_messages(
        lambda one: -one.order, lambda queue: queue.parent is not None and queue.QueueType is QueueType.SYSTEM
    ),
    blind=True,
)


@fault("queue-manager-message-moved-back-in-subqueue-after-restart", breaks="MQDMPR-3.1.1.11-07", blind=True)
class QueueManagerMessageMovedBackInSubqueueAfterRestart(QueueCommands):
    """After a restart, the queue manager restores a message that was moved to a subqueue and back in the subqueue."""

    def move_message(self, request: Any, token: int, now: Any) -> Result | None:
        source, target = (self.qm.queue_names.find_queue(one) for one in (request.queue, request.to))
        answer = super().move_message(request, token, now)
        position = target.MessagePositionList.find(request.lookup_id)
        if position is not None and source.parent is target and position.key:
            place = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            place.key = position.key
            self.qm.disk.save(build_relocation(place))
        return answer


@fault("queue-manager-message-moved-to-waiting-reader-in-subqueue-after-restart", breaks="MQDMPR-3.1.1.11-07")
class QueueManagerMessageMovedToWaitingReaderInSubqueueAfterRestart(Positions):
    """After a restart, the queue manager restores a message that a waiting reader received in a subqueue
    after a move.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None and target.State is not MessagePositionState.AVAILABLE:
            self.qm.disk.save(build_relocation(target))
        return target


@fault("in-doubt-transaction-received-message-available-after-restart", breaks="MQDMPR-3.1.1.11-07", blind=True)
class InDoubtTransactionReceivedMessageAvailableAfterRestart(TransactionRecords):
    """After a restart, another reader can receive a message that a prepared transaction received."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        for transaction in self.qm.adm.TransactionCollection.values():
            for one in transaction.TransactionalOperationCollection:
                if one.DequeueReason is not None and one.MessagePositionReference.State is MessagePositionState.LOCKED:
                    one.MessagePositionReference.State = MessagePositionState.AVAILABLE


@fault("restart-loses-messages-of-second-outgoing-queue", breaks="MQDMPR-3.1.1-01")
class RestartLosesMessagesOfSecondOutgoingQueue(Restoring):
    """After a restart, the queue manager restores only the messages of the first outgoing queue."""

    def _restore_message(self, rest: str, value: Any) -> None:
        place = value["in"]
        if place.startswith("outgoing:"):
            first = getattr(self, "first", place)
            self.first = first
            if place != first:
                return
        super()._restore_message(rest, value)


@fault("restart-restores-messages-of-same-priority-newest-first", breaks="MQDMPR-3.1.1.11-07")
class RestartRestoresMessagesOfSamePriorityNewestFirst(Restoring):
    """After a restart, the queue manager puts a message of a priority other than 3 before the older messages of its
    priority.
    """

    def _restore_message(self, rest: str, value: Any) -> None:
        place = None if value["in"].startswith("outgoing:") else self.qm.destinations.find_queue_of_entry(value["in"])
        if place is None:
            super()._restore_message(rest, value)
            return
        positions = place.MessagePositionList
        kept = list(positions._last)
        for priority in (0, 1, 2, 4, 5, 6, 7):
            positions._last[priority] = None
        super()._restore_message(rest, value)
        for priority in (0, 1, 2, 4, 5, 6, 7):
            positions._last[priority] = kept[priority] or positions._last[priority]

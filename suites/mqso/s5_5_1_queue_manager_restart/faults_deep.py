"""Faults of MS-MQSO 5.5.1 that only special cases reveal: a second queue or sender, and single properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import INFINITE


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

add(
    "queue-manager-third-recoverable-message-before-second-after-restart",
    "MQSO-5.5.1-05",
    "At a restart, the queue manager reverses the order of the messages after the first message of a queue.",
    at_restart(_reverse_equals),
)


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

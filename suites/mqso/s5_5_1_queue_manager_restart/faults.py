"""Faults of MS-MQSO 5.5.1 Queue Manager Restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, effects
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.effects import Effect, Persist


def _empty_queues_on_restart(which: Callable[[Queue], bool]) -> Install:
    """Lose the messages of some queues at a restart."""

    def empty_queues(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            if which(queue):
                for position in list(queue.MessagePositionList):
                    queue.MessagePositionList.remove(position)

    return at_restart(empty_queues)


def _remove_unsent_messages_on_restart(transactional: bool) -> Install:
    """Lose messages of outgoing queues at a restart."""

    def lose_unsent_messages(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            for position in list(table):
                if bool(position.TxSequenceNumber) is transactional:
                    table.remove(position)

    return at_restart(lose_unsent_messages)


def _keep_deleted_records(effect: Effect) -> Iterator[Effect]:
    """Leave deleted messages on disk."""
    if isinstance(effect, Persist):
        kept = {name: value for name, value in effect.record.items() if value or not name.startswith("message:")}
        effect = Persist(effect.token, kept)
    yield effect


def _clear_queue_properties(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Label = ""
        queue.Journaling = False


add(
    "restart-loses-recoverable-messages",
    ("MQSO-3.2.1-D02", "MQSO-5.5.1-05"),
    "At a restart, the queue manager loses the recoverable messages of local queues.",
    _empty_queues_on_restart(lambda one: not one.Transactional),
)
add(
    "restart-loses-transactional-messages",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the transactional messages of local queues.",
    _empty_queues_on_restart(lambda one: one.Transactional),
)
add(
    "restart-loses-outgoing-recoverable-messages",
    "MQSO-5.5.1-04",
    "At a restart, the queue manager loses the recoverable messages of outgoing queues.",
    _remove_unsent_messages_on_restart(False),
)
add(
    "restart-loses-outgoing-transactional-messages",
    "MQSO-5.5.1-02",
    "At a restart, the queue manager loses the transactional messages of outgoing queues.",
    _remove_unsent_messages_on_restart(True),
)
add(
    "restart-loses-queue-properties",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "At a restart, the queue manager loses the properties of queues.",
    at_restart(_clear_queue_properties),
)
add(
    "restart-restores-removed-messages",
    ("MQSO-5.5.1-02", "MQSO-5.5.1-03", "MQSO-5.5.1-05", "MQSO-5.5.1-D01"),
    "After a restart, messages that were already received or transferred are in their queues again.",
    effects(_keep_deleted_records),
)


@fault("restart-keeps-express-messages", breaks=("MQSO-3.2.1-D01", "MQSO-5.1.1.3-D01", "MQSO-5.5.1-06"))
class RestartKeepsExpressMessages(Durability):
    """The queue manager restores express messages after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        message = position.MessageReference
        position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        return super().build_send_record(position)

"""Faults of MS-MQDMPR 3.1.1.1 QueueManager that only special cases reveal: several queues, other operations, and a
second restart.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, only_if
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions, lookup_identifier
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.transactions import OperationType


@fault("queue-manager-sequential-id-counted-per-queue", breaks="MQDMPR-3.1.1.1-D04", blind=True)
class QueueManagerSequentialIdCountedPerQueue(Positions):
    """Each queue counts its messages itself, so messages of different queues have the same SequentialID."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        known = queue.MessagePositionList._by_identifier
        known.pop(position.LookupIdentifier, None)
        position.LookupIdentifier = lookup_identifier(message, position.order)
        known[position.LookupIdentifier] = position
        return position


@fault("queue-manager-express-message-takes-no-sequential-id", breaks="MQDMPR-3.1.1.1-D04", blind=True)
class QueueManagerExpressMessageTakesNoSequentialId(Positions):
    """An express message does not increment the SequentialID, so it has the SequentialID of the preceding message."""

    @only_if(
        lambda part, message: message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and part.qm.adm.SequentialID > 0
    )
    def assign_lookup_identifier(self, message: Message) -> int:
        return lookup_identifier(message, self.qm.adm.SequentialID)


@fault("in-doubt-transaction-without-sent-message-not-restored", breaks="MQDMPR-3.1.1.1-D03", blind=True)
class InDoubtTransactionWithoutSentMessageNotRestored(TransactionRecords):
    """After a restart, the queue manager has lost a prepared transaction that received messages but sent none."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if any(kind == OperationType.ENQUEUE.value for kind, *_ in value["operations"]):
            super().restore_transaction(rest, value)


def _save_as_not_hardened(qm: QueueManager) -> None:
    if qm.adm.HardenedSecurity:
        qm.disk.save({"hardened_security": False})


add(
    "hardened-security-lost-at-second-restart",
    "MQDMPR-3.1.1.1-D02",
    "Hardened security mode is in effect after the first restart, but not after the second.",
    at_restart(_save_as_not_hardened),
    blind=True,
)


@fault("sequential-id-restarts-after-second-restart", breaks="MQDMPR-3.1.1.1-D04")
class SequentialIdRestartsAfterSecondRestart(Restoring):
    """After a restart, the queue manager sets its SequentialID to the highest number among the stored messages, and
    does not use the SequentialID that it saved.
    """

    def _restore_sequential_id(self, rest: str, value: Any) -> None:
        super()._restore_sequential_id(rest, value)
        self.qm.adm.SequentialID = 0

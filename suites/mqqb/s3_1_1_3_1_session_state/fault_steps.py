"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    OutgoingQueue,
)


def change_incoming_sequences_at_restart(change: Callable[[IncomingTransactionalTransferInfo], None]) -> Install:
    """Change each incoming sequence when the receiver restarts."""

    def change_incoming_sequences(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                change(transfer)

    return change_core_at_restart(change_incoming_sequences)


def change_outgoing_queues_at_restart(change: Callable[[OutgoingQueue], None]) -> Install:
    """Change each outgoing queue when the sender restarts."""

    def change_outgoing_queues(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            change(queue)

    return change_core_at_restart(change_outgoing_queues)

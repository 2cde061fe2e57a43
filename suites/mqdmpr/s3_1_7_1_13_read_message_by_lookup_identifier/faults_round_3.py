"""Faults that break rules of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.directory.enums import QueueType
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.transactions import Transaction


@fault("queue-manager-lookup-in-journal-searches-its-queue", breaks="MQDMPR-3.1.7.1.13-09", blind=True)
class QueueManagerLookupInJournalSearchesItsQueue(Reading):
    """A read by LookupIdentifier from the journal of a queue searches the queue itself."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and queue.QueueType is QueueType.SYSTEM and queue.parent is not None:
            queue_desc = replace(queue_desc, QueueReference=queue.parent)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )

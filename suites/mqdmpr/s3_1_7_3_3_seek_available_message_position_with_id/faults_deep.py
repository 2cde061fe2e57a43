"""Faults of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id that only special cases reveal: similar and
unknown identifiers.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status


@fault("queue-manager-search-compares-32-bits-of-identifier", breaks="MQDMPR-3.1.7.3.3-04")
class LowBitsCompared(Seeking):
    """The queue manager compares only the low 32 bits of LookupIdentifiers."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        for one in queue.MessagePositionList:
            if not (one.LookupIdentifier ^ lookup_id) & 0xFFFFFFFF:
                lookup_id = one.LookupIdentifier
                break
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-next-of-unknown-identifier-finds-neighbour", breaks="MQDMPR-3.1.7.3.3-06")
class NeighbourFound(Seeking):
    """A search for the message after an unknown identifier returns the message with the next higher identifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.NEXT and queue.MessagePositionList.find(lookup_id) is None:
            for one in queue.MessagePositionList:
                if one.LookupIdentifier > lookup_id and self.is_readable(one, peek_operation):
                    return Status.MQ_OK, one
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)

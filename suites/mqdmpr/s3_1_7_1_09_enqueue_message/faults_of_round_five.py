"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.9 Enqueue Message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK, MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.model.adm import Message, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus

HIGHEST_PRIORITY = 7
HIGH_BYTE_1 = 1 << 56


@fault("queue-manager-recoverable-message-enqueued-while-throttled", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerRecoverableMessageEnqueuedWhileThrottled(QueueQuotas):
    """The queue manager enqueues a recoverable message while Throttled is True."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        throttled = self.qm.adm.Throttled
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            self.qm.adm.Throttled = False
        try:
            return super().check_room_for_message(queue, message)
        finally:
            self.qm.adm.Throttled = throttled


@fault("queue-manager-lookup-identifier-of-own-transactional-message-1", breaks="MQDMPR-3.1.7.1.9-11", blind=True)
class QueueManagerLookupIdentifierOfOwnTransactionalMessage1(MessagePositions):
    """The high byte of the LookupIdentifier of a transactional message that was sent on this computer is 1."""

    def assign_lookup_identifier(self, message: Message) -> int:
        assigned = super().assign_lookup_identifier(message)
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if message.TransactionIdentifier is not None and own:
            return HIGH_BYTE_1 | assigned & LOOKUP_ID_WITHOUT_PRIORITY_MASK
        return assigned


@fault("queue-manager-lookup-identifier-of-priority-7-high-byte-1", breaks="MQDMPR-3.1.7.1.9-12", blind=True)
class QueueManagerLookupIdentifierOfPriority7HighByte1(MessagePositions):
    """The high byte of the LookupIdentifier of a nontransactional message with the priority 7 is 1."""

    def assign_lookup_identifier(self, message: Message) -> int:
        assigned = super().assign_lookup_identifier(message)
        if message.TransactionIdentifier is None and message.Priority == HIGHEST_PRIORITY:
            return HIGH_BYTE_1 | assigned & LOOKUP_ID_WITHOUT_PRIORITY_MASK
        return assigned

"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import FormatError, parse_format_name
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.store.messages import POSITIVE_RECEIVE
from reference_qm.model.adm import Queue
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.transactions import Transaction

add(
    "queue-manager-transactional-lookup-of-last-message-takes-effect-at-once",
    "MQDMPR-3.1.7.1.13-25",
    "A receive of the last message of a queue by LookupIdentifier takes effect at once, even in a transaction.",
    with_arguments(
        Reading.read_by_lookup_identifier,
        transaction=lambda given: None if given.lookup_operation is MessageSeekAction.LAST else given.transaction,
    ),
    blind=True,
)


@fault("queue-manager-lookup-reads-queue-created-again", breaks="MQDMPR-3.1.7.1.13-07", blind=True)
class QueueManagerLookupReadsQueueCreatedAgain(Reading):
    """A read by LookupIdentifier through a handle of a deleted queue reads a new queue with the same name."""

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
        before = queue_desc.QueueReference
        if before is None:
            queue_desc.QueueReference = self._find_again(queue_desc.FormatName)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
        queue_desc.QueueReference = before

    def _find_again(self, name: str) -> Queue | None:
        try:
            return self.qm.queue_names.find_by_format_name(parse_format_name(name))
        except FormatError:
            return self.qm.queue_names.find_by_path(name)


@fault("receiver-lookup-of-later-message-not-acknowledged-as-received", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class ReceiverLookupOfLaterMessageNotAcknowledgedAsReceived(Reading):
    """The receiver does not acknowledge a message as received if it is received by LookupIdentifier while earlier
    messages are in the queue.
    """

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
        if queue is not None and not (peek_operation or two_phase_read or transaction):
            found = self.qm.seeking.seek_with_identifier(queue, lookup_id, False, lookup_operation)[1]
            if found is not None and found is not queue.MessagePositionList.Head:
                message = found.MessageReference
                wanted = message.AcknowledgementsRequested & ~POSITIVE_RECEIVE
                found.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )

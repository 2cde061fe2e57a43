"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction


@fault("queue-manager-lookup-first-not-ok", breaks="MQDMPR-3.1.7.1.13-39", blind=True)
class QueueManagerLookupFirstNotOk(Reading):
    """A read with the lookup operation SeekFirst that finds a message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

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
        def answer_first(status: Status, position: MessagePosition | None) -> None:
            if lookup_operation is MessageSeekAction.FIRST and status is Status.MQ_OK:
                answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            else:
                answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answer_first, peek_operation, two_phase_read, transaction
        )

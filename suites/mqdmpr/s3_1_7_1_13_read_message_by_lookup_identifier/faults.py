"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction


@fault("lookup-peek-receives", breaks=("MQDMPR-3.1.7.1.13-02", "MQDMPR-3.1.7.1.13-11"))
class PeekReceives(Reading):
    """A peek by identifier takes the message."""

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
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, False, two_phase_read, transaction
        )


@fault("lookup-in-the-first-open-queue", breaks="MQDMPR-3.1.7.1.13-09")
class InTheFirstOpenQueue(Reading):
    """A read by identifier looks in the queue that was opened first."""

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
        first = next(iter(self.qm.descriptors.values()))
        super().read_by_lookup_identifier(
            first, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("lookup-at-an-edge-by-identifier", breaks=("MQDMPR-3.1.7.1.13-11", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53"))
class EdgeByIdentifier(Reading):
    """A read of the first or last message reads the message of the identifier."""

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
        edge = lookup_operation in (MessageSeekAction.FIRST, MessageSeekAction.LAST)
        operation = MessageSeekAction.CURRENT if edge else lookup_operation
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("lookup-brings-the-message-behind", breaks=("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"))
class BringsTheMessageBehind(Reading):
    """A read by identifier brings the message behind the one that was found, if there is one."""

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
        def answer(status: Status, found: MessagePosition | None) -> None:
            behind = None if found is None else found.Next
            answered(status, behind if isinstance(behind, MessagePosition) else found)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answer, peek_operation, two_phase_read, transaction
        )


@fault("lookup-failures-told-as-time-out", breaks="MQDMPR-3.1.7.1.13-18")
class FailuresToldAsTimeOut(Reading):
    """A read by identifier that finds nothing returns MQ_ERROR_IO_TIMEOUT, as one that waited would."""

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
        def answer(status: Status, found: MessagePosition | None) -> None:
            answered(Status.MQ_ERROR_IO_TIMEOUT if found is None else status, found)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answer, peek_operation, two_phase_read, transaction
        )


@fault("lookup-success-told-as-not-found", breaks=("MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03"))
class SuccessToldAsNotFound(Reading):
    """A read by identifier brings its message with MQ_ERROR_MESSAGE_NOT_FOUND."""

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
        def answer(status: Status, found: MessagePosition | None) -> None:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND if status is Status.MQ_OK else status, found)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answer, peek_operation, two_phase_read, transaction
        )

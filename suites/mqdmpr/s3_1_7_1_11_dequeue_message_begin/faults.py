"""Faults of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("receive-begun-without-tag", breaks=("MQDMPR-3.1.7.1.11-12", "MQDMPR-3.1.7.1.10-27"))
class WithoutTag(TwoPhaseReading):
    """A receive that is begun loses its tag."""

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().dequeue_message_begin(queue_desc, answered, now, timeout_ms, cursor, None, transaction)


@fault("receive-begun-told-as-timed-out", breaks=("MQDMPR-3.1.7.1.11-15", "MQDMPR-3.1.7.1.10-D07"))
class ToldAsTimedOut(TwoPhaseReading):
    """A receive that is begun and brings its message returns MQ_ERROR_IO_TIMEOUT."""

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        def answer(status: Status, position: MessagePosition | None) -> None:
            answered(Status.MQ_ERROR_IO_TIMEOUT if status is Status.MQ_OK else status, position)

        super().dequeue_message_begin(queue_desc, answer, now, timeout_ms, cursor, tag, transaction)

"""Faults that break rules of MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("server-two-phase-receive-of-received-message-not-found", breaks="MQDMPR-3.1.7.1.11-15", blind=True)
class ServerTwoPhaseReceiveOfReceivedMessageNotFound(TwoPhaseReading):
    """A two-phase receive at a cursor whose message was received by another reader ends with
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

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
            received = status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND if received else status, position)

        super().dequeue_message_begin(queue_desc, answer, now, timeout_ms, cursor, tag, transaction)

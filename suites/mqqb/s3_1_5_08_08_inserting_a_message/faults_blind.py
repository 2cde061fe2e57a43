"""Faults of MS-MQQB 3.1.5.8.8, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee


def _keep_recoverable_only(original: Callable[..., None], *_: object) -> Callable[..., None]:
    def journal_refused(qm: QueueManager, message: Message) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            original(qm, message)

    return journal_refused


add(
    "receiver-express-message-over-quota-not-in-dead-letter-queue",
    "MQQB-3.1.5.8.8-10",
    "The receiver puts a message with JN that exceeds the quota into the dead-letter queue only if it is recoverable.",
    during(Admission.has_room, Admission.journal_refused, _keep_recoverable_only),
    blind=True,
)
